/* SPDX-License-Identifier: Apache-2.0 */
#include "common/parse.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

static void test_u64(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t min, max;
        int result;
        uint64_t value;
    } cases[] = {
        {"0", 0, UINT64_MAX, 0, 0},
        {"18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX},
        {"18446744073709551616", 0, UINT64_MAX, -ERANGE, 0},
        {"99999999999999999999999", 0, UINT64_MAX, -ERANGE, 0},
        {"007", 0, 10, 0, 7},
        {"10", 0, 10, 0, 10},
        {"11", 0, 10, -ERANGE, 0},
        {"4", 5, 10, -ERANGE, 0},
        {"5", 5, 10, 0, 5},
        {"", 0, 10, -EINVAL, 0},
        {" 1", 0, 10, -EINVAL, 0},
        {"1 ", 0, 10, -EINVAL, 0},
        {"+1", 0, 10, -EINVAL, 0},
        {"-1", 0, 10, -EINVAL, 0},
        {"-0", 0, 10, -EINVAL, 0},
        {"0x1", 0, 10, -EINVAL, 0},
        {"1e1", 0, 10, -EINVAL, 0},
        {"99999999999999999999999x", 0, 10, -EINVAL, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t value = 0;
        int r = parse_u64(cases[i].text, cases[i].min, cases[i].max, &value);
        if (r != cases[i].result || value != cases[i].value)
            fail_msg("\"%s\": %d", cases[i].text, r);
    }
}

static void test_i64(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t min, max;
        int result;
        int64_t value;
    } cases[] = {
        {"9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX},
        {"9223372036854775808", INT64_MIN, INT64_MAX, -ERANGE, 0},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, -ERANGE, 0},
        {"-99999999999999999999", INT64_MIN, INT64_MAX, -ERANGE, 0},
        {"-0", -1, 1, 0, 0},
        {"-1", -1, 1, 0, -1},
        {"-2", -1, 1, -ERANGE, 0},
        {"2", -1, 1, -ERANGE, 0},
        {"", -1, 1, -EINVAL, 0},
        {"-", -1, 1, -EINVAL, 0},
        {"--1", -1, 1, -EINVAL, 0},
        {"+1", -1, 1, -EINVAL, 0},
        {"1.0", -1, 1, -EINVAL, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t value = 0;
        int r = parse_i64(cases[i].text, cases[i].min, cases[i].max, &value);
        if (r != cases[i].result || value != cases[i].value)
            fail_msg("\"%s\": %d", cases[i].text, r);
    }
}

static void test_double(void **state)
{
    (void)state;
    double value = 7;
    assert_int_equal(parse_double("-1.5e3", &value), 0);
    assert_true(value == -1500);
    assert_int_equal(parse_double("1e-400", &value), 0); /* to zero, as every reader does */
    assert_true(value == 0);
    static const char *const invalid[] = {"",   " 1", "1 ", "inf", "nan", "0x10", "1,5",
                                          "1e", "e1", "-",  ".",   "1-2", "1.2.3"};
    for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
        assert_int_equal(parse_double(invalid[i], &value), -EINVAL);
    assert_int_equal(parse_double("1e400", &value), -ERANGE);
    assert_int_equal(parse_double("-1e400", &value), -ERANGE);
    assert_true(value == 0);
}

static void test_duration(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int result;
        uint64_t ms;
    } cases[] = {
        {"20", 0, 20000},
        {"20s", 0, 20000},
        {"1500ms", 0, 1500},
        {"2m", 0, 120000},
        {"0", 0, 0},
        {"18446744073709551615ms", 0, UINT64_MAX},
        {"18446744073709551615s", -ERANGE, 0},
        {"18446744073709551616ms", -ERANGE, 0},
        {"307445734561825m", 0, UINT64_C(18446744073709500000)},
        {"307445734561826m", -ERANGE, 0},
        {"", -EINVAL, 0},
        {"s", -EINVAL, 0},
        {"ms", -EINVAL, 0},
        {"1.5s", -EINVAL, 0},
        {"-1s", -EINVAL, 0},
        {"+1s", -EINVAL, 0},
        {"1 s", -EINVAL, 0},
        {"1h", -EINVAL, 0},
        {"1S", -EINVAL, 0},
        {"1sec", -EINVAL, 0},
        {"1m30s", -EINVAL, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t ms = 0;
        int r = parse_duration_ms(cases[i].text, &ms);
        if (r != cases[i].result || ms != cases[i].ms)
            fail_msg("\"%s\": %d", cases[i].text, r);
    }
}

static void test_dns_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool label, subdomain;
    } cases[] = {
        {"a", true, true},          {"0", true, true},          {"a-b", true, true},
        {"a--b", true, true},       {"hello-7f9c", true, true}, {"a.b", false, true},
        {"a-1.b-2.c", false, true}, {"", false, false},         {"-a", false, false},
        {"a-", false, false},       {"A", false, false},        {"a_b", false, false},
        {"a b", false, false},      {"a/b", false, false},      {".", false, false},
        {".a", false, false},       {"a.", false, false},       {"a..b", false, false},
        {"a.-b", false, false},     {"a-.b", false, false},     {"\xC3\xA4", false, false},
        {"a\n", false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (parse_is_dns_label(cases[i].text) != cases[i].label ||
            parse_is_dns_subdomain(cases[i].text) != cases[i].subdomain)
            fail_msg("\"%s\"", cases[i].text);
    }
}

static void test_dns_lengths(void **state)
{
    (void)state;
    char text[256];
    memset(text, 'a', sizeof(text));
    text[63] = '\0';
    assert_true(parse_is_dns_label(text));
    text[63] = 'a';
    text[64] = '\0';
    assert_false(parse_is_dns_label(text));
    text[64] = 'a';
    text[253] = '\0';
    assert_true(parse_is_dns_subdomain(text));
    text[253] = 'a';
    text[254] = '\0';
    assert_false(parse_is_dns_subdomain(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_u64),       cmocka_unit_test(test_i64),
        cmocka_unit_test(test_double),    cmocka_unit_test(test_duration),
        cmocka_unit_test(test_dns_names), cmocka_unit_test(test_dns_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
