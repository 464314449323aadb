/* SPDX-License-Identifier: Apache-2.0 */
/* The plan for each ABI, and the kernel's word on it: a child that is root with every capability
 * and is held back by Landlock alone. */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/jailer/landlock.h"
#include "node-agent/jailer/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

static void test_plan_by_abi(void **state)
{
    (void)state;
    static const struct {
        unsigned int abi;
        bool network, truncate, ioctl, tcp, scope;
    } cases[] = {
        {2, false, false, false, false, false}, {3, false, true, false, false, false},
        {4, false, true, false, true, false},   {4, true, true, false, false, false},
        {5, false, true, true, true, false},    {6, false, true, true, true, true},
        {6, true, true, true, false, true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct landlock_plan plan;
        landlock_plan(&plan, cases[i].abi, cases[i].network);
        assert_true(plan.enabled);
        uint64_t fs = plan.ruleset.handled_fs;
        assert_int_equal((fs & LANDLOCK_TRUNCATE) != 0, cases[i].truncate);
        assert_int_equal((fs & LANDLOCK_IOCTL_DEV) != 0, cases[i].ioctl);
        assert_int_equal(fs | LANDLOCK_TRUNCATE | LANDLOCK_IOCTL_DEV, 0xffff);
        assert_int_equal(plan.ruleset.handled_net, cases[i].tcp ? 3 : 0);
        assert_int_equal(plan.ruleset.scoped, cases[i].scope ? 3 : 0);
    }
}

static void test_no_plan_without_landlock(void **state)
{
    (void)state;
    for (unsigned int abi = 0; abi < LANDLOCK_MIN_ABI; abi++) {
        struct landlock_plan plan;
        landlock_plan(&plan, abi, false);
        assert_false(plan.enabled);
        assert_int_equal(landlock_enter(&plan, NULL), 0);
    }
}

/* What an attempt gave: 0 or an errno. */
static int outcome(long r)
{
    return r < 0 ? errno : 0;
}

static int try_write(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int r = outcome(fd);
    (void)fd_close(fd);
    return r;
}

static int try_tcp(int (*call)(int, const struct sockaddr *, socklen_t))
{
    cleanup_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return outcome(call(fd, (const struct sockaddr *)&address, sizeof(address)));
}

static const struct sockaddr_un outside = {.sun_family = AF_UNIX, .sun_path = "\0sandboxrun-test"};

static int try_abstract(void)
{
    cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return outcome(connect(fd, (const struct sockaddr *)&outside, sizeof(outside)));
}

enum attempt {
    WRITE_TMP,
    WRITE_HOME,
    WRITE_NULL,
    WRITE_ROOT,
    WRITE_ETC,
    WRITE_RANDOM,
    MAKE_DEVICE,
    MOUNT,
    READ_ETC,
    BIND_TCP,
    CONNECT_TCP,
    SIGNAL_PARENT,
    ABSTRACT,
    ATTEMPT_COUNT
};

static void attempt_all(int results[static ATTEMPT_COUNT])
{
    results[WRITE_TMP] = try_write("/tmp/file");
    results[WRITE_HOME] = try_write(JAIL_HOME "/file");
    results[WRITE_NULL] = try_write("/dev/null");
    results[WRITE_ROOT] = try_write("/sandboxrun-must-not-be");
    results[WRITE_ETC] = try_write("/etc/sandboxrun-must-not-be");
    results[WRITE_RANDOM] = try_write("/dev/urandom");
    results[MAKE_DEVICE] = outcome(mknod("/tmp/device", S_IFCHR | 0600, 0));
    results[MOUNT] = outcome(mount("tmpfs", "/tmp", "tmpfs", 0, NULL));
    results[READ_ETC] = outcome(access("/etc/passwd", R_OK));
    results[BIND_TCP] = try_tcp(bind);
    results[CONNECT_TCP] = try_tcp(connect);
    results[SIGNAL_PARENT] = outcome(kill(getppid(), 0));
    results[ABSTRACT] = try_abstract();
}

/* The places that a jail has, over those of this machine. */
static int make_places(void)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -errno;
    static const char *const places[] = {"/tmp", "/dev/shm", "/home"};
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        if (mount("tmpfs", places[i], "tmpfs", 0, NULL) < 0)
            return -errno;
    }
    return mkdir(JAIL_HOME, 0700) < 0 ? -errno : 0;
}

static _Noreturn void child_main(unsigned int abi, bool network, int results_fd)
{
    struct landlock_plan plan;
    struct error err = {0};
    int results[ATTEMPT_COUNT];
    landlock_plan(&plan, abi, network);
    if (make_places() < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        landlock_enter(&plan, &err) < 0) {
        (void)fprintf(stderr, "%s: %d\n", err.text, errno);
        _exit(1);
    }
    attempt_all(results);
    _exit(write(results_fd, results, sizeof(results)) == (ssize_t)sizeof(results) ? 0 : 2);
}

static void run_child(unsigned int abi, bool network, int results[static ATTEMPT_COUNT])
{
    int fds[2], status = 0;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child_main(abi, network, fds[1]);
    (void)close(fds[1]);
    ssize_t n = read(fds[0], results, ATTEMPT_COUNT * sizeof(int));
    (void)close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(n, ATTEMPT_COUNT * sizeof(int));
}

static void test_the_kernel_holds_root_back(void **state)
{
    (void)state;
    unsigned int abi = 0;
    struct error err;
    assert_int_equal(landlock_look_up(&abi, &err), 0);
    if (geteuid() != 0 || abi == 0) {
        print_message("needs root and a kernel with Landlock\n");
        skip();
    }
    cleanup_close int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&outside, sizeof(outside)), 0);
    assert_int_equal(listen(listener, 16), 0);
    for (unsigned int used = LANDLOCK_MIN_ABI; used <= abi; used++) {
        for (int network = 0; network <= 1; network++) {
            int results[ATTEMPT_COUNT];
            run_child(used, network, results);
            for (int i = WRITE_TMP; i <= WRITE_NULL; i++)
                assert_int_equal(results[i], 0);
            for (int i = WRITE_ROOT; i <= MAKE_DEVICE; i++)
                assert_int_equal(results[i], EACCES);
            assert_int_equal(results[MOUNT], EPERM);
            assert_int_equal(results[READ_ETC], 0);
            bool tcp = used < 4 || network;
            assert_int_equal(results[BIND_TCP] == EACCES, !tcp);
            assert_int_equal(results[CONNECT_TCP] == EACCES, !tcp);
            assert_int_equal(results[SIGNAL_PARENT], used < 6 ? 0 : EPERM);
            assert_int_equal(results[ABSTRACT], used < 6 ? 0 : EPERM);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_by_abi),
        cmocka_unit_test(test_no_plan_without_landlock),
        cmocka_unit_test(test_the_kernel_holds_root_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
