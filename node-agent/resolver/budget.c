/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/budget.h"

#include <string.h>

#define US_PER_MS     1000u
#define US_PER_SECOND 1000000u

bool bucket_take(struct token_bucket *bucket, uint64_t now_ms, uint32_t rate, uint32_t burst)
{
    return token_bucket_take(bucket, now_ms * US_PER_MS, burst, US_PER_SECOND / rate);
}

static bool is_known(const struct budget *budget, const struct dns_name *name)
{
    size_t at = 0;
    for (uint32_t i = 0; i < budget->name_count; i++) {
        if (budget->lengths[i] == name->len &&
            memcmp(budget->names + at, name->wire, name->len) == 0)
            return true;
        at += budget->lengths[i];
    }
    return false;
}

enum budget_verdict budget_take_upstream(struct budget *budget, uint64_t now_ms,
                                         const struct dns_name *name)
{
    bool known = is_known(budget, name);
    if (budget->upstream_queries == MAX_RUN_UPSTREAM_QUERIES ||
        budget->answer_bytes >= MAX_RUN_ANSWER_BYTES)
        return BUDGET_SPENT;
    if (!known && (budget->name_count == MAX_RUN_NAMES ||
                   budget->name_bytes + name->len > MAX_RUN_NAME_BYTES))
        return BUDGET_SPENT;
    if (!bucket_take(&budget->upstream, now_ms, UPSTREAM_RATE, UPSTREAM_BURST))
        return BUDGET_RATE;
    budget->upstream_queries++;
    if (!known) {
        memcpy(budget->names + budget->name_bytes, name->wire, name->len);
        budget->lengths[budget->name_count++] = name->len;
        budget->name_bytes += name->len;
    }
    return BUDGET_OK;
}

bool budget_take_answer(struct budget *budget, size_t bytes)
{
    if (bytes > MAX_RUN_ANSWER_BYTES - budget->answer_bytes) {
        budget->answer_bytes = MAX_RUN_ANSWER_BYTES;
        return false;
    }
    budget->answer_bytes += (uint32_t)bytes;
    return true;
}
