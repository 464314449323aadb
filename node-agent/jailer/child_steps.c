/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/child_steps.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/jailer/caps.h"
#include "node-agent/jailer/descriptors.h"
#include "node-agent/jailer/namespaces.h"
#include "node-agent/jailer/pass_fd.h"
#include "node-agent/jailer/userns.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

/* The victim of choice, should the whole machine run out of memory. */
#define OOM_SCORE_ADJ "1000"

/* Everything of the jailer's that the child has no use for goes first: as long as it held the
 * other sandboxes' pipes, their ends would not be seen. */
static int close_inherited(const struct jail_spec *spec, struct error *err)
{
    int keep[JAIL_FD_COUNT + MAX_CGROUP_HIERARCHIES];
    memcpy(keep, spec->fds, sizeof(spec->fds));
    memcpy(keep + JAIL_FD_COUNT, spec->tasks_fds, spec->tasks_count * sizeof(int));
    return descriptors_keep(STDERR_FILENO + 1, keep, JAIL_FD_COUNT + spec->tasks_count, err);
}

/* v1: a single-threaded process that moves itself by `tasks` takes no global lock and waits for no
 * RCU grace period, as the parent would for it. On v2 it was born inside. */
static int enter_cgroups(const struct jail_spec *spec, struct error *err)
{
    for (size_t i = 0; i < spec->tasks_count; i++) {
        if (write(spec->tasks_fds[i], "0", 1) != 1)
            return error_set(err, errno, "enter the cgroup");
    }
    return 0;
}

static int enter_namespaces(const struct jail_spec *spec, struct error *err)
{
    return namespaces_enter(spec->fds[JAIL_FD_MOUNT_NS], spec->fds[JAIL_FD_NET_NS], err);
}

static int enter_mounts(const struct jail_spec *spec, struct error *err)
{
    (void)umask(022);
    return mounts_enter(&spec->mounts, err);
}

static int show_places(const struct jail_spec *spec, struct error *err)
{
    for (unsigned int i = 0; spec->shows_places && i < MOUNTS_TMPFS_COUNT; i++) {
        int fd = mounts_open((enum mounts_tmpfs)i, err);
        if (fd < 0)
            return fd;
        const struct report report = {.kind = REPORT_PLACE, .place = i};
        int r = pass_fd_send(spec->fds[JAIL_FD_STATUS], &report, sizeof(report), fd);
        (void)fd_close(fd);
        if (r < 0)
            return error_set(err, -r, "hand over a file system");
    }
    return 0;
}

static int enter_rlimits(const struct jail_spec *spec, struct error *err)
{
    int r = fd_write_attr(spec->fds[JAIL_FD_PROC], "self/oom_score_adj", OOM_SCORE_ADJ);
    if (r < 0)
        return error_set(err, -r, "set oom_score_adj");
    return rlimits_enter(&spec->rlimits, err);
}

static int enter_user_namespace(const struct jail_spec *spec, struct error *err)
{
    int r = userns_enter(spec->fds[JAIL_FD_PROC], spec->outer_id, err);
    return r < 0 ? r : mounts_enter_home(err);
}

static int drop_capabilities(const struct jail_spec *spec, struct error *err)
{
    return caps_drop_all(spec->last_capability, err);
}

/* For process 1 alone: the program's fork does not inherit the first, its execve() undoes the
 * second. The death signal after the change of ids, which clears it. */
static int bind_to_parent(const struct jail_spec *spec, struct error *err)
{
    (void)spec;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return error_set(err, errno, "set the parent death signal");
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return error_set(err, errno, "clear the dumpable bit");
    return 0;
}

static int set_no_new_privs(const struct jail_spec *spec, struct error *err)
{
    (void)spec;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return error_set(err, errno, "set no_new_privs");
    return 0;
}

/* The order is the jail's: a later step would undo or forbid an earlier one. Mounts need the
 * capabilities that the user namespace takes; the new user namespace fills every capability set,
 * so they are emptied behind it. */
const struct child_step child_steps[] = {
    {JAIL_LOCK_DESCRIPTORS, close_inherited},
    {JAIL_LOCK_CGROUP, enter_cgroups},
    {JAIL_LOCK_NAMESPACES, enter_namespaces},
    {JAIL_LOCK_MOUNTS, enter_mounts},
    {JAIL_LOCK_MOUNTS, show_places},
    {JAIL_LOCK_RLIMITS, enter_rlimits},
    {JAIL_LOCK_USER_NAMESPACE, enter_user_namespace},
    {JAIL_LOCK_CAPABILITIES, drop_capabilities},
    {JAIL_LOCK_PARENT_DEATH, bind_to_parent},
    {JAIL_LOCK_NO_NEW_PRIVS, set_no_new_privs},
};

const size_t child_steps_count = ARRAY_SIZE(child_steps);
