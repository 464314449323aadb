/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/leader_plan.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/cleanup.h"

static const struct leader_times times = {.lease_ms = 15000, .renew_ms = 10000, .retry_ms = 2000};

static const struct {
    const char *name;
    struct leader_facts facts;
    enum leader_step step;
} decisions[] = {
    {"nothing is known", {.holder = LEADER_HOLDER_UNKNOWN}, LEADER_STEP_READ},
    {"no lease", {.holder = LEADER_HOLDER_ABSENT}, LEADER_STEP_CREATE},
    {"released", {.holder = LEADER_HOLDER_NOBODY, .record_seconds = 1}, LEADER_STEP_ACQUIRE},
    {"its own, by an answer that got lost", {.holder = LEADER_HOLDER_SELF}, LEADER_STEP_RENEW},
    {"held by another, just seen", {.holder = LEADER_HOLDER_OTHER}, LEADER_STEP_WAIT},
    {"not yet over",
     {.holder = LEADER_HOLDER_OTHER, .record_seconds = 15, .unchanged_ms = 14999},
     LEADER_STEP_WAIT},
    {"over",
     {.holder = LEADER_HOLDER_OTHER, .record_seconds = 15, .unchanged_ms = 15000},
     LEADER_STEP_ACQUIRE},
    {"a record without duration",
     {.holder = LEADER_HOLDER_OTHER, .unchanged_ms = 14999},
     LEADER_STEP_WAIT},
    {"a shorter one than ours doesn't shorten the wait",
     {.holder = LEADER_HOLDER_OTHER, .record_seconds = 1, .unchanged_ms = 14999},
     LEADER_STEP_WAIT},
    {"a longer one is respected",
     {.holder = LEADER_HOLDER_OTHER, .record_seconds = 60, .unchanged_ms = 59999},
     LEADER_STEP_WAIT},
    {"and over some time",
     {.holder = LEADER_HOLDER_OTHER, .record_seconds = 60, .unchanged_ms = 60000},
     LEADER_STEP_ACQUIRE},
    {"the longest that can be",
     {.holder = LEADER_HOLDER_OTHER, .record_seconds = 600, .unchanged_ms = 599999},
     LEADER_STEP_WAIT},
    {"one that no controller can have doesn't count",
     {.holder = LEADER_HOLDER_OTHER, .record_seconds = 601, .unchanged_ms = 15000},
     LEADER_STEP_ACQUIRE},
    {"nor does the largest number",
     {.holder = LEADER_HOLDER_OTHER, .record_seconds = UINT32_MAX, .unchanged_ms = 15000},
     LEADER_STEP_ACQUIRE},
    {"renewal",
     {.holder = LEADER_HOLDER_SELF, .leading = true, .since_renew_ms = 9999},
     LEADER_STEP_RENEW},
    {"the deadline",
     {.holder = LEADER_HOLDER_SELF, .leading = true, .since_renew_ms = 10000},
     LEADER_STEP_LOSE},
    {"also when nothing is known",
     {.holder = LEADER_HOLDER_UNKNOWN, .leading = true, .since_renew_ms = 10000},
     LEADER_STEP_LOSE},
    {"deleted while held",
     {.holder = LEADER_HOLDER_ABSENT, .leading = true, .since_renew_ms = 2000},
     LEADER_STEP_CREATE},
    {"cleared while held",
     {.holder = LEADER_HOLDER_NOBODY, .leading = true, .since_renew_ms = 2000},
     LEADER_STEP_ACQUIRE},
    {"taken away, well before the deadline",
     {.holder = LEADER_HOLDER_OTHER, .leading = true, .since_renew_ms = 1},
     LEADER_STEP_LOSE},
    {"leaving as leader",
     {.holder = LEADER_HOLDER_SELF, .leading = true, .leaving = true},
     LEADER_STEP_RELEASE},
    {"leaving with a lease that has just become ours",
     {.holder = LEADER_HOLDER_SELF, .leaving = true},
     LEADER_STEP_RELEASE},
    {"leaving after a renewal of which nothing is known",
     {.holder = LEADER_HOLDER_UNKNOWN, .leading = true, .leaving = true},
     LEADER_STEP_READ},
    {"leaving too late",
     {.holder = LEADER_HOLDER_SELF, .leading = true, .since_renew_ms = 10000, .leaving = true},
     LEADER_STEP_LOSE},
    {"leaving from standby",
     {.holder = LEADER_HOLDER_OTHER, .unchanged_ms = 99999, .leaving = true},
     LEADER_STEP_LEAVE},
    {"leaving from standby, nothing known",
     {.holder = LEADER_HOLDER_UNKNOWN, .leaving = true},
     LEADER_STEP_LEAVE},
    {"leaving, no lease", {.holder = LEADER_HOLDER_ABSENT, .leaving = true}, LEADER_STEP_LEAVE},
    {"leaving, nobody's", {.holder = LEADER_HOLDER_NOBODY, .leaving = true}, LEADER_STEP_LEAVE},
};

static void test_decide(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(decisions); i++) {
        enum leader_step step = leader_decide(&decisions[i].facts, &times);
        if (step != decisions[i].step)
            fail_msg("%s: %d", decisions[i].name, (int)step);
    }
}

static void test_pause(void **state)
{
    (void)state;
    assert_int_equal(leader_pause_ms(true, &times, 0), 2000);
    assert_int_equal(leader_pause_ms(true, &times, UINT32_MAX), 2000);
    assert_int_equal(leader_pause_ms(false, &times, 0), 2000);
    assert_int_equal(leader_pause_ms(false, &times, UINT32_MAX), 1000);
}

static void test_lease_seconds(void **state)
{
    (void)state;
    assert_int_equal(leader_lease_seconds(&times), 15);
    assert_int_equal(leader_lease_seconds(&(struct leader_times){.lease_ms = 1001}), 2);
    assert_int_equal(leader_lease_seconds(&(struct leader_times){.lease_ms = 300}), 1);
}

static void test_check(void **state)
{
    (void)state;
    static const struct {
        struct leader_times times;
        const char *message; /* NULL: fine */
    } cases[] = {
        {{15000, 10000, 2000}, NULL},
        {{600000, 599999, 100}, NULL},
        {{201, 200, 100}, NULL},
        {{15000, 10000, 99}, "--leader-elect-retry-period: is shorter than 100 ms"},
        {{600001, 10000, 2000}, "--leader-elect-lease-duration: is longer than 600 s"},
        {{10000, 10000, 2000},
         "--leader-elect-renew-deadline: is not shorter than --leader-elect-lease-duration, so that "
         "there would be two leaders"},
        {{15000, 3999, 2000},
         "--leader-elect-renew-deadline: is shorter than two times --leader-elect-retry-period, so "
         "that one lost renewal would end it"},
        {{15000, 10000, UINT64_MAX},
         "--leader-elect-renew-deadline: is shorter than two times --leader-elect-retry-period, so "
         "that one lost renewal would end it"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = {0};
        assert_int_equal(leader_times_check(&cases[i].times, &err), cases[i].message ? -EINVAL : 0);
        assert_string_equal(err.text, cases[i].message ? cases[i].message : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decide),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_lease_seconds),
        cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
