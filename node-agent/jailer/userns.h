/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <sys/types.h>

/*
 * In the child: becomes outer_id (uid and gid, no further groups) and enters a user namespace of
 * its own in which JAIL_UID stands for it and nothing else exists (user_namespaces(7)).
 *
 * The child writes both maps itself. For a map of one's own id that takes no privilege, so no
 * process has to write into another's /proc and nobody waits for anybody; the kernel asks in
 * exchange that setgroups(2) be denied for good, which is one lock more. proc_fd is the jailer's
 * /proc. Async-signal-safe.
 */
int userns_enter(int proc_fd, uid_t outer_id, struct error *err);
