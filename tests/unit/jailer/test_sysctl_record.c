/* SPDX-License-Identifier: Apache-2.0 */

/* What the settings of a namespace were, and who is the one to put it back: with files in the place
 * of those of /proc/sys. */
#include "common/cleanup.h"
#include "node-agent/jailer/net/sysctl_record.h"
#include "scratch.h"
#include "tests/unit/common/cmocka_setup.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define IPV4      "sys/net/ipv4/"
#define REDIRECTS IPV4 "conf/all/accept_redirects"
#define MASK      IPV4 "icmp_ratemask"
#define LIMIT     IPV4 "icmp_ratelimit"
#define FORWARD   IPV4 "ip_forward"

/* What a helper has of its namespace. */
struct jailer {
    struct sysctls sysctls;
    struct sysctl_record record;
};

static struct scratch scratch;

static int setup(void **state)
{
    (void)state;
    scratch_make(&scratch);
    scratch_dir(&scratch, "run");
    scratch_file(&scratch, REDIRECTS, "1\n");
    scratch_file(&scratch, MASK, "7\n");
    scratch_file(&scratch, LIMIT, "9\n");
    scratch_file(&scratch, FORWARD, "0\n");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(&scratch);
    return 0;
}

static void open_record(struct sysctl_record *ret_record)
{
    char dir[80];
    (void)snprintf(dir, sizeof(dir), "%s/run", scratch.path);
    sysctl_record_open(ret_record, dir);
}

static void apply(struct sysctls *ret_sysctls)
{
    struct error err = {0};
    *ret_sysctls = (struct sysctls){.proc_fd = scratch.fd};
    assert_int_equal(sysctls_apply(ret_sysctls, true, &err), 0);
    assert_false(ret_sysctls->ipv6);
}

static void come(struct jailer *ret_jailer)
{
    open_record(&ret_jailer->record);
    assert_true(ret_jailer->record.fd >= 0);
    apply(&ret_jailer->sysctls);
    /* As the kernel does it. */
    scratch_file(&scratch, REDIRECTS, "0\n");
    sysctl_record_enter(&ret_jailer->record, &ret_jailer->sysctls);
}

static void go(struct jailer *jailer)
{
    bool last = sysctl_record_leave(&jailer->record);
    if (last)
        sysctls_restore(&jailer->sysctls);
    sysctl_record_done(&jailer->record, last);
    assert_int_equal(jailer->record.fd, -1);
}

/* Without leaving: the kernel lets go of its locks. */
static void be_killed(struct jailer *jailer)
{
    jailer->record.fd = fd_close(jailer->record.fd);
}

static void assert_settings(const char *redirects, const char *mask, const char *limit,
                            const char *forward)
{
    assert_string_equal(scratch_read(&scratch, REDIRECTS), redirects);
    assert_string_equal(scratch_read(&scratch, MASK), mask);
    assert_string_equal(scratch_read(&scratch, LIMIT), limit);
    assert_string_equal(scratch_read(&scratch, FORWARD), forward);
}

static void assert_set(void)
{
    assert_settings("0\n", "0\n", "0\n", "1\n");
}

static void assert_as_before(void)
{
    assert_settings("1\n", "7\n", "9\n", "0\n");
}

static unsigned int count_records(void)
{
    int fd = openat(scratch.fd, "run", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    DIR *dir = fdopendir(fd);
    unsigned int count = 0;
    assert_non_null(dir);
    for (const struct dirent *entry = NULL; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    (void)closedir(dir);
    return count;
}

static void test_one_alone(void **state)
{
    (void)state;
    struct jailer jailer;
    come(&jailer);
    assert_set();
    assert_int_equal(count_records(), 1);
    go(&jailer);
    assert_as_before();
    assert_int_equal(count_records(), 0);
}

/* The last one has never seen what the first one found. */
static void test_the_last_puts_back_what_the_first_found(void **state)
{
    (void)state;
    for (unsigned int i = 0; i < 2; i++) {
        struct jailer jailers[2];
        come(&jailers[0]);
        come(&jailers[1]);
        go(&jailers[i]);
        assert_set();
        assert_int_equal(count_records(), 1);
        go(&jailers[1 - i]);
        assert_as_before();
        assert_int_equal(count_records(), 0);
    }
}

static void test_nobody_misses_one_that_was_killed(void **state)
{
    (void)state;
    struct jailer first, second, third;
    come(&first);
    come(&second);
    be_killed(&first);
    assert_false(access(first.record.path, F_OK) < 0);
    go(&second);
    assert_as_before();
    come(&second);
    be_killed(&second);
    assert_set();
    come(&third);
    go(&third);
    assert_as_before();
    assert_int_equal(count_records(), 0);
}

/* The recorded goes before the found, and what is found besides is added. */
static void test_what_somebody_changed_meanwhile(void **state)
{
    (void)state;
    struct jailer first, second;
    scratch_file(&scratch, FORWARD, "1\n");
    come(&first);
    scratch_file(&scratch, LIMIT, "5\n");
    scratch_file(&scratch, FORWARD, "0\n");
    come(&second);
    assert_set();
    go(&first);
    /* Not ours any more, so it stays. */
    scratch_file(&scratch, MASK, "3\n");
    go(&second);
    assert_settings("1\n", "3\n", "9\n", "0\n");
}

static void test_in_the_reverse_order(void **state)
{
    (void)state;
    static const char *const settings[] = {REDIRECTS, MASK, LIMIT, FORWARD};
    static const char *const dirs[] = {IPV4 "conf/all", IPV4 ""};
    struct jailer jailer;
    char path[160], bytes[1024];
    come(&jailer);
    cleanup_close int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    assert_true(watch >= 0);
    for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", scratch.path, dirs[i]);
        assert_true(inotify_add_watch(watch, path, IN_MODIFY) >= 0);
    }
    go(&jailer);
    ssize_t len = read(watch, bytes, sizeof(bytes)), at = 0;
    for (size_t i = ARRAY_SIZE(settings); i-- > 0;) {
        struct inotify_event event;
        assert_true(at + (ssize_t)sizeof(event) <= len);
        memcpy(&event, bytes + at, sizeof(event));
        assert_string_equal(bytes + at + sizeof(event), strrchr(settings[i], '/') + 1);
        at += (ssize_t)(sizeof(event) + event.len);
    }
    assert_int_equal(at, len);
}

/* A process that opens the record, says so, and ends; the exit status is 0 if it is the file that
 * the directory has. Of ours it keeps nothing, which has the locks. */
static pid_t open_elsewhere(const struct sysctl_record *ours, int *ret_fd)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct sysctl_record record;
        struct stat opened, there;
        (void)fd_close(ours->fd);
        open_record(&record);
        bool same = fstat(record.fd, &opened) == 0 && stat(record.path, &there) == 0 &&
                    opened.st_ino == there.st_ino;
        _exit(write(ends[1], "", 1) == 1 && same ? 0 : 1);
    }
    (void)fd_close(ends[1]);
    *ret_fd = ends[0];
    return pid;
}

static bool has_opened(int fd, int within_ms)
{
    struct pollfd word = {.fd = fd, .events = POLLIN};
    return poll(&word, 1, within_ms) == 1;
}

static void assert_ends_well(pid_t pid, int fd)
{
    int status = -1;
    if (!has_opened(fd, 10000))
        (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    (void)fd_close(fd);
}

static void test_one_at_a_time(void **state)
{
    (void)state;
    struct jailer jailer = {.record = SYSCTL_RECORD_INIT};
    int fd = -1;
    open_record(&jailer.record);
    apply(&jailer.sysctls);
    pid_t other = open_elsewhere(&jailer.record, &fd);
    assert_false(has_opened(fd, 100));
    sysctl_record_enter(&jailer.record, &jailer.sysctls);
    assert_ends_well(other, fd);
    /* Who waits while the last one goes must not take the file that goes with it. */
    assert_true(sysctl_record_leave(&jailer.record));
    other = open_elsewhere(&jailer.record, &fd);
    assert_false(has_opened(fd, 100));
    sysctl_record_done(&jailer.record, true);
    assert_ends_well(other, fd);
}

static void test_without_a_record(void **state)
{
    (void)state;
    struct sysctl_record record;
    sysctl_record_open(&record, "/proc/self/no-such-directory");
    assert_int_equal(record.fd, -1);
    sysctl_record_open(&record, "/a/directory/whose/name/is/longer/than/what/there/is/room/for");
    assert_int_equal(record.fd, -1);
    /* What others can read or write was not made by a jailer. */
    open_record(&record);
    assert_true(record.fd >= 0);
    sysctl_record_done(&record, false);
    assert_int_equal(chmod(record.path, 0622), 0);
    open_record(&record);
    assert_int_equal(record.fd, -1);
}

/* Settings that this machine does not have, values that are empty, and lines that are none. */
static void test_lines(void **state)
{
    (void)state;
    static const char lines[] = "sys/net/ipv4/icmp_ratemask 6168\n"
                                "sys/net/ipv6/icmp/ratemask \n"
                                "sys/net/ipv6/conf/all/forwarding 0\n";
    struct sysctls sysctls = SYSCTLS_INIT;
    char longest[SYSCTLS_VALUE_SIZE + 64];
    cleanup_buf struct buf text = BUF_INIT(SYSCTLS_MAX_TEXT);
    (void)snprintf(longest, sizeof(longest), FORWARD " %0*d\n", SYSCTLS_VALUE_SIZE, 0);
    sysctls_remember(&sysctls, "");
    sysctls_remember(&sysctls, "\n" FORWARD "\n" FORWARD "s 1\nsys/kernel/ostype 1\n x");
    sysctls_remember(&sysctls, longest);
    assert_int_equal(sysctls_print(&sysctls, &text), 0);
    assert_string_equal(buf_str(&text), "");
    sysctls_remember(&sysctls, lines);
    assert_int_equal(sysctls_print(&sysctls, &text), 0);
    assert_string_equal(buf_str(&text), lines);
}

static void test_a_setting_that_cannot_be_set(void **state)
{
    (void)state;
    struct sysctls sysctls = {.proc_fd = scratch.fd};
    struct error err = {0};
    /* What is written over the beginning reads differently. */
    scratch_file(&scratch, FORWARD, "00\n");
    assert_int_equal(sysctls_apply(&sysctls, true, &err), -EPERM);
    assert_non_null(strstr(err.text, "net/ipv4/ip_forward"));
    assert_string_equal(scratch_read(&scratch, MASK), "7\n");
    assert_string_equal(scratch_read(&scratch, LIMIT), "9\n");
    assert_int_equal(unlinkat(scratch.fd, FORWARD, 0), 0);
    assert_int_equal(sysctls_apply(&sysctls, true, &err), -ENOENT);
    assert_string_equal(scratch_read(&scratch, LIMIT), "9\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_last_puts_back_what_the_first_found, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_nobody_misses_one_that_was_killed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_somebody_changed_meanwhile, setup, teardown),
        cmocka_unit_test_setup_teardown(test_in_the_reverse_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_at_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_a_record, setup, teardown),
        cmocka_unit_test(test_lines),
        cmocka_unit_test_setup_teardown(test_a_setting_that_cannot_be_set, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
