/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Getting rid of cgroups and what is in them. A process is killed only by a pidfd and only if it
 * is still listed in the cgroup after that was opened: its number can't have gone to another.
 */

/* Kills every process listed in slot_fd/id; their pidfds go to ret_pidfds (room for
 * MAX_SWEPT_PIDS_A_ROUND, the caller closes them) unless that is NULL. The number of processes
 * found, or -errno. */
int sweep_kill(int slot_fd, const char *id, int *ret_pidfds, size_t *ret_count);

/* Kills and removes every cgroup below the directories dir_fds[0..count), one of each hierarchy,
 * until until_ns (clock_boottime_ns()). 0, or -EBUSY if some were left. *ret_swept: the number
 * that went. */
int sweep_slot(const int *dir_fds, size_t count, uint64_t until_ns, unsigned int *ret_swept);
