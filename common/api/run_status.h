/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/limits.h"
#include "common/buf.h"
#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What became of a run: the status of a SandboxRun. */

enum run_phase {
    RUN_PHASE_PENDING,
    RUN_PHASE_SCHEDULED,
    RUN_PHASE_RUNNING,
    RUN_PHASE_SUCCEEDED,
    RUN_PHASE_FAILED,
    RUN_PHASE_COUNT
};

/* Why a run ended: set by whoever ended it, never guessed from the exit code. */
enum run_reason {
    RUN_REASON_NONE,
    RUN_REASON_COMPLETED,
    RUN_REASON_ERROR,
    RUN_REASON_SIGNALED,
    RUN_REASON_DEADLINE_EXCEEDED,
    RUN_REASON_OOM_KILLED,
    RUN_REASON_OUTPUT_LIMIT_EXCEEDED,
    RUN_REASON_FORBIDDEN_SYSCALL,
    RUN_REASON_CANCELLED,
    RUN_REASON_QUEUE_TIMEOUT,
    RUN_REASON_QUEUE_FULL,
    RUN_REASON_INVALID_SPEC,
    RUN_REASON_SANDBOX_SETUP_FAILED,
    RUN_REASON_JAILER_LOST,
    RUN_REASON_AGENT_RESTARTED,
    RUN_REASON_NODE_LOST,
    RUN_REASON_INTERNAL_ERROR,
    RUN_REASON_COUNT
};

struct run_usage {
    uint64_t cpu_ms;
    uint64_t peak_memory_bytes; /* 0: the kernel doesn't tell */
    uint64_t wall_ms;
};

/* What the sandbox refused the program, and how often at least. */
enum run_denied_kind { RUN_DENIED_NETWORK, RUN_DENIED_SYSCALL, RUN_DENIED_KIND_COUNT };

struct run_denied {
    enum run_denied_kind kind;
    char target[MAX_DENIED_TARGET + 1];
    uint64_t count;
};

struct run_status {
    enum run_phase phase;
    enum run_reason reason;
    char message[MAX_STATUS_MESSAGE];
    char sandbox_id[40];
    char node_name[MAX_RUN_NAME + 1];
    char agent_instance[40];
    int64_t scheduled_us; /* microseconds since 1970; 0: not set, as for all times here */
    int64_t start_us;
    int64_t completion_us;
    bool has_exit_code;
    int32_t exit_code;
    char *stdout_text; /* raw captured bytes, head and tail already joined; owned */
    size_t stdout_len;
    char *stderr_text;
    size_t stderr_len;
    uint64_t stdout_bytes; /* what the program wrote in all */
    uint64_t stderr_bytes;
    bool stdout_truncated;
    bool stderr_truncated;
    bool has_usage;
    struct run_usage usage;
    bool has_effective;
    uint32_t effective_timeout_seconds;
    uint32_t effective_cpu_milli;
    uint64_t effective_memory_bytes;
    char effective_runtime_version[40];
    size_t denied_count;
    struct run_denied denied[MAX_STATUS_DENIED];
    int64_t observed_generation;
};

const char *run_phase_name(enum run_phase phase);
int run_phase_parse(const char *name, enum run_phase *ret_phase);
bool run_phase_is_terminal(enum run_phase phase);
const char *run_reason_name(enum run_reason reason); /* "" for NONE */
int run_reason_parse(const char *name, enum run_reason *ret_reason);
const char *run_denied_kind_name(enum run_denied_kind kind);
int run_denied_kind_parse(const char *name, enum run_denied_kind *ret_kind);

/* The line between the head and the tail of a stream of which left_out bytes are missing. */
#define RUN_STREAM_MARKER_SIZE 64
void run_stream_marker(uint64_t left_out, char ret_text[static RUN_STREAM_MARKER_SIZE]);

/* Appends the object's status as the API has it; conditions are derived from phase, reason and
 * times. Streams are cut, in equal shares, so that the encoded status has at most max_bytes
 * (0: no cut); if even empty ones are too much they are left empty. On failure json is as it
 * was. */
int run_status_encode(const struct run_status *status, size_t max_bytes, struct buf *json,
                      struct error *err);

void run_status_done(struct run_status *status);
