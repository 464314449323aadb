/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/input.h"

#include "common/cleanup.h"
#include "common/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

int input_open(const char *path, struct input *ret_input, struct error *err)
{
    if (strcmp(path, "-") == 0) {
        *ret_input = (struct input){.name = "stdin", .fd = STDIN_FILENO};
        return 0;
    }
    cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", path);
    struct stat st;
    if (fstat(fd, &st) < 0)
        return error_set_errno(err, errno, "%s", path);
    if (S_ISDIR(st.st_mode))
        return error_set(err, EISDIR, "%s: is a directory; name the files in it", path);
    if (S_ISBLK(st.st_mode))
        return error_set(err, EINVAL, "%s: is a block device; name a file", path);
    *ret_input = (struct input){.name = path, .fd = TAKE_FD(fd)};
    return 0;
}

int input_read(const struct input *input, struct buf *buf, struct error *err)
{
    int r = fd_read_all(input->fd, buf);
    if (r == -EFBIG || r == -EMSGSIZE)
        return error_set(err, EFBIG, "%s: longer than %zu bytes, which is the limit", input->name,
                         buf->max);
    if (r < 0)
        return error_set_errno(err, -r, "read %s", input->name);
    return 0;
}

void input_close(struct input *input)
{
    if (input->fd > STDERR_FILENO)
        (void)fd_close(input->fd);
    input->fd = -1;
}
