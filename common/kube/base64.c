/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/base64.h"

#include <errno.h>
#include <stdint.h>

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

int base64_decode(const char *text, size_t len, struct buf *buf)
{
    uint32_t group = 0;
    unsigned int digits = 0;
    unsigned int padding = 0;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '\n' || c == '\r')
            continue;
        int value = c == '=' ? 0 : digit(c);
        if (value < 0 || (c != '=' && padding > 0))
            return -EINVAL;
        padding += c == '=';
        group = group << 6 | (uint32_t)value;
        if (++digits < 4)
            continue;
        const char bytes[3] = {(char)(group >> 16), (char)(group >> 8), (char)group};
        if (padding > 2)
            return -EINVAL;
        int r = buf_append(buf, bytes, 3 - padding);
        if (r < 0)
            return r;
        if (padding > 0) {
            /* Nothing may follow but line breaks. */
            for (i++; i < len; i++) {
                if (text[i] != '\n' && text[i] != '\r')
                    return -EINVAL;
            }
            return 0;
        }
        digits = 0;
        group = 0;
    }
    return digits == 0 ? 0 : -EINVAL;
}
