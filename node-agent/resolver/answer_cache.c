/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/answer_cache.h"

#include "node-agent/resolver/dns_reply.h"
#include "node-agent/resolver/resolver_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As a reply to the plain question: a tenth of what the struct takes. */
struct answer_cache_entry {
    struct answer_cache_entry *older;
    uint64_t put_ms;
    uint64_t ends_ms;
    unsigned int note;
    size_t len;
    uint8_t reply[];
};

static size_t entry_size(const struct answer_cache_entry *entry)
{
    return sizeof(*entry) + entry->len;
}

static void remove_at(struct answer_cache *cache, struct answer_cache_entry **at)
{
    struct answer_cache_entry *entry = *at;
    *at = entry->older;
    cache->count--;
    cache->bytes -= entry_size(entry);
    free(entry);
}

static void remove_oldest(struct answer_cache *cache)
{
    struct answer_cache_entry **at = &cache->newest;
    while ((*at)->older)
        at = &(*at)->older;
    remove_at(cache, at);
}

void answer_cache_clear(struct answer_cache *cache)
{
    while (cache->newest)
        remove_at(cache, &cache->newest);
}

/* As an upstream would be asked: how a client spelled it or what else it wanted is not kept. */
static struct dns_query plain_query(const struct dns_query *query)
{
    struct dns_query plain = {.has_question = true, .name = query->name, .type = query->type};
    memcpy(plain.asked, query->name.wire, query->name.len);
    return plain;
}

static uint64_t life_ms(const struct dns_answer *answer)
{
    uint32_t seconds = answer->address_count > 0 ? dns_answer_ttl(answer) : CACHE_LEAST_S;
    if (seconds < CACHE_LEAST_S)
        seconds = CACHE_LEAST_S;
    return 1000u * (uint64_t)(seconds > CACHE_MOST_S ? CACHE_MOST_S : seconds);
}

void answer_cache_put(struct answer_cache *cache, uint64_t now_ms, const struct dns_query *query,
                      const struct dns_answer *answer, unsigned int note)
{
    uint8_t reply[DNS_MAX_REPLY];
    const struct dns_query plain = plain_query(query);
    size_t len = dns_reply_answer(&plain, answer, 0, sizeof(reply), reply);
    struct answer_cache_entry *entry = malloc(sizeof(*entry) + len);
    if (!entry)
        return;
    *entry = (struct answer_cache_entry){
        .put_ms = now_ms, .ends_ms = now_ms + life_ms(answer), .note = note, .len = len};
    memcpy(entry->reply, reply, len);
    while (cache->count > 0 && (cache->count == MAX_SLOT_CACHE_ENTRIES ||
                                cache->bytes + entry_size(entry) > MAX_SLOT_CACHE_BYTES))
        remove_oldest(cache);
    entry->older = cache->newest;
    cache->newest = entry;
    cache->count++;
    cache->bytes += entry_size(entry);
}

int answer_cache_get(struct answer_cache *cache, uint64_t now_ms, const struct dns_query *query,
                     struct dns_answer *ret_answer, unsigned int *ret_note, uint32_t *ret_age)
{
    const struct dns_query plain = plain_query(query);
    struct answer_cache_entry **at = &cache->newest;
    while (*at) {
        struct answer_cache_entry *entry = *at;
        if (entry->ends_ms <= now_ms) {
            remove_at(cache, at);
            continue;
        }
        if (dns_answer_parse(entry->reply, entry->len, &plain, 0, ret_answer) == 0) {
            *ret_note = entry->note;
            *ret_age = (uint32_t)((now_ms - entry->put_ms) / 1000);
            return 0;
        }
        at = &entry->older;
    }
    return -ENOENT;
}
