/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"

/* Files named on the command line: opened with the caller's rights, read after those are gone. */
struct input {
    const char *name; /* as named, "stdin" for "-"; not owned */
    int fd;           /* -1: not open; stdin is not closed */
};

#define INPUT_NONE ((struct input){.fd = -1})

/* path "-" is stdin. Refuses directories and block devices; -errno names the path. */
int input_open(const char *path, struct input *ret_input, struct error *err);

/* Reads to the end into buf, whose maximum is the limit; -EFBIG names it. */
int input_read(const struct input *input, struct buf *buf, struct error *err);

void input_close(struct input *input);
