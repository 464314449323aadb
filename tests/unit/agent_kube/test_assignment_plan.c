/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/agent/assignment_plan.h"

struct plan_case {
    const char *what;
    struct assignment_facts facts;
    enum assignment_action action;
};

#define SCHEDULED .phase = RUN_PHASE_SCHEDULED
#define RUNNING   .phase = RUN_PHASE_RUNNING
#define FAILED    .phase = RUN_PHASE_FAILED

static const struct plan_case cases[] = {
    /* Ours, and new. */
    {"room", {SCHEDULED, .own = true, .room = true}, ASSIGNMENT_START},
    {"no room", {SCHEDULED, .own = true, .can_hold = true}, ASSIGNMENT_HOLD},
    {"no room, and a long line", {SCHEDULED, .own = true}, ASSIGNMENT_GIVE_BACK},
    {"ending", {SCHEDULED, .own = true, .room = true, .draining = true}, ASSIGNMENT_GIVE_BACK},
    {"deleted", {SCHEDULED, .own = true, .room = true, .deleting = true}, ASSIGNMENT_CANCEL},
    {"deleted, ending",
     {SCHEDULED, .own = true, .deleting = true, .draining = true},
     ASSIGNMENT_CANCEL},
    {"pending", {.phase = RUN_PHASE_PENDING, .own = true, .room = true}, ASSIGNMENT_FORGET},
    {"over", {FAILED, .own = true, .room = true}, ASSIGNMENT_FORGET},
    {"runs, but not here", {RUNNING, .own = true, .room = true}, ASSIGNMENT_LOSE},
    {"in the spool", {SCHEDULED, .own = true, .room = true, .marked = true}, ASSIGNMENT_LOSE},
    {"being written", {SCHEDULED, .own = true, .room = true, .spooled = true}, ASSIGNMENT_LOSE},
    {"again, in an old version",
     {SCHEDULED, .own = true, .room = true, .seen = true},
     ASSIGNMENT_IGNORE},
    {"again, running", {RUNNING, .own = true, .seen = true}, ASSIGNMENT_IGNORE},
    {"again, deleted",
     {SCHEDULED, .own = true, .seen = true, .deleting = true, .draining = true},
     ASSIGNMENT_IGNORE},
    {"again, over", {FAILED, .own = true, .seen = true}, ASSIGNMENT_FORGET},
    /* Of an earlier agent. */
    {"not started", {SCHEDULED, .known = true, .room = true}, ASSIGNMENT_GIVE_BACK},
    {"not started, ending", {SCHEDULED, .known = true, .draining = true}, ASSIGNMENT_GIVE_BACK},
    {"not started, deleted", {SCHEDULED, .known = true, .deleting = true}, ASSIGNMENT_CANCEL},
    {"started", {SCHEDULED, .known = true, .spooled = true}, ASSIGNMENT_IGNORE},
    {"started, deleted",
     {RUNNING, .known = true, .spooled = true, .deleting = true},
     ASSIGNMENT_IGNORE},
    {"a mark that can't be read", {SCHEDULED, .known = true, .marked = true}, ASSIGNMENT_LOSE},
    {"an agent whose spool is lost", {SCHEDULED, .room = true}, ASSIGNMENT_LOSE},
    {"ran", {RUNNING, .known = true}, ASSIGNMENT_LOSE},
    {"ran, deleted", {RUNNING, .known = true, .deleting = true}, ASSIGNMENT_LOSE},
    {"ran, over", {FAILED, .known = true, .spooled = true}, ASSIGNMENT_FORGET},
    /* Held. */
    {"held", {SCHEDULED, .own = true, .state = ASSIGNMENT_HELD}, ASSIGNMENT_IGNORE},
    {"held, deleted",
     {SCHEDULED, .own = true, .state = ASSIGNMENT_HELD, .deleting = true},
     ASSIGNMENT_CANCEL},
    {"held, ending",
     {SCHEDULED, .own = true, .state = ASSIGNMENT_HELD, .draining = true},
     ASSIGNMENT_GIVE_BACK},
    {"held, running", {RUNNING, .own = true, .state = ASSIGNMENT_HELD}, ASSIGNMENT_FORGET},
    {"held, over", {FAILED, .own = true, .state = ASSIGNMENT_HELD}, ASSIGNMENT_FORGET},
    /* Active. */
    {"active",
     {SCHEDULED, .own = true, .room = true, .state = ASSIGNMENT_ACTIVE},
     ASSIGNMENT_IGNORE},
    {"active, running", {RUNNING, .own = true, .state = ASSIGNMENT_ACTIVE}, ASSIGNMENT_IGNORE},
    {"active, deleted",
     {RUNNING, .own = true, .state = ASSIGNMENT_ACTIVE, .deleting = true},
     ASSIGNMENT_KILL},
    {"active, over", {FAILED, .own = true, .state = ASSIGNMENT_ACTIVE}, ASSIGNMENT_ABANDON},
    {"active, pending",
     {.phase = RUN_PHASE_PENDING, .own = true, .state = ASSIGNMENT_ACTIVE},
     ASSIGNMENT_ABANDON},
    /* Its end is being written, or is written. */
    {"writing",
     {SCHEDULED, .own = true, .room = true, .state = ASSIGNMENT_WRITING},
     ASSIGNMENT_IGNORE},
    {"writing, over", {FAILED, .own = true, .state = ASSIGNMENT_WRITING}, ASSIGNMENT_IGNORE},
    {"written, old event",
     {SCHEDULED, .own = true, .room = true, .state = ASSIGNMENT_WRITTEN},
     ASSIGNMENT_IGNORE},
    {"written, old event, deleted",
     {SCHEDULED, .own = true, .deleting = true, .state = ASSIGNMENT_WRITTEN},
     ASSIGNMENT_IGNORE},
    {"written, over", {FAILED, .own = true, .state = ASSIGNMENT_WRITTEN}, ASSIGNMENT_FORGET},
};

static void test_decide(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        enum assignment_action action = assignment_decide(&cases[i].facts);
        if (action != cases[i].action)
            fail_msg("%s: %d instead of %d", cases[i].what, (int)action, (int)cases[i].action);
    }
}

/* Whatever the facts are, code is started only for an unseen Scheduled run of our own. */
static void test_start_needs_everything(void **state)
{
    (void)state;
    unsigned int starts = 0;

    for (unsigned int bits = 0; bits < 1u << 8; bits++) {
        for (int phase = 0; phase < RUN_PHASE_COUNT; phase++) {
            for (int seen = 0; seen < ASSIGNMENT_STATE_COUNT; seen++) {
                const struct assignment_facts facts = {
                    .phase = (enum run_phase)phase,
                    .state = (enum assignment_state)seen,
                    .deleting = bits & 1u,
                    .own = bits & 2u,
                    .known = bits & 4u,
                    .spooled = bits & 8u,
                    .marked = bits & 16u,
                    .draining = bits & 32u,
                    .room = bits & 64u,
                    .can_hold = bits & 128u,
                };
                if (assignment_decide(&facts) != ASSIGNMENT_START)
                    continue;
                starts++;
                assert_int_equal(phase, RUN_PHASE_SCHEDULED);
                assert_int_equal(seen, ASSIGNMENT_UNSEEN);
                assert_true(facts.own && facts.room);
                assert_false(facts.deleting || facts.draining || facts.spooled || facts.marked);
            }
        }
    }
    assert_true(starts > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decide),
        cmocka_unit_test(test_start_needs_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
