/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/limits.h"
#include "common/error.h"
#include "node-agent/agent/run.h"

#include <stddef.h>

/* What a client of the output server asks for, from the bytes that it sent. */
struct output_target {
    char name_space[64];
    char name[MAX_RUN_NAME + 1];
    enum run_stream stream;
};

/*
 * "/apis/sandboxrun.dev/v1alpha1/namespaces/NS/sandboxruns/NAME/log", by itself or with
 * "?stream=stdout" or "?stream=stderr". Nothing is decoded: no name of Kubernetes needs an escape.
 * -ENOENT: another path; -EINVAL: another query, with what it may be.
 */
int output_target_parse(const char *target, struct output_target *ret_target, struct error *err);

/* The token in the value of an Authorization field, "Bearer TOKEN" (RFC 6750); it ends where the
 * value ends. -EINVAL for another scheme, other characters or one that is too long. */
int output_bearer_parse(const char *value, const char **ret_token);
