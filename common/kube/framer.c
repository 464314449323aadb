/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/framer.h"

#include <string.h>

/* A buffer beyond this is given back after its line: one large object must not stay in the
 * process's memory for good. */
#define KEEP_BYTES (16u << 10)

void framer_init(struct framer *framer, size_t max_line, framer_fn fn, void *arg)
{
    *framer = (struct framer){.max = max_line, .fn = fn, .arg = arg};
    buf_init(&framer->rest, max_line);
}

void framer_done(struct framer *framer)
{
    buf_done(&framer->rest);
}

void framer_reset(struct framer *framer)
{
    if (framer->rest.cap > KEEP_BYTES)
        buf_done(&framer->rest);
    else
        buf_reset(&framer->rest);
    framer->skipping = false;
}

static int hand_over(struct framer *framer, const char *line, size_t len, bool oversized)
{
    if (!oversized && len > 0 && line[len - 1] == '\r')
        len--;
    if (len == 0)
        return 0;
    return framer->fn(line, len, oversized, framer->arg);
}

/* The line that has begun, of which `piece` is the last part that still fits. */
static int overflow(struct framer *framer, const char *piece, size_t len)
{
    size_t room = framer->max - framer->rest.len;
    int r;

    if (framer->rest.len == 0) {
        r = hand_over(framer, piece, len < room ? len : room, true);
    } else {
        /* Without memory for the rest, what is there names the object well enough. */
        (void)buf_append(&framer->rest, piece, len < room ? len : room);
        r = hand_over(framer, framer->rest.data, framer->rest.len, true);
    }
    framer_reset(framer);
    framer->skipping = true;
    return r;
}

static int end_line(struct framer *framer, const char *piece, size_t len)
{
    int r;

    if (framer->skipping) {
        framer->skipping = false;
        return 0;
    }
    if (len > framer->max - framer->rest.len) {
        r = overflow(framer, piece, len);
        framer->skipping = false;
        return r;
    }
    if (framer->rest.len == 0)
        return hand_over(framer, piece, len, false);
    if (buf_append(&framer->rest, piece, len) < 0) {
        r = overflow(framer, piece, 0);
        framer->skipping = false;
        return r;
    }
    r = hand_over(framer, framer->rest.data, framer->rest.len, false);
    framer_reset(framer);
    return r;
}

static int keep_piece(struct framer *framer, const char *piece, size_t len)
{
    if (framer->skipping || len == 0)
        return 0;
    if (len > framer->max - framer->rest.len)
        return overflow(framer, piece, len);
    if (buf_append(&framer->rest, piece, len) < 0)
        return overflow(framer, piece, 0);
    return 0;
}

int framer_feed(struct framer *framer, const char *bytes, size_t len)
{
    while (len > 0) {
        const char *newline = memchr(bytes, '\n', len);
        if (!newline)
            return keep_piece(framer, bytes, len);
        size_t n = (size_t)(newline - bytes);
        int r = end_line(framer, bytes, n);
        if (r < 0)
            return r;
        bytes += n + 1;
        len -= n + 1;
    }
    return 0;
}
