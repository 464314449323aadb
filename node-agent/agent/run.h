/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxrun.h"
#include "common/error.h"
#include "common/loop.h"
#include "node-agent/agent/jailer_client.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * One run's life on a node, the same for an API object and for a local file: create the jail,
 * start it, write the request, read both streams, end, verdict. It decides nothing about where
 * the run came from or where its result goes.
 */
struct run;

enum run_stream { RUN_STDOUT, RUN_STDERR, RUN_STREAM_COUNT };

struct run_callbacks {
    /* The jail is sealed and nothing of the request has been written. A negative value fails the
     * run as InternalError with err's text (the durable mark could not be set). May be NULL. */
    int (*before_start)(struct run *run, struct error *err, void *arg);
    /* The run is still going 100 ms after its start. May be NULL. */
    void (*running)(struct run *run, void *arg);
    /* Bytes as they come, before any cut. May be NULL. */
    void (*output)(struct run *run, enum run_stream stream, const char *bytes, size_t len,
                   void *arg);
    /* Called exactly once, last; status is filled to its end (phase, reason, message, exit code,
     * streams, usage, times). The callback may free the run. */
    void (*finished)(struct run *run, const struct run_status *status, void *arg);
};

/* Starts at once. object is read during the call only (its request is encoded here), except that
 * status fields given in it (sandbox_id, node_name, ...) are carried over. object must be valid
 * (sandboxrun_validate). finished is never called from inside this call. */
int run_new(struct loop *loop, struct jailer_client *jailer, const struct sandboxrun *object,
            const struct run_callbacks *callbacks, void *arg, struct run **ret_run,
            struct error *err);

/* Nothing of it starts at or after that instant of CLOCK_BOOTTIME; 0 (at first): whenever. For
 * before_start, at the latest. */
void run_set_not_after(struct run *run, uint64_t boottime_ns);

/* True if it was not started because that instant had passed: no byte of the request was written,
 * and it may be started by somebody else. */
bool run_was_withdrawn(const struct run *run);

/* Whether its sandbox waited for a run; known from before_start on. */
bool run_is_warm(const struct run *run);

/* Ends the run from outside; finished follows with this reason (Cancelled, ...). */
void run_kill(struct run *run, enum run_reason reason, const char *message);

/* Forgets the run without calling back; a live jail is killed. NULL is fine. */
void run_free(struct run *run);

const char *run_sandbox_id(const struct run *run);

/* The status so far (identity, limits, start); it lives as long as the run. */
const struct run_status *run_status_now(const struct run *run);
