/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxrun.h"
#include "common/error.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What became of a run, decided from who ended it. No I/O, no clock. The platform's own ends have
 * exit code -1, except memory and forbidden system calls (137 and 159, as the kernel's own kill has
 * them); a program's end has the program's.
 */
#define VERDICT_EXIT_PLATFORM  (-1)
#define VERDICT_EXIT_OOM       137
#define VERDICT_EXIT_FORBIDDEN 159

struct verdict {
    enum run_phase phase;
    enum run_reason reason;
    int32_t exit_code;
    char message[MAX_STATUS_MESSAGE];
};

/* What the agent knows beside the jailer's words. */
struct verdict_context {
    bool started;                 /* PROTO_START was sent */
    bool overdue;                 /* long enough ago for process 1 to have ended it */
    enum run_reason asked_reason; /* why the agent asked for the end; NONE if it didn't */
    const char *asked_message;
    uint64_t output_bytes; /* both streams, as written by the program */
    uint32_t timeout_seconds;
    uint64_t memory_bytes;
};

void verdict_finished(const struct proto_finished *finished, const struct verdict_context *context,
                      struct verdict *ret_verdict);

/* A refusal of the request itself is InvalidSpec where the spec asks for what isn't there, and
 * InternalError where there was no room or the agent broke the protocol; every other lock is
 * SandboxSetupFailed and named. */
void verdict_refused(const struct proto_refused *refused, const struct verdict_context *context,
                     struct verdict *ret_verdict);

/* The jailer went away, or did not answer in time. */
void verdict_lost(const struct error *err, struct verdict *ret_verdict);

/* The message for output beyond MAX_OUTPUT_BYTES. */
void verdict_output_message(uint64_t output_bytes, char *ret_text, size_t size);
