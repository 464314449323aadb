/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/resolver/address_filter.h"
#include "tests/unit/common/cmocka_setup.h"

static const struct resolver_hello hello = {
    .forbidden_count = 2,
    .forbidden = {{4, 15, {93, 184}}, {6, 48, {0x2a, 0x02, 0x06, 0xb8, 0, 7}}}};

static void test_what_is_forbidden(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        bool forbidden;
    } cases[] = {
        {"8.8.8.8", false},
        {"10.1.2.3", true},
        {"169.254.169.254", true},
        {"127.0.0.1", true},
        {"0.0.0.0", true},
        {"100.64.0.1", true},
        {"198.19.192.1", true},
        {"93.183.255.255", false},
        {"93.184.0.0", true},
        {"93.185.255.255", true},
        {"93.186.0.0", false},
        {"2606:4700::1111", false},
        {"2a02:6b8:7::1", true},
        {"2a02:6b8:8::1", false},
        {"fd00:ec2::254", true},
        {"::ffff:8.8.8.8", true},
        {"64:ff9b::a9fe:a9fe", true},
        {"::1", true},
        {"fe80::1", true},
        {"2002:a00:1::1", true},
    };
    struct address_filter filter;
    address_filter_init(&filter, &hello);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct dns_answer answer = {.address_count = 1};
        assert_int_equal(ip_address_parse(cases[i].address, &answer.addresses[0].address), 0);
        if (address_filter_apply(&filter, &answer) != cases[i].forbidden)
            fail_msg("%s", cases[i].address);
    }
}

static void test_an_answer_loses_them_and_keeps_its_order(void **state)
{
    (void)state;
    static const char *const addresses[] = {"10.0.0.1", "8.8.8.8", "93.184.216.34", "1.1.1.1",
                                            "169.254.169.254"};
    struct address_filter filter;
    struct dns_answer answer = {.address_count = ARRAY_SIZE(addresses)};
    char text[IP_ADDRESS_TEXT_SIZE];
    address_filter_init(&filter, &hello);
    for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
        assert_int_equal(ip_address_parse(addresses[i], &answer.addresses[i].address), 0);
    assert_int_equal(address_filter_apply(&filter, &answer), 3);
    assert_int_equal(answer.address_count, 2);
    ip_address_print(&answer.addresses[0].address, text);
    assert_string_equal(text, "8.8.8.8");
    ip_address_print(&answer.addresses[1].address, text);
    assert_string_equal(text, "1.1.1.1");
    assert_int_equal(address_filter_apply(&filter, &answer), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_forbidden),
        cmocka_unit_test(test_an_answer_loses_them_and_keeps_its_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
