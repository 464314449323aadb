/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/resolver/resolver_limits.h"

#include <netinet/in.h>
#include <stddef.h>

/* The servers that are asked, in their order. */
union socket_address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

struct upstreams {
    unsigned int count;
    union socket_address entries[MAX_UPSTREAMS];
};

socklen_t socket_address_len(const union socket_address *address);

/* "ADDRESS", "IPV4:PORT" or "[IPV6]:PORT"; an IPv6 address may have %INTERFACE. Port 53 if none is
 * named. -EINVAL names text. */
int upstreams_add(struct upstreams *upstreams, const char *text, struct error *err);

/* The nameserver lines of a resolv.conf (resolv.conf(5)); all other lines, and addresses that are
 * none, are passed over. -ENOENT if there is none. */
int upstreams_parse_conf(struct upstreams *upstreams, const char *text, struct error *err);

int upstreams_read_conf(struct upstreams *upstreams, const char *path, struct error *err);
