/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Theory of operation
 *
 * The jailer is the one privileged process of a node. It makes jails for one agent, an
 * unprivileged process at the other end of a SOCK_SEQPACKET socket, and destroys them. It believes
 * the agent nothing: messages are of fixed size, every field has a range, what is asked for is
 * held against the jailer's own ceilings, and a message that isn't in order ends the connection.
 *
 *   agent <--socket--> jailer --clone3--> process 1 (reaper) --clone--> process 2 (the program)
 *                        |                     |
 *                        |<-- status socket ---|  REPORT_LISTENER with the listener of the
 *                        |                     |  program's filter, REPORT_SEALED, or
 *                        |                     |  REPORT_FAILED; its end after execve() of the
 *                        |                     |  program
 *                        |<-- exit pipe -------|  REPORT_EXITED, the main process's wait status
 *                        |--- lifeline ------->|  never written; its end is the jailer's
 *                        |--- backstop ------->|  a timer behind the deadline, which agent
 *                        |                     |  and jailer set
 *
 * Uids. The jailer is root with the capabilities of caps.c. A sandbox has one uid and gid: outside,
 * in the eyes of the kernel, one that no other live sandbox has (idmap.c); inside 65532, the only
 * one there is (userns.c). Processes 1 and 2 both have it, without any capability.
 *
 * Network. A sandbox of profile ToolCall is cloned only once it has a slot: a network namespace
 * made for it, with rules in force (network.h). Three helpers, forks of the jailer with a few of
 * its capabilities, do what the loop must not wait for:
 *
 *   net    CAP_NET_ADMIN: one nftables table, its elements, tracked connections, sysctls. Loads the
 *          table by nft(8); answers NET_TAKE and NET_RELEASE on the path of a run (net_helper.h)
 *   slots  CAP_NET_ADMIN, CAP_SYS_ADMIN: namespaces and interfaces, ahead of their use
 *          (slot_maker.h)
 *   netns  CAP_SYS_ADMIN: namespaces for sandboxes without network (netns_pool.h)
 *
 * The resolver, an unprivileged process of somebody else's, is told which slots are taken, and asks
 * for the addresses of names that a run's rules allow (resolver_link.h). It only ever narrows what
 * it asks for: the jailer's own list of forbidden ranges is in the table and is looked at first.
 * A node agent's jailer sets all this up at start; one for a single run at the first run that needs
 * it, so that others pay nothing. First a packet is sent the whole way that those of sandboxes go,
 * up to the node's way out: where another firewall drops it, sandboxes get no network
 * (net_probe.h).
 *
 * Namespaces. At start the jailer makes one mount namespace for each runtime, in which that is the
 * read-only root and nothing else exists (template.c). A child is cloned into a new pid
 * namespace, enters the template, takes a private copy of it and makes all other namespaces by
 * itself: what a new network namespace waits for holds up the child, never the loop (namespaces.c).
 *
 * Cgroups. Below a common parent each jailer has a directory jailer-K that it holds a lock on, and
 * in it one cgroup per sandbox (cgroup.h). K also picks the jailer's part of the uid range. So
 * several jailers can work on one machine, and a starting one knows what is left of dead ones.
 * Jailers with differently named parents don't see each other: they need different uid ranges.
 *
 * Descriptors. The jailer makes all pipes and keeps none of those that the program writes to: the
 * agent's ends are sent with PROTO_CREATED and closed here. It receives without room for
 * descriptors. The child closes all that isn't its own before anything else (descriptors.c).
 *
 * Refused system calls. The program's filter sends what its policy reports to a listener, which
 * process 2 hands over through the status socket before it executes the program. Without it a jail
 * isn't ready. The calls wait in the kernel until the loop has counted and answered them, one of
 * each sandbox a turn (notify.c); the counts go into PROTO_FINISHED.
 *
 * Pools. Sandboxes without network are made before their runs are there (pool.h): a jail is sealed,
 * its program says one byte on its standard output, and waits with the request's pipe in its hand.
 * PROTO_CREATE then finds it ready: its limits are written, and its pipes sent, in one turn of the
 * loop. Places are filled again behind the run that took one, one or two at a time.
 *
 * Zygotes. Unless told --pool-mode fresh a pool has an interpreter that has started (zygote.h), and
 * what is made ahead is a copy of it: it clones process 1 into a new pid namespace, as a child of
 * the jailer's, and that sets the same locks; process 2 is its fork, and goes on in the interpreter
 * where others are executed (node-agent/zygote/module.c). The jailer hears of process 1 by
 * REPORT_BORN. Namespaces and mounts of such a sandbox belong to a user namespace of the zygote's
 * and its children's (family.h). A run that finds its pool empty is forked too. Where there is no
 * zygote, or what it forks fails, interpreters start afresh.
 *
 * Order of the locks: child.c. A lock that can't be set is reported by name and ends the jail.
 *
 * One at a time. A node agent's jailer has the lock of its spool for as long as it works
 * (standby.h). The next Pod's one waits for it, and tells its agent so.
 *
 * Told to stop (SIGTERM) while it serves an agent, it tells the agent so, makes nothing new, and
 * stops when the agent has let its runs end and has left, or when whoever told it loses patience.
 *
 * Preconditions. A node agent's jailer looks at all of them before it starts (checks.h), and tells
 * each agent what it found. Where something is missing it serves all the same, so that the agent
 * can say why the node isn't ready, but makes no jail (unfit.c). `--check` looks, tells and ends.
 *
 * When parts die:
 *   the program     process 1 reports its status and ends; the kernel kills what is left of the
 *                   pid namespace before the jailer can reap process 1
 *   process 1       the same, without a report
 *   the jailer      process 1 gets SIGKILL (parent death signal) and sees its lifeline end; a call
 *                   that waits for an answer gets ENOSYS from the kernel; the cgroups that stay
 *                   are swept by the next jailer
 *   the jailer's own time, because it is stopped
 *                   process 1 ends 3 s after the deadline, by the backstop
 *   the agent       the connection ends, and with it every sandbox made for it
 *   the helper net  no further sandbox gets a network until a new one has started, which waits for
 *                   the last that has one; those keep their rules, which are the kernel's
 *   the helper slots  is started again
 *   a zygote        what it was forking is made afresh; it is started again after a while
 *   the resolver    names of sandboxes that run are not found any more; no further one gets a
 *                   network until it is back
 *   the jailer's end, for the helper net: it waits until the last slot is gone, puts sysctls back
 *                   and removes its table
 *   the deadline, the memory limit, a system call that ends the run, a kill: the jailer kills
 *                   process 1
 * In each case the cgroup is removed next, which the kernel refuses as long as a process is in it,
 * and only then the agent is told.
 *
 * The loop (events.c) serves the socket, pidfds, pipes, one timer and a signal descriptor. It
 * makes no call that waits for a grace period, for the network's lock or for another process.
 */
#include "common/cleanup.h"
#include "common/log.h"
#include "node-agent/jailer/caps.h"
#include "node-agent/jailer/ceilings.h"
#include "node-agent/jailer/check.h"
#include "node-agent/jailer/checks.h"
#include "node-agent/jailer/host.h"
#include "node-agent/jailer/jailer.h"
#include "node-agent/jailer/landlock.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/listen.h"
#include "node-agent/jailer/net/nft_load.h"
#include "node-agent/jailer/network.h"
#include "node-agent/jailer/notify.h"
#include "node-agent/jailer/options.h"
#include "node-agent/jailer/prefetch.h"
#include "node-agent/jailer/sandbox.h"
#include "node-agent/jailer/server.h"
#include "node-agent/jailer/standby.h"
#include "node-agent/jailer/template.h"
#include "node-agent/jailer/unfit.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#define EXIT_USAGE 2

struct program {
    struct options options;
    struct jailer jailer;
    struct server server;
    struct prefetch prefetch;
    struct event_source signals;
    struct zygote_options zygotes;
    struct checks checks; /* none at the start of a single run, unless that fails */
    int lock_fd;          /* of the node's spool; -1: none */
    bool failed;          /* what was asked for was done, and its answer is no */
};

static void on_signal(uint32_t events, void *arg)
{
    (void)events;
    struct program *program = arg;
    struct signalfd_siginfo info;
    if (read(program->signals.fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return;
    log_event(LOG_LEVEL_INFO, "told to stop", LOG_NUMBER("signal", info.ssi_signo),
              LOG_NUMBER("sandboxes", program->jailer.sandbox_count));
    server_leave(&program->server);
}

/* A local agent and its jailer share a terminal: there its ^C is the agent's business. */
static int watch_signals(struct program *program, struct error *err)
{
    sigset_t mask, watched;
    (void)sigemptyset(&mask);
    (void)sigaddset(&mask, SIGTERM);
    watched = mask;
    (void)sigaddset(&mask, SIGINT);
    (void)sigaddset(&mask, SIGHUP);
    if (program->options.fd < 0)
        watched = mask;
    /* SIGPIPE would end the jailer when a peer leaves: sends say MSG_NOSIGNAL, a log pipe can't. */
    (void)sigaddset(&mask, SIGPIPE);
    if (sigprocmask(SIG_SETMASK, &mask, NULL) < 0)
        return error_set_errno(err, errno, "block signals");
    int fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return error_set_errno(err, errno, "open a signal descriptor");
    int r = events_add(&program->jailer.events, &program->signals, fd, EPOLLIN, on_signal, program);
    if (r < 0) {
        (void)fd_close(fd);
        return error_set_errno(err, -r, "watch signals");
    }
    return 0;
}

static int open_loop(struct program *program, struct error *err)
{
    struct jailer *jailer = &program->jailer;
    jailer->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (jailer->proc_fd < 0)
        return error_set_errno(err, errno, "open /proc");
    int r = events_init(&jailer->events, err);
    if (r >= 0)
        r = deadlines_init(&jailer->deadlines, &jailer->events, err);
    if (r >= 0)
        r = watch_signals(program, err);
    if (r >= 0)
        netns_pool_init(&jailer->netns, &jailer->events, jailer->proc_fd);
    if (r >= 0)
        network_init(&jailer->network, &jailer->events, &jailer->deadlines, jailer->proc_fd);
    return r;
}

static void on_pools_changed(void *arg)
{
    struct program *program = arg;
    server_say_pools(&program->server);
}

/* Of each zygote the uid, and the gid of all. */
static uint32_t zygote_ids(const struct program *program)
{
    return program->options.forks ? (uint32_t)program->jailer.runtimes.count + 1 : 0;
}

/* Their memory and ids are the node's too: one that is too small for them does without. */
static void plan_zygotes(struct program *program)
{
    struct jailer *jailer = &program->jailer;
    struct options *options = &program->options;
    uint64_t children = options->max_runs + options->pool_max * jailer->runtimes.count;
    uint64_t each = ZYGOTE_MEMORY_BYTES + children * ZYGOTE_CHILD_MEMORY_BYTES;
    uint64_t all = jailer->runtimes.count * each;
    bool fits = all <= jailer->memory_capacity_bytes / MAX_POOL_SHARE &&
                options->uid_count / MAX_UID_PARTS > options->max_runs + zygote_ids(program);
    if (options->pool_max == 0)
        options->forks = false;
    if (!options->forks)
        return;
    if (!fits) {
        log_event(LOG_LEVEL_WARN, "sandboxes can't be forked here, all start afresh",
                  LOG_TEXT("error", "the node has too little memory or too few uids for zygotes"),
                  LOG_NUMBER("zygote_bytes", (long long)all),
                  LOG_NUMBER("memory_bytes", (long long)jailer->memory_capacity_bytes),
                  LOG_NUMBER("max_runs", options->max_runs),
                  LOG_NUMBER("uid_count", options->uid_count));
        options->forks = false;
        return;
    }
    jailer->memory_capacity_bytes -= all;
    program->zygotes = (struct zygote_options){.modules = options->zygote_modules,
                                               .max_forks = options->zygote_forks,
                                               .memory_bytes = each};
}

/* What waits takes its places, uids and memory from the node: a small one has fewer. */
static void plan_pools(struct program *program)
{
    struct jailer *jailer = &program->jailer;
    const struct options *options = &program->options;
    uint64_t runtimes = jailer->runtimes.count > 0 ? jailer->runtimes.count : 1;
    uint64_t room = jailer->memory_capacity_bytes / MAX_POOL_SHARE / POOL_MEMORY_BYTES / runtimes;
    uint64_t uids = options->uid_count / MAX_UID_PARTS - zygote_ids(program);
    uint64_t most = uids < MAX_SANDBOXES ? uids : MAX_SANDBOXES;
    uint64_t places = most > options->max_runs ? (most - options->max_runs) / runtimes : 0;
    uint64_t max = options->pool_max;
    max = max < room ? max : room;
    max = max < places ? max : places;
    if (max < options->pool_max)
        log_event(LOG_LEVEL_WARN, "fewer sandboxes can be made ahead than asked for",
                  LOG_NUMBER("pool_max", options->pool_max), LOG_NUMBER("possible", (long long)max),
                  LOG_NUMBER("memory_bytes", (long long)jailer->memory_capacity_bytes),
                  LOG_NUMBER("max_runs", options->max_runs),
                  LOG_NUMBER("uid_count", options->uid_count));
    uint32_t min = options->pool_min < max ? options->pool_min : (uint32_t)max;
    pools_init(&jailer->pools, jailer, min, (uint32_t)max, on_pools_changed, program);
    jailer->memory_capacity_bytes -= pools_max(&jailer->pools) * POOL_MEMORY_BYTES;
}

static int prepare_zygotes(struct program *program, struct error *err)
{
    struct jailer *jailer = &program->jailer;
    if (!program->options.forks)
        return 0;
    if (idmap_take(&jailer->idmap, &program->zygotes.gid) < 0)
        return error_set(err, ENOSPC, "there is no gid left for zygotes");
    int r = cgroup_admit_group(jailer->cgroups, program->zygotes.gid, err);
    if (r >= 0)
        pools_prepare_zygotes(&jailer->pools, &program->zygotes);
    return r;
}

static int open_cgroups(struct program *program, struct error *err)
{
    struct jailer *jailer = &program->jailer;
    const struct options *options = &program->options;
    jailer->cpu_capacity_milli =
        options->cpu_capacity_milli ? options->cpu_capacity_milli : host_cpu_milli();
    const struct cgroup_options cgroup_options = {
        .parent = options->cgroup_parent,
        .cpu_milli = jailer->cpu_capacity_milli,
    };
    int r = cgroup_system_open(jailer->proc_fd, &cgroup_options, &jailer->cgroups, err);
    if (r < 0)
        return r;
    jailer->memory_capacity_bytes =
        options->memory_capacity_bytes
            ? options->memory_capacity_bytes
            : host_memory_bytes(cgroup_system_memory_limit(jailer->cgroups));
    jailer->max_runs = options->max_runs;
    plan_zygotes(program);
    plan_pools(program);
    return idmap_init(&jailer->idmap, options->uid_base, options->uid_count,
                      cgroup_system_uid_part(jailer->cgroups), MAX_UID_PARTS,
                      options->max_runs + pools_max(&jailer->pools) + zygote_ids(program), err);
}

/* What can be told without trying; -errno with what there is no ToolCall for. */
static int look_at_network(const struct options *options, struct error *err)
{
    if (!options->resolver_socket && options->resolver_fd < 0)
        return error_set(err, EOPNOTSUPP, "its jailer was given no resolver");
    if (!caps_has_number(CAP_NET_ADMIN))
        return error_set(err, EPERM, "its jailer has no CAP_NET_ADMIN");
    if (!nft_load_find())
        return error_set(err, ENOENT, "there is no nft: the package nftables is missing");
    return 0;
}

static int configure_network(struct program *program, struct error *err)
{
    const struct options *options = &program->options;
    struct network *network = &program->jailer.network;
    bool single = options->fd >= 0;
    struct network_options wanted = {
        .slot_count = single ? DEFAULT_LOCAL_SLOTS : 2 * options->max_runs,
        .ahead = options->slots,
        .range4 = options->slot_range,
        .range6 = options->slot_range6,
        .forbidden_count = options->forbidden_count,
        .shared = single,
    };
    memcpy(wanted.forbidden, options->forbidden, sizeof(wanted.forbidden));
    if (wanted.slot_count < wanted.ahead)
        wanted.slot_count = wanted.ahead;
    int r = network_configure(network, cgroup_system_slot(program->jailer.cgroups), &wanted, err);
    if (r >= 0 && options->resolver_fd >= 0)
        return network_adopt_resolver(network, options->resolver_fd, err);
    if (r >= 0)
        r = network_listen_resolver(network, options->resolver_socket, options->resolver_uid, err);
    /* A single run's jailer starts it at the first run that needs it. */
    return r < 0 || single ? r : network_start_and_wait(network, err);
}

static const struct check_kind start_check = {
    "network.start", PROTO_RECOMMENDED,
    "without it the node takes no runs of profile ToolCall; start its jailer anew when it is "
    "mended"};

/* A node where it fails serves Snippet alone. */
static void open_network(struct program *program)
{
    struct network *network = &program->jailer.network;
    const struct options *options = &program->options;
    struct error why;
    if (look_at_network(options, &why) < 0) {
        network_forbid(network, &why);
        return;
    }
    if (configure_network(program, &why) >= 0)
        return;
    network_forbid(network, &why);
    log_event(LOG_LEVEL_WARN, "profile ToolCall is not offered", LOG_TEXT("error", why.text));
    if (options->socket_path)
        check_add(&program->checks, &start_check, PROTO_OUTCOME_FAILED, "%s", why.text);
}

static int make_templates(struct program *program, struct error *err)
{
    struct jailer *jailer = &program->jailer;
    int r = runtimes_scan(program->options.runtimes_dir, &jailer->runtimes, err);
    for (size_t i = 0; i < jailer->runtimes.count && r >= 0; i++)
        r = template_make(jailer->proc_fd, &jailer->runtimes.entries[i], err);
    return r;
}

/* All that needs more rights or time than the loop has. */
static int prepare(struct program *program, struct error *err)
{
    struct jailer *jailer = &program->jailer;
    const struct options *options = &program->options;
    bool at_root = !cgroup_parent_is_self(options->cgroup_parent);
    int r = host_check(at_root, err);
    if (r >= 0)
        r = caps_last(jailer->proc_fd, &jailer->last_capability, err);
    if (r >= 0)
        r = notify_check(err);
    if (r >= 0)
        r = landlock_look_up(&jailer->landlock_abi, err);
    if (r >= 0)
        r = idmap_check_host(jailer->proc_fd, options->uid_base, options->uid_count, err);
    if (r >= 0 && options->spool_dir)
        r = listen_make_spool(options->spool_dir, options->peer_uid, err);
    if (r >= 0)
        r = make_templates(program, err);
    if (r >= 0)
        r = open_cgroups(program, err);
    if (r >= 0)
        r = host_raise_nofile(options->max_runs + pools_max(&jailer->pools), err);
    if (r >= 0)
        r = caps_restrict(jailer->last_capability, at_root, err);
    if (r >= 0)
        r = prepare_zygotes(program, err);
    if (r >= 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        r = error_set_errno(err, errno, "clear the dumpable bit");
    return r;
}

static int open_server(struct program *program, struct error *err)
{
    const struct options *options = &program->options;
    struct jailer *jailer = &program->jailer;
    open_network(program);
    pools_start(&jailer->pools);
    if (options->fd >= 0) {
        if (fcntl(options->fd, F_SETFD, FD_CLOEXEC) < 0)
            return error_set_errno(err, errno, "--fd %d", options->fd);
        return server_adopt(&program->server, options->fd, err);
    }
    int r = prefetch_start(&program->prefetch, &jailer->events, &jailer->runtimes, err);
    if (r >= 0)
        r = server_listen(&program->server, options->socket_path, options->peer_uid, err);
    if (r >= 0)
        server_serve(&program->server);
    return r;
}

static void log_start(const struct program *program)
{
    const struct jailer *jailer = &program->jailer;
    if (jailer->landlock_abi == 0)
        log_event(LOG_LEVEL_WARN,
                  "sandboxes have no Landlock: the kernel has none, has it switched "
                  "off (lsm=), or is older than 5.19");
    log_event(LOG_LEVEL_INFO, "ready", LOG_TEXT("version", SANDBOXRUN_VERSION),
              LOG_NUMBER("cgroup_version", cgroup_system_version(jailer->cgroups)),
              LOG_TEXT("cgroup_parent", program->options.cgroup_parent),
              LOG_NUMBER("slot", cgroup_system_slot(jailer->cgroups)),
              LOG_NUMBER("landlock_abi", jailer->landlock_abi),
              LOG_NUMBER("runtimes", (long long)jailer->runtimes.count),
              LOG_NUMBER("uid_base", jailer->idmap.base), LOG_NUMBER("max_runs", jailer->max_runs),
              LOG_NUMBER("memory_bytes", (long long)jailer->memory_capacity_bytes),
              LOG_NUMBER("cpu_milli", (long long)jailer->cpu_capacity_milli));
}

static int tell_checks(struct program *program, struct error *err)
{
    checks_run(program->jailer.proc_fd, &program->options, &program->checks);
    program->failed = !checks_are_met(&program->checks);
    return checks_send(&program->checks, program->options.fd, err);
}

/* Looks at everything first where there is time for it: not at the start of a single run. Before
 * that it waits for whoever works for the same spool. */
static int start(struct program *program, struct error *err)
{
    if (program->options.socket_path && program->options.spool_dir) {
        int r = standby_wait(&program->server, &program->options, &program->lock_fd, err);
        if (r < 0 || program->lock_fd < 0)
            return r;
    }
    if (program->options.socket_path) {
        checks_run(program->jailer.proc_fd, &program->options, &program->checks);
        program->server.checks = &program->checks;
    }
    int r = checks_require(&program->checks, err);
    if (r >= 0)
        r = prepare(program, err);
    return r < 0 ? r : open_server(program, err);
}

static int serve(struct program *program, struct error *err)
{
    int r = host_fill_standard_fds(err);
    if (r >= 0)
        r = host_reset_inherited(err);
    if (r >= 0)
        r = open_loop(program, err);
    if (r < 0)
        return r;
    if (program->options.check)
        return tell_checks(program, err);
    r = start(program, err);
    if (r < 0 && program->options.socket_path) {
        struct error cause = *err;
        return unfit_serve(&program->server, &program->options, &program->checks, &cause, err);
    }
    if (r < 0) {
        checks_run(program->jailer.proc_fd, &program->options, &program->checks);
        return r;
    }
    if (server_is_done(&program->server))
        return 0; /* told so while it stood by */
    checks_log(&program->checks);
    log_start(program);
    while (r >= 0 && !server_is_done(&program->server)) {
        r = events_turn(&program->jailer.events, err);
        sandbox_collect(&program->jailer);
    }
    return r;
}

static void close_all(struct program *program)
{
    struct jailer *jailer = &program->jailer;
    prefetch_stop(&program->prefetch);
    if (program->server.listen_fd >= 0)
        (void)unlink(program->options.socket_path);
    server_done(&program->server);
    pools_done(&jailer->pools);
    netns_pool_done(&jailer->netns);
    network_done(&jailer->network);
    cgroup_system_close(jailer->cgroups);
    runtimes_done(&jailer->runtimes);
    (void)fd_close(events_remove(&jailer->events, &program->signals));
    deadlines_done(&jailer->deadlines);
    events_done(&jailer->events);
    jailer->proc_fd = fd_close(jailer->proc_fd);
    /* Last: the next one begins with this. */
    program->lock_fd = fd_close(program->lock_fd);
}

static void log_failure(const struct program *program, const struct error *err)
{
    char missing[1024];
    checks_name_failed(&program->checks, missing, sizeof(missing));
    log_event(LOG_LEVEL_ERROR, "can't serve", LOG_TEXT("error", err->text),
              LOG_TEXT("missing", missing[0] ? missing : NULL));
}

int main(int argc, char *argv[])
{
    static struct program program = {
        .jailer = {.proc_fd = -1, .events = {.epoll_fd = -1}, .deadlines.source.fd = -1},
        .prefetch.source.fd = -1,
        .signals.fd = -1,
        .lock_fd = -1,
    };
    struct error err = {0};
    int action = options_parse(argc, argv, &program.options, &err);
    if (action < 0) {
        (void)fprintf(stderr, "sandboxrun-jailer: %s\n", err.text);
        return EXIT_USAGE;
    }
    if (action != OPTIONS_RUN) {
        (void)fputs(action == OPTIONS_HELP ? options_help
                                           : "sandboxrun-jailer " SANDBOXRUN_VERSION "\n",
                    stdout);
        return EXIT_SUCCESS;
    }
    log_init("jailer", program.options.log_level, program.options.log_format);
    server_init(&program.server, &program.jailer);
    int r = serve(&program, &err);
    if (r < 0)
        log_failure(&program, &err);
    close_all(&program);
    return r < 0 || program.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
