/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/jailer/seccomp_answer.h"
#include "seccomp/seccomp_policies.h"
#include "tests/unit/seccomp/bpf_machine.h"

#include <errno.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#else
#define NATIVE AUDIT_ARCH_AARCH64
#endif

#define MAX_NUMBER 600
#define HIGH       (UINT64_C(1) << 32)

static const struct seccomp_policy *const policies[] = {&seccomp_policy_snippet,
                                                        &seccomp_policy_tool_call};

/* An answer as the kernel would give it, by the machine that tests the filters themselves. */
static int expected_answer(uint32_t returned)
{
    if (returned == SECCOMP_RET_KILL_PROCESS)
        return 0;
    int errnum = (int)(returned & SECCOMP_RET_DATA);
    /* A success without a call (fsync) is the filter's own and never comes to the listener. */
    if ((returned & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO && errnum > 0)
        return errnum;
    return EPERM;
}

static void test_every_call_is_answered_as_the_kernel_would(void **state)
{
    (void)state;
    static const uint64_t values[] = {0,    1,    2,        3,         9,          10,
                                      16,   17,   30,       31,        38,         0x5412,
                                      4096, 8192, HIGH | 2, HIGH | 31, 0x10000011, UINT64_MAX};
    for (size_t p = 0; p < ARRAY_SIZE(policies); p++) {
        for (int number = -1; number < MAX_NUMBER; number++) {
            for (size_t i = 0; i < ARRAY_SIZE(values) * ARRAY_SIZE(values); i++) {
                struct seccomp_data call = {.nr = number, .arch = NATIVE};
                for (size_t j = 0; j < ARRAY_SIZE(call.args); j++)
                    call.args[j] =
                        values[(j % 2 ? i : i / ARRAY_SIZE(values)) % ARRAY_SIZE(values)];
                uint32_t returned =
                    bpf_machine_run(policies[p]->answers, policies[p]->answers_len, &call);
                assert_int_equal(seccomp_answer(policies[p], &call), expected_answer(returned));
            }
        }
    }
}

static void test_some_by_name(void **state)
{
    (void)state;
    static const struct {
        struct seccomp_data call;
        int answer;
    } cases[] = {
        {{.nr = SYS_ptrace, .arch = NATIVE}, EPERM},
        {{.nr = 599, .arch = NATIVE}, ENOSYS},
        {{.nr = SYS_socket, .arch = NATIVE, .args = {17, 3, 0}}, EAFNOSUPPORT},
        {{.nr = SYS_kill, .arch = NATIVE, .args = {5, 31}}, EPERM},
        {{.nr = SYS_kill, .arch = NATIVE, .args = {5, HIGH | 31}}, ENOSYS},
        {{.nr = SYS_init_module, .arch = NATIVE}, 0},
        /* Neither comes to a listener; if one did, it would not be let through. */
        {{.nr = SYS_read, .arch = NATIVE}, EPERM},
        {{.nr = SYS_read, .arch = AUDIT_ARCH_I386}, 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(seccomp_answer(&seccomp_policy_snippet, &cases[i].call), cases[i].answer);
}

static void test_no_program_lets_a_call_through(void **state)
{
    (void)state;
#define STATEMENT(code, k) BPF_STMT((uint16_t)(code), (k))
    static const struct sock_filter programs[][2] = {
        {STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)},
        {STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)},
        {STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)},
        {STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_LOG)},
        {STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO)}, /* 0: success */
        {STATEMENT(BPF_RET | BPF_A, 0)},
        {STATEMENT(0xffff, 0)},
        {STATEMENT(BPF_JMP | BPF_JA, UINT32_MAX)},
        {STATEMENT(BPF_JMP | BPF_JA, 1)},
        {STATEMENT(BPF_LD | BPF_W | BPF_ABS, UINT32_MAX - 1), STATEMENT(0xffff, 0)},
        {STATEMENT(BPF_LD | BPF_W | BPF_ABS, sizeof(struct seccomp_data) - 3),
         STATEMENT(0xffff, 0)},
        {BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 255, 255)},
    };
    const struct seccomp_data call = {.nr = 1, .arch = NATIVE};
    for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
        const struct seccomp_policy policy = {.answers = programs[i], .answers_len = 2};
        assert_int_equal(seccomp_answer(&policy, &call), EPERM);
    }
    const struct seccomp_policy none = {.name = "none"};
    assert_int_equal(seccomp_answer(&none, &call), EPERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call_is_answered_as_the_kernel_would),
        cmocka_unit_test(test_some_by_name),
        cmocka_unit_test(test_no_program_lets_a_call_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
