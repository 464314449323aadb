/* SPDX-License-Identifier: Apache-2.0 */
#include "common/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_OPEN_TRIES = 16 };

int path_join(char *ret_path, size_t size, const char *dir, const char *name)
{
    size_t dir_len = strlen(dir);
    bool has_slash = dir_len == 0 || dir[dir_len - 1] == '/';
    size_t name_len = strlen(name);
    size_t len = dir_len + (has_slash ? 0 : 1);
    if (len >= size || name_len >= size - len)
        return -ENAMETOOLONG;
    memcpy(ret_path, dir, dir_len);
    if (!has_slash)
        ret_path[dir_len] = '/';
    memcpy(ret_path + len, name, name_len + 1);
    return 0;
}

int path_open_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* An existing directory is fine, whatever mkdir() says of it (EEXIST, EROFS, EACCES). */
static int path_make_dir(const char *path, unsigned int mode)
{
    if (mkdir(path, (mode_t)mode) == 0)
        return 0;
    int failure = errno;
    struct stat st;
    if (stat(path, &st) < 0)
        return -failure;
    return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int path_make_dirs(const char *path, unsigned int mode)
{
    char copy[PATH_MAX];
    size_t len = strlen(path);
    if (len == 0)
        return -ENOENT;
    if (len >= sizeof(copy))
        return -ENAMETOOLONG;
    memcpy(copy, path, len + 1);
    for (char *p = copy + 1; *p; p++) {
        if (*p != '/' || p[-1] == '/')
            continue;
        *p = '\0';
        int r = path_make_dir(copy, mode);
        if (r < 0)
            return r;
        *p = '/';
    }
    return path_make_dir(copy, mode);
}

int path_open_beneath(int root_fd, const char *path, int flags)
{
    struct open_how how = {
        .flags = (unsigned int)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? 0600 : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
    };
    /* EAGAIN: the kernel could not rule out an escape by "..", for a rename went on meanwhile. */
    for (int tries = 0; tries < PATH_OPEN_TRIES; tries++) {
        long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
        if (fd >= 0)
            return (int)fd;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
    }
    return -EAGAIN;
}
