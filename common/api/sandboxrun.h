/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/egress.h"
#include "common/api/limits.h"
#include "common/api/profile.h"
#include "common/api/run_status.h"
#include "common/error.h"
#include "common/json.h"

#include <stdbool.h>
#include <stdint.h>

/* The SandboxRun object of group sandboxrun.dev, version v1alpha1, as C types. */

#define SANDBOXRUN_GROUP_VERSION "sandboxrun.dev/v1alpha1"
#define SANDBOXRUN_KIND          "SandboxRun"

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
    int64_t ttl_seconds;         /* -1: not set, the controller's flag decides */
    struct egress_rules *egress; /* NULL: spec.egress was not given */
    struct run_label *node_selector;
    size_t node_selector_count;
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

/* Decodes and applies the schema's and the profile's defaults to what is absent (an explicit 0
 * stays 0); types are checked, bounds are not (validate), but for egress rules, which are compiled
 * here and therefore checked whole. -EINVAL names the field by its path
 * ("spec.args[3]: must be a string, got number"). Strict ignores the status: it tells of another,
 * earlier run. */
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

/* tree (the object as it was read) with its "status" replaced; the caller frees ret_object. */
int sandboxrun_with_status(const cJSON *tree, const struct run_status *status, cJSON **ret_object,
                           struct error *err);
