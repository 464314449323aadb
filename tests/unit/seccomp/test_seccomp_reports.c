/* SPDX-License-Identifier: Apache-2.0 */
/* Which refusals go to the listener, in the filters that the jailer links. */
#include "bpf_machine.h"
#include "common/cleanup.h"
#include "seccomp/arch.h"
#include "seccomp/seccomp_policies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <string.h>

#define ALLOW    SECCOMP_RET_ALLOW
#define NOTIFY   SECCOMP_RET_USER_NOTIF
#define ERRNO(e) (SECCOMP_RET_ERRNO | (e))

static uint32_t run(const struct seccomp_policy *policy, int number, const uint64_t args[6])
{
    struct seccomp_data call = {.nr = number, .arch = arch_token(arch_native())};

    memcpy(call.args, args, sizeof(call.args));
    return bpf_machine_run(policy->filter, policy->len, &call);
}

/* Programs' refusals are reported; process 1 has nobody to report to, and ends. */
static void reports_of_programs_alone(void **state)
{
    (void)state;
    assert_non_null(seccomp_policy_snippet.answers);
    assert_non_null(seccomp_policy_tool_call.answers);
    assert_null(seccomp_policy_reaper.answers);
}

/* Calls that are made at every start of an interpreter or a thread, and in the course of many
 * libraries, would each be a turn of the jailer, and a denial that means nothing. */
static void stays_silent_about_what_programs_expect(void **state)
{
    static const struct {
        const char *name;
        uint64_t args[6];
        uint32_t snippet;
        uint32_t tool_call;
    } cases[] = {
        {"clone3", {0}, ERRNO(ENOSYS), ERRNO(ENOSYS)},
        {"mbind", {0}, ERRNO(ENOSYS), ERRNO(ENOSYS)},
        {"listxattr", {0}, ERRNO(EOPNOTSUPP), ERRNO(EOPNOTSUPP)},
        {"fchown", {0}, ERRNO(EPERM), ERRNO(EPERM)},
        {"ioctl", {3, 0x40049409}, ERRNO(ENOSYS), ERRNO(ENOSYS)}, /* FICLONE */
        {"preadv2", {3, 0, 1, 0, 0, 0}, ERRNO(ENOSYS), ERRNO(ENOSYS)},
        {"preadv2", {3, 0, 1, 0, 0, 8}, NOTIFY, NOTIFY},
        {"openat", {0, 0, O_DIRECT}, ERRNO(EINVAL), ERRNO(EINVAL)},
        {"openat", {0, 0, O_DIRECTORY}, ALLOW, ALLOW},
        {"fcntl", {3, F_SETFL, O_DIRECT}, ERRNO(EINVAL), ERRNO(EINVAL)},
        {"madvise", {0, 1, 21}, NOTIFY, NOTIFY}, /* MADV_PAGEOUT */
        {"futex", {0, 0x86}, NOTIFY, NOTIFY},    /* FUTEX_LOCK_PI */
        {"futex", {0, 0x80}, ALLOW, ALLOW},
        {"socket", {10, 1, 0}, ERRNO(EAFNOSUPPORT), ALLOW},
        {"socket", {16, 3, 0}, NOTIFY, ERRNO(EAFNOSUPPORT)}, /* netlink */
        {"socket", {2, 1, 0}, NOTIFY, ALLOW},
        {"socket", {17, 3, 0}, NOTIFY, NOTIFY},
        {"ioctl", {0, 0x5412}, NOTIFY, NOTIFY}, /* TIOCSTI */
        {"move_pages", {0}, NOTIFY, NOTIFY},
        {"ptrace", {0}, NOTIFY, NOTIFY},
        {"openat2", {0}, NOTIFY, NOTIFY},
        {"init_module", {0}, NOTIFY, NOTIFY},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int number;

        assert_int_equal(arch_syscall_number(arch_native(), cases[i].name, &number), 0);
        uint32_t snippet = run(&seccomp_policy_snippet, number, cases[i].args);
        uint32_t tool_call = run(&seccomp_policy_tool_call, number, cases[i].args);
        if (snippet != cases[i].snippet || tool_call != cases[i].tool_call)
            fail_msg("case %zu, %s: %#x and %#x", i, cases[i].name, snippet, tool_call);
    }
}

/* What no rule names is a call that nobody expected. */
static void reports_unknown_numbers(void **state)
{
    static const uint64_t none[6] = {0};

    (void)state;
    for (int number = 470; number < 600; number++) {
        assert_int_equal(run(&seccomp_policy_snippet, number, none), NOTIFY);
        assert_int_equal(run(&seccomp_policy_tool_call, number, none), NOTIFY);
    }
    assert_int_equal(run(&seccomp_policy_snippet, -1, none), NOTIFY);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_of_programs_alone),
        cmocka_unit_test(stays_silent_about_what_programs_expect),
        cmocka_unit_test(reports_unknown_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
