/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/wait_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/cleanup.h"

#define S     INT64_C(1000000)
#define HOUR  (3600 * S)
#define CUT   INT64_C(999999) /* off a creationTimestamp, at most */
#define NOW   (INT64_C(1795990634) * S)
#define NS(s) ((uint64_t)(s)*UINT64_C(1000000000))

/* It starts at the API server's time, else at ours, and nobody sets it again. */
static void test_set_once(void **state)
{
    (void)state;
    static const struct {
        int64_t server_us, wall_us;
        int64_t shows_us;
    } cases[] = {
        {NOW, NOW, NOW},
        {NOW, NOW - 5 * HOUR, NOW},
        {NOW, NOW + 5 * HOUR, NOW},
        {0, NOW + HOUR, NOW + HOUR}, /* that server dates nothing */
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct wait_clock clock = {0};
        wait_clock_set(&clock, cases[i].server_us, cases[i].wall_us, NS(100));
        assert_int_equal(wait_clock_now_us(&clock, NS(100)), cases[i].shows_us);
        /* Whatever clocks show from here on. */
        wait_clock_set(&clock, NOW + 7 * HOUR, NOW - 7 * HOUR, NS(130));
        assert_int_equal(wait_clock_now_us(&clock, NS(160)), cases[i].shows_us + 60 * S);
    }
}

/* Of what was there before. */
static void test_dates(void **state)
{
    (void)state;
    static const struct {
        struct wait_dates dates;
        int64_t waits_us, over_us; /* for so long by now */
    } cases[] = {
        {{0, 0}, 0, 0},
        {{NOW - 30 * S, 0}, 30 * S - CUT, 0},
        {{NOW - 2 * HOUR, NOW - HOUR}, 2 * HOUR - CUT, HOUR},
        {{NOW, NOW}, 0, 0},
        /* The API server's clock was set back since. */
        {{NOW + HOUR, 0}, 0, 0},
        /* A node's clock is ahead: its runs don't stay longer than those of others. */
        {{NOW - 60 * S, NOW + 5 * HOUR}, 60 * S - CUT, 0},
        /* It is behind: no result goes before it is as old as its run. */
        {{NOW - 60 * S, NOW - 5 * HOUR}, 60 * S - CUT, 60 * S - CUT},
        {{0, NOW - 5 * HOUR}, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int64_t waits_us = NOW - wait_began_us(&cases[i].dates, NOW);
        int64_t over_us = NOW - wait_ended_us(&cases[i].dates, NOW);
        if (waits_us != cases[i].waits_us || over_us != cases[i].over_us)
            fail_msg("case %zu: waits %lld, over %lld", i, (long long)waits_us, (long long)over_us);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_once),
        cmocka_unit_test(test_dates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
