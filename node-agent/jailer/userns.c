/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/userns.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/jailer/jail_spec.h"

#include <grp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Raw system calls: the C library's wrappers would signal its other threads, of which a process
 * fresh from clone3() has a stale idea. */
static int become(uid_t id, struct error *err)
{
    if (syscall(SYS_setgroups, 0, NULL) < 0)
        return error_set(err, errno, "drop the supplementary groups");
    if (syscall(SYS_setresgid, id, id, id) < 0)
        return error_set(err, errno, "become gid %u", id);
    if (syscall(SYS_setresuid, id, id, id) < 0)
        return error_set(err, errno, "become uid %u", id);
    return 0;
}

static int write_map(int proc_fd, const char *name, const char *text, struct error *err)
{
    int r = fd_write_attr(proc_fd, name, text);
    return r < 0 ? error_set(err, -r, "write /proc/%s", name) : 0;
}

static int write_maps(int proc_fd, uid_t outer_id, struct error *err)
{
    char map[32];
    (void)snprintf(map, sizeof(map), "%u %u 1", JAIL_UID, outer_id);
    int r = write_map(proc_fd, "self/setgroups", "deny", err);
    if (r >= 0)
        r = write_map(proc_fd, "self/uid_map", map, err);
    if (r >= 0)
        r = write_map(proc_fd, "self/gid_map", map, err);
    return r;
}

static bool ids_are(uid_t wanted)
{
    uid_t uids[3] = {0};
    gid_t gids[3] = {0};
    return getresuid(&uids[0], &uids[1], &uids[2]) == 0 &&
           getresgid(&gids[0], &gids[1], &gids[2]) == 0 && uids[0] == wanted && uids[1] == wanted &&
           uids[2] == wanted && gids[0] == wanted && gids[1] == wanted && gids[2] == wanted &&
           getgroups(0, NULL) == 0;
}

int userns_enter(int proc_fd, uid_t outer_id, struct error *err)
{
    /* Hosts that keep user namespaces from the unprivileged look at the capabilities: so they
     * stay through the change of ids. The new namespace sets the secure bits back. */
    if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) < 0)
        return error_set(err, errno, "keep the capabilities while changing ids");
    int r = become(outer_id, err);
    if (r < 0)
        return r;
    if (unshare(CLONE_NEWUSER) < 0)
        return error_set(err, errno, "make a user namespace");
    /* A change of ids clears the dumpable bit, and without it /proc/self belongs to root. No other
     * process has this uid, so nobody gains anything from it; process 1 clears it again. */
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
        return error_set(err, errno, "make /proc/self writable");
    r = write_maps(proc_fd, outer_id, err);
    if (r < 0)
        return r;
    if (!ids_are(JAIL_UID))
        return error_set(err, EPERM, "the ids inside are not %u alone", JAIL_UID);
    return 0;
}
