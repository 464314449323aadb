/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/quantity.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/cleanup.h"

struct parse_case {
    const char *text;
    int result;
    uint64_t value;
};

static const struct parse_case byte_cases[] = {
    {"0", 0, 0},
    {"-0", 0, 0},
    {"1", 0, 1},
    {"+1", 0, 1},
    {"512Mi", 0, 512ull << 20},
    {"1Gi", 0, 1ull << 30},
    {"1.5Gi", 0, 3ull << 29},
    {"128M", 0, 128000000},
    {"1e3", 0, 1000},
    {"1E3", 0, 1000},
    {"12e+2", 0, 1200},
    {"12e-1", 0, 2},
    {"1E", 0, 1000000000000000000ull},
    {"1k", 0, 1000},
    {"1Ki", 0, 1024},
    {".5Ki", 0, 512},
    {"5.Ki", 0, 5120},
    {"0.1", 0, 1},
    {"1m", 0, 1},
    {"1n", 0, 1},
    {"1000m", 0, 1},
    {"1001m", 0, 2},
    {"1000000u", 0, 1},
    {"0.00000000000000000000000000000000000000001", 0, 1},
    {"1.0000000000000000000000000000000000000000", 0, 1},
    {"1.0000000000000000000000000000000000000001", 0, 2},
    {"0000000000000000000000000000000000000000001", 0, 1},
    {"0e999", 0, 0},
    {"9223372036854775807", 0, INT64_MAX},
    {"9223372036854775808", -ERANGE, 0},
    {"8Ei", -ERANGE, 0},
    {"7.9999999999Ei", 0, 9223372036739483658ull},
    {"99999999999999999999999999", -ERANGE, 0},
    {"1e19", -ERANGE, 0},
    {"1e999", -ERANGE, 0},
    {"1e1000", -ERANGE, 0},
    {"1e99999999999999999999", -ERANGE, 0},
    {"1e-999", 0, 1},
    {"-1", -ERANGE, 0},
    {"-1Mi", -ERANGE, 0},
    {"", -EINVAL, 0},
    {"+", -EINVAL, 0},
    {".", -EINVAL, 0},
    {"Mi", -EINVAL, 0},
    {"1.2.3", -EINVAL, 0},
    {"--1", -EINVAL, 0},
    {"1e", -EINVAL, 0},
    {"1e+", -EINVAL, 0},
    {"1e1x", -EINVAL, 0},
    {"1 Mi", -EINVAL, 0},
    {" 1", -EINVAL, 0},
    {"1mi", -EINVAL, 0},
    {"1K", -EINVAL, 0},
    {"1MiB", -EINVAL, 0},
    {"0x10", -EINVAL, 0},
    {"inf", -EINVAL, 0},
    {"111111111111111111111111111111111111111111111111111111111111111111", -EINVAL, 0},
};

static void test_parse_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(byte_cases); i++) {
        uint64_t value = 77;
        int r = quantity_parse_bytes(byte_cases[i].text, &value);
        if (r != byte_cases[i].result || value != (r == 0 ? byte_cases[i].value : 77))
            fail_msg("\"%s\": %d, %ju", byte_cases[i].text, r, (uintmax_t)value);
    }
}

static void test_parse_milli(void **state)
{
    (void)state;
    static const struct parse_case cases[] = {
        {"1", 0, 1000},      {"500m", 0, 500},
        {"0.5", 0, 500},     {"2", 0, 2000},
        {"100u", 0, 1},      {"0.0101", 0, 11},
        {"1e-3", 0, 1},      {"1k", 0, 1000000},
        {"1E", -ERANGE, 0},  {"9P", 0, 9000000000000000000ull},
        {"10P", -ERANGE, 0}, {"-1m", -ERANGE, 0},
        {"one", -EINVAL, 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint64_t value = 77;
        int r = quantity_parse_milli(cases[i].text, &value);
        if (r != cases[i].result || value != (r == 0 ? cases[i].value : 77))
            fail_msg("\"%s\": %d, %ju", cases[i].text, r, (uintmax_t)value);
    }
}

static void test_format(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const char *bytes, *milli;
    } cases[] = {
        {0, "0", "0"},
        {1, "1", "1m"},
        {500, "500", "500m"},
        {1000, "1k", "1"},
        {1024, "1Ki", "1024m"},
        {1500, "1500", "1500m"},
        {512ull << 20, "512Mi", "536870912m"},
        {128000000, "128M", "128000"},
        {INT64_MAX, "9223372036854775807", "9223372036854775807m"},
        {UINT64_MAX, "18446744073709551615", "18446744073709551615m"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[QUANTITY_TEXT_SIZE];
        uint64_t back;
        quantity_format_bytes(cases[i].value, text);
        assert_string_equal(text, cases[i].bytes);
        if (cases[i].value <= INT64_MAX) {
            assert_int_equal(quantity_parse_bytes(text, &back), 0);
            assert_true(back == cases[i].value);
        }
        quantity_format_milli(cases[i].value, text);
        assert_string_equal(text, cases[i].milli);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_bytes),
        cmocka_unit_test(test_parse_milli),
        cmocka_unit_test(test_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
