/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DNS names as on the wire (RFC 1035 section 3.1), lower-cased: two spellings are one name. */
#define DNS_MAX_NAME       255 /* with the root's byte */
#define DNS_MAX_LABEL      63
#define DNS_NAME_TEXT_SIZE 256

struct dns_name {
    uint8_t len;
    uint8_t wire[DNS_MAX_NAME];
};

/* Reads the name at *at of a message and moves *at behind it. Pointers (RFC 1035 section 4.1.4)
 * only if compressed, only backwards, and MAX_NAME_POINTERS of them. -EBADMSG; *at untouched. */
int dns_name_read(const uint8_t *bytes, size_t len, size_t *at, bool compressed,
                  struct dns_name *ret_name);

bool dns_name_equal(const struct dns_name *a, const struct dns_name *b);

/* A label or more, of nothing but letters, digits, '-' and '_': what a host can be called. */
bool dns_name_is_host(const struct dns_name *name);

/* Without the final dot; bytes that no host is called by become '?'. The root is ".". */
void dns_name_print(const struct dns_name *name, char ret_text[static DNS_NAME_TEXT_SIZE]);
