/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bounded byte buffer. It grows up to `max` bytes, never beyond; `data` is always followed by
 * a NUL that does not count. A failed append leaves the buffer as it was.
 */
struct buf {
    char *data; /* NULL while nothing was appended */
    size_t len;
    size_t cap;
    size_t max;
};

/* An empty buffer that refuses to grow beyond max bytes. */
#define BUF_INIT(limit) ((struct buf){.max = (limit)})

/* A buffer in a char array of the caller's: it never grows, allocates nothing, and is never given
 * to buf_done() or buf_take(). For paths that must work when memory is short. */
#define BUF_FIXED(array)                                                                           \
    ((struct buf){.data = (array), .cap = sizeof(array), .max = sizeof(array) - 1})

void buf_init(struct buf *buf, size_t max);

/* Frees the bytes; the buffer can be used again with the same maximum. NULL is fine. */
void buf_done(struct buf *buf);

/* Forgets the content, keeps the memory. */
void buf_reset(struct buf *buf);

/* Cuts the content to its first len bytes; nothing if it is not longer. */
void buf_truncate(struct buf *buf, size_t len);

/* 0; -EMSGSIZE beyond the maximum; -ENOMEM. bytes must not lie within the buffer itself. */
int buf_append(struct buf *buf, const void *bytes, size_t len);
int buf_append_str(struct buf *buf, const char *text);
int buf_append_char(struct buf *buf, char c);
int buf_append_u32le(struct buf *buf, uint32_t value);
int buf_printf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Room for at least `len` more bytes: pointer to write to, then buf_commit() with at most len.
 * NULL if beyond the maximum or out of memory. */
char *buf_reserve(struct buf *buf, size_t len);
void buf_commit(struct buf *buf, size_t len);

/* Drops len bytes from the front (all if len is larger). */
void buf_consume(struct buf *buf, size_t len);

/* The content as a C string, "" when empty; valid until the next change. */
const char *buf_str(const struct buf *buf);

/* Gives the bytes (NUL-terminated, caller frees) away and empties the buffer; NULL on ENOMEM. */
char *buf_take(struct buf *buf);

#define cleanup_buf __attribute__((cleanup(buf_done)))
