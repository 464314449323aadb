/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Every bound of the agent's half of a run, each with its answer when it is hit. */

/* Requests that wait for the jailer's socket; beyond it a request fails with -ENOBUFS. */
#define MAX_JAILER_QUEUE 1024u

/* Messages taken from the jailer in one turn of the loop; the rest waits for the next. */
#define MAX_JAILER_BATCH 64u

/* What an encoded request needs beside the spec's own bytes: the head, and four bytes of length
 * for each argument, name and value. */
#define MAX_REQUEST_FRAMING_BYTES 1024u

/* One read from an output pipe. */
#define MAX_READ_BYTES (64u << 10)

/* Reads per stream after the jail is gone: the largest pipe an unprivileged program can set
 * (1 MiB by default) several times over. What lay behind it would be lost, not waited for. */
#define MAX_DRAIN_READS 256u

/* How long the jailer may take; beyond it the run is given up as JailerLost. */
#define JAILER_HELLO_WITHIN_MS  10000u
#define JAILER_CREATE_WITHIN_MS 30000u
#define JAILER_END_WITHIN_MS    30000u /* after the deadline, or after a kill */

/* A run that is over before this is never reported as running. */
#define RUNNING_AFTER_MS 100u
