/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/net/ip_prefix.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

static struct ip_address address(const char *text)
{
    struct ip_address address = {0};
    if (ip_address_parse(text, &address) < 0)
        fail_msg("%s", text);
    return address;
}

static struct ip_prefix prefix(const char *text)
{
    struct ip_prefix prefix = {0};
    struct error err = {0};
    if (ip_prefix_parse(text, true, &prefix, &err) < 0)
        fail_msg("%s", err.text);
    return prefix;
}

static void test_addresses_come_back_as_they_are_written(void **state)
{
    (void)state;
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {"0.0.0.0", NULL},
        {"255.255.255.255", NULL},
        {"10.1.2.3", NULL},
        {"::", NULL},
        {"::1", NULL},
        {"2001:db8::1", NULL},
        {"2001:DB8:0::0001", "2001:db8::1"},
        {"fe80:0:0:0:0:0:0:1", "fe80::1"},
        {"::ffff:10.0.0.1", NULL},
        {"64:ff9b::10.0.0.1", "64:ff9b::a00:1"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
         "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[IP_ADDRESS_TEXT_SIZE];
        struct ip_address parsed = address(cases[i].text);
        ip_address_print(&parsed, text);
        assert_string_equal(text, cases[i].printed ? cases[i].printed : cases[i].text);
    }
}

static void test_other_forms_are_no_addresses(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "1",
        "1.2.3",
        "1.2.3.4.5",
        "256.1.1.1",
        "01.2.3.4",
        "1.2.3.",
        "0x7f.0.0.1",
        "127.1",
        "2130706433",
        " 1.2.3.4",
        "1.2.3.4 ",
        "-1.2.3",
        "1.2.3.4/32",
        "localhost",
        ":",
        ":::",
        "1::2::3",
        "fe80::1%eth0",
        "[::1]",
        "::1.2.3",
        "12345::",
        "g::",
        "::ffff:01.2.3.4",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
    };
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct ip_address parsed = {.bytes = {42}};
        if (ip_address_parse(texts[i], &parsed) != -EINVAL || parsed.bytes[0] != 42)
            fail_msg("\"%s\"", texts[i]);
    }
}

static void test_prefixes_come_back_as_they_are_written(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0.0.0.0/0", "10.0.0.0/8", "172.16.0.0/12", "203.0.113.5/32",     "::/0",
        "::/128",    "2001::/23",  "fe80::/10",     "2001:db8::ff00/120", "::1/128",
    };
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        char text[IP_PREFIX_TEXT_SIZE];
        struct ip_prefix parsed = prefix(texts[i]);
        assert_true(ip_prefix_is_valid(&parsed));
        ip_prefix_print(&parsed, text);
        assert_string_equal(text, texts[i]);
    }
}

static void test_other_forms_are_no_prefixes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "\"\" has no prefix length; write it as 203.0.113.0/24"},
        {"10.0.0.1", "\"10.0.0.1\" has no prefix length; write it as 203.0.113.0/24"},
        {"10.0.0.0/", "\"10.0.0.0/\" is no address range: its prefix length is no number from 0 to "
                      "32"},
        {"10.0.0.0/33", "its prefix length is no number from 0 to 32"},
        {"10.0.0.0/08", "its prefix length is no number from 0 to 32"},
        {"10.0.0.0/+8", "its prefix length is no number from 0 to 32"},
        {"10.0.0.0/8/8", "its prefix length is no number from 0 to 32"},
        {"::/129", "its prefix length is no number from 0 to 128"},
        {"::/18446744073709551616", "its prefix length is no number from 0 to 128"},
        {"/8", "\"/8\" is no address range: \"\" is no address"},
        {"here/8", "\"here/8\" is no address range: \"here\" is no address"},
        {"10.0.0/8", "\"10.0.0/8\" is no address range: \"10.0.0\" is no address"},
        {"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000/8", "is no address range"},
        {"10.0.0.1/8", "10.0.0.1/8 has bits beyond its prefix length; write it as 10.0.0.0/8"},
        {"2001:db8::1/64",
         "2001:db8::1/64 has bits beyond its prefix length; write it as 2001:db8::/64"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct ip_prefix parsed = {.length = 42};
        struct error err = {0};
        int r = ip_prefix_parse(cases[i].text, true, &parsed, &err);
        if (r != -EINVAL || parsed.length != 42 || !strstr(err.text, cases[i].message))
            fail_msg("\"%s\": %d %s", cases[i].text, r, err.text);
    }
}

static void test_lenient_clears_the_bits_behind(void **state)
{
    (void)state;
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {"10.255.255.255/8", "10.0.0.0/8"},   {"10.255.255.255/12", "10.240.0.0/12"},
        {"255.255.255.255/0", "0.0.0.0/0"},   {"1.2.3.4/32", "1.2.3.4/32"},
        {"ffff::ffff/127", "ffff::fffe/127"}, {"2001:db8:ffff::1/33", "2001:db8:8000::/33"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[IP_PREFIX_TEXT_SIZE];
        struct ip_prefix parsed;
        assert_int_equal(ip_prefix_parse(cases[i].text, false, &parsed, NULL), 0);
        ip_prefix_print(&parsed, text);
        assert_string_equal(text, cases[i].printed);
    }
}

static void test_contains(void **state)
{
    (void)state;
    static const struct {
        const char *prefix, *address;
        bool contains;
    } cases[] = {
        {"10.0.0.0/8", "9.255.255.255", false},
        {"10.0.0.0/8", "10.0.0.0", true},
        {"10.0.0.0/8", "10.255.255.255", true},
        {"10.0.0.0/8", "11.0.0.0", false},
        {"100.64.0.0/10", "100.63.255.255", false},
        {"100.64.0.0/10", "100.127.255.255", true},
        {"100.64.0.0/10", "100.128.0.0", false},
        {"1.2.3.4/32", "1.2.3.4", true},
        {"1.2.3.4/32", "1.2.3.5", false},
        {"0.0.0.0/0", "255.255.255.255", true},
        {"0.0.0.0/0", "::", false},
        {"::/0", "0.0.0.0", false},
        {"::/0", "ffff::", true},
        {"2001:db8::/127", "2001:db8::1", true},
        {"2001:db8::/127", "2001:db8::2", false},
        {"a00::/8", "10.0.0.0", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct ip_prefix outer = prefix(cases[i].prefix);
        struct ip_address inner = address(cases[i].address);
        if (ip_prefix_contains(&outer, &inner) != cases[i].contains)
            fail_msg("%s in %s", cases[i].address, cases[i].prefix);
    }
}

static void test_covers_and_overlaps(void **state)
{
    (void)state;
    static const struct {
        const char *outer, *inner;
        bool covers, overlaps;
    } cases[] = {
        {"10.0.0.0/8", "10.0.0.0/8", true, true},
        {"10.0.0.0/8", "10.1.0.0/16", true, true},
        {"10.1.0.0/16", "10.0.0.0/8", false, true},
        {"8.0.0.0/8", "8.0.0.0/7", false, true},
        {"10.0.0.0/9", "10.128.0.0/9", false, false},
        {"0.0.0.0/0", "::/0", false, false},
        {"::/0", "2001:db8::/32", true, true},
        {"2001:db8::/33", "2001:db8:8000::/33", false, false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct ip_prefix outer = prefix(cases[i].outer), inner = prefix(cases[i].inner);
        assert_int_equal(ip_prefix_covers(&outer, &inner), cases[i].covers);
        assert_int_equal(ip_prefix_overlaps(&outer, &inner), cases[i].overlaps);
        assert_int_equal(ip_prefix_overlaps(&inner, &outer), cases[i].overlaps);
    }
}

static void test_what_is_no_prefix_is_not_valid(void **state)
{
    (void)state;
    const struct ip_prefix cases[] = {
        {.length = 8},
        {.address = {.family = (enum ip_family)5}, .length = 8},
        {.address = {.family = IP_FAMILY_4}, .length = 33},
        {.address = {.family = IP_FAMILY_6}, .length = 129},
        {.address = {.family = IP_FAMILY_4, .bytes = {10, 1}}, .length = 8},
        {.address = {.family = IP_FAMILY_4, .bytes = {10, [4] = 1}}, .length = 8},
        {.address = {.family = IP_FAMILY_4, .bytes = {10, [15] = 1}}, .length = 32},
        {.address = {.family = IP_FAMILY_6, .bytes = {0x20, [15] = 1}}, .length = 127},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_false(ip_prefix_is_valid(&cases[i]));
    struct ip_prefix all = {.address = {.family = IP_FAMILY_6, .bytes = {[15] = 1}}, .length = 128};
    assert_true(ip_prefix_is_valid(&all));
}

#define MAX_PIECES 8

static void test_subtract(void **state)
{
    (void)state;
    static const struct {
        const char *prefix;
        const char *holes[4];
        const char *pieces[MAX_PIECES];
    } cases[] = {
        {"10.0.0.0/8", {NULL}, {"10.0.0.0/8"}},
        {"10.0.0.0/8", {"10.0.0.0/8"}, {NULL}},
        {"10.0.0.0/8", {"0.0.0.0/0"}, {NULL}},
        {"10.0.0.0/8", {"11.0.0.0/8", "::/0"}, {"10.0.0.0/8"}},
        {"10.0.0.0/8", {"10.0.0.0/9"}, {"10.128.0.0/9"}},
        {"10.0.0.0/8", {"10.128.0.0/9"}, {"10.0.0.0/9"}},
        {"10.0.0.0/8", {"10.0.0.0/9", "10.128.0.0/9"}, {NULL}},
        {"10.0.0.0/8", {"10.64.0.0/10"}, {"10.0.0.0/10", "10.128.0.0/9"}},
        {"10.0.0.0/8",
         {"10.64.0.0/10", "10.0.0.0/11", "10.64.0.0/12"},
         {"10.32.0.0/11", "10.128.0.0/9"}},
        {"10.0.0.0/30", {"10.0.0.1/32"}, {"10.0.0.0/32", "10.0.0.2/31"}},
        {"0.0.0.0/0", {"255.255.255.255/32", "128.0.0.0/1"}, {"0.0.0.0/1"}},
        {"255.255.255.252/30",
         {"255.255.255.254/32"},
         {"255.255.255.252/31", "255.255.255.255/32"}},
        {"::/0", {"::/1"}, {"8000::/1"}},
        {"2001:db8::/126", {"2001:db8::3/128"}, {"2001:db8::/127", "2001:db8::2/128"}},
        {"1.2.3.4/32", {"1.2.3.4/32"}, {NULL}},
        {"1.2.3.4/32", {"1.2.3.5/32"}, {"1.2.3.4/32"}},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct ip_prefix whole = prefix(cases[i].prefix), holes[4], pieces[MAX_PIECES];
        size_t hole_count = 0, count = 99;
        for (; hole_count < 4 && cases[i].holes[hole_count]; hole_count++)
            holes[hole_count] = prefix(cases[i].holes[hole_count]);
        assert_int_equal(ip_prefix_subtract(&whole, holes, hole_count, pieces, MAX_PIECES, &count),
                         0);
        for (size_t j = 0; j < count; j++) {
            char text[IP_PREFIX_TEXT_SIZE];
            ip_prefix_print(&pieces[j], text);
            assert_true(ip_prefix_is_valid(&pieces[j]));
            if (!cases[i].pieces[j] || strcmp(text, cases[i].pieces[j]) != 0)
                fail_msg("case %zu: piece %zu is %s", i, j, text);
        }
        assert_null(cases[i].pieces[count]);
    }
}

/* One address out of the middle of everything takes a piece for every bit. */
static void test_subtract_says_when_it_has_no_room(void **state)
{
    (void)state;
    struct ip_prefix whole = prefix("::/0"), hole = prefix("5555:5555::1/128"), pieces[128];
    size_t count = 99;
    assert_int_equal(ip_prefix_subtract(&whole, &hole, 1, pieces, 127, &count), -ENOSPC);
    assert_int_equal(count, 99);
    assert_int_equal(ip_prefix_subtract(&whole, &hole, 1, pieces, 128, &count), 0);
    assert_int_equal(count, 128);
    for (size_t i = 1; i < count; i++) {
        assert_true(memcmp(pieces[i - 1].address.bytes, pieces[i].address.bytes, 16) < 0);
        assert_false(ip_prefix_overlaps(&pieces[i - 1], &pieces[i]));
        assert_false(ip_prefix_overlaps(&pieces[i], &hole));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_come_back_as_they_are_written),
        cmocka_unit_test(test_other_forms_are_no_addresses),
        cmocka_unit_test(test_prefixes_come_back_as_they_are_written),
        cmocka_unit_test(test_other_forms_are_no_prefixes),
        cmocka_unit_test(test_lenient_clears_the_bits_behind),
        cmocka_unit_test(test_contains),
        cmocka_unit_test(test_covers_and_overlaps),
        cmocka_unit_test(test_what_is_no_prefix_is_not_valid),
        cmocka_unit_test(test_subtract),
        cmocka_unit_test(test_subtract_says_when_it_has_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
