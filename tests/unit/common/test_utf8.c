/* SPDX-License-Identifier: Apache-2.0 */
#include "common/parse.h"
#include "common/utf8.h"
#include "tests/unit/common/cmocka_setup.h"

#include <string.h>

static void test_decode_table(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t len; /* 0: invalid */
        uint32_t code_point;
    } cases[] = {
        {"a", 1, 'a'},
        {"\x7F", 1, 0x7F},
        {"\xC2\x80", 2, 0x80},
        {"\xDF\xBF", 2, 0x7FF},
        {"\xE0\xA0\x80", 3, 0x800},
        {"\xED\x9F\xBF", 3, 0xD7FF},
        {"\xEE\x80\x80", 3, 0xE000},
        {"\xEF\xBF\xBF", 3, 0xFFFF},
        {"\xF0\x90\x80\x80", 4, 0x10000},
        {"\xF4\x8F\xBF\xBF", 4, 0x10FFFF},
        {"\xC3\xA4rest", 2, 0xE4},
        {"\x80", 0, 0}, /* continuation alone */
        {"\xBF", 0, 0},
        {"\xC0\x80", 0, 0}, /* overlong NUL */
        {"\xC1\xBF", 0, 0},
        {"\xE0\x9F\xBF", 0, 0},     /* overlong */
        {"\xF0\x8F\xBF\xBF", 0, 0}, /* overlong */
        {"\xED\xA0\x80", 0, 0},     /* surrogates */
        {"\xED\xBF\xBF", 0, 0},
        {"\xF4\x90\x80\x80", 0, 0}, /* beyond U+10FFFF */
        {"\xF5\x80\x80\x80", 0, 0},
        {"\xFE", 0, 0},
        {"\xFF", 0, 0},
        {"\xC3", 0, 0}, /* cut short */
        {"\xE2\x82", 0, 0},
        {"\xF0\x9F\x90", 0, 0},
        {"\xC3"
         "a",
         0, 0}, /* wrong continuation */
        {"\xE2\x82"
         "a",
         0, 0},
        {"\xF0\x9F\x90"
         "a",
         0, 0},
        {"\xE2\x28\xA1", 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t code_point = 0;
        size_t len = utf8_decode(cases[i].bytes, strlen(cases[i].bytes), &code_point);
        if (len != cases[i].len || code_point != cases[i].code_point)
            fail_msg("case %zu: %zu bytes, U+%04X", i, len, code_point);
        assert_int_equal(parse_is_utf8(cases[i].bytes, strlen(cases[i].bytes)), cases[i].len > 0);
    }
    assert_int_equal(utf8_decode("\xC3\xA4", 1, NULL), 0); /* the second byte is not ours */
    assert_int_equal(utf8_decode("", 0, NULL), 0);
    assert_int_equal(utf8_decode("\0", 1, NULL), 1);
}

/* All 2^16 two-byte beginnings against the rule written the long way. */
static void test_every_two_byte_sequence(void **state)
{
    (void)state;
    for (unsigned int i = 0; i < 0x10000; i++) {
        unsigned char pair[2] = {(unsigned char)(i >> 8), (unsigned char)i};
        bool wanted = pair[0] >= 0xC2 && pair[0] <= 0xDF && pair[1] >= 0x80 && pair[1] <= 0xBF;
        if (pair[0] < 0x80)
            wanted = pair[1] < 0x80;
        assert_int_equal(parse_is_utf8(pair, 2), wanted);
    }
}

static void test_text_of_many_characters(void **state)
{
    (void)state;
    static const char text[] = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\x8D\0z";
    assert_true(parse_is_utf8(text, sizeof(text) - 1));
    assert_true(parse_is_utf8("", 0));
    assert_false(parse_is_utf8(text, 2));
    assert_true(parse_is_utf8(text, 3));
    assert_false(parse_is_utf8(text, 5));
    assert_false(parse_is_utf8(text, 9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode_table),
        cmocka_unit_test(test_every_two_byte_sequence),
        cmocka_unit_test(test_text_of_many_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
