/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/lease_times.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/cleanup.h"

static void test_defaults(void **state)
{
    (void)state;
    const struct lease_times times = {DEFAULT_LEASE_DURATION_MS, DEFAULT_LEASE_RENEW_MS};
    struct error err = {0};
    assert_int_equal(lease_times_check(&times, &err), 0);
    assert_int_equal(lease_times_window_ms(&times), 15000);
    /* max(40 s, 20 s + timeout) */
    assert_int_equal(lease_times_lost_ms(&times, 1), 40000);
    assert_int_equal(lease_times_lost_ms(&times, 20), 40000);
    assert_int_equal(lease_times_lost_ms(&times, 21), 41000);
    assert_int_equal(lease_times_lost_ms(&times, 120), 140000);
}

static void test_bounds(void **state)
{
    (void)state;
    static const struct {
        struct lease_times times;
        int result;
    } cases[] = {
        {{3000, 1000}, 0},
        {{2999, 1000}, -EINVAL},
        {{3000, 999}, -EINVAL},
        {{600000, 200000}, 0},
        {{600001, 1000}, -EINVAL},
        {{600000, 200001}, -EINVAL},
        {{40000, 13333}, 0},
        {{40000, 13334}, -EINVAL},
        {{0, 0}, -EINVAL},
        {{40000, UINT64_MAX}, -EINVAL},
        {{UINT64_MAX, 1000}, -EINVAL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = {0};
        if (lease_times_check(&cases[i].times, &err) != cases[i].result)
            fail_msg("case %zu: %s", i, err.text);
    }
}

/* Whatever is allowed: what was started in the window is over before its node counts as lost. */
static void test_relation(void **state)
{
    (void)state;
    for (uint64_t renew_ms = 1000; renew_ms <= 200000; renew_ms += 1333) {
        const struct lease_times times = {3 * renew_ms, renew_ms};
        for (uint32_t timeout = 1; timeout <= 120; timeout += 7) {
            uint64_t lost_ms = lease_times_lost_ms(&times, timeout);
            assert_true(lost_ms >=
                        lease_times_window_ms(&times) + timeout * 1000ull + LEASE_END_MS);
            assert_true(lost_ms >= times.duration_ms);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_relation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
