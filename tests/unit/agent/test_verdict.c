/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/verdict.h"
#include "tests/unit/common/cmocka_setup.h"

#include "common/api/limits.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define EXITED(code)  ((code) << 8)
#define SIGNALED(num) (num)
#define DUMPED(num)   ((num) | 0x80)

struct finished_case {
    const char *name;
    struct proto_finished finished;
    struct verdict_context context;
    enum run_reason reason;
    int exit_code;
    const char *message;
};

#define STARTED .started = true, .timeout_seconds = 20, .memory_bytes = 512u << 20

static const struct finished_case finished_cases[] = {
    {"exit 0",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = EXITED(0)},
     {STARTED},
     RUN_REASON_COMPLETED,
     0,
     "exited with code 0"},
    {"exit 3",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = EXITED(3)},
     {STARTED},
     RUN_REASON_ERROR,
     3,
     "exited with code 3"},
    {"exit 137 is the program's own",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = EXITED(137)},
     {STARTED},
     RUN_REASON_ERROR,
     137,
     "exited with code 137"},
    {"exit 255",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = EXITED(255)},
     {STARTED},
     RUN_REASON_ERROR,
     255,
     "exited with code 255"},
    {"SIGSEGV with a core",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = DUMPED(SIGSEGV)},
     {STARTED},
     RUN_REASON_SIGNALED,
     139,
     "ended by signal 11 (SIGSEGV)"},
    {"SIGKILL by itself is no memory kill",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = SIGNALED(SIGKILL)},
     {STARTED},
     RUN_REASON_SIGNALED,
     137,
     "ended by signal 9 (SIGKILL)"},
    {"real-time signal",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = SIGNALED(40)},
     {STARTED},
     RUN_REASON_SIGNALED,
     168,
     "ended by signal 40 (a real-time signal)"},
    {"SIGSYS",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = DUMPED(SIGSYS)},
     {STARTED},
     RUN_REASON_FORBIDDEN_SYSCALL,
     159,
     "ended by signal 31 (SIGSYS): the program made a system call that its profile forbids"},
    {"a call of the kill list",
     {.end = PROTO_END_FORBIDDEN, .wall_us = 120000, .forbidden_call = SYS_kexec_load},
     {STARTED},
     RUN_REASON_FORBIDDEN_SYSCALL,
     159,
     "killed after 0.1 s: the program called kexec_load, which ends every run"},
    {"a call of the kill list, and we had asked too",
     {.end = PROTO_END_FORBIDDEN, .forbidden_call = SYS_reboot},
     {STARTED, .asked_reason = RUN_REASON_CANCELLED, .asked_message = "x"},
     RUN_REASON_FORBIDDEN_SYSCALL,
     159,
     "killed after 0.0 s: the program called reboot, which ends every run"},
    {"more refusals than are told apart",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = EXITED(0), .denied_more = 1},
     {STARTED},
     RUN_REASON_COMPLETED,
     0,
     "exited with code 0; the counts in status.denied are lower bounds: more system calls may "
     "have been refused"},
    {"more addresses than are told apart",
     {.end = PROTO_END_EXITED, .has_status = 1, .denied_network_more = 1},
     {STARTED},
     RUN_REASON_COMPLETED,
     0,
     "exited with code 0; the counts in status.denied are lower bounds: more addresses and names "
     "may have been refused"},
    {"more refusals than a status has room for",
     {.end = PROTO_END_EXITED,
      .has_status = 1,
      .denied_count = 16,
      .denied_name_count = 8,
      .denied_network_count = 9},
     {STARTED},
     RUN_REASON_COMPLETED,
     0,
     "exited with code 0; the counts in status.denied are lower bounds: more addresses and names "
     "may have been refused"},
    {"as many refusals as a status has room for",
     {.end = PROTO_END_EXITED,
      .has_status = 1,
      .denied_count = 16,
      .denied_name_count = 8,
      .denied_network_count = 8},
     {STARTED},
     RUN_REASON_COMPLETED,
     0,
     "exited with code 0"},
    {"more refusals of every kind",
     {.end = PROTO_END_EXITED, .has_status = 1, .denied_more = 1, .denied_network_more = 1},
     {STARTED},
     RUN_REASON_COMPLETED,
     0,
     "exited with code 0; the counts in status.denied are lower bounds: more system calls, "
     "addresses and names may have been refused"},
    {"SIGKILL by the kernel's memory kill",
     {.end = PROTO_END_EXITED,
      .has_status = 1,
      .wait_status = SIGNALED(SIGKILL),
      .oom_kills = 1,
      .wall_us = 300000},
     {STARTED},
     RUN_REASON_OOM_KILLED,
     137,
     "memory limit of 512Mi reached; killed after 0.3 s"},
    {"a child was killed for memory, the program went on",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = EXITED(0), .oom_kills = 1},
     {STARTED},
     RUN_REASON_COMPLETED,
     0,
     "exited with code 0"},
    {"no status",
     {.end = PROTO_END_EXITED},
     {STARTED},
     RUN_REASON_INTERNAL_ERROR,
     -1,
     "the program ended and its exit status was not reported"},
    {"a status that is none",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = 0x137f},
     {STARTED},
     RUN_REASON_INTERNAL_ERROR,
     -1,
     "the program ended with an unknown wait status 0x137f"},
    {"deadline",
     {.end = PROTO_END_DEADLINE, .wall_us = 20004123, .timeout_ms = 20000},
     {STARTED},
     RUN_REASON_DEADLINE_EXCEEDED,
     -1,
     "killed after 20.0 s, timeoutSeconds is 20"},
    {"deadline, and we had asked too",
     {.end = PROTO_END_DEADLINE, .wall_us = 20004123},
     {STARTED, .asked_reason = RUN_REASON_CANCELLED, .asked_message = "x"},
     RUN_REASON_DEADLINE_EXCEEDED,
     -1,
     "killed after 20.0 s, timeoutSeconds is 20"},
    {"never started",
     {.end = PROTO_END_DEADLINE, .wall_us = 10000000},
     {.timeout_seconds = 20},
     RUN_REASON_INTERNAL_ERROR,
     -1,
     "the sandbox was made and not started within 10 s; none of the code has run"},
    {"memory",
     {.end = PROTO_END_OOM, .oom_kills = 2, .peak_memory_bytes = 536000000, .wall_us = 1500000},
     {STARTED},
     RUN_REASON_OOM_KILLED,
     137,
     "memory limit of 512Mi reached; peak 511.2Mi; killed after 1.5 s"},
    {"killed as asked",
     {.end = PROTO_END_KILLED},
     {STARTED, .asked_reason = RUN_REASON_CANCELLED, .asked_message = "the object was deleted"},
     RUN_REASON_CANCELLED,
     -1,
     "the object was deleted"},
    {"killed without being asked",
     {.end = PROTO_END_KILLED},
     {STARTED},
     RUN_REASON_INTERNAL_ERROR,
     -1,
     "the jailer ended the run and nobody had asked for it"},
    {"ended by itself before our kill",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = EXITED(0)},
     {STARTED, .asked_reason = RUN_REASON_CANCELLED, .asked_message = "x"},
     RUN_REASON_COMPLETED,
     0,
     "exited with code 0"},
    {"flood, killed",
     {.end = PROTO_END_KILLED},
     {STARTED, .asked_reason = RUN_REASON_OUTPUT_LIMIT_EXCEEDED,
      .output_bytes = MAX_OUTPUT_BYTES + 5},
     RUN_REASON_OUTPUT_LIMIT_EXCEEDED,
     -1,
     "stdout and stderr together reached 67108869 bytes, the limit is 67108864"},
    {"flood that ended by itself in the same moment",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = EXITED(0)},
     {STARTED, .output_bytes = MAX_OUTPUT_BYTES + 1},
     RUN_REASON_OUTPUT_LIMIT_EXCEEDED,
     -1,
     "stdout and stderr together reached 67108865 bytes, the limit is 67108864"},
    {"exactly the limit",
     {.end = PROTO_END_EXITED, .has_status = 1, .wait_status = EXITED(0)},
     {STARTED, .output_bytes = MAX_OUTPUT_BYTES},
     RUN_REASON_COMPLETED,
     0,
     "exited with code 0"},
    {"reaper",
     {.end = PROTO_END_REAPER, .wall_us = 100000},
     {STARTED},
     RUN_REASON_ERROR,
     -1,
     "process 1 of the sandbox died after 0.1 s without reporting the program's end: the program "
     "may have killed it"},
    {"reaper that kept the deadline",
     {.end = PROTO_END_REAPER},
     {STARTED, .overdue = true},
     RUN_REASON_DEADLINE_EXCEEDED,
     -1,
     "killed within 3 s after timeoutSeconds, which is 20"},
    {"shutdown",
     {.end = PROTO_END_SHUTDOWN, .wall_us = 2000000},
     {STARTED},
     RUN_REASON_JAILER_LOST,
     -1,
     "the jailer was stopped after 2.0 s of the run"},
    {"unknown end",
     {.end = 99},
     {STARTED},
     RUN_REASON_INTERNAL_ERROR,
     -1,
     "the jailer reported an unknown end of the run (99)"},
    {"no end at all",
     {.end = 0},
     {STARTED},
     RUN_REASON_INTERNAL_ERROR,
     -1,
     "the jailer reported an unknown end of the run (0)"},
};

static void check(const char *name, const struct verdict *verdict, enum run_reason reason,
                  int exit_code, const char *message)
{
    if (verdict->reason != reason || verdict->exit_code != exit_code ||
        strcmp(verdict->message, message) != 0)
        fail_msg("%s: got %s, %d, \"%s\"", name, run_reason_name(verdict->reason),
                 verdict->exit_code, verdict->message);
    assert_int_equal(verdict->phase,
                     reason == RUN_REASON_COMPLETED ? RUN_PHASE_SUCCEEDED : RUN_PHASE_FAILED);
}

static void test_finished(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(finished_cases) / sizeof(finished_cases[0]); i++) {
        const struct finished_case *c = &finished_cases[i];
        struct verdict verdict;
        verdict_finished(&c->finished, &c->context, &verdict);
        check(c->name, &verdict, c->reason, c->exit_code, c->message);
    }
}

/* Succeeded, code 0 and Completed are one and the same, for every end and status there is. */
static void test_success_is_exit_code_zero_alone(void **state)
{
    (void)state;
    const struct verdict_context context = {STARTED};
    for (unsigned int end = 0; end < 10; end++) {
        for (int status = 0; status < 0x10000; status++) {
            struct proto_finished finished = {
                .end = end, .has_status = 1, .wait_status = status, .oom_kills = status & 1};
            struct verdict verdict;
            verdict_finished(&finished, &context, &verdict);
            bool success = verdict.phase == RUN_PHASE_SUCCEEDED;
            assert_int_equal(success, verdict.exit_code == 0);
            assert_int_equal(success, verdict.reason == RUN_REASON_COMPLETED);
            assert_int_equal(success, end == PROTO_END_EXITED && WIFEXITED(status) &&
                                          WEXITSTATUS(status) == 0);
            assert_true(verdict.exit_code >= -1 && verdict.exit_code <= 255);
            assert_true(verdict.reason != RUN_REASON_NONE && verdict.message[0] != '\0');
        }
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *message;
        struct verdict_context context;
        struct proto_refused refused;
        enum run_reason reason;
    } cases[] = {
        {.name = "a lock",
         .refused = {.errnum = EPERM, .lock = "mounts", .text = "mount /tmp: not permitted"},
         .reason = RUN_REASON_SANDBOX_SETUP_FAILED,
         .message = "lock mounts could not be set: mount /tmp: not permitted"},
        {.name = "unknown runtime",
         .refused = {.errnum = EINVAL, .lock = "request", .text = "there is no runtime python2"},
         .reason = RUN_REASON_INVALID_SPEC,
         .message = "the jailer refused the run: there is no runtime python2"},
        {.name = "ceiling",
         .refused = {.errnum = ERANGE, .lock = "request", .text = "memory"},
         .reason = RUN_REASON_INVALID_SPEC,
         .message = "the jailer refused the run: memory"},
        {.name = "no room",
         .refused = {.errnum = ENOSPC, .lock = "request", .text = "64 runs"},
         .reason = RUN_REASON_INTERNAL_ERROR,
         .message = "the jailer refused the run: 64 runs"},
        {.name = "too late",
         .refused = {.errnum = ESTALE, .lock = "request", .text = "7 ms late"},
         .reason = RUN_REASON_INTERNAL_ERROR,
         .message = "the jailer refused the run: 7 ms late"},
        {.name = "told to stop",
         .refused = {.errnum = ESHUTDOWN, .lock = "request", .text = "shutting down"},
         .reason = RUN_REASON_JAILER_LOST,
         .message = "the jailer refused the run: shutting down"},
        {.name = "id in use",
         .refused = {.errnum = EEXIST, .lock = "request", .text = "in use"},
         .reason = RUN_REASON_INTERNAL_ERROR,
         .message = "the jailer refused the run: in use"},
        {.name = "cancelled meanwhile",
         .refused = {.errnum = EPERM, .lock = "mounts", .text = "x"},
         .context = {.asked_reason = RUN_REASON_CANCELLED, .asked_message = "deleted"},
         .reason = RUN_REASON_CANCELLED,
         .message = "deleted"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct verdict verdict;
        verdict_refused(&cases[i].refused, &cases[i].context, &verdict);
        check(cases[i].name, &verdict, cases[i].reason, -1, cases[i].message);
    }
}

static void test_lost(void **state)
{
    (void)state;
    struct error err = {.code = ECONNRESET, .text = "the jailer is gone"};
    struct verdict verdict;
    verdict_lost(&err, &verdict);
    check("lost", &verdict, RUN_REASON_JAILER_LOST, -1, "the jailer is gone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finished),
        cmocka_unit_test(test_success_is_exit_code_zero_alone),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
