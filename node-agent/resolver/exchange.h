/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/loop.h"
#include "node-agent/resolver/dns_answer.h"
#include "node-agent/resolver/upstreams.h"

/*
 * One question to the upstreams, one after the other, until one answers. Each try has a random id
 * and a socket of its own, connected, so that the kernel takes answers from that server's address
 * and port alone; what comes on it must bear the id and the question.
 */
struct exchange;

/* answer: of rcode OK or NXDOMAIN, or truncated (by UDP only); bytes: its length as it came. NULL:
 * nobody answered properly within LOOKUP_WITHIN_MS. Once, never from within exchange_new(); the
 * exchange may be freed from within. */
typedef void (*exchange_fn)(const struct dns_answer *answer, size_t bytes, void *arg);

/* query and upstreams outlive it. */
int exchange_new(struct loop *loop, const struct upstreams *upstreams,
                 const struct dns_query *query, bool tcp, exchange_fn fn, void *arg,
                 struct exchange **ret_exchange, struct error *err);

void exchange_free(struct exchange *exchange);
