/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/net/net_plan.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct ip_prefix prefix(const char *text)
{
    struct ip_prefix parsed;
    assert_int_equal(ip_prefix_parse(text, true, &parsed, NULL), 0);
    return parsed;
}

static int plan_of(const char *range4, const char *range6, uint32_t jailer, uint32_t slots,
                   struct net_plan *plan, struct error *err)
{
    struct ip_prefix first = prefix(range4), second = prefix(range6);
    *err = (struct error){0};
    return net_plan_init(plan, jailer, slots, &first, &second, err);
}

static void assert_address(const struct net_plan *plan, uint32_t slot, enum ip_family family,
                           enum net_end end, const char *wanted)
{
    struct ip_address address;
    char text[IP_ADDRESS_TEXT_SIZE];
    net_plan_address(plan, slot, family, end, &address);
    ip_address_print(&address, text);
    assert_string_equal(text, wanted);
}

static void test_addresses(void **state)
{
    (void)state;
    struct net_plan plan;
    struct error err;
    assert_int_equal(plan_of(NET_DEFAULT_RANGE4, NET_DEFAULT_RANGE6, 0, 128, &plan, &err), 0);
    assert_int_equal(plan.slot_count, 128);
    assert_address(&plan, 0, IP_FAMILY_4, NET_GATEWAY, "198.19.192.0");
    assert_address(&plan, 0, IP_FAMILY_4, NET_SANDBOX, "198.19.192.1");
    assert_address(&plan, 127, IP_FAMILY_4, NET_SANDBOX, "198.19.192.255");
    assert_address(&plan, 0, IP_FAMILY_6, NET_GATEWAY, "fd53:6272::");
    assert_address(&plan, 127, IP_FAMILY_6, NET_SANDBOX, "fd53:6272::ff");
    assert_int_equal(plan_of(NET_DEFAULT_RANGE4, NET_DEFAULT_RANGE6, 63, 128, &plan, &err), 0);
    assert_address(&plan, 0, IP_FAMILY_4, NET_GATEWAY, "198.19.255.0");
    assert_address(&plan, 127, IP_FAMILY_4, NET_SANDBOX, "198.19.255.255");
    assert_address(&plan, 0, IP_FAMILY_6, NET_GATEWAY, "fd53:6272::fc00");
    assert_address(&plan, 127, IP_FAMILY_6, NET_SANDBOX, "fd53:6272::fcff");
}

/* No two slots of any two jailers share an address, and none lies outside of the range. */
static void test_parts_are_disjoint_and_inside(void **state)
{
    (void)state;
    static const char *const ranges[] = {"10.0.0.0/8", "198.19.192.0/18", "192.168.248.0/21",
                                         "192.168.1.0/25"};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        struct net_plan before, plan;
        struct error err;
        struct ip_address address;
        for (uint32_t jailer = 0; jailer < NET_MAX_JAILERS; jailer++) {
            assert_int_equal(plan_of(ranges[i], NET_DEFAULT_RANGE6, jailer, 128, &plan, &err), 0);
            assert_true(plan.slot_count >= 1);
            net_plan_address(&plan, plan.slot_count - 1, IP_FAMILY_4, NET_SANDBOX, &address);
            assert_true(ip_prefix_contains(&plan.part4, &address));
            assert_true(ip_prefix_covers(&plan.range4, &plan.part4));
            assert_true(ip_prefix_covers(&plan.range6, &plan.part6));
            net_plan_address(&plan, plan.slot_count - 1, IP_FAMILY_6, NET_SANDBOX, &address);
            assert_true(ip_prefix_contains(&plan.part6, &address));
            if (jailer > 0) {
                assert_false(ip_prefix_overlaps(&before.part4, &plan.part4));
                assert_false(ip_prefix_overlaps(&before.part6, &plan.part6));
            }
            before = plan;
        }
    }
}

static void test_small_ranges_have_fewer_slots(void **state)
{
    (void)state;
    struct net_plan plan;
    struct error err;
    assert_int_equal(plan_of("198.19.192.0/22", NET_DEFAULT_RANGE6, 5, 128, &plan, &err), 0);
    assert_int_equal(plan.slot_count, 8);
    assert_int_equal(plan_of("198.19.192.0/18", NET_DEFAULT_RANGE6, 5, 1000, &plan, &err), 0);
    assert_int_equal(plan.slot_count, NET_MAX_SLOTS);
    assert_int_equal(plan_of("198.19.192.0/18", NET_DEFAULT_RANGE6, 5, 3, &plan, &err), 0);
    assert_int_equal(plan.slot_count, 3);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    struct net_plan plan;
    struct error err;
    assert_int_equal(plan_of("198.19.192.0/26", NET_DEFAULT_RANGE6, 0, 1, &plan, &err), -EINVAL);
    assert_non_null(strstr(err.text, "198.19.192.0/26"));
    assert_int_equal(plan_of("198.0.0.0/7", NET_DEFAULT_RANGE6, 0, 1, &plan, &err), -EINVAL);
    assert_int_equal(plan_of(NET_DEFAULT_RANGE6, NET_DEFAULT_RANGE6, 0, 1, &plan, &err), -EINVAL);
    assert_int_equal(plan_of(NET_DEFAULT_RANGE4, NET_DEFAULT_RANGE4, 0, 1, &plan, &err), -EINVAL);
    assert_int_equal(plan_of(NET_DEFAULT_RANGE4, "fd53:6272::/64", 0, 1, &plan, &err), -EINVAL);
    assert_non_null(strstr(err.text, "112"));
    assert_int_equal(plan_of(NET_DEFAULT_RANGE4, NET_DEFAULT_RANGE6, 64, 1, &plan, &err), -EINVAL);
}

static void test_names_and_marks(void **state)
{
    (void)state;
    struct net_plan plan = {.jailer = 63};
    char name[NET_IFNAME_SIZE], table[NET_TABLE_SIZE];
    uint8_t gateway[NET_MAC_SIZE], sandbox[NET_MAC_SIZE];
    net_plan_ifname(63, 127, name);
    assert_string_equal(name, "sbr63-127");
    net_plan_table(63, table);
    assert_string_equal(table, "sandboxrun_63");
    net_plan_lock_table(63, table);
    assert_string_equal(table, "sandboxrun_lock_63");
    assert_int_equal(net_plan_mark(63, 127), 0x5b523f7f);
    assert_int_equal(net_plan_mark(63, 127) & NET_MARK_MASK, net_plan_mark(63, 0));
    net_plan_mac(&plan, 127, NET_GATEWAY, gateway);
    net_plan_mac(&plan, 127, NET_SANDBOX, sandbox);
    /* Locally administered, of one station. */
    assert_int_equal(gateway[0] & 3, 2);
    assert_memory_not_equal(gateway, sandbox, NET_MAC_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_parts_are_disjoint_and_inside),
        cmocka_unit_test(test_small_ranges_have_fewer_slots),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_names_and_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
