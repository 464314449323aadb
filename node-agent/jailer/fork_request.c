/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/fork_request.h"

#include "common/cleanup.h"

static const enum jail_fd sent[] = {
    JAIL_FD_STATUS, JAIL_FD_EXIT,   JAIL_FD_LIFELINE, JAIL_FD_BACKSTOP, JAIL_FD_REQUEST,
    JAIL_FD_STDOUT, JAIL_FD_STDERR, JAIL_FD_MOUNT_NS, JAIL_FD_PROC,
};

size_t fork_request_fill(const struct jail_spec *spec, int clone_fd,
                         struct fork_request *ret_request, int ret_fds[static MAX_FORK_FDS])
{
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(sent); i++)
        ret_fds[count++] = spec->fds[sent[i]];
    for (size_t i = 0; i < spec->tasks_count; i++)
        ret_fds[count++] = spec->tasks_fds[i];
    if (clone_fd >= 0)
        ret_fds[count++] = clone_fd;
    *ret_request = (struct fork_request){
        .magic = FORK_REQUEST_MAGIC,
        .tasks_count = (uint32_t)spec->tasks_count,
        .has_clone_fd = clone_fd >= 0 ? 1 : 0,
        .outer_id = spec->outer_id,
        .mounts = spec->mounts,
        .rlimits = spec->rlimits,
        .landlock = spec->landlock,
        .last_capability = spec->last_capability,
        .shows_places = spec->shows_places ? 1 : 0,
    };
    return count;
}

int fork_request_read(const struct fork_request *request, size_t len, const int *fds, size_t count,
                      struct jail_spec *ret_spec, int *ret_clone_fd)
{
    if (len != sizeof(*request) || request->magic != FORK_REQUEST_MAGIC ||
        request->tasks_count > MAX_CGROUP_HIERARCHIES || request->has_clone_fd > 1 ||
        count != ARRAY_SIZE(sent) + request->tasks_count + request->has_clone_fd)
        return -EPROTO;
    *ret_spec = (struct jail_spec){
        .tasks_count = request->tasks_count,
        .outer_id = request->outer_id,
        .mounts = request->mounts,
        .rlimits = request->rlimits,
        .landlock = request->landlock,
        .last_capability = request->last_capability,
        .shows_places = request->shows_places != 0,
    };
    ret_spec->fds[JAIL_FD_NET_NS] = -1;
    ret_spec->fds[JAIL_FD_REAPER] = -1;
    for (size_t i = 0; i < ARRAY_SIZE(sent); i++)
        ret_spec->fds[sent[i]] = *fds++;
    for (size_t i = 0; i < request->tasks_count; i++)
        ret_spec->tasks_fds[i] = *fds++;
    *ret_clone_fd = request->has_clone_fd ? *fds : -1;
    return 0;
}
