/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stddef.h>

/* Joins dir and name into ret_path; -ENAMETOOLONG if it does not fit. */
int path_join(char *ret_path, size_t size, const char *dir, const char *name);

/* Opens a directory (O_DIRECTORY|O_CLOEXEC|O_RDONLY); fd or -errno. */
int path_open_dir(const char *path);

/* mkdir -p with mode for the missing ones. */
int path_make_dirs(const char *path, unsigned int mode);

/* Opens path below root_fd without leaving it and without following any symlink
 * (openat2, RESOLVE_BENEATH|RESOLVE_NO_SYMLINKS). flags get O_CLOEXEC. fd or -errno. */
int path_open_beneath(int root_fd, const char *path, int flags);
