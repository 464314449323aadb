/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/gated_process.h"
#include "tests/unit/common/cmocka_setup.h"
#include "tests/unit/common/scratch_dir.h"

#include "common/cleanup.h"
#include "common/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

/* A script that says what it is given, in its scratch directory. */
static void put_script(const struct scratch_dir *dir, char path[static 128])
{
    char script[1024];
    int len = snprintf(script, sizeof(script),
                       "#!/bin/sh\n"
                       "{ echo \"args: $*\"; echo fd 3: $(readlink /proc/$$/fd/3);\n"
                       "echo fd 4: $(readlink /proc/$$/fd/4 | grep ^/dev); echo PATH: $PATH;\n"
                       "echo HOME: $HOME; } >%s/said\n",
                       dir->path);
    (void)snprintf(path, 128, "%s/program", dir->path);
    cleanup_close int fd = openat(dir->fd, "program", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    assert_int_equal(fd_write_full(fd, script, (size_t)len), 0);
}

static bool has_said(const struct scratch_dir *dir)
{
    return faccessat(dir->fd, "said", F_OK, 0) == 0;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static struct gated_process make(const char *path, int low, int high)
{
    char *const first[] = {(char[]){"program"}, (char[]){"one"}, NULL};
    char *const second[] = {(char[]){"program"}, (char[]){"two"}, (char[]){"more"}, NULL};
    /* In the reverse order of where they lie: none may be overwritten before it is moved. */
    const struct gated_program program = {
        .path = path, .argv = {first, second}, .fds = {high, low}, .fd_count = {1, 2}};
    struct gated_process process = GATED_PROCESS_NONE;
    struct error err;
    assert_int_equal(gated_process_fork(&program, &process, &err), 0);
    assert_true(process.pid > 0);
    assert_true(fcntl(process.gate, F_GETFD) & FD_CLOEXEC);
    return process;
}

static void run(const struct scratch_dir *dir, unsigned int choice, const char *wanted)
{
    char path[128];
    struct error err;
    put_script(dir, path);
    cleanup_close int low = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    cleanup_close int high = open("/dev/full", O_RDONLY | O_CLOEXEC);
    struct gated_process process = make(path, low, high);
    /* It waits, however long that takes. */
    assert_int_equal(waitpid(process.pid, NULL, WNOHANG), 0);
    assert_false(has_said(dir));
    assert_int_equal(gated_process_begin(&process, path, choice, &err), 0);
    assert_int_equal(process.gate, -1);
    assert_int_equal(wait_for(process.pid), 0);
    cleanup_buf struct buf said = BUF_INIT(4096);
    assert_int_equal(fd_read_file(dir->fd, "said", true, &said), 0);
    assert_string_equal(buf_str(&said), wanted);
}

#define REST "PATH: /usr/sbin:/usr/bin:/sbin:/bin\nHOME:\n"

static void test_the_first_choice(void **state)
{
    run(*state, 0, "args: one\nfd 3: /dev/full\nfd 4:\n" REST);
}

static void test_the_second_choice(void **state)
{
    run(*state, 1, "args: two more\nfd 3: /dev/full\nfd 4: /dev/zero\n" REST);
}

static void test_a_closed_gate_is_the_end(void **state)
{
    const struct scratch_dir *dir = *state;
    char path[128];
    put_script(dir, path);
    struct gated_process process = make(path, 1, 2);
    (void)fd_close(process.gate);
    assert_int_equal(wait_for(process.pid), 0);
    assert_false(has_said(dir));
}

static void test_what_can_t_be_run(void **state)
{
    (void)state;
    struct error err;
    struct gated_process process = make("/nonexistent/program", 1, 2);
    assert_int_equal(gated_process_begin(&process, "/nonexistent/program", 0, &err), -ENOENT);
    assert_string_equal(err.text, "start /nonexistent/program: No such file or directory");
    assert_int_equal(process.pid, 0);
    assert_int_equal(process.gate, -1);
}

static void test_one_that_was_killed_meanwhile(void **state)
{
    const struct scratch_dir *dir = *state;
    char path[128];
    struct error err;
    put_script(dir, path);
    struct gated_process process = make(path, 1, 2);
    assert_int_equal(kill(process.pid, SIGKILL), 0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)process.pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(gated_process_begin(&process, path, 0, &err) < 0);
    assert_false(has_said(dir));
    assert_int_equal(waitpid(process.pid, NULL, 0), process.pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_first_choice, scratch_dir_setup,
                                        scratch_dir_teardown),
        cmocka_unit_test_setup_teardown(test_the_second_choice, scratch_dir_setup,
                                        scratch_dir_teardown),
        cmocka_unit_test_setup_teardown(test_a_closed_gate_is_the_end, scratch_dir_setup,
                                        scratch_dir_teardown),
        cmocka_unit_test(test_what_can_t_be_run),
        cmocka_unit_test_setup_teardown(test_one_that_was_killed_meanwhile, scratch_dir_setup,
                                        scratch_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
