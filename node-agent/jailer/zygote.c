/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/zygote.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "node-agent/jailer/ceilings.h"
#include "node-agent/jailer/fork_request.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/pool_plan.h"
#include "node-agent/jailer/sandbox.h"
#include "node-agent/jailer/zygote_exec.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define NS_PER_MS UINT64_C(1000000)

/* Of what a zygote has said before it died; the end of it, where Python names the error. */
#define MAX_OUTPUT 4096

static void on_deadline(void *arg);

static void arm(struct zygote *zygote, uint64_t ms)
{
    deadline_arm(&zygote->jailer->deadlines, &zygote->deadline,
                 clock_boottime_ns() + ms * NS_PER_MS, on_deadline, zygote);
}

static void kill_now(const struct zygote *zygote)
{
    if (zygote->pidfd.fd >= 0)
        (void)pidfd_send_signal(zygote->pidfd.fd, SIGKILL, NULL, 0);
}

/* Sandboxes start fresh from here on; said once, however often it is tried in vain. */
static void go_down(struct zygote *zygote, const char *why)
{
    zygote->failures++;
    zygote->state = ZYGOTE_DOWN;
    uint32_t wait_ms = pool_plan_backoff_ms(zygote->failures);
    log_event(zygote->failures == 1 ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG,
              "sandboxes are not forked for now, those that are made ahead start afresh",
              LOG_TEXT("runtime", zygote->runtime->name), LOG_TEXT("error", why),
              LOG_NUMBER("again_ms", wait_ms));
    kill_now(zygote);
    arm(zygote, wait_ms);
    zygote->changed(zygote->arg);
}

/* The last line of what it said. */
static void read_output(const struct zygote *zygote, char ret_text[static MAX_OUTPUT])
{
    ssize_t n = read(zygote->output_fd, ret_text, MAX_OUTPUT - 1);
    ret_text[n > 0 ? n : 0] = '\0';
    size_t len = strlen(ret_text);
    while (len > 0 && ret_text[len - 1] == '\n')
        ret_text[--len] = '\0';
    const char *line = strrchr(ret_text, '\n');
    if (line)
        memmove(ret_text, line + 1, strlen(line + 1) + 1);
}

static bool remove_cgroup(struct zygote *zygote)
{
    if (!zygote->has_cgroup)
        return true;
    if (cgroup_destroy(zygote->jailer->cgroups, &zygote->cgroup) < 0) {
        cgroup_kill(zygote->jailer->cgroups, &zygote->cgroup);
        return false;
    }
    zygote->has_cgroup = false;
    return true;
}

static void forget_process(struct zygote *zygote)
{
    struct events *events = &zygote->jailer->events;
    (void)fd_close(events_remove(events, &zygote->pidfd));
    (void)fd_close(events_remove(events, &zygote->socket));
    zygote->output_fd = fd_close(zygote->output_fd);
    if (zygote->uid > 0)
        idmap_release(&zygote->jailer->idmap, zygote->uid);
    zygote->uid = 0;
    (void)remove_cgroup(zygote);
}

static void on_pidfd(uint32_t events, void *arg)
{
    (void)events;
    struct zygote *zygote = arg;
    char text[MAX_OUTPUT];
    siginfo_t info = {0};
    if (waitid(P_PIDFD, (id_t)zygote->pidfd.fd, &info, WEXITED | WNOHANG) < 0 || info.si_pid == 0)
        return;
    read_output(zygote, text);
    forget_process(zygote);
    if (zygote->state == ZYGOTE_RETIRING)
        zygote_start(zygote);
    else if (zygote->state == ZYGOTE_STARTING || zygote->state == ZYGOTE_READY)
        go_down(zygote, text[0] ? text : "the zygote ended");
}

static void on_socket(uint32_t events, void *arg)
{
    (void)events;
    struct zygote *zygote = arg;
    char bytes[2];
    ssize_t n = recv(zygote->socket.fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n == 1 && bytes[0] == FORK_READY && zygote->state == ZYGOTE_STARTING) {
        zygote->state = ZYGOTE_READY;
        arm(zygote, ZYGOTE_AGE_MS);
        log_event(LOG_LEVEL_DEBUG, "zygote ready", LOG_TEXT("runtime", zygote->runtime->name),
                  LOG_NUMBER("pid", zygote->pid));
        zygote->changed(zygote->arg);
        return;
    }
    if (n < 0 && errno == EAGAIN)
        return;
    /* At its end the pidfd has the rest to say. */
    (void)fd_close(events_remove(&zygote->jailer->events, &zygote->socket));
    if (n > 0)
        zygote_fail(zygote, "the zygote said what it should not");
}

static void retire(struct zygote *zygote)
{
    zygote->state = ZYGOTE_RETIRING;
    deadline_disarm(&zygote->jailer->deadlines, &zygote->deadline);
    if (zygote->pending == 0)
        kill_now(zygote);
}

static void on_deadline(void *arg)
{
    struct zygote *zygote = arg;
    if (zygote->state == ZYGOTE_DOWN || zygote->state == ZYGOTE_RETIRING)
        zygote_start(zygote);
    else if (zygote->state == ZYGOTE_STARTING)
        go_down(zygote, "the zygote did not become ready in time");
    else if (zygote->state == ZYGOTE_READY)
        retire(zygote);
}

struct ends {
    int socks[2];
    int output[2];
};

static void close_ends(struct ends *ends)
{
    for (size_t i = 0; i < 2; i++) {
        ends->socks[i] = fd_close(ends->socks[i]);
        ends->output[i] = fd_close(ends->output[i]);
    }
}

static int open_ends(struct ends *ends, struct error *err)
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends->socks) < 0)
        return error_set_errno(err, errno, "make its socket");
    int r = fd_pipe(ends->output, 0);
    if (r >= 0)
        r = fd_set_nonblock(ends->output[0], true);
    return r < 0 ? error_set_errno(err, -r, "make the pipe for its output") : 0;
}

static int make_cgroup(struct zygote *zygote, struct error *err)
{
    struct jailer *jailer = zygote->jailer;
    char name[PROTO_ID_SIZE];
    const struct cgroup_limits limits = {
        .memory_bytes = zygote->options->memory_bytes,
        .cpu_milli = (uint32_t)jailer->cpu_capacity_milli,
        .pids = MAX_ZYGOTE_PIDS,
    };
    (void)snprintf(name, sizeof(name), "zygote-%u", zygote->number);
    int r = cgroup_create(jailer->cgroups, name, &limits, &zygote->cgroup, err);
    zygote->has_cgroup = r >= 0;
    return r;
}

/* Each version's way to put oneself into a cgroup. */
static int open_entrance(struct zygote *zygote, struct zygote_plan *plan, struct error *err)
{
    cleanup_close int clone_fd = -1;
    int r = cgroup_open_entrance(zygote->jailer->cgroups, &zygote->cgroup, &clone_fd,
                                 plan->entrance_fds, &plan->entrance_count, err);
    if (r < 0 || clone_fd < 0)
        return r;
    plan->entrance_fds[0] = openat(clone_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    plan->entrance_count = plan->entrance_fds[0] < 0 ? 0 : 1;
    return plan->entrance_count == 0 ? error_set_errno(err, errno, "open cgroup.procs") : 0;
}

static int start_process(struct zygote *zygote, const struct ends *ends, struct error *err)
{
    struct jailer *jailer = zygote->jailer;
    const struct ceiling *ceiling = ceilings_of(0);
    struct zygote_plan plan = {.family = zygote->family,
                               .uid = zygote->uid,
                               .gid = zygote->options->gid,
                               .proc_fd = jailer->proc_fd,
                               .sock = ends->socks[1],
                               .output_fd = ends->output[1]};
    rlimits_plan(&plan.rlimits, ceiling->memory_bytes, ceiling->pids);
    int r = open_entrance(zygote, &plan, err);
    pid_t pid = r < 0 ? -1 : fork();
    if (pid == 0)
        zygote_exec(&plan);
    int failure = errno;
    for (size_t i = 0; i < plan.entrance_count; i++)
        (void)fd_close(plan.entrance_fds[i]);
    if (r >= 0 && pid < 0)
        r = error_set_errno(err, failure, "fork");
    if (r < 0)
        return r;
    int pidfd = pidfd_open(pid, 0);
    r = pidfd < 0 ? -errno : 0;
    if (r >= 0)
        r = events_add(&jailer->events, &zygote->pidfd, pidfd, EPOLLIN, on_pidfd, zygote);
    if (r < 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        (void)fd_close(pidfd);
        return error_set_errno(err, -r, "watch the zygote");
    }
    zygote->pid = pid;
    return 0;
}

static int start(struct zygote *zygote, struct ends *ends, struct error *err)
{
    const char *modules = zygote->options->modules;
    int r = idmap_take(&zygote->jailer->idmap, &zygote->uid);
    if (r < 0)
        return error_set_errno(err, -r, "take a uid");
    r = make_cgroup(zygote, err);
    if (r >= 0)
        r = open_ends(ends, err);
    /* Never empty, for that would be the end of the socket. */
    if (r >= 0 && (send(ends->socks[0], modules, strlen(modules) + 1, MSG_NOSIGNAL) < 0))
        r = error_set_errno(err, errno, "name the modules");
    if (r >= 0)
        r = start_process(zygote, ends, err);
    if (r < 0)
        return r;
    zygote->output_fd = TAKE_FD(ends->output[0]);
    r = events_add(&zygote->jailer->events, &zygote->socket, ends->socks[0], EPOLLIN, on_socket,
                   zygote);
    if (r < 0)
        return error_set_errno(err, -r, "watch its socket");
    (void)TAKE_FD(ends->socks[0]);
    return 0;
}

void zygote_start(struct zygote *zygote)
{
    struct error err = {0};
    struct ends ends = {.socks = {-1, -1}, .output = {-1, -1}};
    if (zygote->state == ZYGOTE_NONE)
        return;
    if (zygote->pidfd.fd >= 0 || !remove_cgroup(zygote)) {
        arm(zygote, ZYGOTE_AGAIN_MS);
        return;
    }
    zygote->state = ZYGOTE_STARTING;
    zygote->forks = zygote->pending = 0;
    arm(zygote, ZYGOTE_START_WITHIN_MS);
    int r = start(zygote, &ends, &err);
    close_ends(&ends);
    if (r >= 0)
        return;
    if (zygote->pidfd.fd < 0)
        forget_process(zygote);
    go_down(zygote, err.text);
}

bool zygote_is_ready(const struct zygote *zygote)
{
    return zygote->state == ZYGOTE_READY;
}

bool zygote_is_coming(const struct zygote *zygote)
{
    return zygote->state == ZYGOTE_STARTING || zygote->state == ZYGOTE_RETIRING;
}

int zygote_ask(struct zygote *zygote, const struct cgroup *cgroup, const struct jail_spec *spec,
               int clone_fd, struct error *err)
{
    struct fork_request request;
    int fds[MAX_FORK_FDS];
    if (!zygote_is_ready(zygote))
        return error_set(err, EAGAIN, "there is no zygote now");
    int r = cgroup_admit(zygote->jailer->cgroups, cgroup, zygote->uid, err);
    if (r < 0)
        return r;
    size_t count = fork_request_fill(spec, clone_fd, &request, fds);
    r = pass_fds_send(zygote->socket.fd, &request, sizeof(request), fds, count, MSG_DONTWAIT);
    if (r < 0)
        return error_set_errno(err, -r, "ask the zygote");
    zygote->pending++;
    if (++zygote->forks >= zygote->options->max_forks)
        retire(zygote);
    return 0;
}

void zygote_answered(struct zygote *zygote)
{
    if (zygote->pending > 0)
        zygote->pending--;
    if (zygote->state == ZYGOTE_RETIRING && zygote->pending == 0)
        kill_now(zygote);
}

void zygote_fail(struct zygote *zygote, const char *why)
{
    if (zygote->state != ZYGOTE_NONE && zygote->state != ZYGOTE_DOWN)
        go_down(zygote, why);
}

void zygote_succeeded(struct zygote *zygote)
{
    zygote->failures = 0;
}

static bool has_died_as(int pidfd, pid_t pid)
{
    siginfo_t info = {0};
    return pidfd >= 0 && waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid;
}

static bool is_watched(const struct zygote *zygote, pid_t pid)
{
    const struct sandbox *sandbox = zygote->jailer->sandboxes;
    for (; sandbox; sandbox = sandbox->next) {
        if (has_died_as(sandbox->pidfd.fd, pid))
            return true;
    }
    return has_died_as(zygote->pidfd.fd, pid);
}

/* Dead children in the lost zygote's process group, until it has none any more. The first that is
 * somebody's hides those behind it until it is reaped. */
static void on_strays(void *arg)
{
    struct zygote *zygote = arg;
    id_t group = (id_t)zygote->strays_group;
    siginfo_t info = {0};
    while (waitid(P_PGID, group, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
        if (info.si_pid == 0 || is_watched(zygote, info.si_pid)) {
            deadline_arm(&zygote->jailer->deadlines, &zygote->strays,
                         clock_boottime_ns() + ZYGOTE_STRAYS_AGAIN_MS * NS_PER_MS, on_strays,
                         zygote);
            return;
        }
        (void)waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
        info = (siginfo_t){0};
    }
}

void zygote_lost(struct zygote *zygote)
{
    zygote->strays_group = zygote->pid;
    on_strays(zygote);
}

void zygote_init(struct zygote *zygote)
{
    *zygote = (struct zygote){.state = ZYGOTE_NONE,
                              .family = FAMILY_INIT,
                              .cgroup.oom_fd = -1,
                              .pidfd = EVENT_SOURCE_INIT,
                              .socket = EVENT_SOURCE_INIT,
                              .output_fd = -1};
}

int zygote_prepare(struct zygote *zygote, struct jailer *jailer, unsigned int number,
                   const struct zygote_options *options, void (*changed)(void *arg), void *arg,
                   struct error *err)
{
    zygote->jailer = jailer;
    zygote->runtime = &jailer->runtimes.entries[number];
    zygote->number = number;
    zygote->options = options;
    zygote->changed = changed;
    zygote->arg = arg;
    int r = family_make(jailer->proc_fd, zygote->runtime, jailer->idmap.base, jailer->idmap.count,
                        &zygote->family, err);
    zygote->state = r < 0 ? ZYGOTE_NONE : ZYGOTE_DOWN;
    return r;
}

void zygote_stop(struct zygote *zygote)
{
    if (zygote->state == ZYGOTE_NONE)
        return;
    zygote->state = ZYGOTE_NONE;
    deadline_disarm(&zygote->jailer->deadlines, &zygote->deadline);
    kill_now(zygote);
}

void zygote_done(struct zygote *zygote)
{
    if (!zygote->jailer)
        return;
    zygote_stop(zygote);
    deadline_disarm(&zygote->jailer->deadlines, &zygote->strays);
    siginfo_t info;
    while (zygote->pidfd.fd >= 0 && waitid(P_PIDFD, (id_t)zygote->pidfd.fd, &info, WEXITED) < 0 &&
           errno == EINTR)
        continue;
    forget_process(zygote);
    for (int tries = 0; tries < ZYGOTE_CGROUP_TRIES && !remove_cgroup(zygote); tries++)
        (void)poll(NULL, 0, 1);
    family_close(&zygote->family);
}
