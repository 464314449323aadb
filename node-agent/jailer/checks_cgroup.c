/* SPDX-License-Identifier: Apache-2.0 */

/* Which cgroups there are, and whether one can be made, limited, entered and removed as each
 * sandbox needs it: the jailer's own way of doing it, with a cgroup of no sandbox. */
#include "common/cleanup.h"
#include "node-agent/jailer/cgroup.h"
#include "node-agent/jailer/cgroup_internal.h"
#include "node-agent/jailer/cgroup_layout.h"
#include "node-agent/jailer/check.h"
#include "node-agent/jailer/host.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/namespaces.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#define TRIAL_CGROUP "check"

static const struct check_kind version = {
    "cgroup.version", PROTO_REQUIRED,
    "mount cgroup2 with the controllers memory, cpu and pids at /sys/fs/cgroup; on a host with "
    "systemd, boot with systemd.unified_cgroup_hierarchy=1"};
static const struct check_kind writable = {
    "cgroup.writable", PROTO_REQUIRED,
    "mount the cgroup file system writable; in a Pod, give the jailer --cgroup-parent=self and "
    "CAP_SYS_ADMIN, with which it makes its own part writable"};
static const struct check_kind parent = {
    "cgroup.parent", PROTO_REQUIRED,
    "hand memory, cpu and pids on to the jailer's cgroup (cgroup.subtree_control of its parents), "
    "or choose another --cgroup-parent"};
static const struct check_kind swap = {"cgroup.swap", PROTO_REQUIRED,
                                       "switch swap off (swapoff -a), or boot with swapaccount=1"};
static const struct check_kind limits = {"cgroup.limits", PROTO_REQUIRED,
                                         "use a kernel with all of the files that are named"};
static const struct check_kind enter = {
    "cgroup.enter", PROTO_REQUIRED,
    "use Linux 5.14 or newer, and look for a filter around the jailer that refuses clone3"};
static const struct check_kind peak = {
    "cgroup.memory-peak", PROTO_RECOMMENDED,
    "with Linux 5.19 or newer, status.usage tells peakMemoryBytes"};
static const struct check_kind memory = {
    "memory", PROTO_REQUIRED,
    "give the jailer's cgroup more memory (in a Pod, resources.limits.memory of its container), or "
    "name the amount with --memory-capacity; a default run takes 512Mi"};

/* Whatever can't be told, because something before it failed. */
static void skip_from(const struct check_subject *subject, size_t first, const char *obstacle)
{
    static const struct check_kind *const kinds[] = {&writable, &parent, &swap,  &limits,
                                                     &enter,    &peak,   &memory};
    for (size_t i = first; i < ARRAY_SIZE(kinds); i++)
        check_add_skipped(subject->checks, kinds[i], obstacle);
}

static void check_controller(const struct check_subject *subject,
                             const struct cgroup_mounts *mounts, unsigned int v2_controllers,
                             enum cgroup_controller controller)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "cgroup.%s", cgroup_controller_name(controller));
    const struct check_kind kind = {
        name, PROTO_REQUIRED,
        "enable it: in cgroup.subtree_control from the root down on v2, by cgroup_enable= or no "
        "cgroup_disable= on the kernel's command line"};
    const struct cgroup_mount *v1 = cgroup_mounts_find_v1(mounts, controller);
    if (v2_controllers & CGROUP_BIT(controller))
        check_add(subject->checks, &kind, PROTO_OUTCOME_OK, "in %s",
                  cgroup_mounts_find_v2(mounts)->point);
    else if (v1)
        check_add(subject->checks, &kind, PROTO_OUTCOME_OK, "v1, at %s", v1->point);
    else
        check_add(subject->checks, &kind, PROTO_OUTCOME_FAILED, "neither in v2 nor in v1");
}

/* Whether they can be written is for the next check. */
static int choose_layout(struct cgroup_mounts *mounts, unsigned int v2_controllers,
                         struct cgroup_layout *ret_layout, struct error *err)
{
    for (size_t i = 0; i < mounts->count; i++)
        mounts->mounts[i].read_only = false;
    return cgroup_layout_choose(mounts, v2_controllers, ret_layout, err);
}

static int check_layout(const struct check_subject *subject)
{
    struct cgroup_mounts mounts;
    struct cgroup_layout layout = {0};
    struct error err = {0};
    unsigned int v2_controllers = 0;
    int r = cgroup_mounts_read(subject->proc_fd, &mounts, &v2_controllers, &err);
    if (r < 0) {
        check_add_result(subject->checks, &version, r, &err, "");
        return r;
    }
    r = choose_layout(&mounts, v2_controllers, &layout, &err);
    if (r < 0)
        check_add(subject->checks, &version, PROTO_OUTCOME_FAILED, "%s", err.text);
    else
        check_add(subject->checks, &version, PROTO_OUTCOME_OK, "v%u, at %s", layout.version,
                  layout.hierarchies[0]->point);
    for (unsigned int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
        /* v2 accounts for CPU time by itself. */
        if (i != CGROUP_CPUACCT || layout.version == 1)
            check_controller(subject, &mounts, v2_controllers, (enum cgroup_controller)i);
    }
    return r;
}

/* Which of the two it is depends on how it failed. */
static int check_open(const struct check_subject *subject, struct cgroup_system **ret_system)
{
    const struct cgroup_options options = {.parent = subject->options->cgroup_parent,
                                           .cpu_milli = subject->options->cpu_capacity_milli
                                                            ? subject->options->cpu_capacity_milli
                                                            : host_cpu_milli()};
    struct error err = {0};
    int r = cgroup_system_open(subject->proc_fd, &options, ret_system, &err);
    if (r == -EROFS) {
        check_add(subject->checks, &writable, PROTO_OUTCOME_FAILED, "%s", err.text);
        skip_from(subject, 1, writable.name);
        return r;
    }
    check_add(subject->checks, &writable, PROTO_OUTCOME_OK, "written");
    check_add_result(subject->checks, &parent, r, &err,
                     r < 0 ? "" : (*ret_system)->hierarchies[0].path);
    if (r < 0)
        skip_from(subject, 2, parent.name);
    return r;
}

static bool check_swap(const struct check_subject *subject, const struct cgroup_system *system)
{
    bool has_swap = cgroup_host_has_swap(subject->proc_fd);
    bool bounded = system->limits_swap || !has_swap;
    check_add(subject->checks, &swap, bounded ? PROTO_OUTCOME_OK : PROTO_OUTCOME_FAILED, "%s%s",
              has_swap ? "the host has swap" : "the host has no swap",
              system->limits_swap ? ", and cgroups limit it" : ", and cgroups can't limit it");
    return bounded;
}

/* In the child: as child.c does it. */
static _Noreturn void be_inside(const int *tasks_fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (write(tasks_fds[i], "0", 1) != 1)
            _exit(errno);
    }
    _exit(0);
}

static int enter_cgroup(struct cgroup_system *system, const struct cgroup *cgroup,
                        struct error *err)
{
    int tasks_fds[MAX_CGROUP_HIERARCHIES], pidfd = -1;
    size_t count = 0;
    cleanup_close int clone_fd = -1;
    int r = cgroup_open_entrance(system, cgroup, &clone_fd, tasks_fds, &count, err);
    if (r < 0)
        return r;
    pid_t pid = namespaces_clone(clone_fd, &pidfd);
    if (pid == 0)
        be_inside(tasks_fds, count);
    for (size_t i = 0; i < count; i++)
        (void)fd_close(tasks_fds[i]);
    if (pid < 0)
        return error_set_errno(err, -pid, "clone a process into a cgroup");
    siginfo_t info = {0};
    while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
        continue;
    (void)fd_close(pidfd);
    return info.si_status == 0 ? 0 : error_set_errno(err, info.si_status, "enter a cgroup");
}

static void check_peak(const struct check_subject *subject, const struct cgroup_system *system)
{
    const char *file = system->backend->version == 2 ? "memory.peak" : "memory.max_usage_in_bytes";
    char path[64];
    (void)snprintf(path, sizeof(path), TRIAL_CGROUP "/%s", file);
    bool there = faccessat(cgroup_slot_fd(system, CGROUP_MEMORY), path, R_OK, 0) == 0;
    check_add(subject->checks, &peak, there ? PROTO_OUTCOME_OK : PROTO_OUTCOME_FAILED, "%s%s",
              there ? "" : "there is no ", file);
}

/* What isn't there isn't missed: the processes of a run are in a pid namespace of their own. */
static void check_kill(const struct check_subject *subject, const struct cgroup_system *system)
{
    static const struct check_kind kind = {"cgroup.kill", PROTO_INFORMATION, ""};
    bool there =
        faccessat(cgroup_slot_fd(system, CGROUP_MEMORY), TRIAL_CGROUP "/cgroup.kill", W_OK, 0) == 0;
    check_add(subject->checks, &kind, PROTO_OUTCOME_OK, "%s",
              there ? "available" : "not there; a run is ended through its pid namespace");
}

static void check_cgroup(const struct check_subject *subject, struct cgroup_system *system)
{
    static const struct cgroup_limits smallest = {
        .memory_bytes = MIN_SANDBOX_MEMORY_BYTES, .cpu_milli = MIN_SANDBOX_CPU_MILLI, .pids = 16};
    struct cgroup cgroup = {.oom_fd = -1};
    struct error err = {0};
    int r = cgroup_create(system, TRIAL_CGROUP, &smallest, &cgroup, &err);
    check_add_result(subject->checks, &limits, r, &err, "memory, swap, cpu and pids were set");
    if (r < 0) {
        check_add_skipped(subject->checks, &enter, limits.name);
        check_add_skipped(subject->checks, &peak, limits.name);
        return;
    }
    r = enter_cgroup(system, &cgroup, &err);
    check_add_result(subject->checks, &enter, r, &err,
                     system->backend->version == 2 ? "born inside, by CLONE_INTO_CGROUP"
                                                   : "moved in by itself");
    check_peak(subject, system);
    check_kill(subject, system);
    (void)cgroup_destroy(system, &cgroup);
}

static void check_memory(const struct check_subject *subject, const struct cgroup_system *system)
{
    uint64_t given = subject->options->memory_capacity_bytes;
    uint64_t bytes = given ? given : host_memory_bytes(cgroup_system_memory_limit(system));
    check_add(subject->checks, &memory,
              bytes >= MIN_SANDBOX_MEMORY_BYTES ? PROTO_OUTCOME_OK : PROTO_OUTCOME_FAILED,
              "%llu MiB for all sandboxes together", (unsigned long long)(bytes >> 20));
}

void checks_cgroup(struct check_subject *subject)
{
    struct cgroup_system *system = NULL;
    if (check_layout(subject) < 0) {
        skip_from(subject, 0, version.name);
        return;
    }
    if (subject->obstacle) {
        skip_from(subject, 0, subject->obstacle);
        return;
    }
    if (check_open(subject, &system) < 0)
        return;
    if (check_swap(subject, system)) {
        check_cgroup(subject, system);
        check_memory(subject, system);
    } else {
        skip_from(subject, 3, swap.name);
    }
    cgroup_system_close(system);
}
