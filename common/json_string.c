/* SPDX-License-Identifier: Apache-2.0 */
#include "common/json_string.h"

#include "common/utf8.h"

#include <string.h>

enum { JSON_ESCAPE_SIZE = 8, JSON_CHUNK_SIZE = 1024 };

static char json_short_escape(unsigned char c)
{
    switch (c) {
    case '"':
    case '\\':
        return (char)c;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return '\0';
    }
}

static size_t json_encode_escape(uint32_t code_point, char out[static JSON_ESCAPE_SIZE])
{
    static const char hex[] = "0123456789abcdef";
    char letter = code_point < 0x80 ? json_short_escape((unsigned char)code_point) : '\0';
    out[0] = '\\';
    if (letter) {
        out[1] = letter;
        return 2;
    }
    out[1] = 'u';
    for (unsigned int i = 0; i < 4; i++)
        out[2 + i] = hex[code_point >> (12 - 4 * i) & 0xF];
    return 6;
}

static bool json_is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

/* Encodes the first character of bytes (len > 0): size of its encoding, bytes it took. */
static size_t json_encode_one(const char *bytes, size_t len, char out[static JSON_ESCAPE_SIZE],
                              size_t *ret_used)
{
    unsigned char c = (unsigned char)bytes[0];
    *ret_used = 1;
    if (json_is_plain(c)) {
        out[0] = bytes[0];
        return 1;
    }
    if (c < 0x80)
        return json_encode_escape(c, out);

    uint32_t code_point = 0;
    size_t used = utf8_decode(bytes, len, &code_point);
    if (used == 0) {
        memcpy(out, UTF8_REPLACEMENT, sizeof(UTF8_REPLACEMENT) - 1);
        return sizeof(UTF8_REPLACEMENT) - 1;
    }
    *ret_used = used;
    if (code_point == 0x2028 || code_point == 0x2029)
        return json_encode_escape(code_point, out);
    memcpy(out, bytes, used);
    return used;
}

static int json_append_encoded(struct buf *buf, const char *bytes, size_t len)
{
    char chunk[JSON_CHUNK_SIZE];
    size_t fill = 0;
    while (len > 0) {
        size_t used = 0;
        fill += json_encode_one(bytes, len, chunk + fill, &used);
        bytes += used;
        len -= used;
        if (fill + JSON_ESCAPE_SIZE > sizeof(chunk)) {
            int r = buf_append(buf, chunk, fill);
            if (r < 0)
                return r;
            fill = 0;
        }
    }
    return buf_append(buf, chunk, fill);
}

int json_append_string(struct buf *buf, const char *bytes, size_t len)
{
    size_t before = buf->len;
    int r = buf_append_char(buf, '"');
    if (r == 0)
        r = json_append_encoded(buf, bytes, len);
    if (r == 0)
        r = buf_append_char(buf, '"');
    if (r < 0)
        buf_truncate(buf, before);
    return r;
}

int json_append_member(struct buf *buf, const char *key, const char *text)
{
    size_t before = buf->len;
    bool first = before > 0 && buf->data[before - 1] == '{';
    int r = buf_printf(buf, first ? "\"%s\":" : ",\"%s\":", key);
    if (r == 0)
        r = json_append_string(buf, text, strlen(text));
    if (r < 0)
        buf_truncate(buf, before);
    return r;
}

size_t json_string_size(const char *bytes, size_t len)
{
    size_t size = 0;
    while (len > 0) {
        char out[JSON_ESCAPE_SIZE];
        size_t used = 0;
        size += json_encode_one(bytes, len, out, &used);
        bytes += used;
        len -= used;
    }
    return size;
}

size_t json_string_fit(const char *bytes, size_t len, size_t size)
{
    size_t fit = 0;
    while (fit < len) {
        char out[JSON_ESCAPE_SIZE];
        size_t used = 0;
        size_t encoded = json_encode_one(bytes + fit, len - fit, out, &used);
        if (encoded > size)
            break;
        size -= encoded;
        fit += used;
    }
    return fit;
}

void json_quote(const char *text, char ret_quoted[static JSON_QUOTE_SIZE])
{
    static const char cut_mark[] = "...";
    struct buf quoted = {.data = ret_quoted, .cap = JSON_QUOTE_SIZE, .max = JSON_QUOTE_SIZE - 1};
    size_t len = strlen(text);
    size_t fit = json_string_fit(text, len, JSON_QUOTE_SIZE - 2 - sizeof(cut_mark));
    (void)json_append_string(&quoted, text, fit);
    if (fit < len)
        (void)buf_append_str(&quoted, cut_mark);
}
