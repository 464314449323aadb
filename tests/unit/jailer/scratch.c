/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include "common/cleanup.h"
#include "tests/unit/common/cmocka_setup.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

void scratch_make(struct scratch *ret_scratch)
{
    (void)snprintf(ret_scratch->path, sizeof(ret_scratch->path), "/tmp/sbr-jailer-test-XXXXXX");
    assert_non_null(mkdtemp(ret_scratch->path));
    ret_scratch->fd = open(ret_scratch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(ret_scratch->fd >= 0);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void scratch_remove(struct scratch *scratch)
{
    (void)fd_close(scratch->fd);
    assert_int_equal(nftw(scratch->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void make_parents(const struct scratch *scratch, const char *path)
{
    char copy[256];
    (void)snprintf(copy, sizeof(copy), "%s", path);
    for (char *slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdirat(scratch->fd, copy, 0755);
        *slash = '/';
    }
}

void scratch_dir(const struct scratch *scratch, const char *path)
{
    make_parents(scratch, path);
    assert_int_equal(mkdirat(scratch->fd, path, 0755), 0);
}

void scratch_file(const struct scratch *scratch, const char *path, const char *text)
{
    make_parents(scratch, path);
    int fd = openat(scratch->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    (void)fd_close(fd);
}

const char *scratch_read(const struct scratch *scratch, const char *path)
{
    static char text[4096];
    int fd = openat(scratch->fd, path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t len = read(fd, text, sizeof(text) - 1);
    assert_true(len >= 0);
    text[len] = '\0';
    (void)fd_close(fd);
    return text;
}
