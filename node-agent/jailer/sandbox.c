/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/sandbox_internal.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "node-agent/jailer/ceilings.h"
#include "node-agent/jailer/launch.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/pass_fd.h"
#include "node-agent/jailer/pool.h"
#include "node-agent/jailer/zygote.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#define NS_PER_MS UINT64_C(1000000)

static void sweep(void *arg);
static void end_unmade(struct sandbox *sandbox);

/* The dead clean up after themselves, within their limit on CPU: under a small one, many processes
 * with many descriptors would take longer to end than they ran. So they get what the profile has.
 */
uint32_t sandbox_most_cpu_milli(const struct sandbox *sandbox)
{
    uint32_t ceiling = ceilings_of(sandbox->profile)->cpu_milli;
    uint64_t capacity = sandbox->jailer->cpu_capacity_milli;
    return ceiling < capacity ? ceiling : (uint32_t)capacity;
}

static void hasten_end(const struct sandbox *sandbox)
{
    uint32_t cpu_milli = sandbox_most_cpu_milli(sandbox);
    if (sandbox->cpu_milli < cpu_milli)
        (void)cgroup_set_cpu(sandbox->jailer->cgroups, &sandbox->cgroup, cpu_milli, NULL);
}

void sandbox_kill(struct sandbox *sandbox)
{
    /* Process 1 takes everything in its pid namespace along. */
    if (sandbox->alive) {
        (void)pidfd_send_signal(sandbox->pidfd.fd, SIGKILL, NULL, 0);
        hasten_end(sandbox);
    } else if (sandbox->zygote) {
        zygote_fail(sandbox->zygote, sandbox->refused
                                         ? sandbox->refusal.text
                                         : "what was to be forked ended before it was");
    }
}

/* Process 1 writes it in one piece, once. */
static void read_exit_report(struct sandbox *sandbox)
{
    struct report report;
    if (sandbox->facts.has_status || sandbox->exit_fd < 0)
        return;
    if (read(sandbox->exit_fd, &report, sizeof(report)) == (ssize_t)sizeof(report) &&
        report.kind == REPORT_EXITED) {
        sandbox->facts.has_status = true;
        sandbox->facts.wait_status = report.wait_status & 0xffff;
    }
}

void sandbox_end(struct sandbox *sandbox, enum proto_end end)
{
    sandbox->again = false;
    if (sandbox->state >= SANDBOX_SWEEPING || sandbox->refused || sandbox->facts.decided != 0)
        return;
    /* Whoever was first: a program that has ended by itself was not killed. */
    read_exit_report(sandbox);
    if (!sandbox->facts.has_status)
        sandbox->facts.decided = end;
    if (sandbox->state == SANDBOX_WAITING)
        end_unmade(sandbox);
    else
        sandbox_kill(sandbox);
}

void sandbox_refuse(struct sandbox *sandbox, const char *lock, const struct error *err)
{
    if (sandbox->state >= SANDBOX_SWEEPING || sandbox->refused || sandbox->facts.decided != 0)
        return;
    sandbox->refused = true;
    sandbox_fill_refusal(&sandbox->refusal, sandbox->id, lock, err->code, err->text);
    if (sandbox->state == SANDBOX_WAITING)
        end_unmade(sandbox);
    else
        sandbox_kill(sandbox);
}

/* The program has ended by itself, and process 1 waits for the deaths of all others. */
static void on_exit_report(uint32_t events, void *arg)
{
    (void)events;
    struct sandbox *sandbox = arg;
    (void)events_remove(&sandbox->jailer->events, &sandbox->exit);
    read_exit_report(sandbox);
    hasten_end(sandbox);
}

static void on_deadline(void *arg)
{
    struct sandbox *sandbox = arg;
    struct error err;
    if (!sandbox->zygote) {
        sandbox_end(sandbox, PROTO_END_DEADLINE);
        return;
    }
    (void)error_set(&err, ETIMEDOUT, "the zygote did not fork in time");
    sandbox_refuse(sandbox, report_lock_name(JAIL_LOCK_EXEC), &err);
}

void sandbox_arm_deadline(struct sandbox *sandbox, uint64_t at_ns)
{
    deadline_arm(&sandbox->jailer->deadlines, &sandbox->deadline, at_ns, on_deadline, sandbox);
}

/* v1: the limit was hit and the kernel is choosing a victim; the run as a whole goes. */
static void on_oom(uint32_t events, void *arg)
{
    (void)events;
    struct sandbox *sandbox = arg;
    uint64_t count = 0;
    (void)!read(sandbox->oom.fd, &count, sizeof(count));
    (void)events_remove(&sandbox->jailer->events, &sandbox->oom);
    sandbox_end(sandbox, PROTO_END_OOM);
}

/* What is made ahead, by helpers: now that this sandbox needs the machine no more. */
static void refill(struct jailer *jailer)
{
    netns_pool_refill(&jailer->netns);
    network_refill(&jailer->network);
}

void sandbox_become_ready(struct sandbox *sandbox)
{
    struct proto_message message = {.type = PROTO_CREATED, .created.warm = sandbox_warmth(sandbox)};
    memcpy(message.created.id, sandbox->id, sizeof(message.created.id));
    sandbox->state = SANDBOX_READY;
    sandbox->ready_ns = clock_boottime_ns();
    sandbox_say(sandbox, &message, sandbox->agent_fds);
    for (size_t i = 0; i < PROTO_CREATED_FDS; i++)
        sandbox->agent_fds[i] = fd_close(sandbox->agent_fds[i]);
    /* For one that has waited that was done when nobody had a run for it. */
    if (!sandbox->warm)
        refill(sandbox->jailer);
}

static void on_forbidden(int32_t number, void *arg)
{
    struct sandbox *sandbox = arg;
    sandbox_end(sandbox, PROTO_END_FORBIDDEN);
    if (sandbox->facts.decided == PROTO_END_FORBIDDEN)
        sandbox->forbidden_call = number;
}

/* A filter whose refusals nobody hears is a lock that is not set. */
static void take_listener(struct sandbox *sandbox, int fd)
{
    struct error err;
    if (sandbox->listened || fd < 0) {
        (void)fd_close(fd);
        (void)error_set(&err, EPROTO, "the filter's listener did not come, or came twice");
    } else if (notify_open(&sandbox->notify, &sandbox->jailer->events, fd, sandbox->policy,
                           on_forbidden, sandbox, &err) >= 0) {
        sandbox->listened = true;
        return;
    }
    sandbox_refuse(sandbox, report_lock_name(JAIL_LOCK_SECCOMP), &err);
}

static void take_status_report(struct sandbox *sandbox, const struct report *report, int fd)
{
    if (report->kind == REPORT_LISTENER) {
        take_listener(sandbox, fd);
        return;
    }
    if (report->kind == REPORT_PLACE) {
        sandbox_take_place(sandbox, report->place, fd);
        return;
    }
    if (report->kind == REPORT_BORN) {
        sandbox_take_birth(sandbox, fd);
        return;
    }
    (void)fd_close(fd);
    if (report->kind == REPORT_SEALED) {
        sandbox_take_seal(sandbox);
    } else if (report->kind == REPORT_FAILED) {
        struct error err;
        (void)error_set_errno(&err, report->error.code, "%.*s", MAX_ERROR_TEXT - 1,
                              report->error.text);
        sandbox_refuse(sandbox, report_lock_name(report->lock), &err);
    }
}

static void on_status(uint32_t events, void *arg)
{
    (void)events;
    struct sandbox *sandbox = arg;
    struct report report;
    int fd = -1;
    int n = 0;
    while ((n = pass_fd_receive(sandbox->status.fd, &report, sizeof(report), &fd)) ==
           (int)sizeof(report))
        take_status_report(sandbox, &report, fd);
    if (n == -EAGAIN)
        return;
    (void)fd_close(fd);
    /* The end of the socket. Both writers are gone: into the program and behind the reaper's
     * filter, or into death, which the pidfd tells. */
    (void)fd_close(events_remove(&sandbox->jailer->events, &sandbox->status));
    if (sandbox->zygote) {
        sandbox_miss_birth(sandbox);
        return;
    }
    if (sandbox->state != SANDBOX_CREATING || !sandbox->sealed || sandbox->refused ||
        sandbox->facts.decided != 0)
        return;
    if (!sandbox->listened)
        take_listener(sandbox, -1);
    else if (sandbox->pool || sandbox->forked)
        sandbox_await_hello(sandbox);
    else
        sandbox_become_ready(sandbox);
}

static void retry_sweep(struct sandbox *sandbox)
{
    uint64_t now_ns = clock_boottime_ns();
    if (now_ns - sandbox->ended_ns > SWEEP_WARN_MS * NS_PER_MS && !sandbox->sweep_warned) {
        sandbox->sweep_warned = true;
        log_event(LOG_LEVEL_ERROR, "sandbox ended and its cgroup isn't empty, trying on",
                  LOG_TEXT("sandbox", sandbox->id));
    }
    cgroup_kill(sandbox->jailer->cgroups, &sandbox->cgroup);
    sandbox->sweep_retry_ms = sandbox->sweep_retry_ms ? sandbox->sweep_retry_ms * 2 : 1;
    if (sandbox->sweep_retry_ms > MAX_SWEEP_RETRY_MS)
        sandbox->sweep_retry_ms = MAX_SWEEP_RETRY_MS;
    deadline_arm(&sandbox->jailer->deadlines, &sandbox->deadline,
                 now_ns + sandbox->sweep_retry_ms * NS_PER_MS, sweep, sandbox);
}

void sandbox_conclude(struct sandbox *sandbox)
{
    struct jailer *jailer = sandbox->jailer;
    deadline_disarm(&jailer->deadlines, &sandbox->deadline);
    idmap_release(&jailer->idmap, sandbox->outer_id);
    jailer->memory_in_use_bytes -= sandbox->pool ? 0 : sandbox->memory_bytes;
    sandbox->state = SANDBOX_GONE;
    if (!sandbox_replace(sandbox))
        sandbox_say_last_word(sandbox);
    sandbox_log_gone(sandbox);
    if (sandbox->pool)
        pool_on_gone(sandbox->pool, sandbox);
    else
        pools_run_ended(&jailer->pools);
    network_lease_free(sandbox->lease);
    sandbox->lease = NULL;
    free(sandbox->create);
    sandbox->create = NULL;
    refill(jailer);
}

/* A result without what was refused is better than none. */
static void on_denied_late(void *arg)
{
    struct sandbox *sandbox = arg;
    log_event(LOG_LEVEL_WARN, "what a sandbox was refused is not told in time",
              LOG_TEXT("sandbox", sandbox->id), LOG_NUMBER("within_ms", DENIED_WITHIN_MS));
    sandbox_conclude(sandbox);
}

/* While it waits for a network slot, or when it can't be made in one: no process ever was. */
static void end_unmade(struct sandbox *sandbox)
{
    sandbox->state = SANDBOX_SWEEPING;
    sandbox->ended_ns = clock_boottime_ns();
    if (sandbox->lease)
        sandbox->lease->known = true;
    sandbox_conclude(sandbox);
}

static void sweep(void *arg)
{
    struct sandbox *sandbox = arg;
    struct jailer *jailer = sandbox->jailer;
    cgroup_usage(jailer->cgroups, &sandbox->cgroup, &sandbox->usage);
    if (sandbox->usage.oom_kills > sandbox->facts.oom_kills)
        sandbox->facts.oom_kills = sandbox->usage.oom_kills;
    if (cgroup_destroy(jailer->cgroups, &sandbox->cgroup) < 0) {
        retry_sweep(sandbox);
        return;
    }
    if (!sandbox->lease || sandbox->released) {
        sandbox_conclude(sandbox);
        return;
    }
    sandbox->state = SANDBOX_READING;
    deadline_arm(&jailer->deadlines, &sandbox->deadline,
                 clock_boottime_ns() + DENIED_WITHIN_MS * NS_PER_MS, on_denied_late, sandbox);
}

/* Died while it was made, and nobody says why, unless the kernel does. */
static void refuse_dead(struct sandbox *sandbox, const siginfo_t *info)
{
    struct error err;
    cgroup_usage(sandbox->jailer->cgroups, &sandbox->cgroup, &sandbox->usage);
    if (sandbox->usage.oom_kills > 0) {
        sandbox->facts.decided = PROTO_END_OOM;
        return;
    }
    bool killed = info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED;
    (void)error_set(&err, ECHILD, "process 1 of the jail died before it was sealed (%s %d)",
                    killed ? "signal" : "exit code", info->si_status);
    sandbox_refuse(sandbox, "process-1", &err);
}

/* Of the program; it was started. */
static uint64_t deadline_ns(const struct sandbox *sandbox)
{
    return sandbox->started_ns + sandbox->timeout_ms * NS_PER_MS;
}

static void on_pidfd(uint32_t events, void *arg)
{
    (void)events;
    struct sandbox *sandbox = arg;
    siginfo_t info = {0};
    if (waitid(P_PIDFD, (id_t)sandbox->pidfd.fd, &info, WEXITED | WNOHANG) < 0 || info.si_pid == 0)
        return;
    sandbox->alive = false;
    sandbox->ended_ns = clock_boottime_ns();
    /* What was said before the death counts first. */
    if (sandbox->status.fd >= 0)
        on_status(EPOLLHUP, sandbox);
    read_exit_report(sandbox);
    sandbox->facts.overdue =
        sandbox->state == SANDBOX_RUNNING && sandbox->ended_ns >= deadline_ns(sandbox);
    if (sandbox->state <= SANDBOX_WARMING && sandbox->facts.decided == 0)
        refuse_dead(sandbox, &info);
    sandbox_bury(sandbox);
}

void sandbox_bury(struct sandbox *sandbox)
{
    struct jailer *jailer = sandbox->jailer;
    sandbox->state = SANDBOX_SWEEPING;
    (void)fd_close(events_remove(&jailer->events, &sandbox->pidfd));
    (void)fd_close(events_remove(&jailer->events, &sandbox->status));
    (void)events_remove(&jailer->events, &sandbox->oom);
    (void)events_remove(&jailer->events, &sandbox->exit);
    notify_close(&sandbox->notify);
    sandbox_close_ahead(sandbox);
    sandbox->exit_fd = fd_close(sandbox->exit_fd);
    sandbox->lifeline_fd = fd_close(sandbox->lifeline_fd);
    sandbox->backstop_fd = fd_close(sandbox->backstop_fd);
    for (size_t i = 0; i < PROTO_CREATED_FDS; i++)
        sandbox->agent_fds[i] = fd_close(sandbox->agent_fds[i]);
    deadline_disarm(&jailer->deadlines, &sandbox->deadline);
    /* Nothing inside can send any more: the helper reads while the cgroup is removed. */
    if (sandbox->lease)
        network_release(sandbox->lease);
    sweep(sandbox);
}

int sandbox_watch_exit(struct sandbox *sandbox, int exit_fd, struct error *err)
{
    if (sandbox->cpu_milli >= sandbox_most_cpu_milli(sandbox))
        return 0;
    int r = events_add(&sandbox->jailer->events, &sandbox->exit, exit_fd, EPOLLIN, on_exit_report,
                       sandbox);
    return r < 0 ? error_set_errno(err, -r, "watch the end of the program") : 0;
}

int sandbox_watch_process(struct sandbox *sandbox, int pidfd, struct error *err)
{
    int r =
        events_add(&sandbox->jailer->events, &sandbox->pidfd, pidfd, EPOLLIN, on_pidfd, sandbox);
    if (r < 0)
        return error_set_errno(err, -r, "watch process 1");
    sandbox->alive = true;
    return 0;
}

static int watch(struct sandbox *sandbox, struct launch *launch, struct error *err)
{
    struct events *events = &sandbox->jailer->events;
    int r = launch->pidfd < 0 ? 0 : sandbox_watch_process(sandbox, launch->pidfd, err);
    if (r < 0)
        return r;
    launch->pidfd = -1;
    r = events_add(events, &sandbox->status, launch->status_fd, EPOLLIN, on_status, sandbox);
    if (r >= 0) {
        launch->status_fd = -1;
        if (sandbox->cgroup.oom_fd >= 0)
            r = events_add(events, &sandbox->oom, sandbox->cgroup.oom_fd, EPOLLIN, on_oom, sandbox);
    }
    if (r < 0)
        return error_set_errno(err, -r, "watch the jail");
    return sandbox_watch_exit(sandbox, launch->exit_fd, err);
}

/* A jail that can't be watched must not live: this is the one place that waits for a death. */
static void abort_launch(struct sandbox *sandbox, struct launch *launch)
{
    struct events *events = &sandbox->jailer->events;
    if (launch->pidfd < 0)
        launch->pidfd = events_remove(events, &sandbox->pidfd);
    if (launch->status_fd < 0)
        launch->status_fd = events_remove(events, &sandbox->status);
    siginfo_t info;
    if (launch->pidfd >= 0) {
        (void)pidfd_send_signal(launch->pidfd, SIGKILL, NULL, 0);
        while (waitid(P_PIDFD, (id_t)launch->pidfd, &info, WEXITED) < 0 && errno == EINTR)
            continue;
    }
    sandbox->alive = false;
    launch_close(launch);
    if (sandbox->zygote) {
        zygote_answered(sandbox->zygote);
        zygote_lost(sandbox->zygote);
    }
}

static void adopt(struct sandbox *sandbox, struct launch *launch)
{
    sandbox->policy = launch->policy;
    sandbox->exit_fd = TAKE_FD(launch->exit_fd);
    sandbox->lifeline_fd = TAKE_FD(launch->lifeline_fd);
    sandbox->backstop_fd = TAKE_FD(launch->backstop_fd);
    for (size_t i = 0; i < PROTO_CREATED_FDS; i++)
        sandbox->agent_fds[i] = TAKE_FD(launch->agent_fds[i]);

    uint64_t within_ms = sandbox->zygote ? ZYGOTE_ANSWER_WITHIN_MS : PROTO_START_WITHIN_MS;
    sandbox_arm_deadline(sandbox, clock_boottime_ns() + within_ms * NS_PER_MS);
}

int sandbox_make(struct sandbox *sandbox, const struct proto_create *create, const char **lock,
                 struct error *err)
{
    struct jailer *jailer = sandbox->jailer;
    const struct ceiling *ceiling = ceilings_of(create->profile);
    struct cgroup_limits limits = {
        .memory_bytes = sandbox->memory_bytes,
        .cpu_milli = sandbox->zygote ? sandbox_most_cpu_milli(sandbox) : sandbox->cpu_milli,
        .pids = ceiling->pids,
    };
    *lock = report_lock_name(JAIL_LOCK_CGROUP);
    int r = cgroup_create(jailer->cgroups, sandbox->id, &limits, &sandbox->cgroup, err);
    if (r < 0)
        return r;

    struct launch launch = LAUNCH_INIT;
    enum jail_lock failed = JAIL_LOCK_DESCRIPTORS;
    const struct launch_kind kind = {.waits = sandbox->pool || sandbox->zygote,
                                     .shows_places = sandbox->pool,
                                     .zygote = sandbox->zygote};
    /* One that is forked later, as its CPU: sandbox_take_seal(). */
    if (sandbox->pool && !sandbox->zygote)
        r = cgroup_set_idle(jailer->cgroups, &sandbox->cgroup, true, err);
    if (r >= 0)
        r = launch_jail(jailer, create, sandbox->outer_id, &sandbox->cgroup, sandbox->lease, &kind,
                        &launch, &failed, err);
    *lock = report_lock_name(failed);
    if (r >= 0) {
        r = watch(sandbox, &launch, err);
        if (r < 0)
            abort_launch(sandbox, &launch);
    }
    if (r < 0) {
        (void)events_remove(&jailer->events, &sandbox->oom);
        (void)cgroup_destroy(jailer->cgroups, &sandbox->cgroup);
        return r;
    }
    adopt(sandbox, &launch);
    return 0;
}

void sandbox_enlist(struct sandbox *sandbox)
{
    struct jailer *jailer = sandbox->jailer;
    jailer->memory_in_use_bytes += sandbox->pool ? 0 : sandbox->memory_bytes;
    jailer->sandbox_count++;
    sandbox->next = jailer->sandboxes;
    jailer->sandboxes = sandbox;
}

int sandbox_new(struct jailer *jailer, const struct proto_create *create,
                const struct sandbox_listener *listener, struct sandbox **ret_sandbox,
                struct error *err)
{
    cleanup_free struct sandbox *sandbox = calloc(1, sizeof(*sandbox));
    if (!sandbox) {
        (void)error_set_errno(err, ENOMEM, "make a sandbox");
        return -ENOMEM;
    }
    *sandbox = (struct sandbox){
        .jailer = jailer,
        .listener = *listener,
        .state = SANDBOX_CREATING,
        .profile = create->profile,
        .memory_bytes = create->memory_bytes,
        .cpu_milli = create->cpu_milli,
        .cgroup.oom_fd = -1,
        .pidfd = EVENT_SOURCE_INIT,
        .status = EVENT_SOURCE_INIT,
        .oom = EVENT_SOURCE_INIT,
        .hello = EVENT_SOURCE_INIT,
        .exit = EVENT_SOURCE_INIT,
        .notify.source = EVENT_SOURCE_INIT,
        .exit_fd = -1,
        .lifeline_fd = -1,
        .backstop_fd = -1,
        .agent_fds = {-1, -1, -1, -1},
        .place_fds = {-1, -1, -1},
        .created_ns = clock_boottime_ns(),
        .timeout_ms = PROTO_START_WITHIN_MS,
    };
    memcpy(sandbox->id, create->id, sizeof(sandbox->id));
    if (idmap_take(&jailer->idmap, &sandbox->outer_id) < 0) {
        (void)error_set(err, ENOSPC, "all of the %u uids for sandboxes are in use",
                        jailer->idmap.count);
        return -ENOSPC;
    }
    *ret_sandbox = TAKE_PTR(sandbox);
    return 0;
}

int sandbox_create(struct jailer *jailer, const struct proto_create *create,
                   const struct sandbox_listener *listener, struct sandbox **ret_sandbox,
                   struct proto_refused *ret_refusal)
{
    struct error err;
    cleanup_free struct sandbox *sandbox = NULL;
    const char *lock = "request";
    int r = sandbox_new(jailer, create, listener, &sandbox, &err);
    if (r >= 0) {
        bool network = ceilings_of(create->profile)->network;
        if (network)
            lock = SANDBOX_LOCK_NETWORK;
        r = network ? sandbox_wait_for_slot(sandbox, create, &err)
                    : sandbox_make_soon(sandbox, create, &lock, &err);
        if (r < 0)
            idmap_release(&jailer->idmap, sandbox->outer_id);
    }
    if (r < 0) {
        sandbox_fill_refusal(ret_refusal, create->id, lock, err.code, err.text);
        return r;
    }
    sandbox_enlist(sandbox);
    *ret_sandbox = TAKE_PTR(sandbox);
    return 0;
}

void sandbox_start(struct sandbox *sandbox, uint32_t timeout_ms)
{
    sandbox->state = SANDBOX_RUNNING;
    sandbox->timeout_ms = timeout_ms;
    sandbox->started_ns = clock_boottime_ns();
    sandbox_arm_deadline(sandbox, deadline_ns(sandbox));
    /* It can't fail: the descriptor is a timer and the time is in range. */
    (void)clock_set_timer(sandbox->backstop_fd,
                          deadline_ns(sandbox) + PROTO_BACKSTOP_MS * NS_PER_MS);
}

void sandbox_forget_listener(struct sandbox *sandbox)
{
    sandbox->listener = (struct sandbox_listener){0};
}

void sandbox_collect(struct jailer *jailer)
{
    struct sandbox **link = &jailer->sandboxes;
    while (*link) {
        struct sandbox *sandbox = *link;
        if (sandbox->state != SANDBOX_GONE) {
            link = &sandbox->next;
            continue;
        }
        *link = sandbox->next;
        jailer->sandbox_count--;
        free(sandbox);
    }
}

struct sandbox *sandbox_find(struct jailer *jailer, const char *id)
{
    for (struct sandbox *sandbox = jailer->sandboxes; sandbox; sandbox = sandbox->next) {
        if (strcmp(sandbox->id, id) == 0)
            return sandbox;
    }
    return NULL;
}
