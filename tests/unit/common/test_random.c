/* SPDX-License-Identifier: Apache-2.0 */
#include "common/random.h"
#include "tests/unit/common/cmocka_setup.h"

#include <stdbool.h>
#include <string.h>

static void test_bytes_fill_all(void **state)
{
    (void)state;
    /* More than getrandom() gives at once without being interruptible. */
    static unsigned char bytes[4096];
    assert_int_equal(random_bytes(bytes, sizeof(bytes)), 0);
    size_t zeros = 0;
    for (size_t i = 0; i < sizeof(bytes); i++)
        zeros += bytes[i] == 0;
    assert_true(zeros < 100); /* 16 are expected */
    static const unsigned char none[16];
    assert_true(memcmp(bytes + sizeof(bytes) - 16, none, 16) != 0);
    assert_int_equal(random_bytes(NULL, 0), 0);
}

static void test_uuid_form(void **state)
{
    (void)state;
    char previous[RANDOM_UUID_SIZE] = "";
    for (int i = 0; i < 1000; i++) {
        char text[RANDOM_UUID_SIZE];
        assert_int_equal(random_uuid(text), 0);
        assert_int_equal(strlen(text), 36);
        for (size_t at = 0; at < 36; at++) {
            bool dash = at == 8 || at == 13 || at == 18 || at == 23;
            assert_non_null(strchr(dash ? "-" : "0123456789abcdef", text[at]));
        }
        assert_int_equal(text[14], '4');
        assert_non_null(strchr("89ab", text[19]));
        assert_string_not_equal(text, previous);
        memcpy(previous, text, sizeof(text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_fill_all),
        cmocka_unit_test(test_uuid_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
