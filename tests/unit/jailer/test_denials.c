/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/jailer/denials.h"

static void test_counts_each_call_by_itself(void **state)
{
    (void)state;
    static const int32_t calls[] = {425, 101, 425, -1, 425, 0};
    struct denials denials = {0};
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        assert_true(denials_add(&denials, calls[i]));
    assert_int_equal(denials.count, 4);
    assert_int_equal(denials.entries[0].number, 425);
    assert_int_equal(denials.entries[0].count, 3);
    assert_int_equal(denials.entries[1].number, 101);
    assert_int_equal(denials.entries[2].number, -1);
    assert_int_equal(denials.entries[3].number, 0);
    assert_int_equal(denials.entries[3].count, 1);
    assert_false(denials.more);
}

static void test_says_when_there_were_more_kinds(void **state)
{
    (void)state;
    struct denials denials = {0};
    for (int32_t number = 0; number < PROTO_MAX_DENIED; number++)
        assert_true(denials_add(&denials, number));
    assert_false(denials.more);
    assert_true(denials_add(&denials, 15));
    assert_false(denials.more);
    assert_true(denials_add(&denials, 16));
    assert_true(denials.more);
    assert_int_equal(denials.count, PROTO_MAX_DENIED);
    assert_int_equal(denials.entries[15].count, 2);
}

static void test_ends_with_its_last_notice(void **state)
{
    (void)state;
    struct denials denials = {0};
    for (uint32_t i = 1; i < MAX_NOTICES; i++)
        assert_true(denials_add(&denials, 7));
    assert_false(denials.more);
    assert_false(denials_add(&denials, 7));
    assert_true(denials.more);
    assert_false(denials_add(&denials, 8));
    assert_int_equal(denials.count, 1);
    assert_int_equal(denials.entries[0].count, MAX_NOTICES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_each_call_by_itself),
        cmocka_unit_test(test_says_when_there_were_more_kinds),
        cmocka_unit_test(test_ends_with_its_last_notice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
