/* SPDX-License-Identifier: Apache-2.0 */
/* Listener and loop against a real kernel: a child loads the filter as process 2 does, hands the
 * listener over and makes calls. */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/jailer/notify.h"
#include "node-agent/jailer/pass_fd.h"
#include "node-agent/jailer/seccomp_load.h"
#include "seccomp/seccomp_policies.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define MAX_CALLS 300
#define HIGH      (UINT64_C(1) << 32)

struct call {
    long number;
    uint64_t args[3];
};

struct scene {
    const struct call *calls;
    size_t count;
    size_t times; /* each */
};

struct stage {
    struct events events;
    struct notify notify;
    struct event_source child;
    pid_t pid;
    int results_fd;
    bool child_gone;
    int32_t forbidden;
    int answers[MAX_CALLS];
    size_t answered;
};

static _Noreturn void play(const struct scene *scene, int sock, int results_fd)
{
    struct error err;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        _exit(1);
    int fd = seccomp_load_listened(&seccomp_policy_snippet, &err);
    if (fd < 0 || pass_fd_send(sock, "x", 1, fd) < 0)
        _exit(2);
    (void)close(fd);
    for (size_t i = 0; i < scene->count; i++) {
        const struct call *call = &scene->calls[i];
        for (size_t j = 0; j < scene->times; j++) {
            long r = syscall(call->number, call->args[0], call->args[1], call->args[2]);
            int answer = r < 0 ? errno : 0;
            if (write(results_fd, &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
                _exit(3);
        }
    }
    _exit(0);
}

static void on_child(uint32_t events, void *arg)
{
    (void)events;
    struct stage *stage = arg;
    stage->child_gone = true;
    (void)fd_close(events_remove(&stage->events, &stage->child));
}

/* It must stand still until it is killed, however long that takes. */
static void on_forbidden(int32_t number, void *arg)
{
    struct stage *stage = arg;
    stage->forbidden = number;
    const struct timespec moment = {.tv_nsec = 100000000};
    (void)nanosleep(&moment, NULL);
    (void)kill(stage->pid, SIGKILL);
}

static int receive_listener(int sock)
{
    char record = 0;
    int fd = -1;
    struct pollfd poll_fd = {.fd = sock, .events = POLLIN};
    assert_int_equal(poll(&poll_fd, 1, 10000), 1);
    assert_int_equal(pass_fd_receive(sock, &record, 1, &fd), 1);
    assert_true(fd >= 0);
    return fd;
}

static void raise_curtain(struct stage *stage, const struct scene *scene)
{
    struct error err;
    int socks[2], results[2];
    *stage = (struct stage){.child = EVENT_SOURCE_INIT, .forbidden = -1};
    assert_int_equal(events_init(&stage->events, &err), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks), 0);
    assert_int_equal(pipe2(results, O_CLOEXEC), 0);
    stage->pid = fork();
    assert_true(stage->pid >= 0);
    if (stage->pid == 0)
        play(scene, socks[1], results[1]);
    (void)close(socks[1]);
    (void)close(results[1]);
    stage->results_fd = results[0];
    assert_int_equal(events_add(&stage->events, &stage->child, pidfd_open(stage->pid, 0), EPOLLIN,
                                on_child, stage),
                     0);
    assert_int_equal(notify_open(&stage->notify, &stage->events, receive_listener(socks[0]),
                                 &seccomp_policy_snippet, on_forbidden, stage, &err),
                     0);
    (void)close(socks[0]);
}

static void drop_curtain(struct stage *stage)
{
    int status = 0;
    assert_int_equal(waitpid(stage->pid, &status, 0), stage->pid);
    assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                     stage->forbidden >= 0 ? SIGKILL : 0);
    while (stage->answered < MAX_CALLS &&
           read(stage->results_fd, &stage->answers[stage->answered], sizeof(int)) == sizeof(int))
        stage->answered++;
    notify_close(&stage->notify);
    (void)close(stage->results_fd);
    events_done(&stage->events);
}

static void perform(struct stage *stage, const struct scene *scene)
{
    struct error err;
    raise_curtain(stage, scene);
    while (!stage->child_gone)
        assert_int_equal(events_turn(&stage->events, &err), 0);
    drop_curtain(stage);
}

static void test_calls_are_answered_and_counted(void **state)
{
    (void)state;
    static const struct call calls[] = {
        {SYS_ptrace, {0}},
        {SYS_socket, {AF_INET, SOCK_STREAM}},
        {SYS_socket, {AF_UNIX, SOCK_STREAM}},
        {SYS_kill, {1u << 30, SIGSYS}},
        {SYS_kill, {1u << 30, HIGH | SIGSYS}},
        {SYS_clone3, {0}},
        {599, {0}},
    };
    static const int answers[] = {EPERM, EAFNOSUPPORT, 0, EPERM, ENOSYS, ENOSYS, ENOSYS};
    struct stage stage;
    perform(&stage, &(struct scene){calls, ARRAY_SIZE(calls), 1});
    assert_int_equal(stage.answered, ARRAY_SIZE(answers));
    assert_memory_equal(stage.answers, answers, sizeof(answers));
    const struct denials *denials = &stage.notify.denials;
    assert_int_equal(denials->count, 4);
    assert_int_equal(denials->entries[0].number, SYS_ptrace);
    assert_int_equal(denials->entries[1].number, SYS_socket);
    assert_int_equal(denials->entries[1].count, 1);
    assert_int_equal(denials->entries[2].number, SYS_kill);
    assert_int_equal(denials->entries[2].count, 2);
    assert_int_equal(denials->entries[3].number, 599);
    assert_false(denials->more);
}

static void test_a_flood_ends_in_the_kernels_own_refusal(void **state)
{
    (void)state;
    static const struct call calls[] = {{SYS_ptrace, {0}}};
    struct stage stage;
    perform(&stage, &(struct scene){calls, 1, MAX_CALLS});
    assert_int_equal(stage.answered, MAX_CALLS);
    for (size_t i = 0; i < MAX_CALLS; i++)
        assert_int_equal(stage.answers[i], i < MAX_NOTICES ? EPERM : ENOSYS);
    assert_int_equal(stage.notify.source.fd, -1);
    assert_int_equal(stage.notify.denials.entries[0].count, MAX_NOTICES);
    assert_true(stage.notify.denials.more);
}

static void test_a_forbidden_call_is_told_and_never_answered(void **state)
{
    (void)state;
    static const struct call calls[] = {{SYS_ptrace, {0}}, {SYS_reboot, {0}}, {SYS_getpid, {0}}};
    struct stage stage;
    perform(&stage, &(struct scene){calls, ARRAY_SIZE(calls), 1});
    assert_int_equal(stage.forbidden, SYS_reboot);
    assert_int_equal(stage.answered, 1);
    assert_int_equal(stage.notify.denials.count, 2);
    assert_int_equal(stage.notify.denials.entries[1].number, SYS_reboot);
}

/* A turn of the loop serves one notice, however many wait. */
static void test_one_notice_a_turn(void **state)
{
    (void)state;
    static const struct call calls[] = {{SYS_ptrace, {0}}};
    struct stage stage;
    struct error err;
    raise_curtain(&stage, &(struct scene){calls, 1, 20});
    uint32_t turns = 0;
    for (; !stage.child_gone; turns++) {
        uint32_t before = stage.notify.denials.notices;
        assert_int_equal(events_turn(&stage.events, &err), 0);
        assert_true(stage.notify.denials.notices - before <= 1);
    }
    assert_true(turns > 20);
    drop_curtain(&stage);
    assert_int_equal(stage.notify.denials.notices, 20);
}

static void test_a_call_whose_process_was_killed_is_not_counted(void **state)
{
    (void)state;
    static const struct call calls[] = {{SYS_ptrace, {0}}};
    struct stage stage;
    struct error err;
    raise_curtain(&stage, &(struct scene){calls, 1, 1});
    struct pollfd waiting = {.fd = stage.notify.source.fd, .events = POLLIN};
    assert_int_equal(poll(&waiting, 1, 10000), 1);
    assert_int_equal(kill(stage.pid, SIGKILL), 0);
    stage.forbidden = 0; /* drop_curtain() expects the kill */
    while (!stage.child_gone)
        assert_int_equal(events_turn(&stage.events, &err), 0);
    drop_curtain(&stage);
    assert_true(stage.notify.denials.notices <= 1);
}

/* When the last process behind the filter is gone, the loop must not spin on its listener. */
static void test_the_listener_closes_with_its_last_process(void **state)
{
    (void)state;
    static const struct call calls[] = {{SYS_getpid, {0}}};
    struct stage stage;
    struct error err;
    raise_curtain(&stage, &(struct scene){calls, 1, 1});
    while (!stage.child_gone)
        assert_int_equal(events_turn(&stage.events, &err), 0);
    /* Older kernels count a process until it is reaped. */
    int status = 0;
    assert_int_equal(waitpid(stage.pid, &status, 0), stage.pid);
    assert_int_equal(status, 0);
    while (stage.notify.source.fd >= 0)
        assert_int_equal(events_turn(&stage.events, &err), 0);
    (void)close(stage.results_fd);
    events_done(&stage.events);
}

static void test_what_is_no_listener_is_refused(void **state)
{
    (void)state;
    struct events events;
    struct notify notify;
    struct error err;
    assert_int_equal(events_init(&events, &err), 0);
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    const int wrong[] = {fds[0], open("/dev/null", O_RDWR | O_CLOEXEC),
                         socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        assert_int_equal(
            notify_open(&notify, &events, wrong[i], &seccomp_policy_snippet, NULL, NULL, &err),
            -EINVAL);
        assert_non_null(strstr(err.text, "listener"));
        /* It was taken over all the same. */
        assert_int_equal(fcntl(wrong[i], F_GETFD), -1);
        assert_int_equal(notify.source.fd, -1);
    }
    (void)close(fds[1]);
    events_done(&events);
}

static void test_the_kernels_notices_fit(void **state)
{
    (void)state;
    struct error err;
    assert_int_equal(notify_check(&err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_are_answered_and_counted),
        cmocka_unit_test(test_a_flood_ends_in_the_kernels_own_refusal),
        cmocka_unit_test(test_a_forbidden_call_is_told_and_never_answered),
        cmocka_unit_test(test_one_notice_a_turn),
        cmocka_unit_test(test_a_call_whose_process_was_killed_is_not_counted),
        cmocka_unit_test(test_the_listener_closes_with_its_last_process),
        cmocka_unit_test(test_what_is_no_listener_is_refused),
        cmocka_unit_test(test_the_kernels_notices_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
