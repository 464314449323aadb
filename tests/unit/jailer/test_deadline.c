/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/clock.h"
#include "node-agent/jailer/deadline.h"
#include "tests/unit/common/cmocka_setup.h"

#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

struct fixture {
    struct events events;
    struct deadlines deadlines;
    struct deadline timers[MAX_DEADLINES];
    size_t fired[MAX_DEADLINES + 8];
    size_t fired_count;
};

static struct fixture fixture;

static int setup(void **state)
{
    (void)state;
    memset(&fixture, 0, sizeof(fixture));
    return events_init(&fixture.events, NULL) < 0 ||
           deadlines_init(&fixture.deadlines, &fixture.events, NULL) < 0;
}

static int teardown(void **state)
{
    (void)state;
    deadlines_done(&fixture.deadlines);
    events_done(&fixture.events);
    return 0;
}

static void on_fire(void *arg)
{
    const struct deadline *timer = arg;
    fixture.fired[fixture.fired_count++] = (size_t)(timer - fixture.timers);
}

static void arm(size_t index, uint64_t at_ns)
{
    struct deadline *timer = &fixture.timers[index];
    deadline_arm(&fixture.deadlines, timer, at_ns, on_fire, timer);
}

static void turn_until_fired(size_t count)
{
    while (fixture.fired_count < count)
        assert_int_equal(events_turn(&fixture.events, NULL), 0);
}

static void test_fire_in_order_of_time(void **state)
{
    (void)state;
    uint64_t now_ns = clock_boottime_ns();
    for (size_t i = 0; i < MAX_DEADLINES; i++)
        arm(i, now_ns + ((i * 7919) % MAX_DEADLINES) * 20000);
    turn_until_fired(MAX_DEADLINES);
    for (size_t i = 1; i < MAX_DEADLINES; i++)
        assert_true(fixture.timers[fixture.fired[i - 1]].at_ns <=
                    fixture.timers[fixture.fired[i]].at_ns);
    assert_int_equal(fixture.deadlines.count, 0);
}

static void test_never_early(void **state)
{
    (void)state;
    uint64_t at_ns = clock_boottime_ns() + 30 * NS_PER_MS;
    arm(0, at_ns);
    turn_until_fired(1);
    assert_true(clock_boottime_ns() >= at_ns);
}

static void test_disarmed_and_moved_ones(void **state)
{
    (void)state;
    uint64_t now_ns = clock_boottime_ns();
    for (size_t i = 0; i < 8; i++)
        arm(i, now_ns + (i + 1) * NS_PER_MS);
    deadline_disarm(&fixture.deadlines, &fixture.timers[0]);
    deadline_disarm(&fixture.deadlines, &fixture.timers[3]);
    deadline_disarm(&fixture.deadlines, &fixture.timers[3]);
    deadline_disarm(&fixture.deadlines, &fixture.timers[7]);
    arm(1, now_ns + 20 * NS_PER_MS);
    arm(6, now_ns);
    turn_until_fired(5);
    static const size_t expected[] = {6, 2, 4, 5, 1};
    assert_memory_equal(fixture.fired, expected, sizeof(expected));
    assert_int_equal(fixture.deadlines.count, 0);
}

static void on_fire_again(void *arg)
{
    struct deadline *timer = arg;
    fixture.fired_count++;
    if (fixture.fired_count < 3)
        deadline_arm(&fixture.deadlines, timer, clock_boottime_ns() + NS_PER_MS, on_fire_again,
                     timer);
}

static void test_may_arm_itself_again(void **state)
{
    (void)state;
    deadline_arm(&fixture.deadlines, &fixture.timers[0], 0, on_fire_again, &fixture.timers[0]);
    turn_until_fired(3);
    assert_int_equal(fixture.timers[0].place, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fire_in_order_of_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_never_early, setup, teardown),
        cmocka_unit_test_setup_teardown(test_disarmed_and_moved_ones, setup, teardown),
        cmocka_unit_test_setup_teardown(test_may_arm_itself_again, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
