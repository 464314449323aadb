/* SPDX-License-Identifier: Apache-2.0 */
#include "common/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUF_FIRST_SIZE = 64 };

void buf_init(struct buf *buf, size_t max)
{
    *buf = BUF_INIT(max);
}

void buf_done(struct buf *buf)
{
    if (!buf)
        return;
    free(buf->data);
    *buf = BUF_INIT(buf->max);
}

void buf_reset(struct buf *buf)
{
    buf->len = 0;
    if (buf->data)
        buf->data[0] = '\0';
}

void buf_truncate(struct buf *buf, size_t len)
{
    if (len >= buf->len)
        return;
    buf->len = len;
    buf->data[len] = '\0';
}

/* Makes room for len more bytes and the NUL. Sizes double, so that n appends cost O(n). */
static int buf_grow(struct buf *buf, size_t len)
{
    if (buf->len > buf->max || len > buf->max - buf->len)
        return -EMSGSIZE;
    if (buf->max == SIZE_MAX && len == SIZE_MAX - buf->len)
        return -ENOMEM; /* no room for the NUL */
    size_t need = buf->len + len + 1;
    if (need <= buf->cap)
        return 0;
    size_t limit = buf->max == SIZE_MAX ? SIZE_MAX : buf->max + 1;
    size_t cap = buf->cap > limit / 2 ? limit : buf->cap * 2;
    if (cap < BUF_FIRST_SIZE)
        cap = BUF_FIRST_SIZE < limit ? BUF_FIRST_SIZE : limit;
    if (cap < need)
        cap = need;
    char *data = realloc(buf->data, cap);
    if (!data)
        return -ENOMEM;
    if (buf->len == 0)
        data[0] = '\0';
    buf->data = data;
    buf->cap = cap;
    return 0;
}

int buf_append(struct buf *buf, const void *bytes, size_t len)
{
    int r = buf_grow(buf, len);
    if (r < 0)
        return r;
    if (len > 0)
        memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return 0;
}

int buf_append_str(struct buf *buf, const char *text)
{
    return buf_append(buf, text, strlen(text));
}

int buf_append_char(struct buf *buf, char c)
{
    return buf_append(buf, &c, 1);
}

int buf_append_u32le(struct buf *buf, uint32_t value)
{
    unsigned char bytes[4];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    return buf_append(buf, bytes, sizeof(bytes));
}

/* One formatting into the room that is there, a second one where that was too small. */
int buf_printf(struct buf *buf, const char *fmt, ...)
{
    size_t room = buf->cap > buf->len ? buf->cap - buf->len : 0;
    va_list args;
    va_start(args, fmt);
    int wanted = vsnprintf(room ? buf->data + buf->len : NULL, room, fmt, args);
    va_end(args);

    int r = wanted < 0 ? -EINVAL : buf_grow(buf, (size_t)wanted);
    if (r < 0) {
        if (room)
            buf->data[buf->len] = '\0';
        return r;
    }
    if ((size_t)wanted >= room) {
        va_start(args, fmt);
        (void)vsnprintf(buf->data + buf->len, (size_t)wanted + 1, fmt, args);
        va_end(args);
    }
    buf->len += (size_t)wanted;
    return 0;
}

char *buf_reserve(struct buf *buf, size_t len)
{
    return buf_grow(buf, len) < 0 ? NULL : buf->data + buf->len;
}

void buf_commit(struct buf *buf, size_t len)
{
    size_t room = buf->cap > buf->len ? buf->cap - buf->len - 1 : 0;
    if (len > room)
        len = room;
    if (len == 0)
        return;
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void buf_consume(struct buf *buf, size_t len)
{
    if (len == 0)
        return;
    if (len >= buf->len) {
        buf_reset(buf);
        return;
    }
    buf->len -= len;
    memmove(buf->data, buf->data + len, buf->len + 1);
}

const char *buf_str(const struct buf *buf)
{
    return buf->data ? buf->data : "";
}

char *buf_take(struct buf *buf)
{
    char *data = buf->data ? buf->data : calloc(1, 1);
    if (!data)
        return NULL;
    *buf = BUF_INIT(buf->max);
    return data;
}
