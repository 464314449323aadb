/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A program that is started with the rights of now, at a time when they are gone: a child is made
 * at once and does nothing but wait for one byte, of a number that picks its arguments. Whoever
 * sends it may have read anything by then; the child has read nothing.
 */
#define MAX_GATED_FDS     2u
#define MAX_GATED_CHOICES 2u

struct gated_program {
    const char *path;
    char *const *argv[MAX_GATED_CHOICES];
    int fds[MAX_GATED_FDS];             /* become 3, 4; stay the caller's */
    size_t fd_count[MAX_GATED_CHOICES]; /* how many of them */
};

struct gated_process {
    pid_t pid; /* 0: none */
    int gate;  /* -1 once it has begun */
};

#define GATED_PROCESS_NONE ((struct gated_process){.gate = -1})

/* The child. Of ours it keeps stderr and fds; stdin and stdout are /dev/null, the environment is a
 * PATH, there is no controlling terminal, so that its Ctrl-C reaches us alone. Without a byte it
 * ends with 0 when the gate is closed, by us or by our end. */
int gated_process_fork(const struct gated_program *program, struct gated_process *ret_process,
                       struct error *err);

/* Begins; 0 once the program runs, or what execve() said: then the child has ended. */
int gated_process_begin(struct gated_process *process, const char *path, unsigned int choice,
                        struct error *err);
