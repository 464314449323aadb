/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Cold runs side by side: the bare interpreter, bubblewrap with the same root file system, and
 * the run code of the node agent with a jailer of its own. The contenders take turns within each
 * round, so that the drift of a shared machine hits all of them alike. Prints one JSON object;
 * times are in milliseconds from the request to the reaped or reported end.
 *
 *   bench_cold JAILER RUNTIMES_DIR RUNTIME ROUNDS [PAUSE_MS]
 */
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/loop.h"
#include "common/parse.h"
#include "node-agent/agent/jailer_client.h"
#include "node-agent/agent/run.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

enum contender { BARE, BUBBLEWRAP, COLD, CONTENDER_COUNT };

#define MAX_ROUNDS 10000

struct bench {
    struct loop *loop;
    struct jailer_client *jailer;
    char python[PATH_MAX];
    char rootfs[PATH_MAX];
    const char *runtime;
    bool failed;
    char failure[MAX_STATUS_MESSAGE];
    double *times[CONTENDER_COUNT];
};

static const char code[] = "print(1)\n";

static int fail(struct bench *bench, const char *text)
{
    bench->failed = true;
    (void)snprintf(bench->failure, sizeof(bench->failure), "%s", text);
    loop_stop(bench->loop);
    return -EIO;
}

/* posix_spawn(3) takes char pointers and does not write through them. */
static char *const *spawn_arguments(const char *const argv[])
{
    union {
        const char *const *in;
        char *const *out;
    } cast = {.in = argv};
    return cast.out;
}

/* Spawns argv with its output in a pipe, reads that to the end and reaps. */
static int spawn_and_reap(const char *const argv[])
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;

    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    pid_t pid;
    int r = posix_spawnp(&pid, argv[0], &actions, NULL, spawn_arguments(argv), environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    fds[1] = fd_close(fds[1]);
    if (r != 0) {
        (void)fd_close(fds[0]);
        return -r;
    }

    char output[256];
    size_t len = 0;
    ssize_t got;
    while ((got = read(fds[0], output + len, sizeof(output) - len)) > 0)
        len += (size_t)got;
    (void)fd_close(fds[0]);

    int status;
    if (waitpid(pid, &status, 0) < 0)
        return -errno;
    return status == 0 && len == 2 && memcmp(output, "1\n", 2) == 0 ? 0 : -EIO;
}

static int run_bare(struct bench *bench)
{
    const char *argv[] = {bench->python, "-I", "-c", "print(1)", NULL};
    return spawn_and_reap(argv);
}

static int run_bubblewrap(struct bench *bench)
{
    const char *argv[] = {"bwrap",
                          "--unshare-all",
                          "--die-with-parent",
                          "--ro-bind",
                          bench->rootfs,
                          "/",
                          "--proc",
                          "/proc",
                          "--dev",
                          "/dev",
                          "--tmpfs",
                          "/tmp",
                          "--clearenv",
                          "/usr/bin/python3",
                          "-I",
                          "-c",
                          "print(1)",
                          NULL};
    return spawn_and_reap(argv);
}

static void on_finished(struct run *run, const struct run_status *status, void *arg)
{
    struct bench *bench = arg;
    if (status->reason != RUN_REASON_COMPLETED || status->stdout_bytes != 2)
        (void)fail(bench, status->message);
    loop_stop(bench->loop);
    run_free(run);
}

static int run_cold(struct bench *bench)
{
    struct sandboxrun object;
    int r = sandboxrun_init(&object, "bench", PROFILE_SNIPPET, code);
    if (r < 0)
        return r;
    free(object.spec.runtime);
    object.spec.runtime = strdup(bench->runtime);
    static const struct run_callbacks callbacks = {.finished = on_finished};
    struct error err = {0};
    struct run *run;
    r = run_new(bench->loop, bench->jailer, &object, &callbacks, bench, &run, &err);
    if (r < 0)
        return fail(bench, err.text);
    r = loop_run(bench->loop, &err);
    sandboxrun_done(&object);
    return bench->failed ? -EIO : r;
}

static int (*const contenders[CONTENDER_COUNT])(struct bench *) = {
    [BARE] = run_bare,
    [BUBBLEWRAP] = run_bubblewrap,
    [COLD] = run_cold,
};

static void on_ready(const struct proto_hello *hello, const struct error *err, void *arg)
{
    struct bench *bench = arg;
    if (!hello)
        (void)fail(bench, err->text);
    loop_stop(bench->loop);
}

static void on_lost(const struct error *err, void *arg)
{
    (void)fail(arg, err->text);
}

/* The jailer as the command line starts it: over a socketpair, as descriptor 3. */
static int start_jailer(struct bench *bench, const char *jailer, const char *runtimes_dir,
                        pid_t *ret_pid, struct error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return error_set_errno(err, errno, "socketpair");
    const char *argv[] = {jailer,         "--fd", "3",           "--runtimes-dir", runtimes_dir,
                          "--log-format", "text", "--log-level", "warn",           NULL};
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, pair[1], 3);
    int r = posix_spawn(ret_pid, jailer, &actions, NULL, spawn_arguments(argv), environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)fd_close(pair[1]);
    if (r != 0) {
        (void)fd_close(pair[0]);
        return error_set_errno(err, r, "start %s", jailer);
    }
    if (fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0)
        return error_set_errno(err, errno, "fcntl");
    r = jailer_client_new(bench->loop, pair[0], on_ready, on_lost, bench, &bench->jailer, err);
    if (r < 0)
        return r;
    (void)loop_run(bench->loop, err);
    return bench->failed ? error_set(err, EIO, "%s", bench->failure) : 0;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double q)
{
    size_t index = (size_t)((double)(count - 1) * q + 0.5);
    return sorted[index];
}

static int measure(struct bench *bench, size_t rounds, uint64_t pause_ms, struct error *err)
{
    static const char *const names[] = {"the bare interpreter", "bubblewrap", "the jail"};
    for (size_t i = 0; i < rounds + 3; i++) {
        for (size_t turn = 0; turn < CONTENDER_COUNT; turn++) {
            size_t c = (turn + i) % CONTENDER_COUNT;
            uint64_t from = clock_monotonic_ns();
            int r = contenders[c](bench);
            uint64_t took = clock_monotonic_ns() - from;
            if (r < 0)
                return error_set_errno(err, -r, "%s did not print 1: %s", names[c], bench->failure);
            if (i >= 3) /* the first rounds warm the page cache */
                bench->times[c][i - 3] = (double)took / 1e6;
            struct timespec pause = {.tv_sec = (time_t)(pause_ms / 1000),
                                     .tv_nsec = (long)(pause_ms % 1000) * 1000000};
            if (pause_ms > 0)
                (void)nanosleep(&pause, NULL);
        }
    }
    return 0;
}

static void print_result(struct bench *bench, size_t rounds)
{
    static const char *const keys[] = {"bare", "bubblewrap", "cold"};
    double medians[CONTENDER_COUNT];
    printf("{\"rounds\":%zu", rounds);
    for (size_t c = 0; c < CONTENDER_COUNT; c++) {
        qsort(bench->times[c], rounds, sizeof(double), compare_doubles);
        medians[c] = quantile(bench->times[c], rounds, 0.5);
        printf(",\"%s_ms\":%.3f,\"%s_p99_ms\":%.3f", keys[c], medians[c], keys[c],
               quantile(bench->times[c], rounds, 0.99));
    }
    printf(",\"cold_over_bare\":%.4f,\"bubblewrap_over_bare\":%.4f}\n",
           medians[COLD] / medians[BARE], medians[BUBBLEWRAP] / medians[BARE]);
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct bench bench = {0};
    uint64_t rounds = 0, pause_ms = 0;
    if (argc < 5 || argc > 6 || parse_u64(argv[4], 1, MAX_ROUNDS, &rounds) < 0 ||
        (argc == 6 && parse_u64(argv[5], 0, 10000, &pause_ms) < 0)) {
        fprintf(stderr, "usage: bench_cold JAILER RUNTIMES_DIR RUNTIME ROUNDS [PAUSE_MS]\n");
        return 2;
    }
    bench.runtime = argv[3];
    (void)snprintf(bench.rootfs, sizeof(bench.rootfs), "%s/%s", argv[2], argv[3]);
    (void)snprintf(bench.python, sizeof(bench.python), "%.4000s/usr/bin/python3", bench.rootfs);
    for (size_t c = 0; c < CONTENDER_COUNT; c++) {
        bench.times[c] = calloc(rounds, sizeof(double));
        if (!bench.times[c])
            return 1;
    }

    pid_t jailer = -1;
    int r = loop_new(&bench.loop, &err);
    if (r >= 0)
        r = start_jailer(&bench, argv[1], argv[2], &jailer, &err);
    if (r >= 0)
        r = measure(&bench, rounds, pause_ms, &err);
    if (r < 0)
        fprintf(stderr, "bench_cold: %s\n", err.text);
    else
        print_result(&bench, rounds);

    jailer_client_free(bench.jailer);
    if (jailer > 0)
        (void)waitpid(jailer, NULL, 0);
    loop_free(bench.loop);
    for (size_t c = 0; c < CONTENDER_COUNT; c++)
        free(bench.times[c]);
    return r < 0 ? 1 : 0;
}
