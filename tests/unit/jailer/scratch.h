/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

/* A directory of the test's own, open as *ret_fd; scratch_remove() takes it away with all that
 * lies in it. */
struct scratch {
    char path[64];
    int fd;
};

void scratch_make(struct scratch *ret_scratch);
void scratch_remove(struct scratch *scratch);

/* Directories and files below it; every directory on the way is made too. */
void scratch_dir(const struct scratch *scratch, const char *path);
void scratch_file(const struct scratch *scratch, const char *path, const char *text);

/* The file's text, valid until the next call. */
const char *scratch_read(const struct scratch *scratch, const char *path);
