/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/net/forbidden.h"
#include "tests/unit/common/cmocka_setup.h"

#include <string.h>

static bool is_forbidden(const char *text)
{
    struct ip_address address;
    if (ip_address_parse(text, &address) < 0)
        fail_msg("\"%s\" is no address", text);
    return forbidden_find(&address) != NULL;
}

/* What must be refused, written down from the registries and not from the code's own table; with
 * the addresses just outside where those are not. */
static const struct {
    const char *before; /* NULL: refused too, or there is none */
    const char *first, *last;
    const char *behind;
} expected[] = {
    /* IANA IPv4 Special-Purpose Address Registry */
    {NULL, "0.0.0.0", "0.255.255.255", "1.0.0.0"},
    {"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
    {"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
    {"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
    {"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
    {"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
    {"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
    {"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
    {"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"},
    {"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
    {"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
    {"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
    {"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
    {NULL, "240.0.0.0", "255.255.255.255", NULL},
    /* Multicast */
    {"223.255.255.255", "224.0.0.0", "239.255.255.255", NULL},
    /* Metadata services of the clouds */
    {NULL, "100.100.100.200", "100.100.100.200", NULL},
    {"168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"},
    {NULL, "169.254.169.254", "169.254.169.254", NULL},
    {NULL, "192.0.0.192", "192.0.0.192", NULL},
    {NULL, "fd00:ec2::254", "fd00:ec2::254", NULL},
    /* IANA IPv6 Special-Purpose Address Registry */
    {NULL, "::", "::1", NULL},
    {NULL, "::ffff:0:0", "::ffff:255.255.255.255", NULL},
    {NULL, "64:ff9b::", "64:ff9b::ffff:ffff", NULL},
    {NULL, "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", NULL},
    {NULL, "100::", "100::ffff:ffff:ffff:ffff", NULL},
    {NULL, "100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", NULL},
    {"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
     "2001:200::"},
    {NULL, "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {NULL, "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", NULL},
    {NULL, "2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {NULL, "2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
     "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
    {"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "2003::"},
    {"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
     "3fff:1000::"},
    {NULL, "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {NULL, "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {NULL, "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    /* Forms that carry an IPv4 address */
    {NULL, "::0.0.0.0", "::255.255.255.255", NULL},
    {NULL, "::ffff:0:0:0", "::ffff:0:ffff:ffff", NULL},
    /* Site-local, multicast, and all that isn't global unicast space */
    {NULL, "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {NULL, "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
    {NULL, "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"},
    {"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     NULL},
};

static void test_every_range_is_refused_to_its_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        if (!is_forbidden(expected[i].first) || !is_forbidden(expected[i].last))
            fail_msg("%s to %s is not refused", expected[i].first, expected[i].last);
        if (expected[i].before && is_forbidden(expected[i].before))
            fail_msg("%s is refused", expected[i].before);
        if (expected[i].behind && is_forbidden(expected[i].behind))
            fail_msg("%s is refused", expected[i].behind);
    }
}

/* Public in the registries: the AS112 and AMT ranges, the anycast resolvers. */
static void test_public_addresses_are_not_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "1.1.1.1",      "8.8.8.8",         "9.9.9.9",      "192.31.196.1",
        "192.52.193.1", "192.175.48.1",    "198.41.0.4",   "2001:4860:4860::8888",
        "2620:fe::fe",  "2606:4700::1111", "2400:cb00::1", "2a00:1450::1",
        "2c0f::1",      "2620:4f:8000::1", "223.0.0.1",
    };
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        if (is_forbidden(texts[i]))
            fail_msg("%s is refused", texts[i]);
    }
}

/* Every IPv6 form of a refused IPv4 address that a translator or a tunnel would take apart. */
static void test_forms_of_ipv4_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "::169.254.169.254",
        "::ffff:169.254.169.254",
        "::ffff:0:169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "2001:0:a9fe:a9fe::1",
        "::10.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::10.0.0.1",
        "2002:a00:1::",
    };
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        if (!is_forbidden(texts[i]))
            fail_msg("%s is not refused", texts[i]);
    }
}

static int order(const struct ip_prefix *a, const struct ip_prefix *b)
{
    if (a->address.family != b->address.family)
        return (int)a->address.family - (int)b->address.family;
    return memcmp(a->address.bytes, b->address.bytes, sizeof(a->address.bytes));
}

static void test_ranges_are_in_order_and_do_not_overlap(void **state)
{
    (void)state;
    struct ip_prefix before = {0};
    size_t count = 0;
    for (; forbidden_range(count); count++) {
        const struct forbidden_range *range = forbidden_range(count);
        struct ip_prefix prefix;
        char text[IP_PREFIX_TEXT_SIZE];
        assert_int_equal(ip_prefix_parse(range->prefix, true, &prefix, NULL), 0);
        ip_prefix_print(&prefix, text);
        assert_string_equal(text, range->prefix);
        assert_true(strlen(range->why) > 0);
        if (count > 0 && (order(&before, &prefix) >= 0 || ip_prefix_overlaps(&before, &prefix)))
            fail_msg("%s is out of order", range->prefix);
        before = prefix;
    }
    assert_true(count > 30);
    assert_null(forbidden_range(count + 1000));
}

/* One end of every range is in it, and the find names that range. */
static void test_find_names_the_range(void **state)
{
    (void)state;
    for (size_t i = 0; forbidden_range(i); i++) {
        struct ip_prefix prefix;
        assert_int_equal(ip_prefix_parse(forbidden_range(i)->prefix, true, &prefix, NULL), 0);
        assert_ptr_equal(forbidden_find(&prefix.address), forbidden_range(i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_range_is_refused_to_its_ends),
        cmocka_unit_test(test_public_addresses_are_not_refused),
        cmocka_unit_test(test_forms_of_ipv4_are_refused),
        cmocka_unit_test(test_ranges_are_in_order_and_do_not_overlap),
        cmocka_unit_test(test_find_names_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
