/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/namespaces.h"

#include "common/cleanup.h"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#define JAIL_HOSTNAME "sandbox"

/* What the kernel starts with: nothing of the host's NIS domain shows inside. */
#define JAIL_DOMAIN "(none)"

pid_t namespaces_clone(int cgroup_fd, int *ret_pidfd)
{
    int pidfd = -1;
    struct clone_args args = {
        .flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND | CLONE_NEWPID,
        .pidfd = (uint64_t)(uintptr_t)&pidfd,
        .exit_signal = SIGCHLD,
    };
    if (cgroup_fd >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)cgroup_fd;
    }
    long pid = syscall(SYS_clone3, &args, sizeof(args));
    if (pid < 0)
        return -errno;
    if (pid > 0)
        *ret_pidfd = pidfd;
    return (pid_t)pid;
}

int namespaces_enter(int mount_ns_fd, int net_ns_fd, struct error *err)
{
    if (setns(mount_ns_fd, CLONE_NEWNS) < 0)
        return error_set(err, errno, "enter the runtime's mount namespace");
    if (net_ns_fd >= 0 && setns(net_ns_fd, CLONE_NEWNET) < 0)
        return error_set(err, errno, "enter a new network namespace");
    /* Here and not in clone3(): a network namespace registers its loopback interface under the
     * network's global lock, which the jailer's loop must not wait for; and the root of a cgroup
     * namespace is the cgroup of the caller, which for clone3() would be the jailer. */
    int flags = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
    if (unshare(net_ns_fd >= 0 ? flags : flags | CLONE_NEWNET) < 0)
        return error_set(err, errno, "make new namespaces");
    if (sethostname(JAIL_HOSTNAME, sizeof(JAIL_HOSTNAME) - 1) < 0)
        return error_set(err, errno, "set the host name");
    if (setdomainname(JAIL_DOMAIN, sizeof(JAIL_DOMAIN) - 1) < 0)
        return error_set(err, errno, "set the domain name");
    return 0;
}
