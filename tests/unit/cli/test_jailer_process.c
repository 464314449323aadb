/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/jailer_process.h"
#include "tests/unit/common/cmocka_setup.h"
#include "tests/unit/common/scratch_dir.h"

#include "common/cleanup.h"
#include "common/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* A jailer made of a shell script: it says what it was given, waits for the end of its socket,
 * and ends as the test wants. */
static void put_script(const struct scratch_dir *dir, const char *end, char path[static 128])
{
    char script[1024];
    int len = snprintf(script, sizeof(script),
                       "#!/bin/sh\n"
                       "{ echo \"args: $*\"; env | grep -v '^\\(PWD\\|SHLVL\\|_\\|OLDPWD\\)=';\n"
                       "echo socket: $(readlink /proc/$$/fd/3 | cut -d: -f1);\n"
                       "echo leak: $(readlink /proc/$$/fd/100);\n"
                       "echo stdin: $(readlink /proc/$$/fd/0);\n"
                       "[ $(cut -d' ' -f6 /proc/$$/stat) = $$ ] && echo leads; } >%s/said\n"
                       "cat <&3\n%s\n",
                       dir->path, end);
    (void)snprintf(path, 128, "%s/jailer", dir->path);
    cleanup_close int fd = openat(dir->fd, "jailer", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    assert_int_equal(fd_write_full(fd, script, (size_t)len), 0);
}

static void read_said(const struct scratch_dir *dir, struct buf *said)
{
    assert_int_equal(fd_read_file(dir->fd, "said", true, said), 0);
}

static void test_what_it_is_given(void **state)
{
    struct scratch_dir *dir = *state;
    char path[128];
    put_script(dir, "exit 0", path);
    /* One that our own parent left open, without CLOEXEC. */
    cleanup_close int leak = dup2(dir->fd, 100);
    assert_int_equal(leak, 100);

    struct jailer_process process = JAILER_PROCESS_NONE;
    struct error err;
    assert_int_equal(jailer_process_start(path, "/some/runtimes", &process, &err), 0);
    assert_true(fcntl(process.sock, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(process.sock, F_GETFL) & O_NONBLOCK);
    assert_int_equal(jailer_process_stop(&process, &err), 0);
    assert_int_equal(process.sock, -1);
    assert_int_equal(process.jailer.pid, 0);
    assert_int_equal(jailer_process_stop(&process, &err), 0);

    cleanup_buf struct buf said = BUF_INIT(4096);
    read_said(dir, &said);
    assert_non_null(strstr(buf_str(&said), "args: --fd 3 --runtimes-dir /some/runtimes "
                                           "--log-format text --log-level warn\n"
                                           "PATH=/usr/sbin:/usr/bin:/sbin:/bin\n"
                                           "socket: socket\nleak:\n"
                                           "stdin: /dev/null\n"));
    assert_non_null(strstr(buf_str(&said), "\nleads\n"));
}

static void test_one_that_looks(void **state)
{
    struct scratch_dir *dir = *state;
    char path[128];
    struct jailer_process process;
    struct error err;
    put_script(dir, "exit 1", path);
    assert_int_equal(jailer_process_start_check(path, "/r", &process, &err), 0);
    assert_int_equal(jailer_process_stop(&process, &err), -ECHILD);
    cleanup_buf struct buf said = BUF_INIT(4096);
    read_said(dir, &said);
    assert_non_null(strstr(buf_str(&said), "args: --fd 3 --runtimes-dir /r --log-format text "
                                           "--log-level warn --check\n"));
}

static void test_bad_ends(void **state)
{
    struct scratch_dir *dir = *state;
    char path[128];
    struct jailer_process process;
    struct error err;
    put_script(dir, "exit 7", path);
    assert_int_equal(jailer_process_start(path, "/r", &process, &err), 0);
    assert_int_equal(jailer_process_stop(&process, &err), -ECHILD);
    assert_string_equal(err.text, "the jailer ended with exit status 7");
}

static void test_killed(void **state)
{
    struct scratch_dir *dir = *state;
    char path[128];
    struct jailer_process process;
    struct error err;
    put_script(dir, "kill -KILL $$", path);
    assert_int_equal(jailer_process_start(path, "/r", &process, &err), 0);
    assert_int_equal(jailer_process_stop(&process, &err), -ECHILD);
    assert_string_equal(err.text, "the jailer was ended by signal 9 (SIGKILL)");
}

/* Beside the jailer's script one for the resolver, which ends when its socket does. */
static void put_resolver(const struct scratch_dir *dir)
{
    char script[512];
    int len = snprintf(script, sizeof(script),
                       "#!/bin/sh\necho \"args: $*\" $(readlink /proc/$$/fd/3 | cut -d: -f1) "
                       ">%s/resolver-said\ncat <&3\n",
                       dir->path);
    cleanup_close int fd =
        openat(dir->fd, "sandboxrun-resolver", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    assert_int_equal(fd_write_full(fd, script, (size_t)len), 0);
}

static void prepare_and_begin(struct scratch_dir *dir, bool with_network)
{
    char path[128];
    struct jailer_process process = JAILER_PROCESS_NONE;
    struct error err;
    put_script(dir, "exit 0", path);
    put_resolver(dir);
    assert_int_equal(jailer_process_prepare(path, "/r", &process, &err), 0);
    /* Nothing runs before it is told to. */
    assert_int_equal(faccessat(dir->fd, "said", F_OK, 0), -1);
    assert_int_equal(jailer_process_begin(&process, with_network, &err), 0);
    assert_int_equal(jailer_process_stop(&process, &err), 0);
    assert_int_equal(process.resolver.pid, 0);
}

static void test_with_a_network(void **state)
{
    struct scratch_dir *dir = *state;
    cleanup_buf struct buf said = BUF_INIT(4096), resolver_said = BUF_INIT(4096);
    prepare_and_begin(dir, true);
    read_said(dir, &said);
    assert_non_null(strstr(buf_str(&said), "args: --fd 3 --runtimes-dir /r --log-format text "
                                           "--log-level warn --resolver-fd 4\n"));
    assert_int_equal(fd_read_file(dir->fd, "resolver-said", true, &resolver_said), 0);
    assert_string_equal(buf_str(&resolver_said),
                        "args: --jailer-fd 3 --log-format text --log-level warn socket\n");
}

static void test_without_a_network(void **state)
{
    struct scratch_dir *dir = *state;
    cleanup_buf struct buf said = BUF_INIT(4096);
    prepare_and_begin(dir, false);
    read_said(dir, &said);
    assert_null(strstr(buf_str(&said), "resolver"));
    assert_int_equal(faccessat(dir->fd, "resolver-said", F_OK, 0), -1);
}

static void test_a_network_without_a_resolver(void **state)
{
    struct scratch_dir *dir = *state;
    char path[128];
    struct jailer_process process = JAILER_PROCESS_NONE;
    struct error err;
    put_script(dir, "exit 0", path);
    assert_int_equal(jailer_process_prepare(path, "/r", &process, &err), 0);
    assert_int_equal(jailer_process_begin(&process, true, &err), -ENOENT);
    assert_non_null(strstr(err.text, "sandboxrun-resolver"));
    /* What was never told to begin ends all the same. */
    assert_int_equal(jailer_process_stop(&process, &err), 0);
    assert_int_equal(faccessat(dir->fd, "said", F_OK, 0), -1);
}

static void test_not_startable(void **state)
{
    (void)state;
    struct jailer_process process = JAILER_PROCESS_NONE;
    struct error err;
    assert_int_equal(jailer_process_start("/nonexistent/jailer", "/r", &process, &err), -ENOENT);
    assert_string_equal(err.text, "start /nonexistent/jailer: No such file or directory");
    assert_int_equal(process.jailer.pid, 0);
}

static void test_find(void **state)
{
    struct scratch_dir *dir = *state;
    char path[128];
    char found[MAX_PATH_CANDIDATE];
    struct error err;
    put_script(dir, "", path);
    assert_int_equal(jailer_process_find(path, found, &err), 0);
    assert_string_equal(found, path);
    assert_int_equal(jailer_process_find("/nonexistent", found, &err), -ENOENT);
    assert_string_equal(err.text, "--jailer /nonexistent: No such file or directory");
    /* Beside this test program there is none. */
    assert_int_equal(jailer_process_find(NULL, found, &err), -ENOENT);
    assert_non_null(strstr(err.text, "name it with --jailer PATH"));
}

static void test_find_runtimes(void **state)
{
    struct scratch_dir *dir = *state;
    char found[MAX_PATH_CANDIDATE];
    struct error err;
    assert_int_equal(jailer_process_find_runtimes(dir->path, found, &err), 0);
    assert_string_equal(found, dir->path);
    assert_int_equal(jailer_process_find_runtimes("/nonexistent", found, &err), -ENOTDIR);
    assert_string_equal(err.text, "--runtimes-dir /nonexistent: no such directory; make one with "
                                  "hack/make-runtime.sh");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, scratch_dir_setup, scratch_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_it_is_given),
        TEST(test_one_that_looks),
        TEST(test_killed),
        TEST(test_what_it_is_given),
        TEST(test_bad_ends),
        TEST(test_killed),
        TEST(test_with_a_network),
        TEST(test_without_a_network),
        TEST(test_a_network_without_a_resolver),
        TEST(test_not_startable),
        TEST(test_find),
        TEST(test_find_runtimes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
