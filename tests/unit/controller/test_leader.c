/* SPDX-License-Identifier: Apache-2.0 */

/* Several controllers that want to lead, in a simulated world (election.h). */
#include "election.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"

#define LEASE_MS 15000
#define RENEW_MS 10000
#define RETRY_MS 2000
/* A few ways to the server and back. */
#define SOON_MS 50

static int setup(void **state)
{
    (void)state;
    election_begin();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    election_end();
    return 0;
}

/* Two processes, of which number 0 leads. */
static void start_two(void)
{
    election_start(0);
    election_run(SOON_MS);
    election_start(1);
    election_run(SOON_MS);
    assert_int_equal(election_leader(), 0);
}

static void test_the_first_one_leads_and_renews(void **state)
{
    (void)state;
    election.wall_us = 1000000;
    start_two();
    assert_int_equal(election.processes[0].started, 1);
    assert_int_equal(election.processes[0].ended, 0);
    assert_int_equal(election.processes[1].started, 0);
    /* What client-go would write. */
    assert_int_equal(election.seconds, 15);
    assert_int_equal(election.transitions, 0);
    assert_string_equal(election.acquired, "1970-01-01T00:00:01.010000Z");
    election_run(60000);
    assert_int_equal(election_leader(), 0);
    assert_string_equal(election.acquired, "1970-01-01T00:00:01.010000Z");
    assert_memory_equal(election.renewed, "1970-01-01T00:01:", strlen("1970-01-01T00:01:"));
    assert_int_equal(election.transitions, 0);
    /* One write a period; one read at first. Whoever stands by only reads. */
    assert_in_range(election.processes[0].writes, 29, 32);
    assert_int_equal(election.processes[0].reads, 1);
    assert_in_range(election.processes[1].reads, 28, 65);
    assert_int_equal(election.processes[1].writes, 0);
}

static void test_a_killed_leader_is_replaced(void **state)
{
    (void)state;
    start_two();
    char first[sizeof(election.holder)];
    (void)snprintf(first, sizeof(first), "%s", election.holder);
    election_run(7 * RETRY_MS);
    election_kill(0);
    election_run(LEASE_MS - RETRY_MS - 2 * SOON_MS);
    assert_int_equal(election_leader(), -1);
    election_run(2 * RETRY_MS + 3 * SOON_MS);
    assert_int_equal(election_leader(), 1);
    assert_int_equal(election.transitions, 1);
    assert_string_not_equal(election.holder, first);
    /* It comes back, under another identity. */
    election_start(0);
    election_run(60000);
    assert_int_equal(election_leader(), 1);
    assert_int_equal(election.transitions, 1);
}

static void test_a_leader_that_leaves_is_replaced_at_once(void **state)
{
    (void)state;
    start_two();
    election_run(1234);
    election_leave(0);
    assert_int_equal(election_leader(), -1);
    assert_int_equal(election.processes[0].ended, 1);
    assert_false(election.processes[0].left);
    election_run(SOON_MS);
    assert_true(election.processes[0].left);
    assert_int_equal(election_leader(), 1);
    assert_int_equal(election.transitions, 1);
    unsigned int sent = election.processes[0].reads + election.processes[0].writes;
    election_run(60000);
    assert_int_equal(election.processes[0].reads + election.processes[0].writes, sent);
}

static void test_what_is_released_is_free(void **state)
{
    (void)state;
    election_start(0);
    election_run(SOON_MS);
    election_leave(0);
    election_run(SOON_MS);
    assert_string_equal(election.holder, "");
    assert_int_equal(election.seconds, 1);
    assert_int_equal(election.transitions, 0);
    election_start(1);
    election_run(SOON_MS);
    assert_int_equal(election_leader(), 1);
    assert_int_equal(election.transitions, 1);
}

static void test_leaving(void **state)
{
    (void)state;
    /* From standby: at once, and nothing is written. */
    start_two();
    election_leave(1);
    election_run(SOON_MS);
    assert_true(election.processes[1].left);
    assert_int_equal(election.processes[1].writes, 0);
    assert_int_equal(election_leader(), 0);
    /* While a renewal is under way: the release comes after it. */
    election.latency_ms = 500;
    unsigned int writes = election.processes[0].writes;
    while (election.processes[0].writes == writes)
        election_run(1);
    election_leave(0);
    election_run(2500);
    assert_true(election.processes[0].left);
    assert_string_equal(election.holder, "");
    /* While the Lease is just becoming its own. */
    election_start(2);
    while (election.processes[2].writes == 0)
        election_run(1);
    election_leave(2);
    election_run(2500);
    assert_true(election.processes[2].left);
    assert_int_equal(election.processes[2].started, 0);
    assert_string_equal(election.holder, "");
}

static void test_leaving_without_a_server_takes_a_bounded_time(void **state)
{
    (void)state;
    start_two();
    election.processes[0].cut_off = true;
    election_leave(0);
    election_run(2900);
    assert_false(election.processes[0].left);
    election_run(200);
    assert_true(election.processes[0].left);
}

/* Woken, it knows from the clock, before it has sent or heard anything. */
static void test_a_stopped_leader_writes_nothing_when_it_wakes(void **state)
{
    (void)state;
    start_two();
    election_run(1999);
    election_stop(0);
    election_run(30000);
    assert_int_equal(election_leader(), 1);
    unsigned int writes = election.processes[0].writes;
    assert_int_equal(election.processes[0].ended, 0);
    election_continue(0);
    assert_false(leader_leads(election.processes[0].leader));
    assert_int_equal(election.processes[0].ended, 1);
    election_run(60000);
    assert_int_equal(election_leader(), 1);
    assert_int_equal(election.processes[0].writes, writes);
    assert_int_equal(election.transitions, 1);
}

/* The same when its own timers are what it hears first, and with a renewal under way that was
 * accepted before it was stopped. */
static void test_a_stopped_leader_in_the_middle_of_a_renewal(void **state)
{
    (void)state;
    start_two();
    unsigned int writes = election.processes[0].writes;
    while (election.processes[0].writes == writes)
        election_run(1);
    writes++;
    election_run(7);
    election_stop(0);
    election_run(30000);
    assert_int_equal(election_leader(), 1);
    election_continue(0);
    election_run(60000);
    assert_int_equal(election_leader(), 1);
    assert_int_equal(election.processes[0].writes, writes);
    assert_int_equal(election.processes[0].ended, 1);
}

/* Nobody has taken it: then it may go on, after a look. */
static void test_a_stopped_leader_alone(void **state)
{
    (void)state;
    election_start(0);
    election_run(SOON_MS);
    election_stop(0);
    election_run(30000);
    unsigned int reads = election.processes[0].reads;
    election_continue(0);
    assert_int_equal(election_leader(), -1);
    election_run(RETRY_MS);
    assert_int_equal(election_leader(), 0);
    assert_int_equal(election.processes[0].reads, reads + 1);
    assert_int_equal(election.processes[0].started, 2);
    assert_int_equal(election.transitions, 0);
}

/* The machine sleeps: timers stand still, CLOCK_BOOTTIME doesn't. */
static void test_a_leader_whose_machine_slept(void **state)
{
    (void)state;
    election_start(0);
    election_run(SOON_MS);
    assert_int_equal(election_leader(), 0);
    election.asleep_ms += RENEW_MS;
    assert_int_equal(election_leader(), -1);
    assert_int_equal(election.processes[0].ended, 1);
}

static void test_a_leader_that_is_cut_off_stops_before_another_leads(void **state)
{
    (void)state;
    start_two();
    election_run(3000);
    election.processes[0].cut_off = true;
    uint64_t cut_ms = election.now_ms;
    while (election_leader() == 0)
        election_run(1);
    assert_in_range(election.now_ms - cut_ms, RENEW_MS - RETRY_MS - SOON_MS, RENEW_MS);
    assert_int_equal(election.processes[0].ended, 1);
    while (election_leader() < 0)
        election_run(1);
    assert_int_equal(election_leader(), 1);
    assert_in_range(election.now_ms - cut_ms, LEASE_MS - RETRY_MS - SOON_MS,
                    LEASE_MS + RETRY_MS + SOON_MS);
    election.processes[0].cut_off = false;
    election_run(60000);
    assert_int_equal(election_leader(), 1);
}

static void test_a_server_that_is_away_for_all(void **state)
{
    (void)state;
    static const int statuses[] = {500, 429, 403, 409};
    start_two();
    for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
        unsigned int sent[2] = {0, 0};
        for (int j = 0; j < 2; j++)
            sent[j] = election.processes[j].reads + election.processes[j].writes;
        election.refusal = statuses[i];
        election_run(60000);
        assert_int_equal(election_leader(), -1);
        /* No storm: a few attempts each period at most. */
        for (int j = 0; j < 2; j++)
            assert_in_range(election.processes[j].reads + election.processes[j].writes - sent[j],
                            25, 260);
        election.refusal = 0;
        election_run(2 * RETRY_MS);
        assert_in_range(election_leader(), 0, 1);
    }
}

static void test_a_lease_that_is_deleted_while_held(void **state)
{
    (void)state;
    start_two();
    for (int i = 0; i < 20; i++) {
        election_delete();
        election_run(election_random(1, 3000));
    }
    election_run(5000);
    assert_true(election_leader() >= 0);
    assert_true(election.exists);
}

/* A label that somebody sets makes a new version and no new record. */
static void test_a_change_beside_the_record_is_no_sign_of_life(void **state)
{
    (void)state;
    start_two();
    election_kill(0);
    for (int i = 0; i < 18; i++) {
        election.version++;
        election_run(1000);
    }
    assert_int_equal(election_leader(), 1);
}

/* And the leader that meets one goes on. */
static void test_a_conflict_is_no_loss(void **state)
{
    (void)state;
    start_two();
    election.version++;
    election_run(3 * RETRY_MS);
    assert_int_equal(election.conflicts, 1);
    assert_int_equal(election_leader(), 0);
    assert_int_equal(election.processes[0].ended, 0);
}

static void test_a_lease_that_is_taken_by_force(void **state)
{
    (void)state;
    start_two();
    election_run(500);
    election_write("somebody", 15, "2036-01-01T00:00:00.000000Z");
    election_run(SOON_MS);
    assert_int_equal(election_leader(), -1);
    assert_int_equal(election.processes[0].ended, 1);
    election_run(LEASE_MS - SOON_MS - 100);
    assert_int_equal(election_leader(), -1);
    election_run(2 * RETRY_MS);
    assert_true(election_leader() >= 0);
}

/* No matter what stands there, after the duration it is taken over and makes sense again. */
static void test_absurd_records(void **state)
{
    (void)state;
    static const char huge[] =
        "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh"
        "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh";
    static const struct {
        const char *holder;
        long long seconds;
        const char *renewed;
        long long transitions;
        long long next_transitions;
        bool at_once;
    } cases[] = {
        {"other", 15, "9999-12-31T23:59:59.999999Z", 4, 5, false},
        {"other", 15, "0001-01-01T00:00:00Z", 4, 5, false},
        {"other", -15, "2036-01-01T00:00:00Z", 4, 5, false},
        {"other", 2147483647, "2036-01-01T00:00:00Z", 4, 5, false},
        {"other", 0, "yesterday", -4, 1, false},
        {"other", 1, "", 2147483646, 2147483647, false},
        {"other", 1, "", 2147483647, 2147483647, false},
        {huge, 15, huge, 4, 5, false},
        {"", 2147483647, "9999-12-31T23:59:59Z", 4, 5, true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        election_begin();
        election.transitions = cases[i].transitions;
        election_write(cases[i].holder, cases[i].seconds, cases[i].renewed);
        election_start(0);
        election_run(LEASE_MS - 100);
        if ((election_leader() == 0) != cases[i].at_once)
            fail_msg("case %zu", i);
        election_run(2 * RETRY_MS);
        assert_int_equal(election_leader(), 0);
        assert_int_equal(election.transitions, cases[i].next_transitions);
        assert_int_equal(election.seconds, 15);
        election_end();
    }
}

/* Until when what is sent now may go out. */
static void test_not_after(void **state)
{
    (void)state;
    assert_int_equal(leader_not_after_ns(NULL), 0);
    assert_true(leader_leads(NULL));
    election_start(0);
    election_run(SOON_MS);
    uint64_t left_ms =
        (leader_not_after_ns(election.processes[0].leader) - clock_boottime_ns()) / 1000000;
    assert_in_range(left_ms, RENEW_MS - SOON_MS, RENEW_MS);
    election_run(3000);
    left_ms = (leader_not_after_ns(election.processes[0].leader) - clock_boottime_ns()) / 1000000;
    assert_in_range(left_ms, RENEW_MS - RETRY_MS - SOON_MS, RENEW_MS);
}

static void do_something(void)
{
    unsigned int i = election_random(0, ELECTION_PROCESSES);
    struct election_process *process = &election.processes[i];
    switch (election_random(0, 12)) {
    case 0:
        election_kill(i);
        break;
    case 1:
        if (process->leader && !process->stopped)
            election_leave(i);
        break;
    case 2:
    case 3:
        if (process->leader)
            election_stop(i);
        break;
    case 4:
    case 5:
        election_continue(i);
        break;
    case 6:
        process->cut_off = true;
        break;
    case 7:
        process->cut_off = false;
        break;
    case 8:
        election.latency_ms = election_random(0, election_random(1, 4000));
        break;
    case 9:
        election.refusal = election_random(0, 3) == 0 ? 503 : 0;
        break;
    case 10:
        election.version += election_random(0, 2);
        election.wall_us = (int64_t)election_random(0, UINT32_MAX) * 4000000;
        break;
    default:
        if (!process->leader || process->left) {
            election_kill(i);
            election_start(i);
        }
    }
}

/* However processes die, stop, wake, leave and lose messages, two never lead (election_run()), and
 * when the faults are over one does. The wall clock says anything. */
static void test_never_two(void **state)
{
    (void)state;
    long long changes = 0;
    for (uint32_t seed = 1; seed <= 100; seed++) {
        election_begin();
        election.random = seed;
        for (int i = 0; i < 300; i++) {
            do_something();
            election_run(election_random(0, 6000));
        }
        election.latency_ms = 5;
        election.refusal = 0;
        for (unsigned int i = 0; i < ELECTION_PROCESSES; i++) {
            election_kill(i);
            election_start(i);
        }
        election_run(2 * LEASE_MS);
        assert_true(election_leader() >= 0);
        changes += election.transitions;
        election_end();
    }
    /* It was worth looking. */
    if (changes < 500)
        fail_msg("only %lld changes of the leader", changes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_first_one_leads_and_renews, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_killed_leader_is_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_leader_that_leaves_is_replaced_at_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_what_is_released_is_free, setup, teardown),
        cmocka_unit_test_setup_teardown(test_leaving, setup, teardown),
        cmocka_unit_test_setup_teardown(test_leaving_without_a_server_takes_a_bounded_time, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_stopped_leader_writes_nothing_when_it_wakes, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_stopped_leader_in_the_middle_of_a_renewal, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_stopped_leader_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_leader_whose_machine_slept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_leader_that_is_cut_off_stops_before_another_leads,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_server_that_is_away_for_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_lease_that_is_deleted_while_held, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_change_beside_the_record_is_no_sign_of_life, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_conflict_is_no_loss, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_lease_that_is_taken_by_force, setup, teardown),
        cmocka_unit_test(test_absurd_records),
        cmocka_unit_test_setup_teardown(test_not_after, setup, teardown),
        cmocka_unit_test(test_never_two),
    };
    log_init("test", LOG_LEVEL_ERROR, LOG_FORMAT_JSON);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
