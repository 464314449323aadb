/* SPDX-License-Identifier: Apache-2.0 */
/* The filters of the library in a real kernel: each is loaded by a child, which makes one call. Of
 * a policy that reports its refusals that is the filter with the answers; the other one has nobody
 * to report to here, and must refuse all the same. */
#include "common/cleanup.h"
#include "seccomp/seccomp_policies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define EXIT_BASE      0 /* the exit status is the errno of the call */
#define EXIT_NO_FILTER 255
#define DIES           (-SIGSYS)

struct attempt {
    const struct seccomp_policy *policy;
    long number;
    long args[3];
    int expected; /* errno, 0 for success, DIES */
};

static const struct attempt attempts[] = {
    {&seccomp_policy_snippet, SYS_getppid, {0}, 0},
    {&seccomp_policy_snippet, SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, 0},
    {&seccomp_policy_snippet, SYS_socket, {AF_INET, SOCK_STREAM, 0}, EAFNOSUPPORT},
    {&seccomp_policy_snippet, SYS_socket, {AF_NETLINK, SOCK_RAW, 0}, EAFNOSUPPORT},
    {&seccomp_policy_snippet, SYS_unshare, {0}, EPERM},
    {&seccomp_policy_snippet, SYS_clone3, {0}, ENOSYS},
    {&seccomp_policy_snippet, SYS_openat2, {0}, ENOSYS},
    {&seccomp_policy_snippet, SYS_listxattr, {0}, EOPNOTSUPP},
    {&seccomp_policy_snippet, SYS_kill, {0, SIGSYS, 0}, EPERM},
    {&seccomp_policy_snippet, SYS_fcntl, {1, F_SETSIG, SIGSYS}, EPERM},
    {&seccomp_policy_snippet, SYS_delete_module, {0}, DIES},
    {&seccomp_policy_snippet, 499, {0}, ENOSYS},
    {&seccomp_policy_tool_call, SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0}, 0},
    {&seccomp_policy_tool_call, SYS_socket, {AF_INET, SOCK_RAW, 1}, EPERM},
    {&seccomp_policy_tool_call, SYS_socket, {AF_PACKET, SOCK_RAW, 0}, EAFNOSUPPORT},
    {&seccomp_policy_tool_call, SYS_kexec_load, {0}, DIES},
    {&seccomp_policy_reaper, SYS_wait4, {-1, 0, 0}, ECHILD},
    {&seccomp_policy_reaper, SYS_getpid, {0}, DIES},
    {&seccomp_policy_reaper, SYS_openat, {AT_FDCWD, 0, 0}, DIES},
    {&seccomp_policy_reaper, SYS_execve, {0}, DIES},
    {&seccomp_policy_reaper, SYS_getppid, {0}, DIES},
#ifdef __x86_64__
    {&seccomp_policy_snippet, 0x40000000 | SYS_getppid, {0}, DIES}, /* x32 */
#endif
};

static void child(const struct attempt *attempt, bool notify)
{
    const struct seccomp_policy *policy = attempt->policy;
    const struct sock_filter *insns = notify ? policy->filter : policy->answers;
    struct sock_filter filter[BPF_MAXINSNS];
    struct sock_fprog program = {.len = notify ? policy->len : policy->answers_len,
                                 .filter = filter};
    long r;

    for (size_t i = 0; i < program.len; i++)
        filter[i] = insns[i];
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        syscall(SYS_exit_group, EXIT_NO_FILTER);
    r = syscall(attempt->number, attempt->args[0], attempt->args[1], attempt->args[2]);
    syscall(SYS_exit_group, r < 0 ? EXIT_BASE + errno : EXIT_BASE);
}

static int outcome_of(const struct attempt *attempt, bool notify)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0)
        child(attempt, notify);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void kernel_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(attempts); i++) {
        int got = outcome_of(&attempts[i], attempts[i].policy->answers == NULL);

        if (got != attempts[i].expected)
            fail_msg("attempt %zu, call %ld: %d, not %d", i, attempts[i].number, got,
                     attempts[i].expected);
    }
}

/* The kernel's word for "nobody listens" is ENOSYS. */
static void refuses_without_a_listener(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(attempts); i++) {
        const struct attempt *attempt = &attempts[i];
        int got = outcome_of(attempt, true);

        if (attempt->expected == 0)
            assert_int_equal(got, 0);
        else if (got != attempt->expected && got != ENOSYS)
            fail_msg("attempt %zu, call %ld: %d", i, attempt->number, got);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_answers),
        cmocka_unit_test(refuses_without_a_listener),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
