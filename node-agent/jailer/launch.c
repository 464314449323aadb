/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/launch.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/jailer/ceilings.h"
#include "node-agent/jailer/child.h"
#include "node-agent/jailer/namespaces.h"
#include "node-agent/jailer/zygote.h"
#include "seccomp/seccomp_policies.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

/* By profile. */
static const struct {
    const struct seccomp_policy *policy;
    bool network;
} profiles[] = {
    {&seccomp_policy_snippet, false},
    {&seccomp_policy_tool_call, true},
};

void launch_close(struct launch *launch)
{
    launch->pidfd = fd_close(launch->pidfd);
    launch->status_fd = fd_close(launch->status_fd);
    launch->exit_fd = fd_close(launch->exit_fd);
    launch->lifeline_fd = fd_close(launch->lifeline_fd);
    launch->backstop_fd = fd_close(launch->backstop_fd);
    for (size_t i = 0; i < PROTO_CREATED_FDS; i++)
        launch->agent_fds[i] = fd_close(launch->agent_fds[i]);
}

/* Both ends; the one that the jailer (or the agent, through it) uses does not block. */
static int make_pipe(const char *name, int *ret_read, int *ret_write, int *nonblocking,
                     struct error *err)
{
    int fds[2];
    int r = fd_pipe(fds, 0);
    if (r < 0)
        return error_set_errno(err, -r, "make the pipe for %s", name);
    *ret_read = fds[0];
    *ret_write = fds[1];
    r = nonblocking ? fd_set_nonblock(*nonblocking, true) : 0;
    return r < 0 ? error_set_errno(err, -r, "make the pipe for %s nonblocking", name) : 0;
}

/* A socket and no pipe, for the descriptor that comes with one of the reports. */
static int make_status(int *ret_ours, int *ret_childs, struct error *err)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        return error_set_errno(err, errno, "make the status socket");
    *ret_ours = fds[0];
    *ret_childs = fds[1];
    return 0;
}

/* One timer for all three: agent and jailer set it, and process 1 ends when it expires. */
static int make_backstop(int *ret_ours, int *ret_agents, struct error *err)
{
    *ret_ours = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (*ret_ours >= 0)
        *ret_agents = fcntl(*ret_ours, F_DUPFD_CLOEXEC, 0);
    return *ret_ours < 0 || *ret_agents < 0
               ? error_set_errno(err, errno, "make the timer behind the deadline")
               : 0;
}

static int make_pipes(struct launch *launch, struct jail_spec *spec, struct error *err)
{
    int *fds = spec->fds;
    int *agent = launch->agent_fds;
    int r = make_status(&launch->status_fd, &fds[JAIL_FD_STATUS], err);
    if (r >= 0)
        r = make_pipe("the exit status", &launch->exit_fd, &fds[JAIL_FD_EXIT], &launch->exit_fd,
                      err);
    if (r >= 0)
        r = make_pipe("the lifeline", &fds[JAIL_FD_LIFELINE], &launch->lifeline_fd, NULL, err);
    if (r >= 0)
        r = make_backstop(&launch->backstop_fd, &agent[PROTO_FD_BACKSTOP], err);
    fds[JAIL_FD_BACKSTOP] = launch->backstop_fd;
    if (r >= 0)
        r = make_pipe("the request", &fds[JAIL_FD_REQUEST], &agent[PROTO_FD_REQUEST],
                      &agent[PROTO_FD_REQUEST], err);
    if (r >= 0)
        r = make_pipe("stdout", &agent[PROTO_FD_STDOUT], &fds[JAIL_FD_STDOUT],
                      &agent[PROTO_FD_STDOUT], err);
    if (r >= 0)
        r = make_pipe("stderr", &agent[PROTO_FD_STDERR], &fds[JAIL_FD_STDERR],
                      &agent[PROTO_FD_STDERR], err);
    return r;
}

/* Or the program could not open its own /dev/stdout again. */
static int give_pipes(const struct jail_spec *spec, struct error *err)
{
    static const enum jail_fd given[] = {JAIL_FD_REQUEST, JAIL_FD_STDOUT, JAIL_FD_STDERR};
    for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
        if (fchown(spec->fds[given[i]], spec->outer_id, spec->outer_id) < 0)
            return error_set_errno(err, errno, "give a pipe to uid %u", spec->outer_id);
    }
    return 0;
}

static void close_childs(struct jail_spec *spec)
{
    for (size_t i = 0; i < JAIL_FD_COUNT; i++) {
        /* These are the jailer's own, the first two for all jails. */
        if (i != JAIL_FD_MOUNT_NS && i != JAIL_FD_PROC && i != JAIL_FD_BACKSTOP)
            spec->fds[i] = fd_close(spec->fds[i]);
    }
    for (size_t i = 0; i < spec->tasks_count; i++)
        spec->tasks_fds[i] = fd_close(spec->tasks_fds[i]);
}

/* A sandbox that is to have a network never makes its own namespace: it would have none. */
static int plan_network(struct jailer *jailer, bool network, struct network_lease *lease,
                        struct jail_spec *spec, struct error *err)
{
    if (!network) {
        spec->fds[JAIL_FD_NET_NS] = netns_pool_take(&jailer->netns);
        return 0;
    }
    struct ip_address gateway;
    char text[IP_ADDRESS_TEXT_SIZE];
    spec->fds[JAIL_FD_NET_NS] = lease ? network_lease_take_fd(lease) : -1;
    if (spec->fds[JAIL_FD_NET_NS] < 0)
        return error_set(err, EINVAL, "there is no network slot for this sandbox");
    network_lease_gateway(lease, &gateway);
    ip_address_print(&gateway, text);
    mounts_plan_resolver(&spec->mounts, text);
    return 0;
}

static int plan(struct jailer *jailer, const struct proto_create *create, uid_t outer_id,
                const struct zygote *zygote, struct network_lease *lease, struct jail_spec *spec,
                struct error *err)
{
    const struct runtime *runtime = runtimes_find(&jailer->runtimes, create->runtime);
    const struct ceiling *ceiling = ceilings_of(create->profile);
    if (!runtime || !ceiling || create->profile >= ARRAY_SIZE(profiles))
        return error_set(err, EINVAL, "there is no such runtime or profile");
    spec->fds[JAIL_FD_MOUNT_NS] = zygote ? zygote->family.mount_ns_fd : runtime->mount_ns_fd;
    spec->fds[JAIL_FD_PROC] = jailer->proc_fd;
    spec->outer_id = outer_id;
    spec->last_capability = jailer->last_capability;
    mounts_plan(&spec->mounts, create->memory_bytes, outer_id);
    rlimits_plan(&spec->rlimits, ceiling->memory_bytes, ceiling->pids);
    landlock_plan(&spec->landlock, jailer->landlock_abi, profiles[create->profile].network);
    spec->payload_policy = profiles[create->profile].policy;
    spec->reaper_policy = &seccomp_policy_reaper;
    /* The network namespaces made ahead are the host's, which what is forked has no right to. */
    if (zygote)
        return 0;
    return plan_network(jailer, profiles[create->profile].network, lease, spec, err);
}

static int start(struct jailer *jailer, const struct cgroup *cgroup, struct zygote *zygote,
                 struct jail_spec *spec, struct launch *launch, enum jail_lock *lock,
                 struct error *err)
{
    cleanup_close int clone_fd = -1;
    *lock = JAIL_LOCK_CGROUP;
    int r = cgroup_open_entrance(jailer->cgroups, cgroup, &clone_fd, spec->tasks_fds,
                                 &spec->tasks_count, err);
    if (r < 0)
        return r;
    *lock = JAIL_LOCK_NAMESPACES;
    if (zygote)
        return zygote_ask(zygote, cgroup, spec, clone_fd, err);
    pid_t pid = namespaces_clone(clone_fd, &launch->pidfd);
    if (pid == 0)
        child_run(spec);
    return pid < 0 ? error_set_errno(err, -pid, "clone process 1 into a new pid namespace") : 0;
}

int launch_jail(struct jailer *jailer, const struct proto_create *create, uid_t outer_id,
                const struct cgroup *cgroup, struct network_lease *lease,
                const struct launch_kind *kind, struct launch *ret_launch, enum jail_lock *ret_lock,
                struct error *err)
{
    struct launch launch = LAUNCH_INIT;
    struct jail_spec spec = {.shows_places = kind->shows_places};
    payload_plan(&spec.payload, kind->waits);
    for (size_t i = 0; i < JAIL_FD_COUNT; i++)
        spec.fds[i] = -1;

    *ret_lock = JAIL_LOCK_DESCRIPTORS;
    int r = plan(jailer, create, outer_id, kind->zygote, lease, &spec, err);
    if (r >= 0)
        r = make_pipes(&launch, &spec, err);
    if (r >= 0)
        r = give_pipes(&spec, err);
    if (r >= 0)
        r = start(jailer, cgroup, kind->zygote, &spec, &launch, ret_lock, err);
    close_childs(&spec);
    if (r < 0) {
        launch_close(&launch);
        return r;
    }
    launch.policy = spec.payload_policy;
    *ret_launch = launch;
    return 0;
}
