/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The floor of everything warm: an interpreter without any lock that was started ahead and blocks
 * on a pipe. Its code goes in by one write and its output comes by one read; it ends by _exit()
 * behind the flush. The next one is started when the last has ended, so that it waits as long as a
 * sandbox in a pool does, through the others' turns: one that has just started has all in the
 * caches of its processor that it needs.
 */
#include "tests/bench/node/worker.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"

#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

struct prestarted {
    pid_t pid; /* 0: none is there */
    int in_fd, out_fd;
};

static void forget(struct prestarted *state)
{
    state->in_fd = fd_close(state->in_fd);
    state->out_fd = fd_close(state->out_fd);
    state->pid = 0;
}

static int start(const struct contender *contender, struct prestarted *state, struct error *err)
{
    int in[2], out[2];
    int r = fd_pipe(in, 0);
    if (r < 0)
        return error_set_errno(err, -r, "make a pipe");
    r = fd_pipe(out, 0);
    if (r < 0) {
        (void)fd_close(in[0]);
        (void)fd_close(in[1]);
        return error_set_errno(err, -r, "make a pipe");
    }
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    r = posix_spawn(&state->pid, contender->words[0], &actions, NULL,
                    spawn_arguments(contender->words), environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)fd_close(in[0]);
    (void)fd_close(out[1]);
    state->in_fd = in[1];
    state->out_fd = out[0];
    char hello = 0;
    if (r == 0 && read(state->out_fd, &hello, 1) == 1)
        return 0;
    return error_set_errno(err, r ? r : EIO, "start %s ahead", contender->words[0]);
}

static int prestarted_open(struct contender *contender, struct error *err)
{
    struct prestarted *state = calloc(1, sizeof(*state));
    if (!state)
        return error_set_errno(err, ENOMEM, "an interpreter ahead");
    *state = (struct prestarted){.in_fd = -1, .out_fd = -1};
    contender->state = state;
    return 0;
}

static int prestarted_prepare(struct contender *contender, const char *code, struct error *err)
{
    (void)code;
    struct prestarted *state = contender->state;
    return state->pid > 0 ? 0 : start(contender, state, err);
}

static int prestarted_run(struct contender *contender, const char *code, struct sample *ret_sample,
                          struct error *err)
{
    struct prestarted *state = contender->state;
    struct sample sample = {0};
    uint64_t from_ns = clock_monotonic_ns();
    int r = fd_write_full(state->in_fd, code, strlen(code));
    state->in_fd = fd_close(state->in_fd);
    ssize_t got = r < 0 ? r : read(state->out_fd, sample.output, sizeof(sample.output) - 1);
    sample.output_ns = clock_monotonic_ns() - from_ns;
    int status = 0;
    while (waitpid(state->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    sample.end_ns = clock_monotonic_ns() - from_ns;
    forget(state);
    *ret_sample = sample;
    return got > 0 && status == 0 ? 0 : error_set(err, EIO, "%s printed nothing", contender->name);
}

/* If it fails prepare() tells. */
static void prestarted_settle(struct contender *contender)
{
    struct error err;
    (void)prestarted_prepare(contender, NULL, &err);
}

static int worker_run(struct contender *contender, const char *code, unsigned int worker,
                      struct error *err)
{
    (void)worker;
    struct sample sample;
    int r = prestarted_prepare(contender, code, err);
    return r < 0 ? r : prestarted_run(contender, code, &sample, err);
}

static int prestarted_flood(struct contender *contender, const char *code, unsigned int at_once,
                            uint64_t window_ms, struct flood *ret_flood, struct error *err)
{
    return workers_flood(contender, worker_run, code, at_once, window_ms, ret_flood, err);
}

static void prestarted_close(struct contender *contender)
{
    struct prestarted *state = contender->state;
    if (!state)
        return;
    pid_t pid = state->pid;
    /* Its input ends, and so does it. */
    forget(state);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(state);
    contender->state = NULL;
}

const struct contender_kind prestarted_kind = {
    .name = "prestarted",
    .open = prestarted_open,
    .prepare = prestarted_prepare,
    .run = prestarted_run,
    .settle = prestarted_settle,
    .flood = prestarted_flood,
    .close = prestarted_close,
};
