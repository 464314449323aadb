/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Which cgroup file systems a host has and which of them the jailer uses; pure, from the texts of
 * /proc/self/mountinfo (proc_pid_mountinfo(5)) and /proc/self/cgroup (cgroups(7)). */
enum cgroup_controller {
    CGROUP_MEMORY,
    CGROUP_CPU,
    CGROUP_CPUACCT, /* v1 alone: on v2 every cgroup accounts for itself */
    CGROUP_PIDS,
    CGROUP_CONTROLLER_COUNT,
};

#define CGROUP_BIT(controller) (1u << (controller))
#define CGROUP_V2_NEEDED                                                                           \
    (CGROUP_BIT(CGROUP_MEMORY) | CGROUP_BIT(CGROUP_CPU) | CGROUP_BIT(CGROUP_PIDS))
#define CGROUP_PATH_SIZE  1024
#define MAX_CGROUP_MOUNTS 24

struct cgroup_mount {
    unsigned int version;
    unsigned int controllers; /* v1; for v2 they stand in cgroup.controllers */
    bool read_only;
    char root[CGROUP_PATH_SIZE]; /* the cgroup that is mounted here */
    char point[CGROUP_PATH_SIZE];
};

struct cgroup_mounts {
    size_t count;
    struct cgroup_mount mounts[MAX_CGROUP_MOUNTS];
};

/* The hierarchies in use: one for v2, up to one per controller for v1, the memory controller's
 * first. They point into the mounts. */
struct cgroup_layout {
    unsigned int version;
    size_t count;
    const struct cgroup_mount *hierarchies[CGROUP_CONTROLLER_COUNT];
};

/* Mounts beyond the maximum and paths that don't fit are left out. */
void cgroup_mounts_parse(const char *mountinfo, struct cgroup_mounts *ret_mounts);

/* The v2 mount, or NULL. */
const struct cgroup_mount *cgroup_mounts_find_v2(const struct cgroup_mounts *mounts);

const char *cgroup_controller_name(enum cgroup_controller controller);

/* The v1 mount of a controller, or NULL. */
const struct cgroup_mount *cgroup_mounts_find_v1(const struct cgroup_mounts *mounts,
                                                 enum cgroup_controller controller);

/* The controllers named in a list separated by `separators`. */
unsigned int cgroup_controllers_parse(const char *list, const char *separators);

/* v2 if it has all controllers (v2_controllers: what its cgroup.controllers lists), else v1 if
 * that has. -ENODEV names what is missing, -EROFS the mount that can't be written. */
int cgroup_layout_choose(const struct cgroup_mounts *mounts, unsigned int v2_controllers,
                         struct cgroup_layout *ret_layout, struct error *err);

/* Where below the mount point the process is whose /proc/self/cgroup this is: a path that starts
 * with '/' or is empty. -ENOENT if it isn't there, as from outside its cgroup namespace. */
int cgroup_own_path(const char *self_cgroup, const struct cgroup_mount *mount,
                    char ret_path[static CGROUP_PATH_SIZE]);
