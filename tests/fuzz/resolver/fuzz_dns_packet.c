/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/dns_reply.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* What a sandbox sends. A query that is taken must come out of our own question to an upstream as
 * the same one, and every reply to it must be one that our own reader takes. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct dns_query query, again;
    struct dns_answer answer;
    uint8_t upstream[DNS_UPSTREAM_SIZE], reply[DNS_MAX_REPLY];
    char text[DNS_NAME_TEXT_SIZE];
    enum dns_query_verdict verdict = dns_query_parse(bytes, len, &query);
    if (verdict == DNS_QUERY_IGNORE)
        return 0;
    size_t reply_len = dns_reply_error(&query, DNS_RCODE_REFUSED, DNS_EXTENDED_PROHIBITED, reply);
    if (reply_len > sizeof(reply) || dns_get16(reply) != query.id)
        abort();
    if (verdict != DNS_QUERY_OK)
        return 0;
    if (dns_answer_parse(reply, reply_len, &query, query.id, &answer) != 0 ||
        answer.rcode != DNS_RCODE_REFUSED)
        abort();
    dns_name_print(&query.name, text);
    if (strlen(text) >= sizeof(text))
        abort();
    size_t upstream_len = dns_query_build(&query, query.id, upstream);
    if (dns_query_parse(upstream, upstream_len, &again) != DNS_QUERY_OK ||
        !dns_name_equal(&query.name, &again.name) || query.type != again.type)
        abort();
    return 0;
}
