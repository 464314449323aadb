/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/terminal.h"

#include "common/utf8.h"

#include <stdint.h>
#include <string.h>

static int append_code_point(uint32_t code_point, const char *bytes, size_t len, struct buf *out)
{
    if (code_point == '\n' || code_point == '\t' || code_point == '\r')
        return buf_append(out, bytes, len);
    if (code_point < 0x20)
        return buf_printf(out, "^%c", (int)(code_point + '@'));
    if (code_point == 0x7f)
        return buf_append_str(out, "^?");
    if (code_point >= 0x80 && code_point < 0xa0)
        return buf_printf(out, "<U+%04X>", code_point);
    return buf_append(out, bytes, len);
}

/* Whether bytes are the beginning of a character that more bytes could finish. */
static bool is_unfinished(const char *bytes, size_t len)
{
    unsigned char first = (unsigned char)bytes[0];
    size_t want = first >= 0xf0 && first < 0xf5   ? 4
                  : first >= 0xe0 && first < 0xf0 ? 3
                  : first >= 0xc2 && first < 0xe0 ? 2
                                                  : 1;
    if (len >= want)
        return false;
    for (size_t i = 1; i < len; i++) {
        if (((unsigned char)bytes[i] & 0xc0) != 0x80)
            return false;
    }
    return true;
}

/* Takes one character from the front; how many bytes it was, 0 if it is not all there yet. */
static int take_one(const char *bytes, size_t len, struct buf *out, size_t *ret_taken)
{
    uint32_t code_point;
    size_t taken = utf8_decode(bytes, len, &code_point);
    if (taken > 0) {
        *ret_taken = taken;
        return append_code_point(code_point, bytes, taken, out);
    }
    if (is_unfinished(bytes, len)) {
        *ret_taken = 0;
        return 0;
    }
    *ret_taken = 1;
    return buf_append_str(out, UTF8_REPLACEMENT);
}

/* Finishes a held character, byte by byte; *ret_used bytes of the new ones went into it. */
static int take_held(struct terminal_filter *filter, const char *bytes, size_t len, struct buf *out,
                     size_t *ret_used)
{
    size_t used = 0;
    int r = 0;
    while (r >= 0 && filter->held_len > 0) {
        size_t taken;
        r = take_one(filter->held, filter->held_len, out, &taken);
        if (r < 0)
            break;
        if (taken > 0) {
            filter->held_len -= taken;
            memmove(filter->held, filter->held + taken, filter->held_len);
        } else if (used < len) {
            filter->held[filter->held_len++] = bytes[used++];
        } else {
            break;
        }
    }
    *ret_used = used;
    return r;
}

int terminal_filter_append(struct terminal_filter *filter, const char *bytes, size_t len,
                           struct buf *out)
{
    size_t at;
    int r = take_held(filter, bytes, len, out, &at);
    while (r >= 0 && at < len) {
        size_t taken;
        r = take_one(bytes + at, len - at, out, &taken);
        if (r >= 0 && taken == 0) {
            filter->held_len = len - at;
            memcpy(filter->held, bytes + at, filter->held_len);
            break;
        }
        at += taken;
    }
    return r;
}

int terminal_filter_finish(struct terminal_filter *filter, struct buf *out)
{
    int r = filter->held_len > 0 ? buf_append_str(out, UTF8_REPLACEMENT) : 0;
    filter->held_len = 0;
    return r;
}

int terminal_append_line(const char *text, struct buf *out)
{
    struct terminal_filter filter = {0};
    size_t before = out->len;
    int r = terminal_filter_append(&filter, text, strlen(text), out);
    if (r >= 0)
        r = terminal_filter_finish(&filter, out);
    for (size_t i = before; i < out->len; i++) {
        if (strchr("\n\r\t", out->data[i]))
            out->data[i] = ' ';
    }
    return r;
}
