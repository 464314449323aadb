/* SPDX-License-Identifier: Apache-2.0 */
#include "common/net/ip_prefix.h"
#include "node-agent/jailer/net/slot_rules.h"
#include "tests/unit/common/cmocka_setup.h"

#include <stdio.h>
#include <string.h>

static struct proto_egress egress;
static struct slot_rule rules[SLOT_MAX_RULES];

static void add(const char *text, uint8_t ports)
{
    struct ip_prefix prefix;
    assert_int_equal(ip_prefix_parse(text, true, &prefix, NULL), 0);
    struct proto_prefix *entry = &egress.prefixes[egress.prefix_count++];
    *entry = (struct proto_prefix){
        .family = (uint8_t)prefix.address.family, .length = prefix.length, .ports = ports};
    memcpy(entry->bytes, prefix.address.bytes, sizeof(entry->bytes));
}

static int reset(void **state)
{
    (void)state;
    egress = (struct proto_egress){.has_rules = 1};
    return 0;
}

/* "1.2.3.0-1.2.3.255 80" */
static void assert_rule(size_t index, const char *wanted)
{
    struct ip_address first = {.family = rules[index].family == 4 ? IP_FAMILY_4 : IP_FAMILY_6};
    struct ip_address last = first;
    char from[IP_ADDRESS_TEXT_SIZE], to[IP_ADDRESS_TEXT_SIZE], text[120];
    memcpy(first.bytes, rules[index].first, sizeof(first.bytes));
    memcpy(last.bytes, rules[index].last, sizeof(last.bytes));
    ip_address_print(&first, from);
    ip_address_print(&last, to);
    (void)snprintf(text, sizeof(text), "%s-%s %u", from, to, rules[index].port);
    assert_string_equal(text, wanted);
}

static void test_a_prefix_is_an_entry_for_each_port(void **state)
{
    (void)state;
    add("1.2.3.0/24", 3);
    add("2600::/12", 2);
    add("9.9.9.9/32", 1);
    add("0.0.0.0/0", 0);
    assert_int_equal(slot_rules_list(&egress, rules), 4);
    assert_rule(0, "1.2.3.0-1.2.3.255 80");
    assert_rule(1, "1.2.3.0-1.2.3.255 443");
    assert_rule(2, "2600::-260f:ffff:ffff:ffff:ffff:ffff:ffff:ffff 443");
    assert_rule(3, "9.9.9.9-9.9.9.9 80");
}

static void test_all_addresses(void **state)
{
    (void)state;
    add("0.0.0.0/0", 1);
    add("::/0", 1);
    assert_int_equal(slot_rules_list(&egress, rules), 2);
    assert_rule(0, "0.0.0.0-255.255.255.255 80");
    assert_rule(1, "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 80");
}

/* What lies in another one is left out, by port. */
static void test_nothing_overlaps(void **state)
{
    (void)state;
    add("1.2.3.0/24", 3);
    add("1.0.0.0/8", 1);
    add("1.2.3.0/24", 2);
    add("1.2.3.4/32", 3);
    add("1::/16", 1);
    assert_int_equal(slot_rules_list(&egress, rules), 3);
    assert_rule(0, "1.2.3.0-1.2.3.255 443");
    assert_rule(1, "1.0.0.0-1.255.255.255 80");
    assert_rule(2, "1::-1:ffff:ffff:ffff:ffff:ffff:ffff:ffff 80");
}

static void test_as_many_as_there_can_be(void **state)
{
    (void)state;
    char text[32];
    for (unsigned int i = 0; i < PROTO_MAX_PREFIXES; i++) {
        (void)snprintf(text, sizeof(text), "20.%u.0.0/16", i);
        add(text, 3);
    }
    assert_int_equal(slot_rules_list(&egress, rules), SLOT_MAX_RULES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_prefix_is_an_entry_for_each_port, reset),
        cmocka_unit_test_setup(test_all_addresses, reset),
        cmocka_unit_test_setup(test_nothing_overlaps, reset),
        cmocka_unit_test_setup(test_as_many_as_there_can_be, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
