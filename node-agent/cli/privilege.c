/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/privilege.h"

#include "common/parse.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NONROOT_ID 65532u

int privilege_check(struct error *err)
{
    if (geteuid() == 0)
        return 0;
    return error_set(err, EPERM,
                     "a sandbox is made of namespaces, mounts and cgroups, which needs root: run "
                     "it with sudo");
}

static uint32_t parse_id(const char *text)
{
    uint64_t id;
    /* The highest value means "no change" to the kernel. */
    if (!text || parse_u64(text, 1, UINT32_MAX - 1, &id) < 0)
        return NONROOT_ID;
    return (uint32_t)id;
}

struct privilege_target privilege_choose(const char *sudo_uid, const char *sudo_gid)
{
    uint32_t uid = parse_id(sudo_uid);
    return (struct privilege_target){
        .uid = uid,
        .gid = uid == NONROOT_ID ? NONROOT_ID : parse_id(sudo_gid),
    };
}

static int drop_bounding_set(struct error *err)
{
    for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
        if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1 && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
            return error_set_errno(err, errno, "drop capability %lu from the bounding set", cap);
    }
    return 0;
}

static int clear_capabilities(struct error *err)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        return error_set_errno(err, errno, "clear the ambient capabilities");
    if (syscall(SYS_capset, &header, data) < 0)
        return error_set_errno(err, errno, "clear the capabilities");
    if (syscall(SYS_capget, &header, data) < 0)
        return error_set_errno(err, errno, "read the capabilities back");
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        if (data[i].effective || data[i].permitted || data[i].inheritable)
            return error_set(err, EPERM, "capabilities are left after they were cleared");
    }
    return 0;
}

int privilege_drop(struct privilege_target target, struct error *err)
{
    /* The bounding set first: dropping from it takes the capability that the ids take away. */
    int r = drop_bounding_set(err);
    if (r < 0)
        return r;
    if (setgroups(0, NULL) < 0)
        return error_set_errno(err, errno, "drop the supplementary groups");
    if (setresgid(target.gid, target.gid, target.gid) < 0)
        return error_set_errno(err, errno, "become group %u", target.gid);
    if (setresuid(target.uid, target.uid, target.uid) < 0)
        return error_set_errno(err, errno, "become user %u", target.uid);
    r = clear_capabilities(err);
    if (r < 0)
        return r;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return error_set_errno(err, errno, "set no_new_privs");

    uid_t ruid, euid, suid;
    gid_t rgid, egid, sgid;
    if (getresuid(&ruid, &euid, &suid) < 0 || getresgid(&rgid, &egid, &sgid) < 0)
        return error_set_errno(err, errno, "read the ids back");
    if (ruid != target.uid || euid != target.uid || suid != target.uid || rgid != target.gid ||
        egid != target.gid || sgid != target.gid || setresuid(0, 0, 0) == 0)
        return error_set(err, EPERM, "root is left after it was given up");
    return 0;
}
