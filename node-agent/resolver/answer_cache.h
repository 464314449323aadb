/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/resolver/dns_answer.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The answers of one sandbox's own lookups, for the programs that look one name up for each
 * request. Nobody else is answered from it, so it tells nobody anything. It also keeps repeated
 * queries from being a message to whoever serves the name: CACHE_LEAST_S holds for every answer.
 */
struct answer_cache_entry;

struct answer_cache {
    struct answer_cache_entry *newest;
    unsigned int count;
    size_t bytes;
};

void answer_cache_clear(struct answer_cache *cache);

/* Keeps an answer (also one without addresses) of which note is the caller's; the oldest go. Out of
 * memory: it isn't kept. */
void answer_cache_put(struct answer_cache *cache, uint64_t now_ms, const struct dns_query *query,
                      const struct dns_answer *answer, unsigned int note);

/* 0, or -ENOENT. ret_age: seconds since answer_cache_put(). */
int answer_cache_get(struct answer_cache *cache, uint64_t now_ms, const struct dns_query *query,
                     struct dns_answer *ret_answer, unsigned int *ret_note, uint32_t *ret_age);
