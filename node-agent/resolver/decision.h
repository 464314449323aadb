/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/resolver/client.h"
#include "node-agent/resolver/resolver.h"
#include "node-agent/resolver/resolver_metrics.h"

/* What became of a query: the reply, a line in the log, the metrics, and a word to the jailer
 * where a name was refused. */
struct decision {
    const struct client *client;
    const struct dns_query *query;
    int slot; /* -1: of no sandbox */
    enum outcome outcome;
    enum dns_query_verdict malformed; /* of OUTCOME_MALFORMED */
    const struct dns_answer *answer;  /* of OUTCOME_ANSWERED and OUTCOME_EMPTY, or NULL */
    unsigned int forbidden;           /* addresses that were taken out of it */
    bool is_cached;
    uint32_t age;      /* of a cached answer, in seconds */
    uint64_t began_ms; /* 0: just now */
};

void decision_settle(struct resolver *resolver, const struct decision *decision);
