/* SPDX-License-Identifier: Apache-2.0 */
#include "messages.h"
#include "node-agent/resolver/dns_reply.h"
#include "tests/unit/common/cmocka_setup.h"

#include <stdlib.h>
#include <string.h>

static uint8_t bytes[DNS_MAX_REPLY];

static struct dns_query edns_query(const char *name)
{
    struct dns_query query = query_of(name, DNS_TYPE_A);
    query.has_edns = true;
    query.udp_size = DNS_EDNS_SIZE;
    return query;
}

static struct dns_answer answer_of(unsigned int cnames, unsigned int addresses)
{
    struct dns_answer answer = {.cname_count = cnames, .address_count = addresses};
    for (unsigned int i = 0; i < cnames; i++)
        answer.cnames[i] = (struct dns_cname){.target = name_of("b.example.net"), .ttl = 60};
    for (unsigned int i = 0; i < addresses; i++)
        answer.addresses[i] = (struct dns_address){
            .address = {.family = IP_FAMILY_4, .bytes = {93, 184, 216, (uint8_t)i}}, .ttl = 30 + i};
    return answer;
}

static void test_an_error_keeps_the_question_as_it_was_spelled(void **state)
{
    (void)state;
    static const uint8_t wanted[] = "\x12\x34\x81\x83\0\1\0\0\0\0\0\0\1A\2Bc\0\0\1\0\1";
    struct dns_query query = query_of("A.Bc", DNS_TYPE_A);
    size_t len = dns_reply_error(&query, DNS_RCODE_NXDOMAIN, DNS_EXTENDED_FILTERED, bytes);
    assert_int_equal(len, sizeof(wanted) - 1);
    assert_memory_equal(bytes, wanted, len);
}

static void test_an_error_without_a_question(void **state)
{
    (void)state;
    static const uint8_t wanted[] = "\x12\x34\x80\x81\0\0\0\0\0\0\0\0";
    struct dns_query query = {.id = 0x1234};
    assert_int_equal(dns_reply_error(&query, DNS_RCODE_FORMERR, DNS_EXTENDED_NONE, bytes), 12);
    assert_memory_equal(bytes, wanted, 12);
}

static void test_edns_is_answered_with_why(void **state)
{
    (void)state;
    static const uint8_t wanted[] = "\x12\x34\x81\x85\0\1\0\0\0\0\0\1\1a\0\0\1\0\1"
                                    "\0\0\x29\4\xd0\0\0\0\0\0\6\0\x0f\0\2\0\x12";
    struct dns_query query = edns_query("a");
    size_t len = dns_reply_error(&query, DNS_RCODE_REFUSED, DNS_EXTENDED_PROHIBITED, bytes);
    assert_int_equal(len, sizeof(wanted) - 1);
    assert_memory_equal(bytes, wanted, len);
    /* BADVERS has its upper bits in the OPT record. */
    len = dns_reply_error(&query, DNS_RCODE_BADVERS, DNS_EXTENDED_NONE, bytes);
    assert_int_equal(bytes[3] & 0xf, 0);
    assert_int_equal(bytes[len - 6], 1);
}

static void test_an_answer_reads_as_it_was_meant(void **state)
{
    (void)state;
    struct dns_query query = edns_query("WWW.example.com");
    struct dns_answer in = answer_of(1, 3), out;
    size_t len = dns_reply_answer(&query, &in, 10, DNS_MAX_REPLY, bytes);
    assert_int_equal(dns_answer_parse(bytes, len, &query, query.id, &out), 0);
    assert_int_equal(out.cname_count, 1);
    assert_true(dns_name_equal(&out.cnames[0].target, &in.cnames[0].target));
    assert_int_equal(out.cnames[0].ttl, 50);
    assert_int_equal(out.address_count, 3);
    assert_int_equal(out.addresses[2].ttl, 22);
    assert_memory_equal(out.addresses[2].address.bytes, in.addresses[2].address.bytes, 16);
    /* The age is no more than the TTL. */
    len = dns_reply_answer(&query, &in, 100, DNS_MAX_REPLY, bytes);
    assert_int_equal(dns_answer_parse(bytes, len, &query, query.id, &out), 0);
    assert_int_equal(out.addresses[0].ttl, 0);
}

static void test_what_does_not_fit_is_truncated(void **state)
{
    (void)state;
    struct dns_query query = query_of("www.example.com", DNS_TYPE_A);
    struct dns_answer in = answer_of(0, 16), out;
    size_t len = dns_reply_answer(&query, &in, 0, DNS_MAX_REPLY, bytes);
    assert_int_equal(len, 12 + 17 + 4 + 16 * 16);
    assert_int_equal(dns_reply_answer(&query, &in, 0, len, bytes), len);
    assert_int_equal(dns_reply_answer(&query, &in, 0, len - 1, bytes), 12 + 17 + 4);
    assert_int_equal(dns_answer_parse(bytes, 12 + 17 + 4, &query, query.id, &out), 0);
    assert_true(out.truncated);
    assert_int_equal(bytes[7], 0);
}

/* The longest names everywhere: the buffer must do. */
static void test_the_longest_reply_fits(void **state)
{
    (void)state;
    static struct packet packet;
    uint8_t label[64];
    memset(label, 'a', sizeof(label));
    packet_header(&packet, 1, 0, 1, 0, 0, 0);
    label[0] = 63;
    for (int i = 0; i < 3; i++)
        packet_bytes(&packet, label, 64);
    label[0] = 61;
    packet_bytes(&packet, label, 62);
    packet_bytes(&packet, "\0\0\x1c\0\1", 5);
    struct dns_query query;
    assert_int_equal(dns_query_parse(packet.bytes, packet.len, &query), DNS_QUERY_OK);
    query.has_edns = true;
    struct dns_answer answer = {.cname_count = MAX_ANSWER_CNAMES,
                                .address_count = MAX_ANSWER_ADDRESSES};
    for (unsigned int i = 0; i < MAX_ANSWER_CNAMES; i++) {
        answer.cnames[i].target = query.name;
        answer.cnames[i].target.wire[1] = (uint8_t)('a' + i + 1);
    }
    for (unsigned int i = 0; i < MAX_ANSWER_ADDRESSES; i++)
        answer.addresses[i].address.family = IP_FAMILY_6;
    uint8_t *exact = malloc(DNS_MAX_REPLY);
    size_t len = dns_reply_answer(&query, &answer, 0, DNS_MAX_REPLY, exact);
    struct dns_answer out;
    assert_int_equal(dns_answer_parse(exact, len, &query, query.id, &out), 0);
    assert_int_equal(out.cname_count, MAX_ANSWER_CNAMES);
    assert_int_equal(out.address_count, MAX_ANSWER_ADDRESSES);
    free(exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_error_keeps_the_question_as_it_was_spelled),
        cmocka_unit_test(test_an_error_without_a_question),
        cmocka_unit_test(test_edns_is_answered_with_why),
        cmocka_unit_test(test_an_answer_reads_as_it_was_meant),
        cmocka_unit_test(test_what_does_not_fit_is_truncated),
        cmocka_unit_test(test_the_longest_reply_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
