/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/exit_code.h"
#include "tests/unit/common/cmocka_setup.h"

#define SUCCEEDED .phase = RUN_PHASE_SUCCEEDED, .has_exit_code = true
#define FAILED    .phase = RUN_PHASE_FAILED, .has_exit_code = true

static const struct {
    struct run_status status;
    int code;
} cases[] = {
    {{SUCCEEDED, .reason = RUN_REASON_COMPLETED, .exit_code = 0}, 0},
    {{FAILED, .reason = RUN_REASON_ERROR, .exit_code = 3}, 3},
    {{FAILED, .reason = RUN_REASON_ERROR, .exit_code = 255}, 255},
    {{FAILED, .reason = RUN_REASON_ERROR, .exit_code = -1}, 125},
    {{FAILED, .reason = RUN_REASON_SIGNALED, .exit_code = 139}, 139},
    {{FAILED, .reason = RUN_REASON_DEADLINE_EXCEEDED, .exit_code = -1}, 124},
    {{FAILED, .reason = RUN_REASON_OOM_KILLED, .exit_code = 137}, 137},
    {{FAILED, .reason = RUN_REASON_FORBIDDEN_SYSCALL, .exit_code = 159}, 159},
    {{FAILED, .reason = RUN_REASON_OUTPUT_LIMIT_EXCEEDED, .exit_code = -1}, 125},
    {{FAILED, .reason = RUN_REASON_CANCELLED, .exit_code = -1}, 125},
    {{FAILED, .reason = RUN_REASON_SANDBOX_SETUP_FAILED, .exit_code = -1}, 125},
    {{FAILED, .reason = RUN_REASON_JAILER_LOST, .exit_code = -1}, 125},
    {{FAILED, .reason = RUN_REASON_INTERNAL_ERROR, .exit_code = -1}, 125},
    /* What can't be must not read as success. */
    {{FAILED, .reason = RUN_REASON_ERROR, .exit_code = 0}, 125},
    {{FAILED, .reason = RUN_REASON_ERROR, .exit_code = 256}, 125},
    {{.phase = RUN_PHASE_FAILED, .reason = RUN_REASON_ERROR}, 125},
    {{.phase = RUN_PHASE_SUCCEEDED, .reason = RUN_REASON_COMPLETED}, 125},
    {{.phase = RUN_PHASE_PENDING}, 125},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int code = exit_code_of(&cases[i].status);
        if (code != cases[i].code)
            fail_msg("case %zu: %d instead of %d", i, code, cases[i].code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
