/* SPDX-License-Identifier: Apache-2.0 */

/* Linux: Documentation/admin-guide/cgroup-v2.rst. */
#include "node-agent/jailer/cgroup_internal.h"

#include "common/cleanup.h"
#include "common/fd.h"

#include <fcntl.h>
#include <inttypes.h>

#define CONTROLLERS_ON  "+memory +cpu +pids"
#define CONTROLLERS_OFF "-memory -cpu -pids"

/* A cgroup can hand on only what its own parent has handed to it. */
static int controllers_missing(int dir_fd, const char *path, struct error *err)
{
    char available[512];
    if (fd_read_attr(dir_fd, "cgroup.controllers", available, sizeof(available)) < 0)
        available[0] = '\0';
    return error_set(err, ENODEV,
                     "cgroup %s needs the controllers memory, cpu and pids and has got only: %s; "
                     "enable them in cgroup.subtree_control of its parent",
                     path, available[0] ? available : "none");
}

static int v2_delegate(int dir_fd, const char *path, struct error *err)
{
    /* The kubelet sets this on a container; a run that hits its own limit must not take the
     * others with it. The root has no such file. */
    int r = fd_write_attr(dir_fd, "memory.oom.group", "0");
    if (r < 0 && r != -ENOENT)
        return error_set_errno(err, -r, "clear memory.oom.group of %s", path);
    r = fd_write_attr(dir_fd, "cgroup.subtree_control", CONTROLLERS_ON);
    if (r == -ENOENT)
        return controllers_missing(dir_fd, path, err);
    if (r == -EBUSY)
        return error_set(err, EBUSY,
                         "cgroup %s has processes of its own, so it can't have children with "
                         "limits: start the jailer alone in its cgroup with --cgroup-parent self, "
                         "or name a parent at the root of the hierarchy",
                         path);
    if (r < 0)
        return error_set_errno(err, -r, "enable the controllers memory, cpu and pids below %s",
                               path);
    return 0;
}

static void v2_undelegate(int dir_fd)
{
    (void)fd_write_attr(dir_fd, "cgroup.subtree_control", CONTROLLERS_OFF);
}

static int v2_prepare_slot(struct cgroup_system *system, uint64_t cpu_milli, struct error *err)
{
    int slot_fd = cgroup_slot_fd(system, CGROUP_MEMORY);
    system->limits_swap = faccessat(slot_fd, "memory.swap.max", W_OK, 0) == 0;

    /* See v1: a limit that always stands spares the kernel from patching its code for each run. */
    char quota[CGROUP_VALUE_SIZE];
    (void)snprintf(quota, sizeof(quota), "%" PRIu64 " %u", cpu_milli * (CGROUP_PERIOD_US / 1000),
                   CGROUP_PERIOD_US);
    return cgroup_write(slot_fd, ".", "cpu.max", quota, err);
}

static void format_cpu(char ret_quota[static CGROUP_VALUE_SIZE], uint32_t cpu_milli)
{
    (void)snprintf(ret_quota, CGROUP_VALUE_SIZE, "%" PRIu32 " %u",
                   cpu_milli * (CGROUP_PERIOD_US / 1000), CGROUP_PERIOD_US);
}

static int v2_set_cpu(struct cgroup_system *system, const struct cgroup *cgroup, uint32_t cpu_milli,
                      struct error *err)
{
    char quota[CGROUP_VALUE_SIZE];
    format_cpu(quota, cpu_milli);
    return cgroup_write(cgroup_slot_fd(system, CGROUP_MEMORY), cgroup->name, "cpu.max", quota, err);
}

static int v2_set_memory(struct cgroup_system *system, const struct cgroup *cgroup,
                         uint64_t memory_bytes, bool raised, struct error *err)
{
    int slot_fd = cgroup_slot_fd(system, CGROUP_MEMORY);
    char memory[CGROUP_VALUE_SIZE];
    uint64_t used = 0;
    /* The kernel takes any limit, and would answer one that is exceeded already with an OOM. */
    if (!raised && cgroup_read_number(slot_fd, cgroup->name, "memory.current", &used) >= 0 &&
        used > memory_bytes)
        return error_set(err, EBUSY, "%" PRIu64 " bytes of memory are in use already", used);
    (void)snprintf(memory, sizeof(memory), "%" PRIu64, memory_bytes);
    return cgroup_write(slot_fd, cgroup->name, "memory.max", memory, err);
}

static int v2_set_idle(struct cgroup_system *system, const struct cgroup *cgroup, bool idle,
                       struct error *err)
{
    return cgroup_write(cgroup_slot_fd(system, CGROUP_MEMORY), cgroup->name, "cpu.weight",
                        idle ? "1" : "100", err);
}

static int v2_set_limits(struct cgroup_system *system, struct cgroup *cgroup,
                         const struct cgroup_limits *limits, struct error *err)
{
    char memory[CGROUP_VALUE_SIZE], quota[CGROUP_VALUE_SIZE], pids[CGROUP_VALUE_SIZE];
    (void)snprintf(memory, sizeof(memory), "%" PRIu64, limits->memory_bytes);
    format_cpu(quota, limits->cpu_milli);
    (void)snprintf(pids, sizeof(pids), "%" PRIu32, limits->pids);

    const struct {
        const char *attribute;
        const char *value;
        bool wanted;
    } attributes[] = {
        {"memory.max", memory, true},
        {"memory.swap.max", "0", system->limits_swap},
        /* One process over the limit ends them all, process 1 with them: nobody has to watch. */
        {"memory.oom.group", "1", true},
        {"cpu.max", quota, true},
        {"pids.max", pids, true},
    };
    int slot_fd = cgroup_slot_fd(system, CGROUP_MEMORY);
    for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
        if (!attributes[i].wanted)
            continue;
        int r =
            cgroup_write(slot_fd, cgroup->name, attributes[i].attribute, attributes[i].value, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static void v2_usage(struct cgroup_system *system, const struct cgroup *cgroup,
                     struct cgroup_usage *ret_usage)
{
    int slot_fd = cgroup_slot_fd(system, CGROUP_MEMORY);
    uint64_t peak = 0;
    /* Before Linux 5.19 there is no such file. */
    (void)cgroup_read_number(slot_fd, cgroup->name, "memory.peak", &peak);
    uint64_t kills = cgroup_read_keyed(slot_fd, cgroup->name, "memory.events", "oom_kill");
    *ret_usage = (struct cgroup_usage){
        .cpu_us = cgroup_read_keyed(slot_fd, cgroup->name, "cpu.stat", "usage_usec"),
        .peak_memory_bytes = peak,
        .oom_kills = kills < UINT32_MAX ? (uint32_t)kills : UINT32_MAX,
    };
}

const struct cgroup_backend cgroup_v2 = {
    .version = 2,
    .move_file = "cgroup.procs",
    .delegate = v2_delegate,
    .undelegate = v2_undelegate,
    .prepare_slot = v2_prepare_slot,
    .set_limits = v2_set_limits,
    .set_cpu = v2_set_cpu,
    .set_memory = v2_set_memory,
    .set_idle = v2_set_idle,
    .usage = v2_usage,
};
