/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "messages.h"
#include "node-agent/resolver/names_policy.h"
#include "tests/unit/common/cmocka_setup.h"

#include <string.h>

static const struct proto_egress none = {0};
static const struct proto_egress nothing = {.has_rules = 1};
static const struct proto_egress addresses = {
    .has_rules = 1, .prefix_count = 1, .prefixes = {{4, 8, 3, {8}}}};
static const struct proto_egress names = {
    .has_rules = 1,
    .prefix_count = 1,
    .prefixes = {{4, 8, 3, {8}}},
    .name_count = 4,
    .names = {{PROTO_PORT_HTTP, 0},
              {PROTO_PORT_HTTPS, 16},
              {PROTO_PORT_HTTPS, 30},
              {PROTO_PORT_HTTPS, 46}},
    .name_bytes = 69,
    .name_text = "api.example.org\0*.example.com\0api.example.org\0db.corp.internal.test"};

static const struct judging {
    const struct proto_egress *egress;
    const char *name;
    enum names_verdict verdict;
    uint32_t ports;
} judgings[] = {
    {&none, "example.org", NAMES_ALLOWED, 0},
    {&none, "EXAMPLE.org", NAMES_ALLOWED, 0},
    {&none, "_service.example.org", NAMES_ALLOWED, 0},
    {&none, "", NAMES_NO_HOST, 0},
    {&none, "a b.example.org", NAMES_NO_HOST, 0},
    {&none, "\xff.example.org", NAMES_NO_HOST, 0},
    {&none, "*.example.org", NAMES_NO_HOST, 0},
    {&none, "kubernetes", NAMES_NOT_PUBLIC, 0},
    {&none, "org", NAMES_NOT_PUBLIC, 0},
    {&none, "localhost", NAMES_NOT_PUBLIC, 0},
    {&none, "a.localhost", NAMES_NOT_PUBLIC, 0},
    {&none, "printer.local", NAMES_NOT_PUBLIC, 0},
    {&none, "kubernetes.default.svc.cluster.local", NAMES_NOT_PUBLIC, 0},
    {&none, "metadata.google.internal", NAMES_NOT_PUBLIC, 0},
    {&none, "METADATA.GOOGLE.INTERNAL", NAMES_NOT_PUBLIC, 0},
    {&none, "nas.home.arpa", NAMES_NOT_PUBLIC, 0},
    {&none, "x.onion", NAMES_NOT_PUBLIC, 0},
    {&none, "notlocal.example", NAMES_ALLOWED, 0},
    {&none, "x.notlocal", NAMES_ALLOWED, 0},
    {&none, "internal.example.org", NAMES_ALLOWED, 0},
    {&addresses, "example.org", NAMES_ALLOWED, 0},
    {&addresses, "a.local", NAMES_NOT_PUBLIC, 0},
    {&nothing, "example.org", NAMES_NOT_LISTED, 0},
    {&names, "api.example.org", NAMES_ALLOWED, PROTO_PORT_HTTP | PROTO_PORT_HTTPS},
    {&names, "API.Example.Org", NAMES_ALLOWED, PROTO_PORT_HTTP | PROTO_PORT_HTTPS},
    {&names, "a.example.com", NAMES_ALLOWED, PROTO_PORT_HTTPS},
    {&names, "a.b.example.com", NAMES_ALLOWED, PROTO_PORT_HTTPS},
    {&names, "example.com", NAMES_NOT_LISTED, 0},
    {&names, "badexample.com", NAMES_NOT_LISTED, 0},
    {&names, "x.api.example.org", NAMES_NOT_LISTED, 0},
    {&names, "example.org", NAMES_NOT_LISTED, 0},
    {&names, "api.example.org.evil.net", NAMES_NOT_LISTED, 0},
    {&names, "db.corp.internal.test", NAMES_ALLOWED, PROTO_PORT_HTTPS},
    {&names, "db.corp.internal", NAMES_NOT_PUBLIC, 0},
};

static void test_names_are_judged(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(judgings); i++) {
        struct dns_name name = name_of(judgings[i].name);
        uint32_t ports = 77;
        enum names_verdict verdict = names_policy_judge(judgings[i].egress, &name, &ports);
        if (verdict != judgings[i].verdict)
            fail_msg("case %zu, \"%s\": %d", i, judgings[i].name, (int)verdict);
        assert_int_equal(ports, verdict == NAMES_ALLOWED ? judgings[i].ports : 77);
    }
}

/* A dot within a label is no separator. */
static void test_a_label_with_a_dot_matches_nothing(void **state)
{
    (void)state;
    static const uint8_t wire[] = "\x0b"
                                  "api.example\3org";
    struct dns_name name;
    size_t at = 0;
    uint32_t ports = 0;
    assert_int_equal(dns_name_read(wire, sizeof(wire), &at, false, &name), 0);
    assert_int_equal(names_policy_judge(&names, &name, &ports), NAMES_NO_HOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_judged),
        cmocka_unit_test(test_a_label_with_a_dot_matches_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
