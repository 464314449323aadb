/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "messages.h"
#include "node-agent/resolver/dns_query.h"
#include "tests/unit/common/cmocka_setup.h"

#include <string.h>

#define Q                        "\3www\7example\3com\0"
#define A                        "\0\1\0\1"
#define H(flags, qd, an, ns, ar) "\x12\x34" flags "\0" qd "\0" an "\0" ns "\0" ar
#define PLAIN                    H("\1\0", "\1", "\0", "\0", "\0")
#define EDNS                     H("\1\0", "\1", "\0", "\0", "\1")
#define BYTES(text)              (const uint8_t *)(text), sizeof(text) - 1

static const struct parsing {
    const char *what;
    const uint8_t *bytes;
    size_t len;
    enum dns_query_verdict verdict;
} parsings[] = {
    {"plain", BYTES(PLAIN Q A), DNS_QUERY_OK},
    {"without recursion", BYTES(H("\0\0", "\1", "\0", "\0", "\0") Q A), DNS_QUERY_OK},
    {"AD and CD", BYTES(H("\1\x30", "\1", "\0", "\0", "\0") Q A), DNS_QUERY_OK},
    {"AAAA", BYTES(PLAIN Q "\0\x1c\0\1"), DNS_QUERY_OK},
    {"the root", BYTES(PLAIN "\0" A), DNS_QUERY_OK},
    {"EDNS", BYTES(EDNS Q A "\0\0\x29\x10\0\0\0\0\0\0\0"), DNS_QUERY_OK},
    {"EDNS with DO", BYTES(EDNS Q A "\0\0\x29\x10\0\0\0\x80\0\0\0"), DNS_QUERY_OK},
    {"EDNS with a cookie",
     BYTES(EDNS Q A "\0\0\x29\x10\0\0\0\0\0\0\x0c\0\x0a\0\x08"
                    "12345678"),
     DNS_QUERY_OK},
    {"nothing", BYTES(""), DNS_QUERY_IGNORE},
    {"half a header", BYTES("\x12\x34\1\0\0\1\0\0\0\0\0"), DNS_QUERY_IGNORE},
    {"an answer", BYTES(H("\x81\0", "\1", "\0", "\0", "\0") Q A), DNS_QUERY_IGNORE},
    {"an answer without a question", BYTES(H("\x81\0", "\0", "\0", "\0", "\0")), DNS_QUERY_IGNORE},
    {"opcode 1", BYTES(H("\x09\0", "\1", "\0", "\0", "\0") Q A), DNS_QUERY_NOTIMP},
    {"an update", BYTES(H("\x28\0", "\1", "\0", "\0", "\0") Q A), DNS_QUERY_NOTIMP},
    {"opcode 15 and no question", BYTES(H("\x78\0", "\0", "\0", "\0", "\0")), DNS_QUERY_NOTIMP},
    {"TC", BYTES(H("\3\0", "\1", "\0", "\0", "\0") Q A), DNS_QUERY_FORMERR},
    {"the reserved bit", BYTES(H("\1\x40", "\1", "\0", "\0", "\0") Q A), DNS_QUERY_FORMERR},
    {"a response code", BYTES(H("\1\3", "\1", "\0", "\0", "\0") Q A), DNS_QUERY_FORMERR},
    {"no question", BYTES(H("\1\0", "\0", "\0", "\0", "\0")), DNS_QUERY_FORMERR},
    {"no question, a byte behind", BYTES(H("\1\0", "\0", "\0", "\0", "\0") "x"), DNS_QUERY_FORMERR},
    {"two questions", BYTES(H("\1\0", "\2", "\0", "\0", "\0") Q A Q A), DNS_QUERY_FORMERR},
    {"an answer section", BYTES(H("\1\0", "\1", "\1", "\0", "\0") Q A), DNS_QUERY_FORMERR},
    {"an authority section", BYTES(H("\1\0", "\1", "\0", "\1", "\0") Q A), DNS_QUERY_FORMERR},
    {"two additional records",
     BYTES(H("\1\0", "\1", "\0", "\0", "\2") Q A
           "\0\0\x29\x10\0\0\0\0\0\0\0\0\0\x29\x10\0\0\0\0\0\0\0"),
     DNS_QUERY_FORMERR},
    {"bytes behind", BYTES(PLAIN Q A "x"), DNS_QUERY_FORMERR},
    {"no type", BYTES(PLAIN Q), DNS_QUERY_FORMERR},
    {"half a class", BYTES(PLAIN Q "\0\1\0"), DNS_QUERY_FORMERR},
    {"half a name", BYTES(PLAIN "\3ww"), DNS_QUERY_FORMERR},
    {"a compressed name", BYTES(PLAIN "\3www\xc0\x0c" A), DNS_QUERY_FORMERR},
    {"a pointer to the header", BYTES(PLAIN "\xc0\0" A), DNS_QUERY_FORMERR},
    {"an extended label", BYTES(PLAIN "\x41\1\0" A), DNS_QUERY_FORMERR},
    {"OPT that isn't there", BYTES(EDNS Q A), DNS_QUERY_FORMERR},
    {"OPT of a name", BYTES(EDNS Q A "\1a\0\0\x29\x10\0\0\0\0\0\0\0"), DNS_QUERY_FORMERR},
    {"OPT with bytes behind", BYTES(EDNS Q A "\0\0\x29\x10\0\0\0\0\0\0\0x"), DNS_QUERY_FORMERR},
    {"OPT that is cut", BYTES(EDNS Q A "\0\0\x29\x10\0\0\0\0\0\0"), DNS_QUERY_FORMERR},
    {"OPT with half an option", BYTES(EDNS Q A "\0\0\x29\x10\0\0\0\0\0\0\3\0\x0a\0"),
     DNS_QUERY_FORMERR},
    {"OPT with a long option", BYTES(EDNS Q A "\0\0\x29\x10\0\0\0\0\0\0\4\0\x0a\0\1"),
     DNS_QUERY_FORMERR},
    {"a signature in place of OPT", BYTES(EDNS Q A "\0\0\xfa\0\xff\0\0\0\0\0\0"),
     DNS_QUERY_FORMERR},
    {"EDNS version 1", BYTES(EDNS Q A "\0\0\x29\x10\0\0\1\0\0\0\0"), DNS_QUERY_BADVERS},
    {"class CHAOS",
     BYTES(PLAIN "\7version\4bind\0"
                 "\0\x10\0\3"),
     DNS_QUERY_REFUSED},
    {"class ANY", BYTES(PLAIN Q "\0\1\0\xff"), DNS_QUERY_REFUSED},
};

static void test_queries_are_judged(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(parsings); i++) {
        const struct parsing *parsing = &parsings[i];
        uint8_t *copy = malloc(parsing->len ? parsing->len : 1);
        memcpy(copy, parsing->bytes, parsing->len);
        struct dns_query query;
        enum dns_query_verdict verdict = dns_query_parse(copy, parsing->len, &query);
        free(copy);
        if (verdict != parsing->verdict)
            fail_msg("%s: %d", parsing->what, (int)verdict);
        if (verdict != DNS_QUERY_IGNORE)
            assert_int_equal(query.id, 0x1234);
    }
}

/* No query stays one without its last byte. */
static void test_every_cut_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(parsings); i++) {
        for (size_t len = 0; parsings[i].verdict == DNS_QUERY_OK && len < parsings[i].len; len++) {
            struct dns_query query;
            assert_int_not_equal(dns_query_parse(parsings[i].bytes, len, &query), DNS_QUERY_OK);
        }
    }
}

static void test_a_query_s_parts(void **state)
{
    (void)state;
    static const uint8_t bytes[] = EDNS "\3wWw\7Example\3com\0"
                                        "\0\x1c\0\1"
                                        "\0\0\x29\2\x80\0\0\0\0\0\0";
    struct dns_query query;
    char text[DNS_NAME_TEXT_SIZE];
    assert_int_equal(dns_query_parse(bytes, sizeof(bytes) - 1, &query), DNS_QUERY_OK);
    dns_name_print(&query.name, text);
    assert_string_equal(text, "www.example.com");
    assert_memory_equal(query.asked, "\3wWw\7Example\3com", 17);
    assert_int_equal(query.type, DNS_TYPE_AAAA);
    assert_true(query.recursion);
    assert_true(query.has_edns);
    assert_int_equal(query.udp_size, 640);
}

static void test_sizes_that_clients_offer(void **state)
{
    (void)state;
    static const struct {
        uint8_t high, low;
        uint16_t size;
    } cases[] = {{0, 0, 512},     {1, 0xff, 512},  {2, 0, 512},
                 {4, 0xd0, 1232}, {4, 0xd1, 1232}, {0xff, 0xff, 1232}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint8_t bytes[] = EDNS "\1a\0" A "\0\0\x29\0\0\0\0\0\0\0\0";
        struct dns_query query;
        bytes[sizeof(bytes) - 1 - 8] = cases[i].high;
        bytes[sizeof(bytes) - 1 - 7] = cases[i].low;
        assert_int_equal(dns_query_parse(bytes, sizeof(bytes) - 1, &query), DNS_QUERY_OK);
        assert_int_equal(query.udp_size, cases[i].size);
    }
}

/* What is asked of an upstream holds nothing of the client's but the lower-cased name and type. */
static void test_the_question_to_an_upstream(void **state)
{
    (void)state;
    static const uint8_t wanted[] = "\xab\xcd\1\0\0\1\0\0\0\0\0\1" Q "\0\x1c\0\1"
                                    "\0\0\x29\4\xd0\0\0\0\0\0\0";
    uint8_t bytes[DNS_UPSTREAM_SIZE];
    struct dns_query query = query_of("WWW.eXample.com", DNS_TYPE_AAAA);
    assert_int_equal(dns_query_build(&query, 0xabcd, bytes), sizeof(wanted) - 1);
    assert_memory_equal(bytes, wanted, sizeof(wanted) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries_are_judged),
        cmocka_unit_test(test_every_cut_is_refused),
        cmocka_unit_test(test_a_query_s_parts),
        cmocka_unit_test(test_sizes_that_clients_offer),
        cmocka_unit_test(test_the_question_to_an_upstream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
