/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/loop.h"
#include "tests/unit/common/cmocka_setup.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>

struct fixture {
    struct loop *loop;
    int in, out;
    struct loop_io *io, *other_io;
    struct loop_timer *timer, *other_timer;
    struct loop_signal *sig;
    unsigned int io_fired, other_fired, timer_fired, signal_fired;
    unsigned int events;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    int fds[2];
    if (!f || loop_new(&f->loop, NULL) < 0 || fd_pipe(fds, O_NONBLOCK) < 0)
        return -1;
    f->in = fds[0];
    f->out = fds[1];
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    loop_io_free(f->io);
    loop_io_free(f->other_io);
    loop_timer_free(f->timer);
    loop_timer_free(f->other_timer);
    loop_signal_free(f->sig);
    loop_free(f->loop);
    f->in = fd_close(f->in);
    f->out = fd_close(f->out);
    free(f);
    return 0;
}

static void stop_on_timer(void *arg)
{
    struct fixture *f = arg;
    f->timer_fired++;
    loop_stop(f->loop);
}

/* Runs the loop for delay_ms. */
static void run_for(struct fixture *f, uint64_t delay_ms)
{
    if (!f->timer)
        assert_int_equal(loop_timer_new(f->loop, stop_on_timer, f, &f->timer), 0);
    assert_int_equal(loop_timer_arm(f->timer, delay_ms), 0);
    assert_int_equal(loop_run(f->loop, NULL), 0);
}

static void count_io(int fd, unsigned int events, void *arg)
{
    struct fixture *f = arg;
    char byte = 0;
    f->io_fired++;
    f->events = events;
    if (events & LOOP_READ)
        (void)fd_read_full(fd, &byte, 1);
}

static void test_timer_is_one_shot_and_exact(void **state)
{
    struct fixture *f = *state;
    uint64_t start_ns = clock_monotonic_ns();
    run_for(f, 30);
    uint64_t took_ns = clock_monotonic_ns() - start_ns;
    assert_true(took_ns >= 30000000);
    assert_true(took_ns < 2000000000);
    assert_int_equal(f->timer_fired, 1);
}

static void test_arming_again_moves_a_timer(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(loop_timer_new(f->loop, stop_on_timer, f, &f->timer), 0);
    assert_int_equal(loop_timer_arm(f->timer, 3600000), 0);
    uint64_t start_ns = clock_monotonic_ns();
    run_for(f, 1);
    assert_true(clock_monotonic_ns() - start_ns < 2000000000);
    assert_int_equal(loop_timer_arm(f->timer, UINT64_MAX), 0);
    loop_timer_disarm(f->timer);
    loop_timer_disarm(f->timer);
}

static void test_disarmed_timer_does_not_fire(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(loop_timer_new(f->loop, stop_on_timer, f, &f->other_timer), 0);
    assert_int_equal(loop_timer_arm(f->other_timer, 1), 0);
    loop_timer_disarm(f->other_timer);
    run_for(f, 20);
    assert_int_equal(f->timer_fired, 1);
}

static void test_stop_before_run_is_kept(void **state)
{
    struct fixture *f = *state;
    loop_stop(f->loop);
    assert_int_equal(loop_run(f->loop, NULL), 0);
    run_for(f, 1); /* and holds for one run only */
    assert_int_equal(f->timer_fired, 1);
}

static void test_io_is_level_triggered(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(loop_io_new(f->loop, f->in, LOOP_READ, count_io, f, &f->io), 0);
    assert_int_equal(fd_write_full(f->out, "abc", 3), 0);
    run_for(f, 20);
    assert_int_equal(f->io_fired, 3);
    assert_int_equal(f->events, LOOP_READ);
}

static void test_io_set_changes_what_is_watched(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(loop_io_new(f->loop, f->in, 0, count_io, f, &f->io), 0);
    assert_int_equal(fd_write_full(f->out, "ab", 2), 0);
    run_for(f, 10);
    assert_int_equal(f->io_fired, 0);
    assert_int_equal(loop_io_set(f->io, LOOP_READ), 0);
    assert_int_equal(loop_io_set(f->io, LOOP_READ), 0);
    run_for(f, 10);
    assert_int_equal(f->io_fired, 2);
    assert_int_equal(loop_io_set(f->io, 0), 0);
    assert_int_equal(fd_write_full(f->out, "c", 1), 0);
    run_for(f, 10);
    assert_int_equal(f->io_fired, 2);
}

static void stop_on_io(int fd, unsigned int events, void *arg)
{
    struct fixture *f = arg;
    (void)fd;
    f->events = events;
    loop_stop(f->loop);
}

static void test_write_readiness(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(loop_io_new(f->loop, f->out, LOOP_WRITE, stop_on_io, f, &f->io), 0);
    assert_int_equal(loop_run(f->loop, NULL), 0);
    assert_int_equal(f->events, LOOP_WRITE);
}

static void test_hang_up_is_readable(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(loop_io_new(f->loop, f->in, LOOP_READ, stop_on_io, f, &f->io), 0);
    f->out = fd_close(f->out);
    assert_int_equal(loop_run(f->loop, NULL), 0);
    assert_int_equal(f->events, LOOP_READ);
}

static void test_what_cannot_be_watched(void **state)
{
    struct fixture *f = *state;
    cleanup_close int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(loop_io_new(f->loop, file, LOOP_READ, count_io, f, &f->io), -EPERM);
    assert_null(f->io);
}

static void free_everything(struct fixture *f)
{
    loop_io_free(TAKE_PTR(f->io));
    loop_io_free(TAKE_PTR(f->other_io));
    loop_timer_free(TAKE_PTR(f->timer));
    loop_timer_free(TAKE_PTR(f->other_timer));
    loop_signal_free(TAKE_PTR(f->sig));
    loop_stop(f->loop);
}

static void free_on_io(int fd, unsigned int events, void *arg)
{
    struct fixture *f = arg;
    (void)fd;
    (void)events;
    f->io_fired++;
    free_everything(f);
}

static void free_on_timer(void *arg)
{
    struct fixture *f = arg;
    f->timer_fired++;
    free_everything(f);
}

static void free_on_signal(int signum, void *arg)
{
    struct fixture *f = arg;
    f->signal_fired += signum == SIGUSR1;
    free_everything(f);
}

/* All are ready in the same turn: whichever runs first frees itself and the others. */
static void test_callbacks_free_watches(void **state)
{
    struct fixture *f = *state;
    int fds[2];
    assert_int_equal(fd_pipe(fds, O_NONBLOCK), 0);
    cleanup_close int in = fds[0];
    cleanup_close int out = fds[1];
    for (int round = 0; round < 20; round++) {
        assert_int_equal(loop_io_new(f->loop, f->in, LOOP_READ, free_on_io, f, &f->io), 0);
        assert_int_equal(loop_io_new(f->loop, in, LOOP_READ, free_on_io, f, &f->other_io), 0);
        assert_int_equal(loop_timer_new(f->loop, free_on_timer, f, &f->timer), 0);
        assert_int_equal(loop_timer_arm(f->timer, 0), 0);
        assert_int_equal(loop_timer_new(f->loop, free_on_timer, f, &f->other_timer), 0);
        assert_int_equal(loop_timer_arm(f->other_timer, 0), 0);
        assert_int_equal(loop_signal_new(f->loop, SIGUSR1, free_on_signal, f, &f->sig), 0);
        assert_int_equal(fd_write_full(f->out, "x", 1), 0);
        assert_int_equal(fd_write_full(out, "x", 1), 0);
        assert_int_equal(raise(SIGUSR1), 0);
        assert_int_equal(loop_run(f->loop, NULL), 0);
    }
    assert_int_equal(f->io_fired + f->timer_fired + f->signal_fired, 20);
}

static void count_signal(int signum, void *arg)
{
    struct fixture *f = arg;
    f->signal_fired += signum == SIGUSR1;
    loop_stop(f->loop);
}

static void test_signals(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(loop_signal_new(f->loop, SIGUSR1, count_signal, f, &f->sig), 0);
    for (unsigned int i = 1; i <= 3; i++) {
        assert_int_equal(raise(SIGUSR1), 0);
        assert_int_equal(loop_run(f->loop, NULL), 0);
        assert_int_equal(f->signal_fired, i);
    }
    loop_signal_free(TAKE_PTR(f->sig));
    struct sigaction now;
    assert_int_equal(sigaction(SIGUSR1, NULL, &now), 0);
    assert_ptr_equal(now.sa_handler, SIG_DFL);
    assert_int_equal(loop_signal_new(f->loop, SIGKILL, count_signal, f, &f->sig), -EINVAL);
    assert_null(f->sig);
}

/* A free by one callback of a signal seen twice must end the second delivery. */
static void test_signal_freed_between_deliveries(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(loop_signal_new(f->loop, SIGUSR1, free_on_signal, f, &f->sig), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(raise(SIGUSR1), 0);
    assert_int_equal(loop_run(f->loop, NULL), 0);
    assert_int_equal(f->signal_fired, 1);
}

int main(void)
{
#define IN_LOOP(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        IN_LOOP(test_timer_is_one_shot_and_exact),
        IN_LOOP(test_arming_again_moves_a_timer),
        IN_LOOP(test_disarmed_timer_does_not_fire),
        IN_LOOP(test_stop_before_run_is_kept),
        IN_LOOP(test_io_is_level_triggered),
        IN_LOOP(test_io_set_changes_what_is_watched),
        IN_LOOP(test_write_readiness),
        IN_LOOP(test_hang_up_is_readable),
        IN_LOOP(test_what_cannot_be_watched),
        IN_LOOP(test_callbacks_free_watches),
        IN_LOOP(test_signals),
        IN_LOOP(test_signal_freed_between_deliveries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
