/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/token_bucket.h"
#include "node-agent/resolver/dns_name.h"
#include "node-agent/resolver/resolver_limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one sandbox may ask over its life and per second; the clock is the caller's. */
struct budget {
    struct token_bucket queries;
    struct token_bucket upstream;
    struct token_bucket log;
    struct token_bucket denied;
    uint32_t upstream_queries;
    uint32_t answer_bytes;
    uint32_t name_count;
    uint32_t name_bytes;
    uint8_t names[MAX_RUN_NAME_BYTES]; /* wire forms, one behind the other */
    uint8_t lengths[MAX_RUN_NAMES];
};

enum budget_verdict {
    BUDGET_OK,
    BUDGET_RATE,  /* come back later */
    BUDGET_SPENT, /* a total: nothing new leaves the node any more */
};

/* Takes one of burst, of which rate come back in a second; false if there is none. */
bool bucket_take(struct token_bucket *bucket, uint64_t now_ms, uint32_t rate, uint32_t burst);

/* A query that leaves the node: taken from the totals and the rate, or nothing is. */
enum budget_verdict budget_take_upstream(struct budget *budget, uint64_t now_ms,
                                         const struct dns_name *name);

/* What an upstream answered; false if it is more than the run may still get. */
bool budget_take_answer(struct budget *budget, size_t bytes);
