/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/runtimes.h"

/*
 * What every jail of a runtime has in common, made once: a mount namespace in which the runtime is
 * the root, read-only, and nothing of the host exists. A jail enters it and takes a private copy,
 * so that the host's mounts are neither copied nor detached for each run, and the jailer's own
 * mount namespace is never changed: when the jailer dies, so do the templates.
 *
 *   /     the runtime, ro nosuid nodev
 *   /dev  a tmpfs, ro nosuid noexec: null, zero, full, random, urandom, the fd links, an empty shm
 */

/* Sets runtime->mount_ns_fd. proc_fd is /proc. Only before the loop runs: the process is in the
 * new namespace for a while, and its working directory is / afterwards. */
int template_make(int proc_fd, struct runtime *runtime, struct error *err);
