/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/dns_name.h"

#include "node-agent/resolver/resolver_limits.h"

#include <errno.h>
#include <string.h>

#define POINTER_BITS 0xc0u

static uint8_t to_lower(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte - 'A' + 'a') : byte;
}

/* Appends a label with its length byte; false beyond the longest name, the root's byte included. */
static bool append_label(struct dns_name *name, const uint8_t *label, uint8_t len)
{
    if (name->len + 1u + len + 1u > DNS_MAX_NAME)
        return false;
    name->wire[name->len++] = len;
    for (uint8_t i = 0; i < len; i++)
        name->wire[name->len++] = to_lower(label[i]);
    return true;
}

int dns_name_read(const uint8_t *bytes, size_t len, size_t *at, bool compressed,
                  struct dns_name *ret_name)
{
    struct dns_name name = {0};
    size_t pos = *at, behind = 0;
    unsigned int pointers = 0;
    for (;;) {
        if (pos >= len)
            return -EBADMSG;
        uint8_t head = bytes[pos];
        if (head == 0)
            break;
        if ((head & POINTER_BITS) == POINTER_BITS) {
            if (!compressed || pos + 2 > len || ++pointers > MAX_NAME_POINTERS)
                return -EBADMSG;
            size_t target = (size_t)(head & ~POINTER_BITS) << 8 | bytes[pos + 1];
            if (target >= pos)
                return -EBADMSG;
            if (behind == 0)
                behind = pos + 2;
            pos = target;
            continue;
        }
        /* The two other kinds of labels are extinct (RFC 6891 section 5). */
        if ((head & POINTER_BITS) != 0 || pos + 1 + head > len ||
            !append_label(&name, bytes + pos + 1, head))
            return -EBADMSG;
        pos += 1u + head;
    }
    name.wire[name.len++] = 0;
    *at = behind ? behind : pos + 1;
    *ret_name = name;
    return 0;
}

bool dns_name_equal(const struct dns_name *a, const struct dns_name *b)
{
    return a->len == b->len && memcmp(a->wire, b->wire, a->len) == 0;
}

static bool is_host_byte(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' ||
           byte == '_';
}

bool dns_name_is_host(const struct dns_name *name)
{
    if (name->len < 2)
        return false;
    for (size_t at = 0; name->wire[at] != 0; at += 1u + name->wire[at]) {
        for (size_t i = 1; i <= name->wire[at]; i++) {
            if (!is_host_byte(name->wire[at + i]))
                return false;
        }
    }
    return true;
}

void dns_name_print(const struct dns_name *name, char ret_text[static DNS_NAME_TEXT_SIZE])
{
    size_t out = 0;
    for (size_t at = 0; at < name->len && name->wire[at] != 0; at += 1u + name->wire[at]) {
        if (out > 0)
            ret_text[out++] = '.';
        for (size_t i = 1; i <= name->wire[at]; i++) {
            uint8_t byte = name->wire[at + i];
            ret_text[out++] = is_host_byte(byte) ? (char)byte : '?';
        }
    }
    if (out == 0)
        ret_text[out++] = '.';
    ret_text[out] = '\0';
}
