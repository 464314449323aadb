/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/landlock.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int landlock_look_up(unsigned int *ret_abi, struct error *err)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION);
    /* Not built in, or built in and not switched on. */
    if (abi < 0 && (errno == ENOSYS || errno == EOPNOTSUPP))
        abi = 0;
    if (abi < 0)
        return error_set_errno(err, errno, "ask the kernel for its version of Landlock");
    if (abi > LANDLOCK_MAX_ABI)
        abi = LANDLOCK_MAX_ABI;
    *ret_abi = abi < LANDLOCK_MIN_ABI ? 0 : (unsigned int)abi;
    return 0;
}

void landlock_plan(struct landlock_plan *ret_plan, unsigned int abi, bool network)
{
    *ret_plan = (struct landlock_plan){.enabled = abi >= LANDLOCK_MIN_ABI};
    if (!ret_plan->enabled)
        return;
    struct landlock_ruleset *ruleset = &ret_plan->ruleset;
    ruleset->handled_fs = LANDLOCK_ALL;
    if (abi < 3)
        ruleset->handled_fs &= ~LANDLOCK_TRUNCATE;
    if (abi < 5)
        ruleset->handled_fs &= ~LANDLOCK_IOCTL_DEV;
    if (abi >= 4 && !network)
        ruleset->handled_net = LANDLOCK_BIND_TCP | LANDLOCK_CONNECT_TCP;
    if (abi >= 6)
        ruleset->scoped = LANDLOCK_ABSTRACT_UNIX | LANDLOCK_SIGNAL;
}
