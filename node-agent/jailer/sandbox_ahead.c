/* SPDX-License-Identifier: Apache-2.0 */

/* A sandbox that is made before its run is there (pool.h), and how it becomes that run's; and one
 * that is forked (zygote.h), ahead or for its run. */
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "node-agent/jailer/ceilings.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/payload.h"
#include "node-agent/jailer/pool.h"
#include "node-agent/jailer/sandbox_internal.h"
#include "node-agent/jailer/zygote.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#define NS_PER_MS UINT64_C(1000000)

void sandbox_take_place(struct sandbox *sandbox, uint32_t place, int fd)
{
    struct error err;
    if (sandbox->pool && place < MOUNTS_TMPFS_COUNT && fd >= 0 && sandbox->place_fds[place] < 0) {
        sandbox->place_fds[place] = fd;
        return;
    }
    (void)fd_close(fd);
    (void)error_set(&err, EPROTO, "a file system was shown that nobody waits for");
    sandbox_refuse(sandbox, report_lock_name(JAIL_LOCK_MOUNTS), &err);
}

static bool has_places(const struct sandbox *sandbox)
{
    bool all = true;
    for (size_t i = 0; i < MOUNTS_TMPFS_COUNT; i++)
        all = all && sandbox->place_fds[i] >= 0;
    return all;
}

/* From here on it does nothing until its request comes. */
static void become_warm(struct sandbox *sandbox)
{
    struct jailer *jailer = sandbox->jailer;
    struct cgroup_usage usage;
    struct error err;
    if (!sandbox->pool) {
        sandbox_become_ready(sandbox);
        return;
    }
    if (cgroup_set_idle(jailer->cgroups, &sandbox->cgroup, false, &err) < 0) {
        sandbox_refuse(sandbox, report_lock_name(JAIL_LOCK_CGROUP), &err);
        return;
    }
    cgroup_usage(jailer->cgroups, &sandbox->cgroup, &usage);
    sandbox->cpu_before_us = usage.cpu_us;
    sandbox->state = SANDBOX_WARM;
    sandbox->ready_ns = clock_boottime_ns();
    sandbox_arm_deadline(sandbox, sandbox->ready_ns + POOL_AGE_MS * NS_PER_MS);
    pool_on_warm(sandbox->pool, sandbox);
    netns_pool_refill(&jailer->netns);
}

/* Its first and only byte, or the end of a program that won't wait. */
static void on_hello(uint32_t events, void *arg)
{
    (void)events;
    struct sandbox *sandbox = arg;
    struct error err;
    char bytes[2];
    ssize_t n = read(sandbox->agent_fds[PROTO_FD_STDOUT], bytes, sizeof(bytes));
    (void)events_remove(&sandbox->jailer->events, &sandbox->hello);
    if (n == 1 && bytes[0] == PAYLOAD_HELLO) {
        become_warm(sandbox);
        return;
    }
    (void)error_set(&err, EPROTO, "the runtime's runner did not say that it waits");
    sandbox_refuse(sandbox, report_lock_name(JAIL_LOCK_EXEC), &err);
}

void sandbox_await_hello(struct sandbox *sandbox)
{
    struct error err;
    sandbox->state = SANDBOX_WARMING;
    int r = !sandbox->pool || has_places(sandbox)
                ? events_add(&sandbox->jailer->events, &sandbox->hello,
                             sandbox->agent_fds[PROTO_FD_STDOUT], EPOLLIN, on_hello, sandbox)
                : -EPROTO;
    if (r >= 0)
        return;
    (void)error_set_errno(&err, -r, "wait for the runner");
    sandbox_refuse(sandbox, report_lock_name(JAIL_LOCK_EXEC), &err);
}

void sandbox_close_ahead(struct sandbox *sandbox)
{
    (void)events_remove(&sandbox->jailer->events, &sandbox->hello);
    for (size_t i = 0; i < MOUNTS_TMPFS_COUNT; i++)
        sandbox->place_fds[i] = fd_close(sandbox->place_fds[i]);
}

/* Whether it is a child of ours at all: its maker is not to be believed. */
static bool is_child(int pidfd)
{
    siginfo_t info = {0};
    return pidfd >= 0 && waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void sandbox_take_birth(struct sandbox *sandbox, int pidfd)
{
    struct error err;
    struct zygote *zygote = sandbox->zygote;
    int r = zygote && is_child(pidfd)
                ? sandbox_watch_process(sandbox, pidfd, &err)
                : error_set(&err, EPROTO, "what was born is no child of the jailer's");
    if (r < 0) {
        (void)fd_close(pidfd);
        sandbox_refuse(sandbox, report_lock_name(JAIL_LOCK_EXEC), &err);
        return;
    }
    sandbox->zygote = NULL;
    sandbox->forked = true;
    zygote_answered(zygote);
    sandbox_arm_deadline(sandbox, clock_boottime_ns() + PROTO_START_WITHIN_MS * NS_PER_MS);
    /* Its end may have been decided before. */
    if (sandbox->refused || sandbox->facts.decided != 0)
        sandbox_kill(sandbox);
}

void sandbox_miss_birth(struct sandbox *sandbox)
{
    struct error err;
    struct zygote *zygote = sandbox->zygote;
    zygote_answered(zygote);
    if (!sandbox->refused) {
        zygote_lost(zygote);
        (void)error_set(&err, ECHILD, "the zygote ended, or its child before it was heard of");
        sandbox_refuse(sandbox, report_lock_name(JAIL_LOCK_EXEC), &err);
    }
    sandbox->zygote = NULL;
    sandbox->forked = true;
    sandbox->ended_ns = clock_boottime_ns();
    sandbox_bury(sandbox);
}

/* While process 1 of a fork sets its locks, its zygote stands still, and with that one every run
 * that waits for a fork: so what is forked ahead gives way to others from here on, and not before,
 * and a run has no less CPU than another. */
void sandbox_take_seal(struct sandbox *sandbox)
{
    struct error err;
    struct cgroup_system *cgroups = sandbox->jailer->cgroups;
    int r = 0;
    sandbox->sealed = true;
    if (!sandbox->forked)
        return;
    if (sandbox->pool)
        r = cgroup_set_idle(cgroups, &sandbox->cgroup, true, &err);
    else if (sandbox->cpu_milli < sandbox_most_cpu_milli(sandbox))
        r = cgroup_set_cpu(cgroups, &sandbox->cgroup, sandbox->cpu_milli, &err);
    if (r < 0)
        sandbox_refuse(sandbox, report_lock_name(JAIL_LOCK_CGROUP), &err);
}

int sandbox_make_soon(struct sandbox *sandbox, const struct proto_create *create, const char **lock,
                      struct error *err)
{
    struct zygote *zygote = pools_zygote(&sandbox->jailer->pools, create);
    if (zygote)
        sandbox->create = malloc(sizeof(*create));
    if (!sandbox->create)
        return sandbox_make(sandbox, create, lock, err);
    *sandbox->create = *create;
    sandbox->zygote = zygote;
    sandbox->again = true;
    int r = sandbox_make(sandbox, create, lock, err);
    if (r >= 0)
        return r;
    zygote_fail(zygote, err->text);
    free(sandbox->create);
    sandbox->create = NULL;
    sandbox->zygote = NULL;
    return sandbox_make(sandbox, create, lock, err);
}

bool sandbox_replace(struct sandbox *sandbox)
{
    struct jailer *jailer = sandbox->jailer;
    struct zygote *zygote = NULL;
    struct sandbox *other = NULL;
    if (!sandbox->again || !sandbox->refused || sandbox->ready_ns > 0 || !sandbox->listener.say ||
        jailer->pools.stopped)
        return false;
    zygote = pools_zygote(&jailer->pools, sandbox->create);
    if (zygote)
        zygote_fail(zygote, sandbox->refusal.text);
    return sandbox_create(jailer, sandbox->create, &sandbox->listener, &other, &sandbox->refusal) >=
           0;
}

int sandbox_create_ahead(struct pool *pool, struct zygote *zygote,
                         const struct proto_create *create, struct error *err)
{
    struct jailer *jailer = pool->jailer;
    const struct sandbox_listener nobody = {0};
    const char *lock = NULL;
    cleanup_free struct sandbox *sandbox = NULL;
    int r = sandbox_new(jailer, create, &nobody, &sandbox, err);
    if (r < 0)
        return r;
    sandbox->pool = pool;
    sandbox->zygote = zygote;
    sandbox->warm = true;
    sandbox->memory_bytes = POOL_MEMORY_BYTES;
    r = sandbox_make(sandbox, create, &lock, err);
    if (r < 0) {
        idmap_release(&jailer->idmap, sandbox->outer_id);
        return error_wrap(err, "lock %s", lock);
    }
    sandbox_enlist(sandbox);
    (void)TAKE_PTR(sandbox);
    return 0;
}

static int set_limits(const struct sandbox *sandbox, const struct proto_create *create,
                      struct error *err)
{
    const struct cgroup_limits now = {.memory_bytes = sandbox->memory_bytes,
                                      .cpu_milli = sandbox->cpu_milli};
    const struct cgroup_limits limits = {.memory_bytes = create->memory_bytes,
                                         .cpu_milli = create->cpu_milli};
    int r = cgroup_change(sandbox->jailer->cgroups, &sandbox->cgroup, &now, &limits, err);
    /* They were made for the most that the profile allows. */
    bool smaller = create->memory_bytes < ceilings_of(create->profile)->memory_bytes;
    for (size_t i = 0; smaller && r >= 0 && i < MOUNTS_TMPFS_COUNT; i++)
        r = mounts_resize(sandbox->place_fds[i], create->memory_bytes, err);
    return r;
}

int sandbox_adopt(struct sandbox *sandbox, const struct proto_create *create,
                  const struct sandbox_listener *listener, struct error *err)
{
    uint64_t now_ns = clock_boottime_ns();
    int r = set_limits(sandbox, create, err);
    sandbox->memory_bytes = create->memory_bytes;
    sandbox->cpu_milli = create->cpu_milli;
    sandbox->jailer->memory_in_use_bytes += sandbox->memory_bytes;
    if (r >= 0)
        r = sandbox_watch_exit(sandbox, sandbox->exit_fd, err);
    if (r < 0) {
        sandbox_end(sandbox, PROTO_END_KILLED);
        return r;
    }
    log_event(LOG_LEVEL_DEBUG, "sandbox taken", LOG_TEXT("sandbox", create->id),
              LOG_TEXT("made_as", sandbox->id));
    memcpy(sandbox->id, create->id, sizeof(sandbox->id));
    sandbox->listener = *listener;
    sandbox->created_ns = now_ns;
    sandbox_close_ahead(sandbox);
    sandbox_arm_deadline(sandbox, now_ns + PROTO_START_WITHIN_MS * NS_PER_MS);
    sandbox_become_ready(sandbox);
    return 0;
}
