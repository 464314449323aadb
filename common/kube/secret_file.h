/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A file whose content is replaced while we run: the kubelet writes a new token or CA by switching
 * a symlink. It is looked at every KUBE_SECRET_LOOK_MS at most, and read again if inode, size or
 * mtime changed, or after KUBE_SECRET_REFRESH_MS (a file system may keep all three).
 */
struct secret_file {
    char *path;
    char *text; /* NULL until it was read */
    size_t len;
    size_t max;
    uint64_t looked_ns; /* CLOCK_MONOTONIC, 0: look at the next refresh */
    uint64_t read_ns;
    ino_t inode;
    off_t size;
    int64_t mtime_ns;
};

int secret_file_init(struct secret_file *secret, const char *path, size_t max);
void secret_file_done(struct secret_file *secret);

/* Brings text up to date. 1: it changed, 0: it didn't. A file that can't be read leaves the text
 * as it was; -errno only while there is none. */
int secret_file_refresh(struct secret_file *secret, uint64_t now_ns, struct error *err);

/* Has the next refresh read the file whatever it looks like. */
void secret_file_expire(struct secret_file *secret);
