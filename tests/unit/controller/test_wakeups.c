/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/wakeups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT 1000

/* A small generator, so that every run of the test is the same one. */
static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void test_order(void **state)
{
    (void)state;
    struct wakeups wakeups = {0};
    struct wakeup entries[COUNT] = {0};
    uint32_t seed = 7;
    assert_int_equal(wakeups_reserve(&wakeups, COUNT), 0);
    for (unsigned int i = 0; i < COUNT; i++)
        wakeups_set(&wakeups, &entries[i], next(&seed) % 500);
    /* Moved both ways, and every third taken out. */
    for (unsigned int i = 0; i < COUNT; i += 2)
        wakeups_set(&wakeups, &entries[i], next(&seed) % 500);
    size_t left = COUNT;
    for (unsigned int i = 0; i < COUNT; i += 3) {
        wakeups_remove(&wakeups, &entries[i]);
        wakeups_remove(&wakeups, &entries[i]);
        assert_int_equal(entries[i].place, 0);
        left--;
    }
    int64_t last = INT64_MIN;
    for (struct wakeup *first = wakeups_first(&wakeups); first; first = wakeups_first(&wakeups)) {
        assert_true(first->at_us >= last);
        assert_true((first - entries) % 3 != 0);
        last = first->at_us;
        wakeups_remove(&wakeups, first);
        left--;
    }
    assert_int_equal(left, 0);
    wakeups_done(&wakeups);
}

static void test_empty(void **state)
{
    (void)state;
    struct wakeups wakeups = {0};
    struct wakeup entry = {0};
    assert_null(wakeups_first(&wakeups));
    wakeups_remove(&wakeups, &entry);
    wakeups_done(&wakeups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
