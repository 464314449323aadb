/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node-agent/agent/denied.h"

#include <string.h>
#include <sys/syscall.h>

static void test_names(void **state)
{
    (void)state;
    static const struct {
        int32_t number;
        const char *name;
    } cases[] = {
        {SYS_read, "read"},
        {SYS_ptrace, "ptrace"},
        {SYS_io_uring_setup, "io_uring_setup"},
        {SYS_kexec_load, "kexec_load"},
        {SYS_openat2, "openat2"},
        {462, "mseal"},
        /* Gaps in the table, and what is outside of it. */
        {350, "system call 350"},
        {600, "system call 600"},
        {INT32_MAX, "system call 2147483647"},
        {-1, "system call -1"},
        {INT32_MIN, "system call -2147483648"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[MAX_DENIED_TARGET + 1];
        denied_call_name(cases[i].number, name);
        assert_string_equal(name, cases[i].name);
    }
}

static void test_fill(void **state)
{
    (void)state;
    const struct proto_finished finished = {.denied_count = 3,
                                            .denied = {{SYS_ptrace, 7}, {-1, 1}, {SYS_mount, 256}}};
    struct run_status status = {.denied_count = 5};
    denied_fill(&finished, &status);
    assert_int_equal(status.denied_count, 3);
    assert_int_equal(status.denied[0].kind, RUN_DENIED_SYSCALL);
    assert_string_equal(status.denied[0].target, "ptrace");
    assert_int_equal(status.denied[0].count, 7);
    assert_string_equal(status.denied[1].target, "system call -1");
    assert_string_equal(status.denied[2].target, "mount");
    assert_int_equal(status.denied[2].count, 256);
}

static void test_nothing_and_everything(void **state)
{
    (void)state;
    struct proto_finished finished = {.denied_count = 0};
    struct run_status status = {.denied_count = 5};
    denied_fill(&finished, &status);
    assert_int_equal(status.denied_count, 0);

    /* The codec doesn't let it come to this. */
    finished.denied_count = UINT32_MAX;
    denied_fill(&finished, &status);
    assert_int_equal(status.denied_count, PROTO_MAX_DENIED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_nothing_and_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
