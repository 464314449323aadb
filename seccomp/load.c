/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/load.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int load_filter(const struct compiled *compiled, struct error *err)
{
    const struct sock_fprog program = {
        .len = (unsigned short)compiled->len,
        .filter = compiled->insns,
    };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return error_set_errno(err, errno, "can't set no_new_privs");
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        return error_set_errno(err, errno, "the kernel refuses the filter of %zu instructions",
                               compiled->len);
    return 0;
}
