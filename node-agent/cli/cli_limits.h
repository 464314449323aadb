/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/proto_messages.h"

/* Every bound of the command line; beyond one of them the call is refused with a message. */
#define MAX_INPUTS         256u
#define MAX_DOCUMENTS      1024u
#define MAX_PARALLEL       256u
#define MAX_PATH_CANDIDATE 4096u

/* One write to a terminal or pipe that poll(2) called writable: what a pipe takes without
 * blocking (PIPE_BUF). */
#define MAX_WRITE_BYTES 4096u

/* What `sandboxrun doctor` tells: the jailer's checks, a trial for each runtime, one more. */
#define MAX_DOCTOR_CHECKS (PROTO_MAX_CHECKS + PROTO_MAX_RUNTIMES + 1u)
#define MAX_DOCTOR_TEXT   (1u << 20)

/* How long it waits for a jailer that looks and says nothing. */
#define CHECKS_WITHIN_MS 30000

/* How long the jailer may take to sweep and end after the last run. */
#define JAILER_EXIT_WITHIN_MS 20000u
