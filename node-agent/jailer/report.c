/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/report.h"

static const char *const lock_names[JAIL_LOCK_COUNT] = {
    [JAIL_LOCK_DESCRIPTORS] = "descriptors",   [JAIL_LOCK_CGROUP] = "cgroup",
    [JAIL_LOCK_NAMESPACES] = "namespaces",     [JAIL_LOCK_MOUNTS] = "mounts",
    [JAIL_LOCK_RLIMITS] = "rlimits",           [JAIL_LOCK_USER_NAMESPACE] = "user-namespace",
    [JAIL_LOCK_CAPABILITIES] = "capabilities", [JAIL_LOCK_PARENT_DEATH] = "parent-death",
    [JAIL_LOCK_NO_NEW_PRIVS] = "no-new-privs", [JAIL_LOCK_LANDLOCK] = "landlock",
    [JAIL_LOCK_SECCOMP] = "seccomp",           [JAIL_LOCK_EXEC] = "exec",
};

const char *report_lock_name(uint32_t lock)
{
    return lock < JAIL_LOCK_COUNT ? lock_names[lock] : "unknown";
}
