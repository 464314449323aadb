/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/loop.h"
#include "node-agent/agent/run.h"

#include <stdint.h>

/*
 * The whole output of runs, kept on the node for a while after their end, in a directory of its own
 * below the spool. Bounded in time, bytes and runs; the oldest goes first. It is a copy for
 * convenience: whatever goes wrong with it loses the copy with a line in the log, never a run or
 * its result. It is not made durable: a machine that crashes may lose it.
 */
struct retained;
struct retained_run;

#define RETAINED_DIR "output"

struct retained_options {
    const char *spool_dir; /* which is there, locked by us */
    uint64_t keep_ms;      /* after a run's end */
    uint64_t max_bytes;    /* on disk, of all runs together */
};

/* Whose output it is; copied. */
struct retained_owner {
    const char *sandbox_id;
    const char *name_space;
    const char *name;
    const char *uid;
};

/* Takes over what an earlier agent has kept, and removes what has expired or makes no sense. */
int retained_open(struct loop *loop, const struct retained_options *options,
                  struct retained **ret_retained, struct error *err);
/* What has ended stays on disk. NULL is fine. */
void retained_free(struct retained *retained);

/* Begins to keep up to max_bytes of both streams together, in the order in which they come; NULL if
 * nothing can be kept. */
struct retained_run *retained_begin(struct retained *retained, const struct retained_owner *owner,
                                    uint64_t max_bytes);
void retained_append(struct retained_run *run, enum run_stream stream, const char *bytes,
                     size_t len);

/* The run has ended: from now on its output can be found. run is gone. NULL is fine. */
void retained_end(struct retained_run *run);

/* Keeps nothing of it. run is gone. NULL is fine. */
void retained_abandon(struct retained_run *run);

/* What an earlier agent has kept stays only if its object is still there: what the first list
 * doesn't show is dropped by retained_settle(). */
void retained_saw(struct retained *retained, const char *uid);
void retained_settle(struct retained *retained);

/* The object was deleted, and with it what was kept of its ended runs. */
void retained_forget(struct retained *retained, const char *uid);

/* Opens what was kept of one stream; the descriptor is the caller's, and stays readable when the
 * copy is dropped. -ENOENT: nothing is kept of such a run. */
int retained_find(const struct retained *retained, const char *name_space, const char *name,
                  enum run_stream stream, int *ret_fd, uint64_t *ret_bytes);

/* Runs that are kept or being kept, and their bytes on disk. */
void retained_counts(const struct retained *retained, size_t *ret_runs, uint64_t *ret_bytes);
