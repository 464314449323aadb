/* SPDX-License-Identifier: Apache-2.0 */
#include "common/number.h"
#include "common/parse.h"
#include "common/random.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

static void test_format_table(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-42, "-42"},
        {0.1, "0.1"},
        {0.005, "0.005"},
        {2.5, "2.5"},
        {1e15, "1000000000000000"},
        {MAX_EXACT_INTEGER, "9007199254740991"},
        {-MAX_EXACT_INTEGER, "-9007199254740991"},
        {9007199254740992.0, "9007199254740992"},
        {1e21, "1e+21"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_TRUE_MIN, "4.94065645841247e-324"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[NUMBER_TEXT_SIZE];
        assert_int_equal(number_format(cases[i].value, text), 0);
        assert_string_equal(text, cases[i].text);
    }
}

static void test_what_is_no_number(void **state)
{
    (void)state;
    char text[NUMBER_TEXT_SIZE] = "kept";
    assert_int_equal(number_format((double)NAN, text), -EINVAL);
    assert_int_equal(number_format(HUGE_VAL, text), -EINVAL);
    assert_int_equal(number_format(-HUGE_VAL, text), -EINVAL);
    assert_string_equal(text, "kept");
}

/* Any bit pattern that is a number reads back as itself. */
static void test_round_trip(void **state)
{
    (void)state;
    for (int i = 0; i < 50000; i++) {
        double value = 0, back = 0;
        assert_int_equal(random_bytes(&value, sizeof(value)), 0);
        if (!isfinite(value))
            continue;
        char text[NUMBER_TEXT_SIZE];
        assert_int_equal(number_format(value, text), 0);
        assert_int_equal(parse_double(text, &back), 0);
        assert_memory_equal(&value, &back, sizeof(value));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_table),
        cmocka_unit_test(test_what_is_no_number),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
