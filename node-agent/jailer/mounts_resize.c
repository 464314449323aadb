/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/mounts.h"

#include "common/cleanup.h"

#include <inttypes.h>
#include <stdio.h>

int mounts_resize(int place_fd, uint64_t memory_bytes, struct error *err)
{
    char size[24];
    (void)snprintf(size, sizeof(size), "%" PRIu64, memory_bytes / MOUNTS_TMPFS_SHARE);
    cleanup_close int fd = fspick(place_fd, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);
    if (fd < 0)
        return error_set_errno(err, errno, "pick a tmpfs");
    if (fsconfig(fd, FSCONFIG_SET_STRING, "size", size, 0) < 0 ||
        fsconfig(fd, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
        return error_set_errno(err, errno, "give a tmpfs %s bytes", size);
    return 0;
}
