/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/proto/proto.h"
#include "spoiled.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#define ID "01234567-89ab-cdef-0123-456789abcdef"

/* Where the fields lie on the wire, counted by hand and not by the codec's own table. */
#define AT_CREATE_PROFILE 48
#define AT_CREATE_EGRESS  128
#define AT_EGRESS_COUNT   132
#define AT_EGRESS_ENTRIES 136
#define AT_EGRESS_NAMES   1352
#define AT_EGRESS_NAME    1356
#define AT_EGRESS_BYTES   1404
#define AT_EGRESS_TEXT    1408
#define CREATE_LEN        2432
#define AT_FINISHED_NETS  232
#define AT_FINISHED_NAMES 812
#define AT_FINISHED_OTHER 2896
#define FINISHED_LEN      2900

static struct proto_message create_message(void)
{
    return (struct proto_message){.type = PROTO_CREATE,
                                  .create = {.id = ID,
                                             .profile = 1,
                                             .runtime = "python3.12",
                                             .cpu_milli = 1500,
                                             .memory_bytes = 1 << 30}};
}

static struct proto_message finished_message(void)
{
    return (struct proto_message){.type = PROTO_FINISHED,
                                  .finished = {.id = ID, .end = PROTO_END_EXITED, .has_status = 1}};
}

/* "api.example.org" and "*.example.net" lie one behind the other. */
static struct proto_message rules_message(void)
{
    struct proto_message message = create_message();
    message.create.egress = (struct proto_egress){
        .has_rules = 1,
        .prefix_count = 2,
        .prefixes = {{4, 22, PROTO_PORT_HTTPS, {9, 9, 8}}, {6, 12, 3, {0x26, 0x10}}},
        .name_count = 2,
        .names = {{PROTO_PORT_HTTP, 0}, {3, 16}},
        .name_bytes = 30,
        .name_text = "api.example.org\0*.example.net"};
    return message;
}

static struct proto_message network_message(void)
{
    struct proto_message message = finished_message();
    message.finished.denied_network_count = 3;
    message.finished.denied_network[0] =
        (struct proto_denied_network){4, IPPROTO_TCP, 22, 0x01020304, {203, 0, 113, 5}};
    message.finished.denied_network[1] =
        (struct proto_denied_network){6, IPPROTO_UDP, 443, 1, {0x20, 0x01, 0x0d, 0xb8, [15] = 1}};
    message.finished.denied_network[2] =
        (struct proto_denied_network){4, IPPROTO_ICMP, 0, 2, {10, 0, 0, 1}};
    message.finished.denied_name_count = 2;
    message.finished.denied_names[0] = (struct proto_denied_name){3, "metadata.google.internal"};
    message.finished.denied_names[1] = (struct proto_denied_name){1, "a"};
    message.finished.denied_network_more = 1;
    return message;
}

static void test_refused_targets_come_back(void **state)
{
    (void)state;
    struct proto_message in = network_message(), out = {0};
    uint8_t bytes[PROTO_MAX_MESSAGE];
    int len = proto_encode(&in, bytes);
    assert_int_equal(proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_int_equal(out.finished.denied_network_count, 3);
    assert_int_equal(out.finished.denied_name_count, 2);
    assert_int_equal(out.finished.denied_network_more, 1);
    assert_memory_equal(out.finished.denied_network, in.finished.denied_network,
                        sizeof(in.finished.denied_network));
    assert_memory_equal(out.finished.denied_names, in.finished.denied_names,
                        sizeof(in.finished.denied_names));

    static const uint8_t first[24] = {4, 6, 22, 0, 4, 3, 2, 1, 203, 0, 113, 5};
    static const uint8_t name[4 + 24 + 1] = "\3\0\0\0metadata.google.internal";
    assert_memory_equal(bytes + AT_FINISHED_NETS + 4, first, sizeof(first));
    assert_memory_equal(bytes + AT_FINISHED_NAMES + 4, name, sizeof(name));
    assert_int_equal(bytes[AT_FINISHED_OTHER], 1);
}

static void test_rules_come_back(void **state)
{
    (void)state;
    struct proto_message in = rules_message(), out = {0};
    const struct proto_egress *sent = &in.create.egress, *got = &out.create.egress;
    uint8_t bytes[PROTO_MAX_MESSAGE];
    int len = proto_encode(&in, bytes);
    assert_int_equal(proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_int_equal(got->has_rules, 1);
    assert_int_equal(got->prefix_count, 2);
    assert_memory_equal(got->prefixes, sent->prefixes, sizeof(sent->prefixes));
    assert_int_equal(got->name_count, 2);
    assert_int_equal(got->names[0].ports, PROTO_PORT_HTTP);
    assert_int_equal(got->names[1].offset, 16);
    assert_int_equal(got->name_bytes, 30);
    assert_memory_equal(got->name_text, sent->name_text, sizeof(sent->name_text));

    static const uint8_t first[19] = {4, 22, 2, 9, 9, 8}, second[3] = {3, 16, 0};
    assert_memory_equal(bytes + AT_EGRESS_ENTRIES, first, sizeof(first));
    assert_memory_equal(bytes + AT_EGRESS_NAME + 3, second, sizeof(second));
    assert_string_equal((char *)bytes + AT_EGRESS_TEXT + 16, "*.example.net");
}

/* An empty list of rules allows nothing; that is not the absence of rules. */
static void test_rules_without_entries_are_rules(void **state)
{
    (void)state;
    struct proto_message in = create_message(), out = {0};
    uint8_t bytes[PROTO_MAX_MESSAGE];
    in.create.egress.has_rules = 1;
    int len = proto_encode(&in, bytes);
    assert_int_equal(proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_int_equal(out.create.egress.has_rules, 1);
    in.create.egress.has_rules = 0;
    len = proto_encode(&in, bytes);
    assert_int_equal(proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_int_equal(out.create.egress.has_rules, 0);
}

/* As many of everything as there can be. */
static void test_the_longest_rules_fit(void **state)
{
    (void)state;
    struct proto_message in = create_message(), out = {0};
    struct proto_egress *egress = &in.create.egress;
    uint8_t bytes[PROTO_MAX_MESSAGE], again[PROTO_MAX_MESSAGE];
    egress->has_rules = 1;
    egress->prefix_count = PROTO_MAX_PREFIXES;
    for (uint32_t i = 0; i < PROTO_MAX_PREFIXES; i++)
        egress->prefixes[i] = (struct proto_prefix){6, 128, 3, {0x20, (uint8_t)i, [15] = 0xff}};
    egress->name_count = PROTO_MAX_NAMES;
    for (uint32_t i = 0; i < PROTO_MAX_NAMES; i++) {
        char *text = egress->name_text + egress->name_bytes;
        egress->names[i] = (struct proto_name){1, (uint16_t)egress->name_bytes};
        memset(text, 'a', 63);
        text[61] = '.';
        egress->name_bytes += 64;
    }
    assert_int_equal(egress->name_bytes, PROTO_NAMES_SIZE);
    int len = proto_encode(&in, bytes);
    assert_int_equal(len, CREATE_LEN);
    assert_int_equal(proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_int_equal(proto_encode(&out, again), len);
    assert_memory_equal(bytes, again, (size_t)len);
}

static const struct spoiled spoiled[] = {
    {network_message, AT_FINISHED_NETS, BYTES("\x19"), "denied_network_count"},
    {network_message, AT_FINISHED_NETS, BYTES("\x02"), "denied_network has entries"},
    {network_message, AT_FINISHED_NETS, BYTES("\x04"), "denied_network has an address"},
    {network_message, AT_FINISHED_NETS + 4, BYTES("\x05"), "denied_network has an address"},
    {network_message, AT_FINISHED_NETS + 12 + 4, BYTES("\1"), "denied_network has an address"},
    {network_message, AT_FINISHED_NETS + 12 + 15, BYTES("\1"), "denied_network has an address"},
    {network_message, AT_FINISHED_NETS + 8, BYTES("\0\0\0\0"), "denied_network has a target that"},
    {network_message, AT_FINISHED_NETS + 4 + 24,
     BYTES("\x04\x06\x16\0\x01\0\0\0\xcb\0\x71\x05\0\0\0\0\0\0\0\0\0\0\0\0"),
     "denied_network has a target twice"},
    {finished_message, AT_FINISHED_NETS + 4 + 24 * 24 - 1, BYTES("x"),
     "denied_network has entries"},
    {network_message, AT_FINISHED_NAMES, BYTES("\x09"), "denied_name_count"},
    {network_message, AT_FINISHED_NAMES, BYTES("\x01"), "denied_names has entries"},
    {network_message, AT_FINISHED_NAMES, BYTES("\x03"), "denied_names has an empty name"},
    {network_message, AT_FINISHED_NAMES + 4, BYTES("\0"), "denied_names has a name that was never"},
    {network_message, AT_FINISHED_NAMES + 8, BYTES(" "), "denied_names has a name that is not in"},
    {network_message, AT_FINISHED_NAMES + 8, BYTES("\x7f"), "denied_names has a name that is not"},
    {network_message, AT_FINISHED_NAMES + 8, BYTES("\xc3\xa4"), "denied_names has a name that is"},
    {network_message, AT_FINISHED_NAMES + 8, BYTES("b\0"), "denied_names has bytes behind"},
    {network_message, AT_FINISHED_NAMES + 8 + 255, BYTES("a"), "denied_names has bytes behind"},
    {network_message, AT_FINISHED_NAMES + 4, BYTES("\x01\0\0\0a\0                      "),
     "denied_names has a name twice"},
    {network_message, AT_FINISHED_OTHER - 1, BYTES("x"), "denied_names has bytes behind"},
    {network_message, AT_FINISHED_OTHER, BYTES("\x02"), "denied_network_more"},
    {create_message, AT_CREATE_EGRESS, BYTES("\x02"), "egress is out of range"},
    {rules_message, AT_CREATE_PROFILE, BYTES("\0"), "egress has rules for a profile"},
    {rules_message, AT_CREATE_EGRESS, BYTES("\0"), "egress has entries and no rules"},
    {rules_message, AT_EGRESS_COUNT, BYTES("\x41"), "egress has more prefixes"},
    {rules_message, AT_EGRESS_COUNT, BYTES(U32_MAX), "egress has more prefixes"},
    {rules_message, AT_EGRESS_COUNT, BYTES("\x01"), "egress has entries beyond prefix_count"},
    {rules_message, AT_EGRESS_COUNT, BYTES("\x03"), "egress has a prefix that is none"},
    {rules_message, AT_EGRESS_ENTRIES, BYTES("\x05"), "egress has a prefix that is none"},
    {rules_message, AT_EGRESS_ENTRIES, BYTES("\0"), "egress has a prefix that is none"},
    {rules_message, AT_EGRESS_ENTRIES + 1, BYTES("\x21"), "egress has a prefix that is none"},
    {rules_message, AT_EGRESS_ENTRIES + 1, BYTES("\x14"), "egress has a prefix that is none"},
    {rules_message, AT_EGRESS_ENTRIES + 18, BYTES("\x01"), "egress has a prefix that is none"},
    {rules_message, AT_EGRESS_ENTRIES + 20, BYTES("\x81"), "egress has a prefix that is none"},
    {rules_message, AT_EGRESS_ENTRIES + 2, BYTES("\0"), "egress has a prefix without a port"},
    {rules_message, AT_EGRESS_ENTRIES + 2, BYTES("\x04"), "egress has a prefix without a port"},
    {rules_message, AT_EGRESS_NAMES - 1, BYTES("\x01"), "egress has entries beyond prefix_count"},
    {rules_message, AT_EGRESS_NAMES, BYTES("\x11"), "egress has more names"},
    {rules_message, AT_EGRESS_NAMES, BYTES("\x01"), "egress has entries beyond name_count"},
    {rules_message, AT_EGRESS_NAMES, BYTES("\x03"), "egress has a name without a port"},
    {rules_message, AT_EGRESS_NAME, BYTES("\x04"), "egress has a name without a port"},
    {rules_message, AT_EGRESS_NAME + 1, BYTES("\x01"), "egress has a name that is none"},
    {rules_message, AT_EGRESS_NAME + 4, BYTES("\x11"), "egress has a name that is none"},
    {rules_message, AT_EGRESS_BYTES, BYTES("\x01\x04"), "egress has more names"},
    {rules_message, AT_EGRESS_BYTES, BYTES("\x1d"), "egress has a name that is none"},
    {rules_message, AT_EGRESS_BYTES, BYTES("\x1f"), "egress has bytes behind"},
    {rules_message, AT_EGRESS_BYTES, BYTES("\0"), "egress has a name that is none"},
    {rules_message, AT_EGRESS_TEXT, BYTES("A"), "egress has a name that is none"},
    {rules_message, AT_EGRESS_TEXT, BYTES("\0"), "egress has a name that is none"},
    {rules_message, AT_EGRESS_TEXT + 17, BYTES("x"), "egress has a name that is none"},
    {rules_message, CREATE_LEN - 1, BYTES("x"), "egress has bytes behind"},
};

static void test_decode_of_bad_rules_and_refusals_says_what(void **state)
{
    (void)state;
    spoiled_check(spoiled, ARRAY_SIZE(spoiled));
}

static void test_encode_refuses_bad_rules_and_refusals(void **state)
{
    (void)state;
    uint8_t bytes[PROTO_MAX_MESSAGE];
    struct proto_message message;
    message = network_message();
    message.finished.denied_network_count = PROTO_MAX_DENIED_NETWORK + 1;
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);
    message = network_message();
    memset(message.finished.denied_names[0].name, 'a', PROTO_NAME_SIZE);
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);
    message = rules_message();
    message.create.profile = 0;
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);
    message = rules_message();
    message.create.egress.name_text[0] = '\n';
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);
}

/* What a struct has behind a name's end isn't sent. */
static void test_names_are_padded_by_the_encoder(void **state)
{
    (void)state;
    uint8_t bytes[PROTO_MAX_MESSAGE];
    struct proto_message message = network_message(), out;
    message.finished.denied_names[1].name[2] = 'x';
    int len = proto_encode(&message, bytes);
    assert_int_equal(len, FINISHED_LEN);
    assert_int_equal(proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_int_equal(out.finished.denied_names[1].name[2], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_targets_come_back),
        cmocka_unit_test(test_rules_come_back),
        cmocka_unit_test(test_rules_without_entries_are_rules),
        cmocka_unit_test(test_the_longest_rules_fit),
        cmocka_unit_test(test_decode_of_bad_rules_and_refusals_says_what),
        cmocka_unit_test(test_encode_refuses_bad_rules_and_refusals),
        cmocka_unit_test(test_names_are_padded_by_the_encoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
