/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/cgroup.h"
#include "node-agent/jailer/cgroup_layout.h"

#define CGROUP_PERIOD_US  100000u
#define CGROUP_LEAF       "supervisor"
#define CGROUP_SELF       "self"
#define CGROUP_SLOT_SIZE  16
#define CGROUP_VALUE_SIZE 48

struct cgroup_hierarchy {
    unsigned int controllers;
    int root_fd;                     /* of the mount, where PARENT is a name; else -1 */
    int base_fd;                     /* PARENT */
    int slot_fd;                     /* jailer-K; that of the first hierarchy bears the lock */
    char path[2 * CGROUP_PATH_SIZE]; /* of PARENT */
};

struct cgroup_backend {
    unsigned int version;
    /* The file through which a process moves itself. */
    const char *move_file;
    /* Makes a cgroup fit to have children with controllers. */
    int (*delegate)(int dir_fd, const char *path, struct error *err);
    /* Reverse of delegate, as far as it goes. */
    void (*undelegate)(int dir_fd);
    /* Limits of the slot, and a look at what this kernel can do. */
    int (*prepare_slot)(struct cgroup_system *system, uint64_t cpu_milli, struct error *err);
    int (*set_limits)(struct cgroup_system *system, struct cgroup *cgroup,
                      const struct cgroup_limits *limits, struct error *err);
    int (*set_cpu)(struct cgroup_system *system, const struct cgroup *cgroup, uint32_t cpu_milli,
                   struct error *err);
    /* raised says that it had less; a new one has no limit. */
    int (*set_memory)(struct cgroup_system *system, const struct cgroup *cgroup,
                      uint64_t memory_bytes, bool raised, struct error *err);
    int (*set_idle)(struct cgroup_system *system, const struct cgroup *cgroup, bool idle,
                    struct error *err);
    void (*usage)(struct cgroup_system *system, const struct cgroup *cgroup,
                  struct cgroup_usage *ret_usage);
};

extern const struct cgroup_backend cgroup_v1;
extern const struct cgroup_backend cgroup_v2;

struct cgroup_system {
    const struct cgroup_backend *backend;
    int proc_fd;
    bool self;
    bool limits_swap; /* the kernel can; else the host must have none */
    bool limits_tcp;  /* memory of sockets has a limit of its own: in the first version */
    unsigned int slot;
    char parent[256];
    char slot_name[CGROUP_SLOT_SIZE];
    size_t count;
    struct cgroup_hierarchy hierarchies[MAX_CGROUP_HIERARCHIES];
};

/* The slot directory of the hierarchy that has the controller; -1 if none. */
int cgroup_slot_fd(const struct cgroup_system *system, enum cgroup_controller controller);

/* Writes text to the sandbox's attribute; -errno with the attribute's name in err. */
int cgroup_write(int slot_fd, const char *id, const char *attribute, const char *text,
                 struct error *err);

/* Reads an attribute of one number; -errno, -EINVAL for anything else. */
int cgroup_read_number(int slot_fd, const char *id, const char *attribute, uint64_t *ret_value);

/* The number behind `key ` in an attribute of such lines; 0 if it isn't there. */
uint64_t cgroup_read_keyed(int slot_fd, const char *id, const char *attribute, const char *key);

/* The cgroup file systems of /proc/self/mountinfo, and the controllers of the v2 one, 0 where there
 * is none. */
int cgroup_mounts_read(int proc_fd, struct cgroup_mounts *ret_mounts,
                       unsigned int *ret_v2_controllers, struct error *err);

/* Whether the host has swap (proc_swaps(5)). */
bool cgroup_host_has_swap(int proc_fd);

/* Claims a slot of system's parent, sweeps what dead jailers left (cgroup_slot.c). */
int cgroup_slot_claim(struct cgroup_system *system, struct error *err);
void cgroup_slot_release(struct cgroup_system *system);
