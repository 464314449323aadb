/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/secret_file.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/kube/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NS_PER_MS 1000000u

int secret_file_init(struct secret_file *secret, const char *path, size_t max)
{
    *secret = (struct secret_file){.max = max};
    secret->path = strdup(path);
    return secret->path ? 0 : -ENOMEM;
}

static void forget(char *text, size_t len)
{
    if (text)
        explicit_bzero(text, len);
    free(text);
}

void secret_file_done(struct secret_file *secret)
{
    forget(secret->text, secret->len);
    free(secret->path);
    *secret = (struct secret_file){0};
}

static bool looks_the_same(const struct secret_file *secret, const struct stat *st)
{
    return secret->inode == st->st_ino && secret->size == st->st_size &&
           secret->mtime_ns == (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static int read_again(struct secret_file *secret, const struct stat *st, struct error *err)
{
    cleanup_buf struct buf text = BUF_INIT(secret->max);
    int r = fd_read_file(AT_FDCWD, secret->path, false, &text);

    if (r == -EFBIG || r == -EMSGSIZE)
        return error_set(err, EFBIG, "%s exceeds %zu bytes", secret->path, secret->max);
    if (r < 0)
        return error_set_errno(err, -r, "can't read %s", secret->path);
    /* The kubelet switches whole directories, but another writer may truncate first. */
    if (text.len == 0)
        return error_set(err, ENODATA, "%s is empty", secret->path);
    if (memchr(text.data, '\0', text.len))
        return error_set(err, EINVAL, "%s has a NUL byte in it", secret->path);
    bool changed =
        !secret->text || secret->len != text.len || memcmp(secret->text, text.data, text.len) != 0;
    if (changed) {
        /* A copy of just its size: the buffer that files are read into is large. */
        char *bytes = strndup(text.data, text.len);
        if (!bytes)
            return error_set_errno(err, ENOMEM, "can't read %s", secret->path);
        forget(secret->text, secret->len);
        secret->text = bytes;
        secret->len = strlen(bytes);
    }
    explicit_bzero(text.data, text.len);
    secret->inode = st->st_ino;
    secret->size = st->st_size;
    secret->mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
    return changed;
}

int secret_file_refresh(struct secret_file *secret, uint64_t now_ns, struct error *err)
{
    struct stat st;
    bool due = secret->read_ns == 0 ||
               now_ns - secret->read_ns >= KUBE_SECRET_REFRESH_MS * (uint64_t)NS_PER_MS;

    if (!due && secret->looked_ns != 0 &&
        now_ns - secret->looked_ns < KUBE_SECRET_LOOK_MS * (uint64_t)NS_PER_MS)
        return 0;
    secret->looked_ns = now_ns;
    /* Stat first: if the file is switched in between, the next look finds it changed. */
    if (stat(secret->path, &st) < 0) {
        int saved = errno;
        return secret->text ? 0 : error_set_errno(err, saved, "can't read %s", secret->path);
    }
    if (!due && looks_the_same(secret, &st))
        return 0;
    int r = read_again(secret, &st, secret->text ? NULL : err);
    if (r < 0)
        return secret->text ? 0 : r;
    secret->read_ns = now_ns;
    return r;
}

void secret_file_expire(struct secret_file *secret)
{
    secret->looked_ns = 0;
    secret->read_ns = 0;
}
