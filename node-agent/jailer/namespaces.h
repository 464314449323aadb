/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <sys/types.h>

/*
 * clone3(2) into a new pid namespace and into the v2 cgroup cgroup_fd (-1: into the jailer's own).
 * Returns the child's pid and its pidfd in the parent, 0 in the child, or -errno. In the child no
 * signal has a handler.
 */
pid_t namespaces_clone(int cgroup_fd, int *ret_pidfd);

/*
 * In the child: a private copy of the template's mount namespace, so that no mount of the host is
 * ever there; a network namespace that nobody else has been in, with a loopback interface that is
 * down and nothing else (net_ns_fd, or a new one if that is -1); new ipc, uts and cgroup
 * namespaces, the last with the child's own cgroup as its root; the host name. All of them belong
 * to the jailer's user namespace. Async-signal-safe.
 */
int namespaces_enter(int mount_ns_fd, int net_ns_fd, struct error *err);
