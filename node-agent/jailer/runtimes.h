/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>
#include <stddef.h>

/* The root file systems that this node offers: the directories below --runtimes-dir that hold an
 * interpreter, our runner and the places that the jail mounts over. */
struct runtime {
    char name[PROTO_RUNTIME_SIZE];
    char version[PROTO_VERSION_SIZE]; /* what its version file says */
    int root_fd;
    int mount_ns_fd; /* its template, see template.h */
};

struct runtimes {
    size_t count;
    struct runtime entries[PROTO_MAX_RUNTIMES];
};

/* Finds them. One that bears our mark (/usr/lib/sandboxrun) and can't be used is logged and left
 * out. -ENOENT if none is left. */
int runtimes_scan(const char *path, struct runtimes *ret_runtimes, struct error *err);
void runtimes_done(struct runtimes *runtimes);

const struct runtime *runtimes_find(const struct runtimes *runtimes, const char *name);

/* Whether a directory bears our mark, and so is meant to be a runtime. */
bool runtimes_bears_mark(int dir_fd, const char *name);

/* Opens a path below a runtime's root as a process inside would see it. A descriptor or -errno. */
int runtimes_open_inside(int root_fd, const char *path, int flags);

/* Checks one directory; -errno names what is missing. */
int runtimes_load(int dir_fd, const char *name, struct runtime *ret_runtime, struct error *err);
