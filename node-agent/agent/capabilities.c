/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/capabilities.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define MAX_STATUS_FILE (16u << 10)
#define MASK_DIGITS     16

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_set(const char *text, const char *key, uint64_t *ret_set)
{
    const char *at = strstr(text, key);
    uint64_t set = 0;

    if (!at)
        return -EINVAL;
    at += strlen(key);
    for (int i = 0; i < MASK_DIGITS; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -EINVAL;
        set = set << 4 | (uint64_t)digit;
    }
    *ret_set = set;
    return 0;
}

int capabilities_parse(const char *text, uint64_t *ret_mask)
{
    static const char *const keys[] = {"\nCapPrm:\t", "\nCapEff:\t", "\nCapAmb:\t"};
    uint64_t mask = 0;

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        uint64_t set;
        int r = parse_set(text, keys[i], &set);
        if (r < 0)
            return r;
        mask |= set;
    }
    *ret_mask = mask;
    return 0;
}

int capabilities_read(uint64_t *ret_mask)
{
    cleanup_buf struct buf text = BUF_INIT(MAX_STATUS_FILE);
    int r = fd_read_file(AT_FDCWD, "/proc/self/status", false, &text);

    return r < 0 ? r : capabilities_parse(buf_str(&text), ret_mask);
}
