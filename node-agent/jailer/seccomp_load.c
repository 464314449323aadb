/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/seccomp_load.h"

#include "seccomp/seccomp_policies.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

int seccomp_load(const struct seccomp_policy *policy, struct error *err)
{
    /* The kernel only reads what its struct points to without const. */
    union {
        const struct sock_filter *in;
        struct sock_filter *out;
    } filter = {.in = policy->filter};
    const struct sock_fprog program = {.len = policy->len, .filter = filter.out};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        return error_set(err, errno, "load the filter %s", policy->name);
    return 0;
}
