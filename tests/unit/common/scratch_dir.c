/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch_dir.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int scratch_dir_setup(void **state)
{
    struct scratch_dir *dir = calloc(1, sizeof(*dir));
    if (!dir)
        return -1;
    (void)snprintf(dir->path, sizeof(dir->path), "/tmp/sandboxrun-test-XXXXXX");
    dir->fd = mkdtemp(dir->path) ? open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir->fd < 0) {
        free(dir);
        return -1;
    }
    *state = dir;
    return 0;
}

static int scratch_dir_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

int scratch_dir_teardown(void **state)
{
    struct scratch_dir *dir = *state;
    int r = nftw(dir->path, scratch_dir_remove, 16, FTW_DEPTH | FTW_PHYS);
    (void)close(dir->fd);
    free(dir);
    return r;
}
