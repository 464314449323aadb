/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/seccomp_load.h"

#include "seccomp/seccomp_policies.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

int seccomp_set_filter(const struct seccomp_policy *policy, unsigned long flags)
{
    /* The kernel only reads what its struct points to without const. */
    union {
        const struct sock_filter *in;
        struct sock_filter *out;
    } filter = {.in = policy->filter};
    const struct sock_fprog program = {.len = policy->len, .filter = filter.out};
    long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    return r < 0 ? -errno : (int)r;
}

int seccomp_load(const struct seccomp_policy *policy, struct error *err)
{
    int r = seccomp_set_filter(policy, 0);
    return r < 0 ? error_set(err, -r, "load the filter %s", policy->name) : 0;
}

int seccomp_load_listened(const struct seccomp_policy *policy, struct error *err)
{
    /* Before Linux 5.19 a signal takes a call that waits for its answer back and makes it anew;
     * with the second flag, once it was received only a deadly one ends the wait. */
    int fd = seccomp_set_filter(policy, SECCOMP_FILTER_FLAG_NEW_LISTENER |
                                            SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
    if (fd == -EINVAL)
        fd = seccomp_set_filter(policy, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    return fd < 0 ? error_set(err, -fd, "load the filter %s with a listener", policy->name) : fd;
}
