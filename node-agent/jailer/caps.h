/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>

/* Version 3 of the system calls: two words of 32 for each set. The C library has no wrapper. */
#define CAPS_WORDS 2

int caps_get(struct __user_cap_data_struct ret_sets[static CAPS_WORDS]);
int caps_set(const struct __user_cap_data_struct sets[static CAPS_WORDS]);

/* The number of the last capability that the kernel knows (/proc/sys/kernel/cap_last_cap). */
int caps_last(int proc_fd, unsigned int *ret_last, struct error *err);

struct capability {
    unsigned int number;
    const char *name; /* CAP_SYS_ADMIN */
    const char *use;
    bool at_root_only;
    bool optional; /* without it there is no ToolCall */
};

/* The index-th capability that the jailer needs, NULL behind the last. at_root: it makes its
 * cgroup at the root of the hierarchies, which takes one more. */
const struct capability *caps_needed(size_t index, bool at_root);

bool caps_has(const struct capability *capability);

/* By its number, CAP_NET_ADMIN. */
bool caps_has_number(unsigned int number);

/* At start: -EPERM that names the capabilities that the jailer needs and doesn't have. */
int caps_check(bool at_root, struct error *err);

/* Gives up what the jailer doesn't need: in the effective, permitted and bounding set. */
int caps_restrict(unsigned int last, bool at_root, struct error *err);

/* In the child, in its own user namespace: empties the bounding, ambient, inheritable, permitted
 * and effective set, locks the secure bits, and reads back that nothing is left
 * (capabilities(7)). Async-signal-safe. */
int caps_drop_all(unsigned int last, struct error *err);
