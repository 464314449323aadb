/* SPDX-License-Identifier: Apache-2.0 */

/*
 * This project, as a node runs it: the run code of the agent on its event loop, and a jailer of its
 * own on the other end of a socket. A flood is so many runs under way in the one agent.
 */
#include "tests/bench/node/contender.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/loop.h"
#include "common/parse.h"
#include "node-agent/agent/jailer_client.h"
#include "node-agent/agent/run.h"
#include "tests/bench/node/jailed_cpu.h"

#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define NS_PER_MS UINT64_C(1000000)

/* What is to wait must be there at first, however busy the machine is. */
#define FILLED_WITHIN_MS 60000u

struct jailed {
    struct loop *loop;
    struct jailer_client *jailer;
    pid_t pid;
    const char *runtime;
    uint64_t settle_ms; /* of one with a pool; 0: it has none */
    bool filled;
    bool failed;
    char failure[MAX_STATUS_MESSAGE];
    struct sandboxrun object;
    bool has_object;
    /* The flood that is under way; of a single run all are 0. */
    unsigned int under_way;
    uint64_t from_ns, until_ns;
    struct flood *flood;
};

/* One run. */
struct flight {
    struct jailed *state;
    struct run *run;
    uint64_t from_ns;
    struct sample *sample;
    size_t output_len;
};

static void fail(struct jailed *state, const char *text)
{
    if (!state->failed)
        (void)snprintf(state->failure, sizeof(state->failure), "%s", text);
    state->failed = true;
    loop_stop(state->loop);
}

static int before_start(struct run *run, struct error *err, void *arg)
{
    (void)err;
    struct flight *flight = arg;
    if (!flight->sample)
        return 0;
    flight->sample->created_ns = clock_monotonic_ns() - flight->from_ns;
    flight->sample->warm = run_is_warm(run);
    (void)snprintf(flight->sample->id, sizeof(flight->sample->id), "%s", run_sandbox_id(run));
    return 0;
}

static void on_output(struct run *run, enum run_stream stream, const char *bytes, size_t len,
                      void *arg)
{
    (void)run;
    struct flight *flight = arg;
    struct sample *sample = flight->sample;
    if (!sample || stream != RUN_STDOUT)
        return;
    if (sample->output_ns == 0)
        sample->output_ns = clock_monotonic_ns() - flight->from_ns;
    size_t room = sizeof(sample->output) - 1 - flight->output_len;
    size_t taken = len < room ? len : room;
    memcpy(sample->output + flight->output_len, bytes, taken);
    flight->output_len += taken;
}

static void start_flight(struct jailed *state, struct sample *sample);

static void land(struct flight *flight)
{
    struct jailed *state = flight->state;
    uint64_t now_ns = clock_monotonic_ns();
    state->under_way--;
    if (flight->sample)
        flight->sample->end_ns = now_ns - flight->from_ns;
    if (state->flood) {
        state->flood->runs++;
        state->flood->warm += run_is_warm(flight->run) ? 1 : 0;
        state->flood->counted += now_ns >= state->from_ns && now_ns < state->until_ns ? 1 : 0;
        if (now_ns < state->until_ns && !state->failed)
            start_flight(state, NULL);
    }
    run_free(flight->run);
    free(flight);
    if (state->under_way == 0)
        loop_stop(state->loop);
}

static void on_finished(struct run *run, const struct run_status *status, void *arg)
{
    (void)run;
    struct flight *flight = arg;
    if (status->reason != RUN_REASON_COMPLETED || status->stdout_bytes == 0)
        fail(flight->state, status->message);
    /* By the clock of the dates, which nobody sets back here. */
    if (flight->sample)
        flight->sample->started_ns = clock_monotonic_ns() - flight->from_ns -
                                     (uint64_t)(clock_realtime_us() - status->start_us) * 1000u;
    land(flight);
}

static void start_flight(struct jailed *state, struct sample *sample)
{
    static const struct run_callbacks callbacks = {
        .before_start = before_start, .output = on_output, .finished = on_finished};
    struct error err = {0};
    struct flight *flight = calloc(1, sizeof(*flight));
    if (!flight) {
        fail(state, "out of memory");
        return;
    }
    flight->state = state;
    flight->sample = sample;
    flight->from_ns = clock_monotonic_ns();
    if (sample)
        sample->from_ns = flight->from_ns;
    if (run_new(state->loop, state->jailer, &state->object, &callbacks, flight, &flight->run,
                &err) < 0) {
        free(flight);
        fail(state, err.text);
        return;
    }
    state->under_way++;
}

static void on_ready(const struct proto_hello *hello, const struct error *err, void *arg)
{
    struct jailed *state = arg;
    if (!hello)
        fail(state, err->text);
    loop_stop(state->loop);
}

static void on_lost(const struct error *err, void *arg)
{
    fail(arg, err->text);
}

/* The jailer as the command line starts it: over a socketpair, as descriptor 3. */
static int start_jailer(struct jailed *state, const char *const argv[], struct error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return error_set_errno(err, errno, "socketpair");
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, pair[1], 3);
    int r = posix_spawn(&state->pid, argv[0], &actions, NULL, spawn_arguments(argv), environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)fd_close(pair[1]);
    if (r == 0)
        r = -fd_set_nonblock(pair[0], true);
    if (r != 0) {
        (void)fd_close(pair[0]);
        return error_set_errno(err, r, "start %s", argv[0]);
    }
    r = jailer_client_new(state->loop, pair[0], on_ready, on_lost, state, &state->jailer, err);
    if (r >= 0)
        r = loop_run(state->loop, err);
    return r >= 0 && state->failed ? error_set(err, EIO, "%s", state->failure) : r;
}

static void on_pools(void *arg)
{
    struct jailed *state = arg;
    size_t count = 0;
    const struct proto_pool *pools = jailer_client_pools(state->jailer, &count);
    /* Of interest once; later the loop is that of runs. */
    if (state->filled)
        return;
    state->filled = count > 0;
    for (size_t i = 0; i < count; i++)
        state->filled = state->filled && pools[i].waiting >= pools[i].size;
    if (state->filled)
        loop_stop(state->loop);
}

static void on_too_late(void *arg)
{
    fail(arg, "its pool did not become full");
}

/* The jailer tells of its pools with some delay. */
static int wait_for_pool(struct jailed *state, struct error *err)
{
    struct loop_timer *timer = NULL;
    int r = loop_timer_new(state->loop, on_too_late, state, &timer);
    if (r >= 0)
        r = loop_timer_arm(timer, FILLED_WITHIN_MS);
    if (r < 0) {
        loop_timer_free(timer);
        return error_set_errno(err, -r, "a timer");
    }
    jailer_client_watch_pools(state->jailer, on_pools);
    while (r >= 0 && !state->filled && !state->failed)
        r = loop_run(state->loop, err);
    loop_timer_free(timer);
    return r >= 0 && state->failed ? error_set(err, ETIMEDOUT, "%s", state->failure) : r;
}

static int jailed_open(struct contender *contender, struct error *err)
{
    struct jailed *state = calloc(1, sizeof(*state));
    if (!state)
        return error_set_errno(err, ENOMEM, "a jailer");
    contender->state = state;
    if (contender->word_count < 3 ||
        parse_u64(contender->words[0], 0, 10000, &state->settle_ms) < 0)
        return error_set(err, EINVAL, "%s lacks words", contender->name);
    state->runtime = contender->words[1];
    int r = loop_new(&state->loop, err);
    if (r >= 0)
        r = start_jailer(state, contender->words + 2, err);
    return r >= 0 && state->settle_ms > 0 ? wait_for_pool(state, err) : r;
}

static int jailed_prepare(struct contender *contender, const char *code, struct error *err)
{
    struct jailed *state = contender->state;
    if (state->has_object && strcmp(state->object.spec.code, code) == 0)
        return 0;
    if (state->has_object)
        sandboxrun_done(&state->object);
    state->has_object = false;
    int r = sandboxrun_init(&state->object, "bench", PROFILE_SNIPPET, code);
    if (r < 0)
        return error_set_errno(err, -r, "a run");
    state->has_object = true;
    free(state->object.spec.runtime);
    state->object.spec.runtime = strdup(state->runtime);
    return state->object.spec.runtime ? 0 : error_set_errno(err, ENOMEM, "a run");
}

static int run_loop(struct contender *contender, struct error *err)
{
    struct jailed *state = contender->state;
    int r = state->failed ? 0 : loop_run(state->loop, err);
    return r >= 0 && state->failed ? error_set(err, EIO, "%s: %s", contender->name, state->failure)
                                   : r;
}

static int jailed_run(struct contender *contender, const char *code, struct sample *ret_sample,
                      struct error *err)
{
    (void)code; /* prepare() has it */
    struct jailed *state = contender->state;
    *ret_sample = (struct sample){0};
    start_flight(state, ret_sample);
    return run_loop(contender, err);
}

/* Until what was taken has been made anew. */
static void jailed_settle(struct contender *contender)
{
    const struct jailed *state = contender->state;
    pause_ms(state->settle_ms);
}

static int jailed_flood(struct contender *contender, const char *code, unsigned int at_once,
                        uint64_t window_ms, struct flood *ret_flood, struct error *err)
{
    struct jailed *state = contender->state;
    int r = jailed_prepare(contender, code, err);
    if (r < 0)
        return r;
    *ret_flood = (struct flood){.seconds = (double)window_ms / 1000};
    uint64_t cpu_ns = jailed_cpu_ns(state->pid);
    state->flood = ret_flood;
    state->from_ns = clock_monotonic_ns() + flood_ramp_ms(window_ms) * NS_PER_MS;
    state->until_ns = state->from_ns + window_ms * NS_PER_MS;
    for (unsigned int i = 0; i < at_once && !state->failed; i++)
        start_flight(state, NULL);
    r = run_loop(contender, err);
    state->flood = NULL;
    jailed_settle(contender);
    ret_flood->cpu_ns = jailed_cpu_ns(state->pid) - cpu_ns;
    return r;
}

static void jailed_close(struct contender *contender)
{
    struct jailed *state = contender->state;
    if (!state)
        return;
    jailer_client_free(state->jailer);
    if (state->pid > 0)
        (void)waitpid(state->pid, NULL, 0);
    loop_free(state->loop);
    if (state->has_object)
        sandboxrun_done(&state->object);
    free(state);
    contender->state = NULL;
}

const struct contender_kind jailed_kind = {
    .name = "jailed",
    .open = jailed_open,
    .prepare = jailed_prepare,
    .run = jailed_run,
    .settle = jailed_settle,
    .flood = jailed_flood,
    .close = jailed_close,
};
