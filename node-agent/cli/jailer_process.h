/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/cli/cli_limits.h"
#include "node-agent/cli/gated_process.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * The jailer that belongs to this call alone: a child over a socketpair, which ends when our end
 * of it closes, whatever becomes of us. With a network there is a resolver beside it, another
 * child, which ends when the jailer does.
 */
struct jailer_process {
    struct gated_process jailer;   /* pid 0: none, or already waited for */
    struct gated_process resolver; /* the same */
    char program[MAX_PATH_CANDIDATE];
    char resolver_program[MAX_PATH_CANDIDATE]; /* empty: there is none on this machine */
    int sock;                                  /* our end, nonblocking; -1 once it was taken */
    bool said_why; /* it has ended with an exit status of failure, and its log says why */
};

#define JAILER_PROCESS_NONE                                                                        \
    ((struct jailer_process){                                                                      \
        .jailer = GATED_PROCESS_NONE, .resolver = GATED_PROCESS_NONE, .sock = -1})

/* Where the jailer's program is: `option` if given, else beside our own program or in ../libexec.
 * -ENOENT tells where it was looked for. */
int jailer_process_find(const char *option, char ret_path[static MAX_PATH_CANDIDATE],
                        struct error *err);

/* Where the runtimes are: `option` if given, else runtimes/ of the build directory that our
 * program lies in, else JAILER_RUNTIMES_DIR. */
int jailer_process_find_runtimes(const char *option, char ret_path[static MAX_PATH_CANDIDATE],
                                 struct error *err);

#define JAILER_RUNTIMES_DIR "/usr/lib/sandboxrun/runtimes"

/* Makes the children with the rights of now, which wait. The resolver's program is beside our own
 * or the jailer's. */
int jailer_process_prepare(const char *program, const char *runtimes_dir,
                           struct jailer_process *ret_process, struct error *err);

/* Starts what was prepared; with_network: the jailer may make ToolCall sandboxes, and the resolver
 * runs. -ENOENT if that isn't on this machine. */
int jailer_process_begin(struct jailer_process *process, bool with_network, struct error *err);

/* Both at once, without a network. */
int jailer_process_start(const char *program, const char *runtimes_dir,
                         struct jailer_process *ret_process, struct error *err);

/* One that looks at every precondition, sends what it finds and ends. */
int jailer_process_start_check(const char *program, const char *runtimes_dir,
                               struct jailer_process *ret_process, struct error *err);

/* Closes our end if it is still there, and waits for the jailer's sweep and end, and the
 * resolver's.
 * -ECHILD with how it ended unless that was exit status 0; -ETIMEDOUT. */
int jailer_process_stop(struct jailer_process *process, struct error *err);
