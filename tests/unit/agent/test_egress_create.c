/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node-agent/agent/egress_create.h"

#include <string.h>

static struct proto_message message_with(const struct egress_rules *rules)
{
    struct proto_message message = {.type = PROTO_CREATE,
                                    .create = {.id = "01234567-89ab-cdef-0123-456789abcdef",
                                               .profile = 1,
                                               .runtime = "python3.12",
                                               .cpu_milli = 1000,
                                               .memory_bytes = 1 << 30}};
    memset(&message.create.egress, 0xff, sizeof(message.create.egress));
    egress_create(rules, &message.create.egress);
    return message;
}

static void check_encodes(const struct proto_message *message)
{
    uint8_t bytes[PROTO_MAX_MESSAGE];
    assert_true(proto_encode(message, bytes) > 0);
}

/* Absent rules and none at all are not the same. */
static void test_absent_and_empty(void **state)
{
    (void)state;
    static const struct egress_rules nothing;
    struct proto_message message = message_with(NULL);
    assert_int_equal(message.create.egress.has_rules, 0);
    check_encodes(&message);
    message = message_with(&nothing);
    assert_int_equal(message.create.egress.has_rules, 1);
    assert_int_equal(message.create.egress.prefix_count, 0);
    assert_int_equal(message.create.egress.name_count, 0);
    check_encodes(&message);
}

static void test_prefixes_and_names(void **state)
{
    (void)state;
    struct ip_prefix v4, v6;
    struct egress_rules rules = {0};
    assert_int_equal(ip_prefix_parse("9.9.0.0/16", true, &v4, NULL), 0);
    assert_int_equal(ip_prefix_parse("2600::/12", true, &v6, NULL), 0);
    assert_int_equal(egress_allow_prefix(&rules, &v4, EGRESS_PORT_HTTP), 0);
    assert_int_equal(egress_allow_prefix(&rules, &v6, EGRESS_PORTS_ALL), 0);
    assert_int_equal(egress_allow_name(&rules, "a.example.org", EGRESS_PORT_HTTPS), 0);
    assert_int_equal(egress_allow_name(&rules, "*.example.net", EGRESS_PORTS_ALL), 0);
    struct proto_message message = message_with(&rules);
    const struct proto_egress *egress = &message.create.egress;
    assert_int_equal(egress->prefix_count, 2);
    assert_int_equal(egress->prefixes[0].family, 4);
    assert_int_equal(egress->prefixes[0].length, 16);
    assert_int_equal(egress->prefixes[0].ports, PROTO_PORT_HTTP);
    assert_memory_equal(egress->prefixes[0].bytes, v4.address.bytes, 16);
    assert_int_equal(egress->prefixes[1].family, 6);
    assert_int_equal(egress->prefixes[1].ports, PROTO_PORT_HTTP | PROTO_PORT_HTTPS);
    assert_memory_equal(egress->prefixes[1].bytes, v6.address.bytes, 16);
    assert_int_equal(egress->name_count, 2);
    assert_int_equal(egress->names[0].ports, PROTO_PORT_HTTPS);
    assert_string_equal(egress->name_text + egress->names[0].offset, "a.example.org");
    assert_string_equal(egress->name_text + egress->names[1].offset, "*.example.net");
    assert_int_equal(egress->name_bytes, 28);
    check_encodes(&message);
}

/* As much as there can be. */
static void test_everything_fits(void **state)
{
    (void)state;
    struct egress_rules rules = {0};
    for (uint8_t i = 0; i < MAX_EGRESS_PREFIXES; i++) {
        struct ip_prefix prefix = {.address = {.family = IP_FAMILY_4, .bytes = {9, i}},
                                   .length = 16};
        assert_int_equal(egress_allow_prefix(&rules, &prefix, EGRESS_PORT_HTTP), 0);
    }
    for (int i = 0; i < MAX_EGRESS_NAMES; i++) {
        char name[64];
        memset(name, 'a' + i, 63);
        name[60] = '.';
        name[63] = '\0';
        assert_int_equal(egress_allow_name(&rules, name, EGRESS_PORT_HTTP), 0);
    }
    assert_int_equal(rules.name_bytes, MAX_EGRESS_NAME_BYTES);
    struct proto_message message = message_with(&rules);
    assert_int_equal(message.create.egress.prefix_count, PROTO_MAX_PREFIXES);
    assert_int_equal(message.create.egress.name_count, PROTO_MAX_NAMES);
    check_encodes(&message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absent_and_empty),
        cmocka_unit_test(test_prefixes_and_names),
        cmocka_unit_test(test_everything_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
