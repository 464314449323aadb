/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/lookup.h"

#include "common/cleanup.h"
#include "node-agent/resolver/decision.h"
#include "node-agent/resolver/exchange.h"
#include "node-agent/resolver/names_policy.h"
#include "node-agent/resolver/tcp_server.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <utlist.h>

/* Meta types (RFC 6895 section 3.1): what they ask for is not data of a name. */
#define FIRST_META_TYPE 249u /* TKEY; up to ANY */
#define LAST_META_TYPE  255u

static_assert(MAX_ANSWER_ADDRESSES <= 32, "a bit for each address");

struct lookup {
    struct lookup *prev, *next;
    struct resolver *resolver;
    struct client client;
    struct dns_query query;
    int slot;
    uint32_t ports; /* that the jailer is to open the addresses for; 0: it needn't */
    uint64_t began_ms;
    struct exchange *exchange;
    unsigned int forbidden;
    /* While the jailer is asked: */
    struct dns_answer *answer;
    struct loop_timer *timer;
    uint64_t first_sequence;
    unsigned int sent;         /* of the answer's addresses */
    uint32_t answered;         /* a bit for each */
    uint32_t refused;          /* a bit for each */
    bool other_than_forbidden; /* for another reason than that nobody may have it */
};

static struct slot *slot_of(const struct lookup *lookup)
{
    return &lookup->resolver->slots->entries[lookup->slot];
}

static void show_load(const struct resolver *resolver)
{
    metrics_set_load(resolver->slots->open_count, resolver->lookup_count, resolver->tcp_count);
}

static void lookup_free(struct lookup *lookup)
{
    struct resolver *resolver = lookup->resolver;
    DL_DELETE(resolver->lookups, lookup);
    resolver->lookup_count--;
    slot_of(lookup)->lookups--;
    exchange_free(lookup->exchange);
    loop_timer_free(lookup->timer);
    free(lookup->answer);
    free(lookup);
    show_load(resolver);
}

static void settle(struct lookup *lookup, enum outcome outcome, const struct dns_answer *answer)
{
    const struct decision decision = {.client = &lookup->client,
                                      .query = &lookup->query,
                                      .slot = lookup->slot,
                                      .outcome = outcome,
                                      .answer = answer,
                                      .forbidden = lookup->forbidden,
                                      .began_ms = lookup->began_ms};
    decision_settle(lookup->resolver, &decision);
    lookup_free(lookup);
}

/* What the same sandbox is told if it asks again soon. */
static void settle_and_keep(struct lookup *lookup, enum outcome outcome,
                            const struct dns_answer *answer)
{
    answer_cache_put(&slot_of(lookup)->cache, resolver_now_ms(), &lookup->query, answer, outcome);
    bool is_told = outcome == OUTCOME_ANSWERED || outcome == OUTCOME_EMPTY;
    settle(lookup, outcome, is_told ? answer : NULL);
}

/* The jailer has answered for every address. */
static void end_opening(struct lookup *lookup)
{
    struct dns_answer *answer = lookup->answer;
    unsigned int kept = 0;
    for (unsigned int i = 0; i < answer->address_count; i++) {
        if (!(lookup->refused & 1u << i))
            answer->addresses[kept++] = answer->addresses[i];
    }
    metrics_count_addresses(ADDRESS_NOT_OPENED, answer->address_count - kept);
    answer->address_count = kept;
    if (kept > 0)
        settle_and_keep(lookup, OUTCOME_ANSWERED, answer);
    else if (lookup->other_than_forbidden)
        settle(lookup, OUTCOME_NOT_OPENED, NULL);
    else
        settle_and_keep(lookup, OUTCOME_ADDRESS, answer);
}

static void on_jailer_is_late(void *arg)
{
    settle(arg, OUTCOME_NOT_OPENED, NULL);
}

/* As many as the jailer's socket takes; the rest when it is writable. */
static void ask_jailer(struct lookup *lookup)
{
    const struct dns_answer *answer = lookup->answer;
    for (; lookup->sent < answer->address_count; lookup->sent++) {
        const struct dns_address *entry = &answer->addresses[lookup->sent];
        struct resolver_message message = {
            .type = RESOLVER_ALLOW,
            .allow = {.sequence = lookup->first_sequence + lookup->sent,
                      .slot = (uint32_t)lookup->slot,
                      .generation = slot_of(lookup)->generation,
                      .ports = lookup->ports,
                      .family = entry->address.family,
                      .ttl_seconds = dns_answer_ttl(answer)}};
        memcpy(message.allow.address, entry->address.bytes, sizeof(message.allow.address));
        if (jailer_link_send(lookup->resolver->link, &message) < 0)
            return;
    }
}

/* The answer leaves only after the jailer has opened what is in it: a program that connects at
 * once must not be refused. */
static void begin_opening(struct lookup *lookup, const struct dns_answer *answer)
{
    struct resolver *resolver = lookup->resolver;
    lookup->answer = malloc(sizeof(*answer));
    if (!lookup->answer ||
        loop_timer_new(resolver->loop, on_jailer_is_late, lookup, &lookup->timer) < 0 ||
        loop_timer_arm(lookup->timer, JAILER_WORD_WITHIN_MS) < 0) {
        settle(lookup, OUTCOME_BUSY, NULL);
        return;
    }
    *lookup->answer = *answer;
    lookup->first_sequence = resolver->last_sequence + 1;
    resolver->last_sequence += answer->address_count;
    ask_jailer(lookup);
}

/* Whether or not there is such a name: that, too, would be telling. */
static bool leads_inside(const struct dns_answer *answer)
{
    for (unsigned int i = 0; i < answer->cname_count; i++) {
        if (!names_policy_is_public(&answer->cnames[i].target))
            return true;
    }
    return false;
}

static void on_answer(const struct dns_answer *upstream, size_t bytes, void *arg)
{
    struct lookup *lookup = arg;
    struct resolver *resolver = lookup->resolver;
    if (!upstream || !budget_take_answer(&slot_of(lookup)->budget, bytes)) {
        settle(lookup, upstream ? OUTCOME_SPENT : OUTCOME_UPSTREAM, NULL);
        return;
    }
    struct dns_answer answer = *upstream;
    exchange_free(TAKE_PTR(lookup->exchange));
    metrics_count_addresses(ADDRESS_BEYOND, answer.left_out);
    lookup->forbidden = address_filter_apply(&resolver->filter, &answer);
    metrics_count_addresses(ADDRESS_FORBIDDEN, lookup->forbidden);
    if (answer.truncated)
        settle(lookup, OUTCOME_TRUNCATED, &answer);
    else if (leads_inside(&answer))
        settle_and_keep(lookup, OUTCOME_NAME, &answer);
    else if (answer.rcode == DNS_RCODE_NXDOMAIN)
        settle_and_keep(lookup, OUTCOME_NXDOMAIN, &answer);
    else if (answer.address_count == 0)
        settle_and_keep(lookup, lookup->forbidden > 0 ? OUTCOME_ADDRESS : OUTCOME_EMPTY, &answer);
    else if (lookup->ports == 0)
        settle_and_keep(lookup, OUTCOME_ANSWERED, &answer);
    else
        begin_opening(lookup, &answer);
}

/* A client that has waited for long asks again: one answer is enough. */
static bool is_asked_again(const struct resolver *resolver, const struct client *client,
                           const struct dns_query *query)
{
    for (const struct lookup *lookup = resolver->lookups; lookup; lookup = lookup->next) {
        if (lookup->query.id == query->id && lookup->query.type == query->type &&
            client_is_same(&lookup->client, client) &&
            dns_name_equal(&lookup->query.name, &query->name))
            return true;
    }
    return false;
}

static int lookup_new(struct resolver *resolver, const struct client *client,
                      const struct dns_query *query, int slot, uint32_t ports)
{
    struct lookup *lookup = calloc(1, sizeof(*lookup));
    if (!lookup)
        return -ENOMEM;
    *lookup = (struct lookup){.resolver = resolver,
                              .client = *client,
                              .query = *query,
                              .slot = slot,
                              .ports = ports,
                              .began_ms = resolver_now_ms()};
    DL_PREPEND(resolver->lookups, lookup);
    resolver->lookup_count++;
    slot_of(lookup)->lookups++;
    int r = exchange_new(resolver->loop, resolver->upstreams, &lookup->query, client->tcp,
                         on_answer, lookup, &lookup->exchange, NULL);
    if (r < 0)
        lookup_free(lookup);
    show_load(resolver);
    return r;
}

/* 0: the outcome is known; 1: it takes an upstream. */
static int judge(struct resolver *resolver, const struct dns_query *query, int index,
                 uint32_t *ret_ports, enum outcome *ret_outcome)
{
    struct slot *slot = &resolver->slots->entries[index];
    if (!slot->is_open)
        *ret_outcome = jailer_link_is_up(resolver->link) ? OUTCOME_CLIENT : OUTCOME_NO_JAILER;
    else if (!bucket_take(&slot->budget.queries, resolver_now_ms(), QUERY_RATE, QUERY_BURST))
        *ret_outcome = OUTCOME_RATE;
    else if (query->type != DNS_TYPE_A && query->type != DNS_TYPE_AAAA)
        *ret_outcome = OUTCOME_TYPE;
    else if (names_policy_judge(&slot->egress, &query->name, ret_ports) != NAMES_ALLOWED)
        *ret_outcome = OUTCOME_NAME;
    else
        return 1;
    return 0;
}

static enum outcome take_upstream(struct resolver *resolver, const struct dns_query *query,
                                  struct slot *slot)
{
    if (resolver->lookup_count == MAX_LOOKUPS || slot->lookups == MAX_SLOT_LOOKUPS)
        return OUTCOME_BUSY;
    switch (budget_take_upstream(&slot->budget, resolver_now_ms(), &query->name)) {
    case BUDGET_RATE:
        return OUTCOME_RATE;
    case BUDGET_SPENT:
        return OUTCOME_SPENT;
    case BUDGET_OK:
        break;
    }
    return OUTCOME_ANSWERED;
}

static void begin_query(struct resolver *resolver, const struct client *client,
                        const struct dns_query *query, int index)
{
    struct decision decision = {.client = client, .query = query, .slot = index};
    struct slot *slot = &resolver->slots->entries[index];
    struct dns_answer answer;
    uint32_t ports = 0;
    unsigned int note = 0;
    if (judge(resolver, query, index, &ports, &decision.outcome) == 0) {
        decision_settle(resolver, &decision);
        return;
    }
    if (answer_cache_get(&slot->cache, resolver_now_ms(), query, &answer, &note, &decision.age) ==
        0) {
        decision.outcome = (enum outcome)note;
        if (note == OUTCOME_ANSWERED || note == OUTCOME_EMPTY)
            decision.answer = &answer;
        decision.is_cached = true;
        decision_settle(resolver, &decision);
        return;
    }
    if (is_asked_again(resolver, client, query))
        return;
    decision.outcome = take_upstream(resolver, query, slot);
    if (decision.outcome == OUTCOME_ANSWERED &&
        lookup_new(resolver, client, query, index, ports) >= 0)
        return;
    if (decision.outcome == OUTCOME_ANSWERED)
        decision.outcome = OUTCOME_BUSY;
    decision_settle(resolver, &decision);
}

void lookup_begin(struct resolver *resolver, const struct client *client, const uint8_t *bytes,
                  size_t len)
{
    struct dns_query query;
    int slot = slots_find(resolver->slots, &client->peer.any);
    enum dns_query_verdict verdict = dns_query_parse(bytes, len, &query);
    if (slot < 0 || verdict == DNS_QUERY_IGNORE) {
        /* Whoever it is: no reply makes of this an amplifier, or an answer to an answer. */
        metrics_count_query(slot < 0 ? OUTCOME_CLIENT : OUTCOME_MALFORMED);
        if (client->tcp)
            tcp_connection_reply(client->tcp, NULL, 0);
        return;
    }
    bool is_meta = query.type >= FIRST_META_TYPE && query.type <= LAST_META_TYPE;
    if (verdict == DNS_QUERY_OK && (is_meta || query.type == DNS_TYPE_OPT))
        verdict = DNS_QUERY_NOTIMP;
    if (verdict == DNS_QUERY_OK) {
        begin_query(resolver, client, &query, slot);
        return;
    }
    const struct decision decision = {.client = client,
                                      .query = &query,
                                      .slot = slot,
                                      .outcome = OUTCOME_MALFORMED,
                                      .malformed = verdict};
    decision_settle(resolver, &decision);
}

void lookup_take_opened(struct resolver *resolver, const struct resolver_opened *opened)
{
    struct lookup *lookup = resolver->lookups;
    while (lookup && !(lookup->answer && opened->sequence >= lookup->first_sequence &&
                       opened->sequence - lookup->first_sequence < lookup->sent))
        lookup = lookup->next;
    if (!lookup)
        return;
    uint32_t bit = 1u << (opened->sequence - lookup->first_sequence);
    if (lookup->answered & bit)
        return;
    lookup->answered |= bit;
    if (opened->errnum != 0)
        lookup->refused |= bit;
    if (opened->errnum != 0 && opened->errnum != EACCES)
        lookup->other_than_forbidden = true;
    if ((unsigned int)__builtin_popcount(lookup->answered) == lookup->answer->address_count)
        end_opening(lookup);
}

void lookup_resume(struct resolver *resolver)
{
    for (struct lookup *lookup = resolver->lookups; lookup; lookup = lookup->next) {
        if (lookup->answer)
            ask_jailer(lookup);
    }
}

void lookup_cancel_connection(struct resolver *resolver, const struct tcp_connection *connection)
{
    struct lookup *lookup = resolver->lookups;
    while (lookup) {
        struct lookup *next = lookup->next;
        if (lookup->client.tcp == connection)
            settle(lookup, OUTCOME_GONE, NULL);
        lookup = next;
    }
}

void lookup_cancel_slot(struct resolver *resolver, int slot, enum outcome outcome)
{
    struct lookup *lookup = resolver->lookups;
    while (lookup) {
        struct lookup *next = lookup->next;
        if (slot < 0 || lookup->slot == slot)
            settle(lookup, outcome, NULL);
        lookup = next;
    }
}
