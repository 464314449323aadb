/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/hardening.h"

#include "common/cleanup.h"
#include "node-agent/proto/resolver_proto.h"
#include "node-agent/resolver/resolver_limits.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define RESOLVER_ID 65533u

/* Beside lookups and connections: a socket for each slot and family, the metrics' 64 connections,
 * the loop, the log. */
#define MORE_DESCRIPTORS (2u * RESOLVER_MAX_SLOTS + 128u)

static int become_nobody(struct error *err)
{
    uid_t real = 0, effective = 0, saved = 0;
    if (geteuid() == 0 &&
        (setgroups(0, NULL) < 0 || setresgid(RESOLVER_ID, RESOLVER_ID, RESOLVER_ID) < 0 ||
         setresuid(RESOLVER_ID, RESOLVER_ID, RESOLVER_ID) < 0))
        return error_set_errno(err, errno, "become uid %u", RESOLVER_ID);
    if (getresuid(&real, &effective, &saved) < 0)
        return error_set_errno(err, errno, "read the uid back");
    if (real == 0 || effective == 0 || saved == 0)
        return error_set(err, EPERM, "still root after leaving it: start it as another user");
    return 0;
}

static int clear_capabilities(struct error *err)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
        syscall(SYS_capset, &header, data) < 0 || syscall(SYS_capget, &header, data) < 0)
        return error_set_errno(err, errno, "clear the capabilities");
    for (size_t i = 0; i < ARRAY_SIZE(data); i++) {
        if (data[i].effective || data[i].permitted || data[i].inheritable)
            return error_set(err, EPERM, "a capability is left after clearing all");
    }
    return 0;
}

static int limit(int resource, rlim_t most, struct error *err)
{
    struct rlimit limits;
    if (getrlimit(resource, &limits) < 0)
        return error_set_errno(err, errno, "read limit %d", resource);
    if (limits.rlim_max > most)
        limits.rlim_max = most;
    limits.rlim_cur = limits.rlim_max;
    if (setrlimit(resource, &limits) < 0)
        return error_set_errno(err, errno, "set limit %d", resource);
    return 0;
}

int hardening_apply(struct error *err)
{
    int r = limit(RLIMIT_CORE, 0, err);
    if (r == 0)
        r = limit(RLIMIT_NOFILE, MAX_LOOKUPS + MAX_TCP_CONNECTIONS + MORE_DESCRIPTORS, err);
    if (r == 0)
        r = become_nobody(err);
    if (r == 0)
        r = clear_capabilities(err);
    if (r == 0)
        r = limit(RLIMIT_NPROC, 0, err);
    if (r < 0)
        return r;
    (void)umask(0077);
    if (chdir("/") < 0)
        return error_set_errno(err, errno, "change to the root directory");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return error_set_errno(err, errno, "set no_new_privs");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return error_set_errno(err, errno, "clear the dumpable bit");
    return 0;
}
