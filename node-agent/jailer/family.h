/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/runtimes.h"

#include <sys/types.h>

/*
 * What a zygote and the sandboxes that are forked from it have in place of rights over the host,
 * for each runtime: a user namespace, in which the ids of this jailer's part of the range are
 * themselves and nobody else exists, and a mount namespace that belongs to it, a copy of the
 * runtime's template.
 *
 * In that copy /proc is mounted, of a pid namespace in which nothing lives or ever will. It shows
 * nothing, and lets those of the user namespace mount the /proc of their own pid namespaces: the
 * kernel lets them where one is to be seen in full (mount_namespaces(7)), which the jailer's own,
 * in a container, is not.
 */
struct family {
    int user_ns_fd;
    int mount_ns_fd;
};

#define FAMILY_INIT ((struct family){.user_ns_fd = -1, .mount_ns_fd = -1})

/* first and count: the ids. proc_fd is /proc. Waits for a process: only before the loop runs. */
int family_make(int proc_fd, const struct runtime *runtime, uid_t first, uint32_t count,
                struct family *ret_family, struct error *err);

void family_close(struct family *family);
