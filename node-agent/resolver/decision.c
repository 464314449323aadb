/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/decision.h"

#include "common/log.h"
#include "node-agent/resolver/dns_reply.h"
#include "node-agent/resolver/tcp_server.h"

#include <stdio.h>
#include <string.h>

/*
 * What a program makes of a reply decides: NXDOMAIN is final and every resolver library says so at
 * once, for names and addresses that a run may never have. It is also what there is to say of a
 * name in the node's own network, where "exists, but not for you" would be telling. REFUSED makes
 * a library try again and then speak of a temporary failure, which is what a rate is. A type
 * beside A and AAAA doesn't exist here, while the name may: an empty answer, after which a library
 * goes on with what it has (NOTIMP would make it ask again, with what nobody offers).
 */
static const struct refusal {
    enum dns_rcode rcode;
    enum dns_extended_error why;
    bool is_denied; /* the jailer counts it for status.denied */
} refusals[OUTCOME_COUNT] = {
    [OUTCOME_EMPTY] = {DNS_RCODE_OK, DNS_EXTENDED_NONE, false},
    [OUTCOME_NXDOMAIN] = {DNS_RCODE_NXDOMAIN, DNS_EXTENDED_NONE, false},
    [OUTCOME_NAME] = {DNS_RCODE_NXDOMAIN, DNS_EXTENDED_FILTERED, true},
    [OUTCOME_ADDRESS] = {DNS_RCODE_NXDOMAIN, DNS_EXTENDED_BLOCKED, true},
    [OUTCOME_TYPE] = {DNS_RCODE_OK, DNS_EXTENDED_NONE, false},
    [OUTCOME_RATE] = {DNS_RCODE_REFUSED, DNS_EXTENDED_PROHIBITED, true},
    [OUTCOME_SPENT] = {DNS_RCODE_REFUSED, DNS_EXTENDED_PROHIBITED, true},
    [OUTCOME_BUSY] = {DNS_RCODE_REFUSED, DNS_EXTENDED_PROHIBITED, false},
    [OUTCOME_CLIENT] = {DNS_RCODE_REFUSED, DNS_EXTENDED_PROHIBITED, false},
    [OUTCOME_NO_JAILER] = {DNS_RCODE_REFUSED, DNS_EXTENDED_PROHIBITED, false},
    [OUTCOME_UPSTREAM] = {DNS_RCODE_SERVFAIL, DNS_EXTENDED_NO_UPSTREAM, false},
    [OUTCOME_NOT_OPENED] = {DNS_RCODE_SERVFAIL, DNS_EXTENDED_PROHIBITED, true},
};

static const enum dns_rcode malformed_rcodes[] = {
    [DNS_QUERY_FORMERR] = DNS_RCODE_FORMERR,
    [DNS_QUERY_NOTIMP] = DNS_RCODE_NOTIMP,
    [DNS_QUERY_BADVERS] = DNS_RCODE_BADVERS,
    [DNS_QUERY_REFUSED] = DNS_RCODE_REFUSED,
};

static size_t build(const struct decision *decision, uint8_t bytes[static DNS_MAX_REPLY])
{
    const struct dns_query *query = decision->query;
    const struct refusal *refusal = &refusals[decision->outcome];
    size_t max = decision->client->tcp ? DNS_MAX_REPLY : query->udp_size;
    if (decision->outcome == OUTCOME_MALFORMED)
        return dns_reply_error(query, malformed_rcodes[decision->malformed], DNS_EXTENDED_NONE,
                               bytes);
    if (decision->answer)
        return dns_reply_answer(query, decision->answer, decision->age, max, bytes);
    return dns_reply_error(query, refusal->rcode, refusal->why, bytes);
}

static void send_reply(const struct decision *decision)
{
    uint8_t bytes[DNS_MAX_REPLY];
    size_t len = build(decision, bytes);
    if (decision->client->tcp)
        tcp_connection_reply(decision->client->tcp, bytes, len);
    else
        client_send_udp(decision->client, bytes, len);
}

static const char *type_text(uint16_t type, char text[static 8])
{
    if (type == DNS_TYPE_A)
        return "A";
    if (type == DNS_TYPE_AAAA)
        return "AAAA";
    (void)snprintf(text, 8, "%u", type);
    return text;
}

static void write_log(struct resolver *resolver, const struct decision *decision, const char *name)
{
    uint64_t now = resolver_now_ms();
    struct slot *slot = decision->slot < 0 ? NULL : &resolver->slots->entries[decision->slot];
    char type[8];
    if ((slot && !bucket_take(&slot->budget.log, now, LOG_RATE, LOG_BURST)) ||
        !bucket_take(&resolver->log, now, MAX_LOG_RATE, MAX_LOG_BURST)) {
        metrics_count_lost_log_line();
        return;
    }
    /* Of a slot that nobody has, the table remembers who had it. */
    bool is_known = slot && (slot->is_open || decision->outcome == OUTCOME_GONE);
    unsigned int addresses = decision->answer ? decision->answer->address_count : 0;
    log_event(LOG_LEVEL_INFO, "lookup", LOG_TEXT("sandbox", is_known ? slot->id : NULL),
              LOG_NUMBER("slot", decision->slot),
              LOG_TEXT("outcome", outcome_word(decision->outcome)), LOG_TEXT("name", name),
              LOG_TEXT("type", name ? type_text(decision->query->type, type) : NULL),
              LOG_TEXT("via", decision->client->tcp ? "tcp" : "udp"),
              LOG_NUMBER("addresses", addresses), LOG_NUMBER("forbidden", decision->forbidden),
              LOG_NUMBER("cached", decision->is_cached),
              LOG_NUMBER("ms", decision->began_ms ? (long long)(now - decision->began_ms) : 0));
}

static void tell_jailer(struct resolver *resolver, const struct decision *decision,
                        const char *name)
{
    struct slot *slot = &resolver->slots->entries[decision->slot];
    struct resolver_message message = {
        .type = RESOLVER_DENIED,
        .denied = {.slot = (uint32_t)decision->slot, .generation = slot->generation}};
    memcpy(message.denied.name, name, strlen(name));
    if (!bucket_take(&slot->budget.denied, resolver_now_ms(), DENIED_RATE, DENIED_BURST) ||
        jailer_link_send(resolver->link, &message) < 0)
        metrics_count_lost_denial();
}

void decision_settle(struct resolver *resolver, const struct decision *decision)
{
    char text[DNS_NAME_TEXT_SIZE];
    const char *name = NULL;
    metrics_count_query(decision->outcome);
    if (decision->is_cached)
        metrics_count_cache_hit();
    if (decision->answer)
        metrics_count_addresses(ADDRESS_TOLD, decision->answer->address_count);
    if (decision->outcome != OUTCOME_GONE)
        send_reply(decision);
    if (decision->query->has_question) {
        dns_name_print(&decision->query->name, text);
        name = text;
    }
    write_log(resolver, decision, name);
    if (name && decision->slot >= 0 && refusals[decision->outcome].is_denied)
        tell_jailer(resolver, decision, name);
}
