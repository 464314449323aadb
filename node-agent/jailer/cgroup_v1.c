/* SPDX-License-Identifier: Apache-2.0 */

/* Linux: Documentation/admin-guide/cgroup-v1/, and memory.oom_control in memory.rst there. */
#include "node-agent/jailer/cgroup_internal.h"

#include "common/cleanup.h"
#include "node-agent/jailer/limits.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/eventfd.h>

#define TCP_LIMIT "memory.kmem.tcp.limit_in_bytes"

static int v1_delegate(int dir_fd, const char *path, struct error *err)
{
    /* Every v1 cgroup can have children with limits. */
    (void)dir_fd;
    (void)path;
    (void)err;
    return 0;
}

static void v1_undelegate(int dir_fd)
{
    (void)dir_fd;
}

static int v1_prepare_slot(struct cgroup_system *system, uint64_t cpu_milli, struct error *err)
{
    int memory_fd = cgroup_slot_fd(system, CGROUP_MEMORY);
    system->limits_swap = faccessat(memory_fd, "memory.memsw.limit_in_bytes", W_OK, 0) == 0;

    /* A limit that always stands also keeps the kernel from patching its own code at the first
     * and last sandbox with one (static branches of TCP's memory and of the CFS bandwidth). */
    char quota[CGROUP_VALUE_SIZE], tcp[CGROUP_VALUE_SIZE];
    system->limits_tcp = faccessat(memory_fd, TCP_LIMIT, W_OK, 0) == 0;
    (void)snprintf(tcp, sizeof(tcp), "%llu", MAX_TCP_BYTES * MAX_SANDBOXES);
    int r = system->limits_tcp ? cgroup_write(memory_fd, ".", TCP_LIMIT, tcp, err) : 0;
    if (r < 0)
        return r;
    (void)snprintf(quota, sizeof(quota), "%" PRIu64, cpu_milli * (CGROUP_PERIOD_US / 1000));
    return cgroup_write(cgroup_slot_fd(system, CGROUP_CPU), ".", "cpu.cfs_quota_us", quota, err);
}

/* The kernel tells the eventfd at the first charge that fails (cgroups(7), v1 notifications). */
static int watch_oom(int memory_fd, struct cgroup *cgroup, struct error *err)
{
    char path[PROTO_ID_SIZE + 32], text[CGROUP_VALUE_SIZE];
    (void)snprintf(path, sizeof(path), "%s/memory.oom_control", cgroup->name);
    cleanup_close int control_fd = openat(memory_fd, path, O_RDONLY | O_CLOEXEC);
    if (control_fd < 0)
        return error_set_errno(err, errno, "open memory.oom_control");
    cleanup_close int event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_fd < 0)
        return error_set_errno(err, errno, "create an eventfd");
    (void)snprintf(text, sizeof(text), "%d %d", event_fd, control_fd);
    int r = cgroup_write(memory_fd, cgroup->name, "cgroup.event_control", text, err);
    if (r >= 0)
        cgroup->oom_fd = TAKE_FD(event_fd);
    return r;
}

static int v1_set_cpu(struct cgroup_system *system, const struct cgroup *cgroup, uint32_t cpu_milli,
                      struct error *err)
{
    char quota[CGROUP_VALUE_SIZE];
    (void)snprintf(quota, sizeof(quota), "%" PRIu32, cpu_milli * (CGROUP_PERIOD_US / 1000));
    return cgroup_write(cgroup_slot_fd(system, CGROUP_CPU), cgroup->name, "cpu.cfs_quota_us", quota,
                        err);
}

/* A counter of its own: without a limit nothing would be counted, and a program that doesn't read
 * could have all that the machine has for TCP. */
static int v1_set_tcp(struct cgroup_system *system, const struct cgroup *cgroup,
                      uint64_t memory_bytes, struct error *err)
{
    char text[CGROUP_VALUE_SIZE];
    uint64_t bytes = memory_bytes < MAX_TCP_BYTES ? memory_bytes : MAX_TCP_BYTES;
    (void)snprintf(text, sizeof(text), "%" PRIu64, bytes);
    return cgroup_write(cgroup_slot_fd(system, CGROUP_MEMORY), cgroup->name, TCP_LIMIT, text, err);
}

/* Memory and swap together, no more than memory alone: so there is no swap. Memory alone may never
 * exceed the two, in between neither. */
static int v1_set_memory(struct cgroup_system *system, const struct cgroup *cgroup,
                         uint64_t memory_bytes, bool raised, struct error *err)
{
    const struct {
        const char *attribute;
        bool wanted;
    } attributes[] = {
        {"memory.memsw.limit_in_bytes", raised && system->limits_swap},
        {"memory.limit_in_bytes", true},
        {"memory.memsw.limit_in_bytes", !raised && system->limits_swap},
    };
    int memory_fd = cgroup_slot_fd(system, CGROUP_MEMORY);
    char memory[CGROUP_VALUE_SIZE];
    int r = 0;
    (void)snprintf(memory, sizeof(memory), "%" PRIu64, memory_bytes);
    for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(attributes); i++) {
        if (attributes[i].wanted)
            r = cgroup_write(memory_fd, cgroup->name, attributes[i].attribute, memory, err);
    }
    return r >= 0 && system->limits_tcp ? v1_set_tcp(system, cgroup, memory_bytes, err) : r;
}

static int v1_set_idle(struct cgroup_system *system, const struct cgroup *cgroup, bool idle,
                       struct error *err)
{
    return cgroup_write(cgroup_slot_fd(system, CGROUP_CPU), cgroup->name, "cpu.shares",
                        idle ? "2" : "1024", err);
}

static int v1_set_limits(struct cgroup_system *system, struct cgroup *cgroup,
                         const struct cgroup_limits *limits, struct error *err)
{
    char pids[CGROUP_VALUE_SIZE];
    (void)snprintf(pids, sizeof(pids), "%" PRIu32, limits->pids);

    int r = v1_set_memory(system, cgroup, limits->memory_bytes, false, err);
    if (r >= 0)
        r = v1_set_cpu(system, cgroup, limits->cpu_milli, err);
    if (r >= 0)
        r = cgroup_write(cgroup_slot_fd(system, CGROUP_PIDS), cgroup->name, "pids.max", pids, err);
    if (r >= 0)
        r = watch_oom(cgroup_slot_fd(system, CGROUP_MEMORY), cgroup, err);
    return r;
}

static void v1_usage(struct cgroup_system *system, const struct cgroup *cgroup,
                     struct cgroup_usage *ret_usage)
{
    int memory_fd = cgroup_slot_fd(system, CGROUP_MEMORY);
    uint64_t cpu_ns = 0, peak = 0;
    (void)cgroup_read_number(cgroup_slot_fd(system, CGROUP_CPUACCT), cgroup->name, "cpuacct.usage",
                             &cpu_ns);
    (void)cgroup_read_number(memory_fd, cgroup->name, "memory.max_usage_in_bytes", &peak);
    uint64_t kills = cgroup_read_keyed(memory_fd, cgroup->name, "memory.oom_control", "oom_kill");
    *ret_usage = (struct cgroup_usage){
        .cpu_us = cpu_ns / 1000,
        .peak_memory_bytes = peak,
        .oom_kills = kills < UINT32_MAX ? (uint32_t)kills : UINT32_MAX,
    };
}

const struct cgroup_backend cgroup_v1 = {
    .version = 1,
    .move_file = "tasks",
    .delegate = v1_delegate,
    .undelegate = v1_undelegate,
    .prepare_slot = v1_prepare_slot,
    .set_limits = v1_set_limits,
    .set_cpu = v1_set_cpu,
    .set_memory = v1_set_memory,
    .set_idle = v1_set_idle,
    .usage = v1_usage,
};
