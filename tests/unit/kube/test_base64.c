/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/kube/base64.h"

#include <errno.h>
#include <string.h>

static void test_decode(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int result;
        const char *bytes;
    } cases[] = {
        {"", 0, ""},
        {"Zg==", 0, "f"},
        {"Zm8=", 0, "fo"},
        {"Zm9v", 0, "foo"},
        {"Zm9vYmFy", 0, "foobar"},
        {"Zm9v\nYmFy\r\n", 0, "foobar"},
        {"Zg==\n", 0, "f"},
        {"+/+/", 0, "\xfb\xff\xbf"},
        {"Z", -EINVAL, NULL},
        {"Zg", -EINVAL, NULL},
        {"Zg=", -EINVAL, NULL},
        {"Z===", -EINVAL, NULL},
        {"====", -EINVAL, NULL},
        {"Zg==Zg==", -EINVAL, NULL},
        {"Z=g=", -EINVAL, NULL},
        {"Zm 9", -EINVAL, NULL},
        {"Zm9v!", -EINVAL, NULL},
        {"Zm-_", -EINVAL, NULL},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_buf struct buf out = BUF_INIT(64);
        assert_int_equal(base64_decode(cases[i].text, strlen(cases[i].text), &out),
                         cases[i].result);
        if (cases[i].bytes)
            assert_string_equal(buf_str(&out), cases[i].bytes);
    }
}

static void test_bounded(void **state)
{
    (void)state;
    cleanup_buf struct buf out = BUF_INIT(4);

    assert_int_equal(base64_decode("Zm9vYmFy", 8, &out), -EMSGSIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
