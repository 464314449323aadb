/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/jail_spec.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Cgroups, v2 or v1 behind one header; which of them is chosen at start by looking.
 *
 *   PARENT/            "sandboxrun" at the root of each hierarchy, or the jailer's own cgroup
 *     jailer-K/        one per jailer: its lock, its part of the uid range, its CPU capacity
 *       SANDBOX-ID/    one per sandbox, in existence exactly as long as the sandbox
 *     supervisor/      the jailer itself, where PARENT is its own cgroup
 */
struct cgroup_system;

struct cgroup_options {
    const char *parent; /* a name, or "self" */
    uint64_t cpu_milli; /* for all sandboxes together */
};

struct cgroup_limits {
    uint64_t memory_bytes;
    uint32_t cpu_milli;
    uint32_t pids;
};

struct cgroup_usage {
    uint64_t cpu_us;
    uint64_t peak_memory_bytes; /* 0: the kernel doesn't tell */
    uint32_t oom_kills;
};

/* One sandbox's cgroup. */
struct cgroup {
    char name[PROTO_ID_SIZE];
    int oom_fd; /* v1: an eventfd that is readable once the memory limit was hit; v2: -1 */
};

/* Whether this parent is the jailer's own cgroup. */
bool cgroup_parent_is_self(const char *parent);

/* Finds the hierarchies, claims the lowest jailer-K that no living jailer holds, and sweeps all
 * of those that are nobody's. proc_fd is /proc. */
int cgroup_system_open(int proc_fd, const struct cgroup_options *options,
                       struct cgroup_system **ret_system, struct error *err);

/* Gives everything back and removes what is empty. NULL is fine. */
void cgroup_system_close(struct cgroup_system *system);

unsigned int cgroup_system_version(const struct cgroup_system *system);
unsigned int cgroup_system_slot(const struct cgroup_system *system);

/* Which of MAX_UID_PARTS parts of the uid range goes with the slot. */
unsigned int cgroup_system_uid_part(const struct cgroup_system *system);

/* The memory limit of PARENT itself; UINT64_MAX if there is none or it can't be read. */
uint64_t cgroup_system_memory_limit(const struct cgroup_system *system);

/* Makes the sandbox's cgroup with every limit in force; on failure nothing is left. -ENOTSUP if
 * the host has got swap that can't be limited. */
int cgroup_create(struct cgroup_system *system, const char *id, const struct cgroup_limits *limits,
                  struct cgroup *ret_cgroup, struct error *err);

/* What a child is to be born into: on v2 *ret_clone_fd for CLONE_INTO_CGROUP, on v1 `tasks` of
 * each hierarchy in ret_tasks_fds, into which it writes "0". The caller closes them. */
int cgroup_open_entrance(struct cgroup_system *system, const struct cgroup *cgroup,
                         int *ret_clone_fd, int ret_tasks_fds[static MAX_CGROUP_HIERARCHIES],
                         size_t *ret_tasks_count, struct error *err);

/* Lets processes of this uid clone children into the cgroup, on v2, where the kernel asks who does
 * it (on v1 it asks who has opened `tasks`). They need it of the cgroup's parent too, which is all
 * of the group gid can be let by cgroup_admit_group(), once. */
int cgroup_admit(struct cgroup_system *system, const struct cgroup *cgroup, uid_t uid,
                 struct error *err);
int cgroup_admit_group(struct cgroup_system *system, gid_t gid, struct error *err);

/* Changes the CPU limit of a live sandbox; it may not exceed that of the slot. Waits for nothing.
 */
int cgroup_set_cpu(struct cgroup_system *system, const struct cgroup *cgroup, uint32_t cpu_milli,
                   struct error *err);

/* Gives a live sandbox other limits on memory and CPU than the ones it has (now), neither of which
 * may exceed those of the slot. -EBUSY if it uses more memory already: it must not go on then. */
int cgroup_change(struct cgroup_system *system, const struct cgroup *cgroup,
                  const struct cgroup_limits *now, const struct cgroup_limits *limits,
                  struct error *err);

/* Its share of the CPU where others want it too: next to none, or as much as each of them. */
int cgroup_set_idle(struct cgroup_system *system, const struct cgroup *cgroup, bool idle,
                    struct error *err);

/* What could be read; 0 elsewhere. */
void cgroup_usage(struct cgroup_system *system, const struct cgroup *cgroup,
                  struct cgroup_usage *ret_usage);

/* Kills whatever is still inside; normally nothing is, for the pid namespace went first. */
void cgroup_kill(struct cgroup_system *system, const struct cgroup *cgroup);

/* Removes it from every hierarchy. -EBUSY while a process is left inside: the kernel's own word
 * that it isn't empty. */
int cgroup_destroy(struct cgroup_system *system, struct cgroup *cgroup);
