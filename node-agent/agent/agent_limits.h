/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/limits.h"

/* Every bound of the agent, each with its answer when it is hit. First, of a run's life. */

/* Requests that wait for the jailer's socket; beyond it a request fails with -ENOBUFS. */
#define MAX_JAILER_QUEUE 1024u

/* Messages taken from the jailer in one turn of the loop; the rest waits for the next. */
#define MAX_JAILER_BATCH 64u

/* What an encoded request needs beside the spec's own bytes: the head, four bytes of length for
 * each argument, name and value, and the variables that tell the limits. */
#define MAX_REQUEST_FRAMING_BYTES 1280u

/* One read from an output pipe. */
#define MAX_READ_BYTES (64u << 10)

/* Reads per stream after the jail is gone: the largest pipe an unprivileged program can set
 * (1 MiB by default) several times over. What lay behind it would be lost, not waited for. */
#define MAX_DRAIN_READS 256u

/* How long the jailer may take; beyond it the run is given up as JailerLost. Then nothing of it can
 * be running: a jailer that is stopped starts nothing later than it may, and past the deadline
 * process 1 of a sandbox ends without it. */
#define JAILER_HELLO_WITHIN_MS  10000u
#define JAILER_CREATE_WITHIN_MS 30000u
#define JAILER_END_WITHIN_MS    30000u /* after the deadline; of what isn't started, after a kill */

/* A run that is over before this is never reported as running. */
#define RUNNING_AFTER_MS 100u

/* Runs that wait for room on the node; a further one is given back. */
#define MAX_HELD_RUNS 64u

/* Sandbox ids that the agent is through with; the oldest is forgotten for a further one. */
#define MAX_SEEN_IDS 4096u

/* Runs that have started and whose end the API server has not taken yet, and their bytes on disk;
 * beyond either no run is started. */
#define MAX_SPOOL_ENTRIES 4096u
#define MAX_SPOOL_BYTES   (256ull << 20)
#define MAX_SPOOL_FILE    (MAX_OBJECT_BYTES + (16u << 10))

/* A spool that can't be written to is tried so often. */
#define SPOOL_PROBE_MS 2000u

/* Earlier starts of the agent that the spool still knows; runs of an older one are failed. */
#define MAX_SPOOL_INSTANCES 64u

/* Spooled results of an earlier start that are in memory at a time; the others wait on disk. */
#define MAX_SPOOLED_WRITES 16u

/* Of a status update: its path, its answer in time, and what an object may need beside the texts
 * that are counted (timestamps, managedFields of the coming update). */
#define MAX_STATUS_PATH         2048u
#define STATUS_ATTEMPT_MS       10000u
#define STATUS_HEADROOM_BYTES   (8u << 10)
#define MIN_STATUS_BYTES        (16u << 10)
#define MAX_STATUS_SMALL_STREAM (4u << 10) /* after "too large" */

/* The SandboxNode's status is written so often at most, and at once when a condition changes. */
#define NODE_STATUS_INTERVAL_MS 10000u

/* The node's lease: attempts within one interval after a failure; after an answer that asks for it,
 * without a pause; how close to its end no run is started any more; and its size. */
#define LEASE_RETRIES         5u
#define LEASE_QUICK_RETRIES   4u
#define LEASE_START_MARGIN_MS 100u
#define MAX_LEASE_BODY        (4u << 10)

/* An assignment that comes so long after it was made comes by a watch that lags: the controller may
 * have given the run up. It does that OVERDUE_MS after the run's timeout. */
#define ASSIGNMENT_OLD_MS 10000u

/* How long the agent tries to reach its jailer at start. */
#define JAILER_CONNECT_WITHIN_MS 30000u
#define JAILER_CONNECT_RETRY_MS  200u

/* How often a spool that another agent has is tried; there is no end to it. */
#define SPOOL_RETRY_MS 50u

/* What may take so long at most before the process ends: results after the last run has ended,
 * and after the jailer was lost. What isn't written by then stays in the spool. */
#define FLUSH_WITHIN_MS      20000u
#define FLUSH_LOST_WITHIN_MS 5000u

/* Runs whose output is kept at a time, and the file that says whose it is. A further run takes the
 * place of the oldest. */
#define MAX_RETAINED_RUNS   4096u
#define MAX_RETAINED_RECORD 4096u
#define RETAINED_LOOK_MS    60000u /* for what has expired, at least so often */

/* Who may read output: a token's length, what the API server is asked at a time (beyond it 429), in
 * what time, and the size of what it is told and answers. */
#define MAX_OUTPUT_TOKEN   (8u << 10)
#define MAX_OUTPUT_REVIEWS 8u
#define OUTPUT_REVIEW_MS   5000u
#define MAX_OUTPUT_REVIEW  (64u << 10)
#define MAX_OUTPUT_USER    128 /* of a user's name, in messages and the log */
#define MAX_OUTPUT_ANSWER  (4u << 10)

/* The output server's certificate: for how long one of our own is made, from when on it is
 * replaced, how often files are looked at, and how large they may be. */
#define OUTPUT_CERT_SECONDS       (90 * 24 * 3600)
#define OUTPUT_CERT_RENEW_SECONDS (30 * 24 * 3600)
#define OUTPUT_CERT_EARLY_SECONDS 3600 /* before now: clients' clocks differ */
#define OUTPUT_CERT_LOOK_MS       10000u
#define MAX_OUTPUT_CERT           (16u << 10)
