/* SPDX-License-Identifier: Apache-2.0 */
#include "common/backoff.h"
#include "common/cleanup.h"
#include "tests/unit/common/cmocka_setup.h"

static void test_backoff_by_failures_in_a_row(void **state)
{
    (void)state;
    static const struct {
        unsigned int failures;
        uint32_t random;
        uint64_t delay_ms;
    } cases[] = {
        {0, 0, 0},
        {1, 0, 500},
        {1, UINT32_MAX, 250},
        {2, 0, 1000},
        {3, 0, 2000},
        {6, 0, 16000},
        {7, 0, 30000},
        {100, 0, 30000},
        {UINT32_MAX, 0, 30000},
        {100, UINT32_MAX, 15000},
        {7, UINT32_MAX / 2, 22501},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(backoff_ms(cases[i].failures, 500, 30000, cases[i].random),
                         cases[i].delay_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backoff_by_failures_in_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
