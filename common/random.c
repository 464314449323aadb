/* SPDX-License-Identifier: Apache-2.0 */
#include "common/random.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

int random_bytes(void *bytes, size_t len)
{
    unsigned char *p = bytes;
    while (len > 0) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int random_uuid(char ret_text[static RANDOM_UUID_SIZE])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char id[16];
    int r = random_bytes(id, sizeof(id));
    if (r < 0)
        return r;
    id[6] = (unsigned char)((id[6] & 0x0F) | 0x40); /* version 4 */
    id[8] = (unsigned char)((id[8] & 0x3F) | 0x80); /* variant of RFC 9562 */
    char *out = ret_text;
    for (size_t i = 0; i < sizeof(id); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        *out++ = hex[id[i] >> 4];
        *out++ = hex[id[i] & 0x0F];
    }
    *out = '\0';
    return 0;
}
