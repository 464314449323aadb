/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/agent/retained_plan.h"

static void test_disk_bytes(void **state)
{
    (void)state;
    assert_int_equal(retained_plan_disk_bytes(0), 0);
    assert_int_equal(retained_plan_disk_bytes(1), 4096);
    assert_int_equal(retained_plan_disk_bytes(4096), 4096);
    assert_int_equal(retained_plan_disk_bytes(4097), 8192);
}

static void test_take(void **state)
{
    (void)state;
    static const struct {
        uint64_t kept;
        uint64_t max;
        size_t len;
        size_t taken;
    } cases[] = {
        {0, 10, 5, 5},  {0, 10, 10, 10}, {0, 10, 11, 10}, {9, 10, 5, 1},
        {10, 10, 5, 0}, {11, 10, 5, 0},  {0, 0, 5, 0},    {3, 10, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(retained_plan_take(cases[i].kept, cases[i].max, cases[i].len),
                         cases[i].taken);
}

static void test_full(void **state)
{
    (void)state;
    static const struct {
        struct retained_load load;
        uint64_t need;
        bool further_run;
        bool full;
    } cases[] = {
        {{0, 100, 0, 2}, 100, true, false},         {{0, 100, 0, 2}, 101, true, true},
        {{60, 100, 1, 2}, 40, true, false},         {{60, 100, 1, 2}, 41, false, true},
        {{60, 100, 2, 2}, 1, true, true},           {{60, 100, 2, 2}, 1, false, false},
        {{100, 100, 1, 2}, 0, false, false},        {{101, 100, 1, 2}, 0, false, true},
        {{60, 100, 1, 2}, UINT64_MAX, false, true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(retained_plan_is_full(&cases[i].load, cases[i].need, cases[i].further_run),
                         cases[i].full);
}

static void test_wait(void **state)
{
    (void)state;
    static const struct {
        int64_t ended_us;
        int64_t now_us;
        uint64_t keep_ms;
        uint64_t wait_ms;
    } cases[] = {
        {1000000, 1000000, 500, 500}, {1000000, 1499999, 500, 1}, {1000000, 1500000, 500, 0},
        {1000000, 9000000, 500, 0},   {1000000, 1, 500, 500},     {0, 0, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(
            retained_plan_wait_ms(cases[i].ended_us, cases[i].now_us, cases[i].keep_ms),
            cases[i].wait_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk_bytes),
        cmocka_unit_test(test_take),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
