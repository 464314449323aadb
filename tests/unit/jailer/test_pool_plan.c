/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/pool_plan.h"

static void test_each_miss_makes_it_larger_up_to_the_most(void **state)
{
    (void)state;
    struct pool_size size = {.min = 1, .max = 3, .target = 1, .lowest = 1};
    static const uint32_t expected[] = {2, 3, 3};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        pool_plan_miss(&size);
        assert_int_equal(size.target, expected[i]);
        assert_int_equal(size.lowest, 0);
    }
}

static void test_what_was_never_taken_goes_at_the_end_of_a_period(void **state)
{
    (void)state;
    struct pool_size size = {.min = 2, .max = 8, .target = 6, .lowest = 6};
    pool_plan_taken(&size, 3);
    pool_plan_taken(&size, 5);
    pool_plan_period(&size, 6);
    assert_int_equal(size.target, 3);
    assert_int_equal(size.lowest, 6);
    /* As large as the demand was: it stays. */
    pool_plan_taken(&size, 0);
    pool_plan_period(&size, 3);
    assert_int_equal(size.target, 3);
    /* No demand at all: it goes down to the least, and no further. */
    pool_plan_period(&size, 3);
    pool_plan_period(&size, 3);
    assert_int_equal(size.target, 2);
}

struct refill_case {
    uint32_t target, waiting, making;
    int32_t wanted;
};

static void test_refill(void **state)
{
    (void)state;
    static const struct refill_case cases[] = {
        {0, 0, 0, 0}, {4, 4, 0, 0}, {4, 3, 0, 1}, {4, 3, 1, 0},  {4, 0, 0, 2},  {4, 0, 1, 1},
        {4, 0, 2, 0}, {4, 0, 3, 0}, {4, 4, 1, 0}, {2, 5, 0, -3}, {0, 1, 1, -1},
    };
    assert_int_equal(MAX_POOL_MAKING, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pool_size size = {.max = 8, .target = cases[i].target};
        int32_t wanted = pool_plan_refill(&size, cases[i].waiting, cases[i].making);
        if (wanted != cases[i].wanted)
            fail_msg("case %zu: %d", i, wanted);
    }
}

static void test_failures_wait_longer_and_longer(void **state)
{
    (void)state;
    assert_int_equal(pool_plan_backoff_ms(1), POOL_RETRY_MS);
    assert_int_equal(pool_plan_backoff_ms(2), 2 * POOL_RETRY_MS);
    assert_int_equal(pool_plan_backoff_ms(5), 16 * POOL_RETRY_MS);
    assert_int_equal(pool_plan_backoff_ms(7), MAX_POOL_RETRY_MS);
    assert_int_equal(pool_plan_backoff_ms(UINT32_MAX), MAX_POOL_RETRY_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_miss_makes_it_larger_up_to_the_most),
        cmocka_unit_test(test_what_was_never_taken_goes_at_the_end_of_a_period),
        cmocka_unit_test(test_refill),
        cmocka_unit_test(test_failures_wait_longer_and_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
