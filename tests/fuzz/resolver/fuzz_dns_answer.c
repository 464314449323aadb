/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/dns_reply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* The question that every input is taken for an answer to, so that mutations get behind it. */
static struct dns_query make_query(uint16_t type)
{
    static const uint8_t wire[] = "\1a\2bc";
    struct dns_query query = {.id = 0x4142, .has_question = true, .type = type};
    query.name.len = sizeof(wire);
    memcpy(query.name.wire, wire, sizeof(wire));
    memcpy(query.asked, wire, sizeof(wire));
    return query;
}

static void check(const struct dns_query *query, const struct dns_answer *answer)
{
    uint8_t reply[DNS_MAX_REPLY];
    struct dns_answer again;
    size_t len = dns_reply_answer(query, answer, 0, sizeof(reply), reply);
    if (len > sizeof(reply) || dns_answer_parse(reply, len, query, query->id, &again) != 0)
        abort();
    if (again.rcode != answer->rcode || again.cname_count != answer->cname_count ||
        again.address_count != answer->address_count || again.truncated != answer->truncated)
        abort();
    for (unsigned int i = 0; i < answer->cname_count; i++) {
        if (!dns_name_equal(&answer->cnames[i].target, &again.cnames[i].target))
            abort();
    }
    if (dns_reply_answer(query, answer, 0, DNS_UDP_SIZE, reply) > DNS_UDP_SIZE)
        abort();
}

/* What an upstream sends. Of what is taken our own reply must read the same, and fit. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const uint16_t types[] = {DNS_TYPE_A, DNS_TYPE_AAAA};
    for (size_t i = 0; i < 2; i++) {
        struct dns_query query = make_query(types[i]);
        struct dns_answer answer;
        int r = dns_answer_parse(bytes, len, &query, query.id, &answer);
        if (r == 0)
            check(&query, &answer);
        else if (r != -ENOENT && r != -EBADMSG)
            abort();
    }
    return 0;
}
