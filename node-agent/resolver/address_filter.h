/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/resolver_proto.h"
#include "node-agent/resolver/dns_answer.h"

/* The addresses that no sandbox is told: those that common/net/forbidden.h has, and what the
 * jailer adds of the node and the cluster. The jailer's own filter is the lock; this is so that a
 * program meets a resolver's error and not a connection's. */
struct address_filter {
    unsigned int extra_count;
    struct ip_prefix extra[RESOLVER_MAX_FORBIDDEN];
};

void address_filter_init(struct address_filter *filter, const struct resolver_hello *hello);

/* Takes the forbidden ones out of the answer; how many there were. */
unsigned int address_filter_apply(const struct address_filter *filter, struct dns_answer *answer);
