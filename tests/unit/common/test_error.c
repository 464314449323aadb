/* SPDX-License-Identifier: Apache-2.0 */
#include "common/error.h"
#include "common/parse.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

static void test_set_returns_the_negative_code(void **state)
{
    (void)state;
    struct error err = {0};
    assert_int_equal(error_set(&err, EINVAL, "spec.%s: %d is too large", "timeout", 61), -EINVAL);
    assert_int_equal(err.code, EINVAL);
    assert_string_equal(err.text, "spec.timeout: 61 is too large");
}

static void test_set_errno_adds_the_text(void **state)
{
    (void)state;
    struct error err = {0};
    errno = EPERM;
    assert_int_equal(error_set_errno(&err, ENOENT, "cannot open %s", "/x"), -ENOENT);
    assert_string_equal(err.text, "cannot open /x: No such file or directory");
    assert_int_equal(errno, EPERM);
}

static void test_wrap_prefixes(void **state)
{
    (void)state;
    struct error err = {0};
    (void)error_set(&err, EBUSY, "busy");
    assert_int_equal(error_wrap(&err, "run %s", "a"), -EBUSY);
    assert_string_equal(err.text, "run a: busy");
    assert_int_equal(error_wrap(&err, "again (%s)", err.text), -EBUSY);
    assert_string_equal(err.text, "again (run a: busy): run a: busy");
}

static void test_arguments_may_lie_in_the_error(void **state)
{
    (void)state;
    struct error err = {0};
    (void)error_set(&err, EINVAL, "inner");
    (void)error_set(&err, EIO, "outer <%s>", err.text);
    assert_string_equal(err.text, "outer <inner>");
}

static void test_null_is_fine(void **state)
{
    (void)state;
    assert_int_equal(error_set(NULL, EINVAL, "x"), -EINVAL);
    assert_int_equal(error_set_errno(NULL, ENOENT, "x"), -ENOENT);
    assert_true(error_wrap(NULL, "x") < 0);
}

/* A long text is cut, and never within a character. */
static void test_cut_between_characters(void **state)
{
    (void)state;
    for (int pad = 0; pad < 8; pad++) {
        static const char *const characters[] = {"a", "\xC3\xA4", "\xE2\x82\xAC",
                                                 "\xF0\x9F\x90\x8D"};
        for (size_t c = 0; c < 4; c++) {
            char text[2 * MAX_ERROR_TEXT];
            memset(text, 'x', (size_t)pad);
            size_t len = (size_t)pad, step = strlen(characters[c]);
            for (; len + step < sizeof(text); len += step)
                memcpy(text + len, characters[c], step);
            text[len] = '\0';
            struct error err = {0};
            (void)error_set(&err, EINVAL, "%s", text);
            size_t cut = strlen(err.text);
            assert_true(cut < MAX_ERROR_TEXT && cut >= MAX_ERROR_TEXT - 4);
            assert_true(parse_is_utf8(err.text, cut));
            assert_memory_equal(err.text, text, cut);
            assert_int_equal(error_wrap(&err, "p"), -EINVAL);
            assert_true(parse_is_utf8(err.text, strlen(err.text)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_returns_the_negative_code),
        cmocka_unit_test(test_set_errno_adds_the_text),
        cmocka_unit_test(test_wrap_prefixes),
        cmocka_unit_test(test_arguments_may_lie_in_the_error),
        cmocka_unit_test(test_null_is_fine),
        cmocka_unit_test(test_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
