/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <sys/types.h>

/*
 * clone3(2) into new pid, network, ipc and uts namespaces, which belong to the jailer's user
 * namespace, and into the v2 cgroup cgroup_fd (-1: into the jailer's own). Returns the child's
 * pid and its pidfd in the parent, 0 in the child, or -errno. In the child no signal has a handler.
 */
pid_t namespaces_clone(int cgroup_fd, int *ret_pidfd);

/*
 * In the child: a private copy of the template's mount namespace, so that no mount of the host is
 * ever there; a cgroup namespace whose root is where the child is now; the host name.
 * Async-signal-safe.
 */
int namespaces_enter(int mount_ns_fd, struct error *err);
