/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/node/worker.h"

#include "common/cleanup.h"
#include "common/clock.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define NS_PER_MS UINT64_C(1000000)

/* How long a worker waits at its end for what still lives of its runs. */
#define DRAIN_MS 3000u

struct result {
    uint64_t counted, runs;
    uint64_t cpu_ns;
    struct error err; /* code 0: none */
};

struct shared {
    _Atomic uint64_t from_ns; /* the window's begin; 0: not yet */
    uint64_t until_ns;
    struct result results[];
};

static uint64_t used_ns(int who)
{
    struct rusage usage = {0};
    (void)getrusage(who, &usage);
    uint64_t us = ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000u +
                  (uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec;
    return us * 1000u;
}

/* Of what the runs have left behind: what is dead now, or at the end all there is. */
static void reap(bool all)
{
    uint64_t until_ns = clock_monotonic_ns() + DRAIN_MS * NS_PER_MS;
    for (;;) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid > 0)
            continue;
        if (pid < 0 || !all || clock_monotonic_ns() > until_ns)
            return;
        pause_ms(1);
    }
}

static _Noreturn void work(struct contender *contender, worker_run_fn run, const char *code,
                           unsigned int worker, struct shared *shared)
{
    struct result *result = &shared->results[worker];
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    while (atomic_load(&shared->from_ns) == 0)
        pause_ms(1);
    uint64_t self_ns = used_ns(RUSAGE_SELF);
    uint64_t from_ns = atomic_load(&shared->from_ns);
    while (result->err.code == 0 && clock_monotonic_ns() < shared->until_ns) {
        if (run(contender, code, worker, &result->err) < 0)
            break;
        uint64_t now_ns = clock_monotonic_ns();
        result->runs++;
        if (now_ns >= from_ns && now_ns < shared->until_ns)
            result->counted++;
        reap(false);
    }
    reap(true);
    result->cpu_ns = used_ns(RUSAGE_SELF) - self_ns + used_ns(RUSAGE_CHILDREN);
    _exit(result->err.code == 0 ? 0 : 1);
}

static int collect(const struct shared *shared, unsigned int at_once, struct flood *flood,
                   struct error *err)
{
    for (unsigned int i = 0; i < at_once; i++) {
        const struct result *result = &shared->results[i];
        if (result->err.code != 0) {
            *err = result->err;
            return -result->err.code;
        }
        flood->counted += result->counted;
        flood->runs += result->runs;
        flood->cpu_ns += result->cpu_ns;
    }
    return 0;
}

int workers_flood(struct contender *contender, worker_run_fn run, const char *code,
                  unsigned int at_once, uint64_t window_ms, struct flood *ret_flood,
                  struct error *err)
{
    size_t size = sizeof(struct shared) + at_once * sizeof(struct result);
    cleanup_free pid_t *pids = calloc(at_once, sizeof(*pids));
    struct shared *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!pids || shared == MAP_FAILED)
        return error_set_errno(err, ENOMEM, "share memory with %u workers", at_once);
    int r = 0;
    unsigned int started = 0;
    for (; r >= 0 && started < at_once; started++) {
        pids[started] = fork();
        if (pids[started] == 0)
            work(contender, run, code, started, shared);
        if (pids[started] < 0)
            r = error_set_errno(err, errno, "start worker %u", started);
    }
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t from_ns = now_ns + flood_ramp_ms(window_ms) * NS_PER_MS;
    shared->until_ns = r < 0 ? now_ns : from_ns + window_ms * NS_PER_MS;
    atomic_store(&shared->from_ns, from_ns);
    for (unsigned int i = 0; i < started; i++) {
        while (pids[i] > 0 && waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    *ret_flood = (struct flood){.seconds = (double)window_ms / 1000};
    if (r >= 0)
        r = collect(shared, at_once, ret_flood, err);
    (void)munmap(shared, size);
    return r;
}
