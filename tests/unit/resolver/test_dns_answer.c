/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "messages.h"
#include "node-agent/resolver/dns_answer.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ID     0x4711
#define ANSWER (DNS_FLAG_RESPONSE | DNS_FLAG_RECURSION | DNS_FLAG_AVAILABLE)
#define NAME   "www.example.com"

static struct packet packet;
static struct dns_answer answer;

static void begin(uint16_t flags, uint16_t count)
{
    packet_header(&packet, ID, flags, 1, count, 0, 0);
    packet_question(&packet, NAME, DNS_TYPE_A);
}

static int parse_type(uint16_t type)
{
    struct dns_query query = query_of("WWW.example.com", type);
    uint8_t *copy = malloc(packet.len);
    memcpy(copy, packet.bytes, packet.len);
    int r = dns_answer_parse(copy, packet.len, &query, ID, &answer);
    free(copy);
    return r;
}

static int parse(void)
{
    return parse_type(DNS_TYPE_A);
}

static void test_addresses(void **state)
{
    (void)state;
    begin(ANSWER, 2);
    packet_a(&packet, NAME, 300, 1);
    packet_a(&packet, "www.EXAMPLE.com", 60, 2);
    assert_int_equal(parse(), 0);
    assert_int_equal(answer.rcode, DNS_RCODE_OK);
    assert_int_equal(answer.cname_count, 0);
    assert_int_equal(answer.address_count, 2);
    assert_int_equal(answer.addresses[0].address.family, IP_FAMILY_4);
    assert_memory_equal(answer.addresses[1].address.bytes, ((uint8_t[]){93, 184, 216, 2}), 4);
    assert_int_equal(answer.addresses[0].ttl, 300);
    assert_int_equal(dns_answer_ttl(&answer), 60);
}

static void test_a_chain_in_any_order(void **state)
{
    (void)state;
    begin(ANSWER, 4);
    packet_a(&packet, "c.example.net", 30, 7);
    packet_cname(&packet, "b.example.net", 20, "c.example.net");
    packet_cname(&packet, NAME, 10, "B.example.net");
    packet_a(&packet, "elsewhere.example.net", 30, 8);
    assert_int_equal(parse(), 0);
    assert_int_equal(answer.cname_count, 2);
    struct dns_name last = name_of("c.example.net");
    assert_true(dns_name_equal(&answer.cnames[1].target, &last));
    assert_int_equal(answer.address_count, 1);
    assert_int_equal(answer.addresses[0].address.bytes[3], 7);
    assert_int_equal(dns_answer_ttl(&answer), 10);
}

/* What is in an answer besides must not come through. */
static void test_records_that_were_not_asked_for(void **state)
{
    (void)state;
    begin(ANSWER, 7);
    packet_record(&packet, NAME, 16, 60, "\5hello", 6);
    packet_record(&packet, NAME, DNS_TYPE_AAAA, 60, "0123456789abcdef", 16);
    packet_record(&packet, NAME, DNS_TYPE_A, 60, "123", 3);
    packet_record(&packet, NAME, DNS_TYPE_A, 60, "12345", 5);
    packet_a(&packet, "example.com", 60, 1);
    packet_cname(&packet, "other.example.com", 60, "third.example.com");
    packet_a(&packet, NAME, 60, 9);
    /* The last one in class CHAOS. */
    packet.bytes[packet.len - 4 - 2 - 4 - 1] = 3;
    assert_int_equal(parse(), 0);
    assert_int_equal(answer.address_count, 0);
    assert_int_equal(answer.cname_count, 0);
}

static void test_not_an_answer_to_the_question(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t byte;
    } spoils[] = {
        {0, 0},                /* the id */
        {1, 0},     {2, 0x01}, /* a query */
        {2, 0x89},             /* an opcode */
        {5, 0},                /* no question */
        {5, 2},                /* two */
        {13, 'x'},             /* another name */
        {12, 0xc0},            /* a compressed one */
        {30, 28},              /* another type */
        {32, 3},               /* another class */
    };
    for (size_t i = 0; i < ARRAY_SIZE(spoils); i++) {
        begin(ANSWER, 1);
        packet_a(&packet, NAME, 60, 1);
        assert_int_equal(parse(), 0);
        packet.bytes[spoils[i].at] = spoils[i].byte;
        if (parse() != -ENOENT)
            fail_msg("case %zu", i);
    }
    for (size_t len = 1; len < 33; len++) {
        begin(ANSWER, 1);
        packet.len = len;
        assert_int_equal(parse(), -ENOENT);
    }
}

static void test_every_cut_is_malformed(void **state)
{
    (void)state;
    begin(ANSWER, 2);
    size_t first = packet.len;
    packet_cname(&packet, NAME, 60, "b.example.net");
    packet_a(&packet, "b.example.net", 60, 1);
    size_t whole = packet.len;
    assert_int_equal(parse(), 0);
    for (packet.len = first; packet.len < whole; packet.len++)
        assert_int_equal(parse(), -EBADMSG);
}

static void test_names_that_lead_nowhere(void **state)
{
    (void)state;
    begin(ANSWER, 1);
    packet_cname(&packet, NAME, 60, NAME);
    assert_int_equal(parse(), -EBADMSG);

    begin(ANSWER, 3);
    packet_cname(&packet, NAME, 60, "b.example.net");
    packet_cname(&packet, "b.example.net", 60, "c.example.net");
    packet_cname(&packet, "c.example.net", 60, "b.example.net");
    assert_int_equal(parse(), -EBADMSG);

    begin(ANSWER, 2);
    packet_cname(&packet, NAME, 60, "b.example.net");
    packet_cname(&packet, NAME, 60, "c.example.net");
    assert_int_equal(parse(), -EBADMSG);

    /* Twice the same is a clumsy server's. */
    begin(ANSWER, 2);
    packet_cname(&packet, NAME, 60, "b.example.net");
    packet_cname(&packet, NAME, 60, "b.example.net");
    assert_int_equal(parse(), 0);
    assert_int_equal(answer.cname_count, 1);

    /* Bytes behind the target, within the record. */
    begin(ANSWER, 1);
    packet_record(&packet, NAME, DNS_TYPE_CNAME, 60, "\1a\0x", 4);
    assert_int_equal(parse(), -EBADMSG);
}

static void chain_of(unsigned int links)
{
    char from[32] = NAME, to[32];
    begin(ANSWER, (uint16_t)(links + 1));
    for (unsigned int i = 0; i < links; i++) {
        (void)snprintf(to, sizeof(to), "c%u.example.net", i);
        packet_cname(&packet, from, 60, to);
        memcpy(from, to, sizeof(from));
    }
    packet_a(&packet, from, 60, 1);
}

static void test_the_longest_chain_and_one_longer(void **state)
{
    (void)state;
    chain_of(MAX_ANSWER_CNAMES);
    assert_int_equal(parse(), 0);
    assert_int_equal(answer.address_count, 1);
    chain_of(MAX_ANSWER_CNAMES + 1);
    assert_int_equal(parse(), -EBADMSG);
}

static void test_many_records(void **state)
{
    (void)state;
    for (unsigned int count = MAX_ANSWER_RECORDS; count <= MAX_ANSWER_RECORDS + 1; count++) {
        begin(ANSWER, (uint16_t)count);
        for (unsigned int i = 0; i < count; i++)
            packet_a(&packet, NAME, 60, (uint8_t)i);
        assert_int_equal(parse(), count == MAX_ANSWER_RECORDS ? 0 : -EBADMSG);
    }
    begin(ANSWER, 20);
    for (unsigned int i = 0; i < 20; i++)
        packet_a(&packet, NAME, 60, (uint8_t)i);
    assert_int_equal(parse(), 0);
    assert_int_equal(answer.address_count, MAX_ANSWER_ADDRESSES);
    assert_int_equal(answer.left_out, 20 - MAX_ANSWER_ADDRESSES);

    begin(ANSWER, 0xffff);
    assert_int_equal(parse(), -EBADMSG);
}

static void test_times_to_live(void **state)
{
    (void)state;
    static const struct {
        uint32_t ttl, wanted;
    } cases[] = {{0, 0},          {3600, 3600},   {3601, 3600}, {0x7fffffff, 3600},
                 {0x80000000, 0}, {0xffffffff, 0}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        begin(ANSWER, 1);
        packet_a(&packet, NAME, cases[i].ttl, 1);
        assert_int_equal(parse(), 0);
        assert_int_equal(answer.addresses[0].ttl, cases[i].wanted);
    }
}

static void test_codes_and_truncation(void **state)
{
    (void)state;
    begin(ANSWER | DNS_RCODE_NXDOMAIN, 0);
    assert_int_equal(parse(), 0);
    assert_int_equal(answer.rcode, DNS_RCODE_NXDOMAIN);
    assert_int_equal(dns_answer_ttl(&answer), MAX_REPLY_TTL);

    /* What comes with TC is not even looked at. */
    begin(ANSWER | DNS_FLAG_TRUNCATED, 9);
    packet_a(&packet, NAME, 60, 1);
    assert_int_equal(parse(), 0);
    assert_true(answer.truncated);
    assert_int_equal(answer.address_count, 0);
}

static void test_ipv6(void **state)
{
    (void)state;
    packet_header(&packet, ID, ANSWER, 1, 2, 0, 0);
    packet_question(&packet, NAME, DNS_TYPE_AAAA);
    packet_a(&packet, NAME, 60, 1);
    packet_record(&packet, NAME, DNS_TYPE_AAAA, 60, "0123456789abcdef", 16);
    assert_int_equal(parse_type(DNS_TYPE_AAAA), 0);
    assert_int_equal(answer.address_count, 1);
    assert_int_equal(answer.addresses[0].address.family, IP_FAMILY_6);
    assert_memory_equal(answer.addresses[0].address.bytes, "0123456789abcdef", 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_a_chain_in_any_order),
        cmocka_unit_test(test_records_that_were_not_asked_for),
        cmocka_unit_test(test_not_an_answer_to_the_question),
        cmocka_unit_test(test_every_cut_is_malformed),
        cmocka_unit_test(test_names_that_lead_nowhere),
        cmocka_unit_test(test_the_longest_chain_and_one_longer),
        cmocka_unit_test(test_many_records),
        cmocka_unit_test(test_times_to_live),
        cmocka_unit_test(test_codes_and_truncation),
        cmocka_unit_test(test_ipv6),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
