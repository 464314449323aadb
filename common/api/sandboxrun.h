/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/limits.h"
#include "common/api/profile.h"
#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"

#include <stdbool.h>
#include <stdint.h>

/* The SandboxRun object of group sandboxrun.dev, version v1alpha1, as C types. */

#define SANDBOXRUN_GROUP_VERSION "sandboxrun.dev/v1alpha1"
#define SANDBOXRUN_KIND          "SandboxRun"

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
    RUN_REASON_INVALID_SPEC,
    RUN_REASON_SANDBOX_SETUP_FAILED,
    RUN_REASON_JAILER_LOST,
    RUN_REASON_AGENT_RESTARTED,
    RUN_REASON_NODE_LOST,
    RUN_REASON_INTERNAL_ERROR,
    RUN_REASON_COUNT
};

struct run_env {
    char *name;
    char *value;
};

struct run_label {
    char *key;
    char *value;
};

struct run_spec {
    enum profile profile;
    char *runtime;
    char *code;
    char **args; /* arg_count of them */
    size_t arg_count;
    struct run_env *env;
    size_t env_count;
    char *stdin_text;         /* NULL: no stdin */
    uint32_t timeout_seconds; /* effective: default of the profile applied */
    uint32_t cpu_milli;       /* effective */
    uint64_t memory_bytes;    /* effective */
    uint32_t queue_timeout_seconds;
    int64_t ttl_seconds; /* -1: not set, the controller's flag decides */
    bool has_egress;     /* spec.egress was given */
    struct run_label *node_selector;
    size_t node_selector_count;
};

struct run_usage {
    uint64_t cpu_ms;
    uint64_t peak_memory_bytes; /* 0: the kernel doesn't tell */
    uint64_t wall_ms;
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
    int64_t observed_generation;
};

struct sandboxrun {
    char *name;
    char *name_space; /* "default" where a local file has none */
    char *uid;        /* "" for local files */
    char *resource_version;
    int64_t generation;
    int64_t creation_us;
    bool deleting; /* has a deletionTimestamp */
    struct run_spec spec;
    struct run_status status;
};

enum sandboxrun_strictness {
    SANDBOXRUN_LENIENT, /* objects of the API server: unknown fields are from a newer version */
    SANDBOXRUN_STRICT   /* local files: unknown fields are mistakes */
};

const char *run_phase_name(enum run_phase phase);
int run_phase_parse(const char *name, enum run_phase *ret_phase);
bool run_phase_is_terminal(enum run_phase phase);
const char *run_reason_name(enum run_reason reason); /* "" for NONE */
int run_reason_parse(const char *name, enum run_reason *ret_reason);

/* Decodes and applies the schema's and the profile's defaults; types are checked, bounds are not
 * (validate). -EINVAL names the field by its path ("spec.args[3]: must be a string"). */
int sandboxrun_decode(const cJSON *tree, enum sandboxrun_strictness strictness,
                      struct sandboxrun *ret_run, struct error *err);

/* Every bound of spec, as the CRD schema has them; the message names the field, the limit and the
 * figure. */
int sandboxrun_validate(const struct sandboxrun *run, struct error *err);

/* A run made of a plain code string with all defaults of profile; code is copied. */
int sandboxrun_init(struct sandboxrun *ret_run, const char *name, enum profile profile,
                    const char *code);

/* Applies the profile's timeout, CPU and memory to whatever is still 0. */
void sandboxrun_apply_defaults(struct sandboxrun *run);

void sandboxrun_done(struct sandboxrun *run);

/* The object's status as the API has it; conditions are derived from phase, reason and times.
 * Streams are cut so that the encoded status stays below max_bytes (0: no cut). */
int run_status_encode(const struct run_status *status, size_t max_bytes, struct buf *json,
                      struct error *err);

/* tree (the object as it was read) with its "status" replaced; the caller frees ret_object. */
int sandboxrun_with_status(const cJSON *tree, const struct run_status *status, cJSON **ret_object,
                           struct error *err);

void run_status_done(struct run_status *status);
