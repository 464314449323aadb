/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/run.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/random.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/denied.h"
#include "node-agent/agent/egress_create.h"
#include "node-agent/agent/output.h"
#include "node-agent/agent/request.h"
#include "node-agent/agent/verdict.h"

#include <errno.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

/*
 * CREATING -> STARTED -> ENDED, or CREATING -> ENDED. Only the jailer's last word about the
 * sandbox (or its loss) ends a run: a kill is a wish until then, so that nothing of the run is
 * left when it is reported as finished.
 */
enum run_state { RUN_CREATING, RUN_STARTED, RUN_ENDED };

struct stream {
    struct run *run;
    enum run_stream kind;
    int fd;
    struct loop_io *io;
    struct output output;
};

struct run {
    struct loop *loop;
    struct jailer_client *jailer;
    struct run_callbacks callbacks;
    void *arg;
    enum run_state state;
    uint32_t timeout_seconds;
    uint64_t not_after_ns; /* of the start; 0: whenever */
    bool warm;
    bool withdrawn;
    uint64_t over_ns; /* after its start (CLOCK_BOOTTIME): by then process 1 has ended it */
    struct buf request;
    size_t request_sent;
    int request_fd;
    int backstop_fd; /* the timer at which the sandbox ends without the jailer */
    struct loop_io *request_io;
    struct loop_timer *running_timer;
    struct loop_timer *watchdog;
    enum run_reason asked_reason; /* why we asked for the end; NONE: we didn't */
    char asked_message[MAX_STATUS_MESSAGE];
    struct run_status status;
    struct stream streams[RUN_STREAM_COUNT];
};

static void stream_close(struct stream *stream)
{
    loop_io_free(TAKE_PTR(stream->io));
    stream->fd = fd_close(stream->fd);
}

static void request_close(struct run *run)
{
    loop_io_free(TAKE_PTR(run->request_io));
    run->request_fd = fd_close(run->request_fd);
    buf_done(&run->request);
}

static void run_release(struct run *run)
{
    request_close(run);
    run->backstop_fd = fd_close(run->backstop_fd);
    for (size_t i = 0; i < RUN_STREAM_COUNT; i++)
        stream_close(&run->streams[i]);
    loop_timer_free(TAKE_PTR(run->running_timer));
    loop_timer_free(TAKE_PTR(run->watchdog));
}

static uint64_t run_output_bytes(const struct run *run)
{
    return run->streams[RUN_STDOUT].output.total + run->streams[RUN_STDERR].output.total;
}

static void fill_stream(const struct stream *stream, char **ret_text, size_t *ret_len,
                        uint64_t *ret_bytes, bool *ret_truncated)
{
    *ret_bytes = stream->output.total;
    *ret_truncated = output_truncated(&stream->output);
    /* A run always ends: without memory for its output it ends without it, and says so. */
    if (output_join(&stream->output, ret_text, ret_len) < 0)
        *ret_truncated = true;
}

/* What only a program that was started has. */
static void fill_result(struct run *run, const struct proto_finished *finished)
{
    struct run_status *status = &run->status;
    fill_stream(&run->streams[RUN_STDOUT], &status->stdout_text, &status->stdout_len,
                &status->stdout_bytes, &status->stdout_truncated);
    fill_stream(&run->streams[RUN_STDERR], &status->stderr_text, &status->stderr_len,
                &status->stderr_bytes, &status->stderr_truncated);
    if (!finished)
        return;
    status->has_usage = true;
    status->usage.cpu_ms = finished->cpu_us / 1000;
    status->usage.peak_memory_bytes = finished->peak_memory_bytes;
    status->usage.wall_ms = finished->wall_us / 1000;
    denied_fill(finished, status);
}

static void run_finish(struct run *run, const struct verdict *verdict,
                       const struct proto_finished *finished)
{
    struct run_status *status = &run->status;
    run->state = RUN_ENDED;
    run_release(run);

    status->phase = verdict->phase;
    status->reason = verdict->reason;
    status->has_exit_code = true;
    status->exit_code = verdict->exit_code;
    memcpy(status->message, verdict->message, sizeof(status->message));
    status->completion_us = clock_realtime_us();
    if (status->start_us > 0)
        fill_result(run, finished);
    run->callbacks.finished(run, status, run->arg);
}

/* The jailer has no more to say about this run. */
static void run_lose(struct run *run, const struct error *err)
{
    struct verdict verdict;
    verdict_lost(err, &verdict);
    run_finish(run, &verdict, NULL);
}

static void arm_watchdog(struct run *run, uint64_t delay_ms)
{
    (void)loop_timer_arm(run->watchdog, delay_ms);
}

static void on_watchdog(void *arg)
{
    struct run *run = arg;
    struct error err;
    if (run->state == RUN_CREATING)
        (void)error_set(&err, ETIMEDOUT, "the jailer did not make the sandbox within %u s",
                        JAILER_CREATE_WITHIN_MS / 1000);
    else
        (void)error_set(&err, ETIMEDOUT,
                        "the jailer did not report the end of the run within %u s after it was "
                        "due",
                        JAILER_END_WITHIN_MS / 1000);
    (void)jailer_client_kill(run->jailer, run->status.sandbox_id, NULL);
    jailer_client_forget(run->jailer, run->status.sandbox_id);
    run_lose(run, &err);
}

static void on_running_timer(void *arg)
{
    struct run *run = arg;
    if (run->callbacks.running)
        run->callbacks.running(run, run->arg);
}

void run_kill(struct run *run, enum run_reason reason, const char *message)
{
    if (run->state == RUN_ENDED || run->asked_reason != RUN_REASON_NONE)
        return;
    run->asked_reason = reason;
    (void)snprintf(run->asked_message, sizeof(run->asked_message), "%s", message);
    loop_timer_disarm(run->running_timer);
    /* If the wish can't be sent, the loss of the jailer or the watchdog ends the run. */
    (void)jailer_client_kill(run->jailer, run->status.sandbox_id, NULL);
    /* A program that runs is sure to be over only after its deadline, which is what the watchdog
     * waits for already. */
    if (run->state != RUN_STARTED)
        arm_watchdog(run, JAILER_END_WITHIN_MS);
}

/* One read; its result, or -errno (-EAGAIN: nothing there now). */
static ssize_t stream_read(struct stream *stream)
{
    char bytes[MAX_READ_BYTES];
    ssize_t n = read(stream->fd, bytes, sizeof(bytes));
    if (n < 0)
        return -errno;
    if (n == 0)
        return 0;
    output_append(&stream->output, bytes, (size_t)n);
    struct run *run = stream->run;
    if (run->callbacks.output)
        run->callbacks.output(run, stream->kind, bytes, (size_t)n, run->arg);
    return n;
}

/* One read a turn, so that a flood on one pipe leaves the others their turn. */
static void on_stream(int fd, unsigned int events, void *arg)
{
    (void)fd;
    (void)events;
    struct stream *stream = arg;
    struct run *run = stream->run;
    ssize_t n = stream_read(stream);
    if (n == -EAGAIN || n == -EINTR)
        return;
    if (n <= 0) {
        /* The program closed it. That says nothing about its end. */
        stream_close(stream);
        return;
    }
    if (run_output_bytes(run) > MAX_OUTPUT_BYTES) {
        char message[MAX_STATUS_MESSAGE];
        verdict_output_message(run_output_bytes(run), message, sizeof(message));
        run_kill(run, RUN_REASON_OUTPUT_LIMIT_EXCEEDED, message);
        for (size_t i = 0; i < RUN_STREAM_COUNT; i++)
            stream_close(&run->streams[i]);
    }
}

/* All writers are dead: what is in the pipe is all there will be, and its end isn't waited for. */
static void stream_drain(struct stream *stream)
{
    for (unsigned int i = 0; stream->fd >= 0 && i < MAX_DRAIN_READS; i++) {
        ssize_t n = stream_read(stream);
        if (n <= 0 && n != -EINTR)
            break;
    }
    stream_close(stream);
}

/* As much as the pipe takes. False if it is to go on when there is room again. */
static bool request_write(struct run *run)
{
    while (run->request_sent < run->request.len) {
        ssize_t n = write(run->request_fd, run->request.data + run->request_sent,
                          run->request.len - run->request_sent);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return false;
        /* EPIPE: the program's process is gone already, its end is on its way to us. */
        if (n < 0)
            break;
        run->request_sent += (size_t)n;
    }
    request_close(run);
    return true;
}

static void on_request_writable(int fd, unsigned int events, void *arg)
{
    (void)fd;
    (void)events;
    (void)request_write(arg);
}

/* The pipe is empty and takes a small request whole: the loop has no part in it. */
static int request_send(struct run *run, struct error *err)
{
    if (request_write(run))
        return 0;
    int r = loop_io_new(run->loop, run->request_fd, LOOP_WRITE, on_request_writable, run,
                        &run->request_io);
    return r < 0 ? error_set_errno(err, -r, "watch the request's pipe") : 0;
}

static int watch_pipes(struct run *run, const int *fds, struct error *err)
{
    run->request_fd = fds[PROTO_FD_REQUEST];
    run->streams[RUN_STDOUT].fd = fds[PROTO_FD_STDOUT];
    run->streams[RUN_STDERR].fd = fds[PROTO_FD_STDERR];
    run->backstop_fd = fds[PROTO_FD_BACKSTOP];
    int r = fd_set_nonblock(run->request_fd, true);
    for (size_t i = 0; r >= 0 && i < RUN_STREAM_COUNT; i++) {
        struct stream *stream = &run->streams[i];
        r = fd_set_nonblock(stream->fd, true);
        if (r >= 0)
            r = loop_io_new(run->loop, stream->fd, LOOP_READ, on_stream, stream, &stream->io);
    }
    if (r < 0)
        return error_set_errno(err, -r, "watch the sandbox's pipes");
    return 0;
}

static bool is_late(const struct run *run)
{
    return run->not_after_ns > 0 && clock_boottime_ns() >= run->not_after_ns;
}

/* Nothing of the request has been written, and nothing will be. */
static void run_withdraw(struct run *run)
{
    request_close(run);
    run->withdrawn = true;
    run_kill(run, RUN_REASON_INTERNAL_ERROR, "the run could not be started in time");
}

/* Before anything can run: a jailer that is stopped now has not read of the start. One that has
 * sets the timer anew. */
static int set_backstop(struct run *run, struct error *err)
{
    run->over_ns = clock_boottime_ns() +
                   (run->timeout_seconds * UINT64_C(1000) + PROTO_BACKSTOP_MS) * NS_PER_MS;
    int r = clock_set_timer(run->backstop_fd, run->over_ns);
    if (r < 0)
        return error_set_errno(err, -r, "set the timer behind the deadline");
    run->backstop_fd = fd_close(run->backstop_fd);
    return 0;
}

static int run_start(struct run *run, const int *fds, struct error *err)
{
    int r = watch_pipes(run, fds, err);
    if (r < 0)
        return r;
    if (run->callbacks.before_start) {
        r = run->callbacks.before_start(run, err, run->arg);
        if (r < 0)
            return r;
        if (run->asked_reason != RUN_REASON_NONE)
            return 0;
    }
    if (is_late(run)) {
        run_withdraw(run);
        return 0;
    }
    r = set_backstop(run, err);
    if (r == 0)
        r = jailer_client_start(run->jailer, run->status.sandbox_id, run->timeout_seconds * 1000,
                                run->not_after_ns, err);
    if (r < 0)
        return r;
    /* If we were stopped on the way the jailer has refused it or is about to. If we are stopped
     * from here on, it was sent in time: the jailer has taken it, and its deadline holds. */
    if (is_late(run)) {
        run_withdraw(run);
        return 0;
    }
    run->state = RUN_STARTED;
    run->status.start_us = clock_realtime_us();
    (void)loop_timer_arm(run->running_timer, RUNNING_AFTER_MS);
    arm_watchdog(run, run->timeout_seconds * 1000ull + JAILER_END_WITHIN_MS);
    return request_send(run, err);
}

static void on_created(struct run *run, const int *fds)
{
    /* Asked to end before it began: nothing of the request is written, and the end follows. */
    if (run->asked_reason != RUN_REASON_NONE) {
        for (size_t i = 0; i < PROTO_CREATED_FDS; i++)
            (void)fd_close(fds[i]);
        return;
    }
    struct error err = {0};
    if (run_start(run, fds, &err) < 0) {
        request_close(run);
        run_kill(run, RUN_REASON_INTERNAL_ERROR, err.text);
    }
}

static void on_finished(struct run *run, const struct proto_finished *finished)
{
    for (size_t i = 0; i < RUN_STREAM_COUNT; i++)
        stream_drain(&run->streams[i]);
    const struct verdict_context context = {
        .started = run->state == RUN_STARTED,
        .overdue = run->state == RUN_STARTED && clock_boottime_ns() >= run->over_ns,
        .asked_reason = run->asked_reason,
        .asked_message = run->asked_message,
        .output_bytes = run_output_bytes(run),
        .timeout_seconds = run->timeout_seconds,
        .memory_bytes = run->status.effective_memory_bytes,
    };
    struct verdict verdict;
    verdict_finished(finished, &context, &verdict);
    run_finish(run, &verdict, finished);
}

static void on_refused(struct run *run, const struct proto_refused *refused)
{
    const struct verdict_context context = {
        .asked_reason = run->asked_reason,
        .asked_message = run->asked_message,
    };
    struct verdict verdict;
    verdict_refused(refused, &context, &verdict);
    run_finish(run, &verdict, NULL);
}

static void on_message(const struct proto_message *message, const int *fds, void *arg)
{
    struct run *run = arg;
    if (message->type == PROTO_CREATED) {
        run->warm = message->created.warm != PROTO_WARM_NOT;
        on_created(run, fds);
    } else if (message->type == PROTO_FINISHED)
        on_finished(run, &message->finished);
    else
        on_refused(run, &message->refused);
}

static void on_lost(const struct error *err, void *arg)
{
    struct run *run = arg;
    for (size_t i = 0; i < RUN_STREAM_COUNT; i++)
        stream_drain(&run->streams[i]);
    run_lose(run, err);
}

static void set_runtime_version(struct run *run, const char *runtime)
{
    const struct proto_hello *hello = jailer_client_hello(run->jailer);
    for (uint32_t i = 0; hello && i < hello->runtime_count && i < PROTO_MAX_RUNTIMES; i++) {
        if (strcmp(hello->runtimes[i].name, runtime) == 0)
            (void)snprintf(run->status.effective_runtime_version,
                           sizeof(run->status.effective_runtime_version), "%s",
                           hello->runtimes[i].version);
    }
}

static int set_status(struct run *run, const struct sandboxrun *object, struct error *err)
{
    const struct run_spec *spec = &object->spec;
    struct run_status *status = &run->status;
    *status = object->status;
    /* What only an end knows is never taken over. */
    status->reason = RUN_REASON_NONE;
    status->message[0] = '\0';
    status->stdout_text = status->stderr_text = NULL;
    status->stdout_len = status->stderr_len = 0;
    status->start_us = status->completion_us = 0;
    status->has_usage = false;
    status->usage = (struct run_usage){0};
    status->denied_count = 0;
    if (status->sandbox_id[0] == '\0') {
        int r = random_uuid(status->sandbox_id);
        if (r < 0)
            return error_set_errno(err, -r, "random sandbox id");
    }
    status->has_effective = true;
    status->effective_timeout_seconds = spec->timeout_seconds;
    status->effective_cpu_milli = spec->cpu_milli;
    status->effective_memory_bytes = spec->memory_bytes;
    status->effective_runtime_version[0] = '\0';
    set_runtime_version(run, spec->runtime);
    return 0;
}

static int run_create(struct run *run, const struct run_spec *spec, struct error *err)
{
    static const struct jailer_handlers handlers = {.message = on_message, .lost = on_lost};
    struct proto_create create = {
        .profile = (uint32_t)spec->profile,
        .cpu_milli = spec->cpu_milli,
        .memory_bytes = spec->memory_bytes,
    };
    (void)snprintf(create.id, sizeof(create.id), "%s", run->status.sandbox_id);
    (void)snprintf(create.runtime, sizeof(create.runtime), "%s", spec->runtime);
    egress_create(spec->egress, &create.egress);
    return jailer_client_create(run->jailer, &create, &handlers, run, err);
}

static struct run *run_alloc(struct loop *loop, struct jailer_client *jailer,
                             const struct run_callbacks *callbacks, void *arg)
{
    struct run *run = calloc(1, sizeof(*run));
    if (!run)
        return NULL;
    run->loop = loop;
    run->jailer = jailer;
    run->callbacks = *callbacks;
    run->arg = arg;
    run->request_fd = -1;
    run->backstop_fd = -1;
    for (size_t i = 0; i < RUN_STREAM_COUNT; i++) {
        run->streams[i].run = run;
        run->streams[i].kind = (enum run_stream)i;
        run->streams[i].fd = -1;
    }
    return run;
}

static void run_destroy(struct run *run)
{
    run_release(run);
    run_status_done(&run->status);
    free(run);
}

int run_new(struct loop *loop, struct jailer_client *jailer, const struct sandboxrun *object,
            const struct run_callbacks *callbacks, void *arg, struct run **ret_run,
            struct error *err)
{
    struct run *run = run_alloc(loop, jailer, callbacks, arg);
    if (!run)
        return error_set_errno(err, ENOMEM, "run");
    run->timeout_seconds = object->spec.timeout_seconds;
    int r = set_status(run, object, err);
    if (r >= 0)
        r = request_encode(&object->spec, &run->request, err);
    if (r >= 0) {
        r = loop_timer_new(loop, on_running_timer, run, &run->running_timer);
        if (r >= 0)
            r = loop_timer_new(loop, on_watchdog, run, &run->watchdog);
        if (r < 0)
            (void)error_set_errno(err, -r, "timers of the run");
    }
    if (r >= 0)
        r = run_create(run, &object->spec, err);
    if (r < 0) {
        run_destroy(run);
        return r;
    }
    arm_watchdog(run, JAILER_CREATE_WITHIN_MS);
    *ret_run = run;
    return 0;
}

void run_set_not_after(struct run *run, uint64_t boottime_ns)
{
    run->not_after_ns = boottime_ns;
}

bool run_is_warm(const struct run *run)
{
    return run->warm;
}

bool run_was_withdrawn(const struct run *run)
{
    return run->withdrawn;
}

void run_free(struct run *run)
{
    if (!run)
        return;
    if (run->state != RUN_ENDED) {
        (void)jailer_client_kill(run->jailer, run->status.sandbox_id, NULL);
        jailer_client_forget(run->jailer, run->status.sandbox_id);
    }
    run_destroy(run);
}

const char *run_sandbox_id(const struct run *run)
{
    return run->status.sandbox_id;
}

const struct run_status *run_status_now(const struct run *run)
{
    return &run->status;
}
