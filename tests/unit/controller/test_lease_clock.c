/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/lease_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/cleanup.h"

#define MS        UINT64_C(1000000)
#define SETTLE_MS 1000
#define STEP_MS   500

/* What each advance brings, one after the other. */
static void test_advance(void **state)
{
    (void)state;
    static const struct {
        unsigned int after_ms;
        bool healthy;
        int64_t now_ms;
        bool runs;
    } steps[] = {
        {0, true, 0, true},                                 /* the first says nothing of time */
        {100, true, 100, true},                             /* it goes on */
        {100, false, 100, false}, {500, false, 100, false}, /* nobody can be heard */
        {400, true, 100, false},                            /* settling */
        {400, true, 100, false},  {300, true, 200, true},   /* the rest of a step counts */
        {500, true, 700, true},  /* the longest step that is none too long */
        {501, true, 700, false}, /* it was stopped, and settles */
        {500, true, 700, false},  {500, true, 700, true},   {100, true, 800, true},
    };
    struct lease_clock clock;
    uint64_t now_ns = 5000 * MS;
    lease_clock_init(&clock, SETTLE_MS, STEP_MS);
    assert_int_equal(clock.now_us, 1);
    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        now_ns += steps[i].after_ms * MS;
        lease_clock_advance(&clock, now_ns, steps[i].healthy);
        if (clock.now_us != 1 + steps[i].now_ms * 1000 || lease_clock_runs(&clock) != steps[i].runs)
            fail_msg("step %zu: %lld", i, (long long)clock.now_us);
    }
    /* Never back. */
    lease_clock_advance(&clock, now_ns - 50 * MS, true);
    assert_int_equal(clock.now_us, 1 + 800 * 1000);
}

/* Not a microsecond of rounding is lost over many small steps that are whole microseconds. */
static void test_many_steps(void **state)
{
    (void)state;
    struct lease_clock clock;
    lease_clock_init(&clock, SETTLE_MS, STEP_MS);
    for (uint64_t i = 1; i <= 100001; i++)
        lease_clock_advance(&clock, i * 10000, true);
    assert_int_equal(clock.now_us, 1 + 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_advance),
        cmocka_unit_test(test_many_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
