/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/jailer/end.h"
#include "tests/unit/common/cmocka_setup.h"

struct end_case {
    struct end_facts facts;
    enum proto_end end;
};

static const struct end_case cases[] = {
    {{.has_status = true, .wait_status = 0}, PROTO_END_EXITED},
    {{.has_status = true, .wait_status = 9}, PROTO_END_EXITED},
    {{.has_status = false}, PROTO_END_REAPER},
    /* The kernel was faster than the jailer's own kill. */
    {{.has_status = true, .wait_status = 9, .oom_kills = 1}, PROTO_END_OOM},
    {{.has_status = true, .wait_status = 0, .oom_kills = 1}, PROTO_END_OOM},
    {{.has_status = false, .oom_kills = 3}, PROTO_END_OOM},
    /* Without a report, past the deadline, process 1 has ended for that. */
    {{.overdue = true}, PROTO_END_DEADLINE},
    {{.overdue = true, .has_status = true}, PROTO_END_EXITED},
    {{.overdue = true, .oom_kills = 1}, PROTO_END_OOM},
    {{.overdue = true, .decided = PROTO_END_KILLED}, PROTO_END_KILLED},
    /* What was decided first stands, whatever happened on the way out. */
    {{.decided = PROTO_END_OOM}, PROTO_END_OOM},
    {{.decided = PROTO_END_DEADLINE, .oom_kills = 1}, PROTO_END_DEADLINE},
    {{.decided = PROTO_END_KILLED, .has_status = true}, PROTO_END_KILLED},
    {{.decided = PROTO_END_FORBIDDEN, .oom_kills = 1}, PROTO_END_FORBIDDEN},
    {{.decided = PROTO_END_SHUTDOWN, .has_status = true, .oom_kills = 1}, PROTO_END_SHUTDOWN},
};

static void test_who_was_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        if (end_decide(&cases[i].facts) != cases[i].end)
            fail_msg("case %zu: %d", i, (int)end_decide(&cases[i].facts));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_who_was_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
