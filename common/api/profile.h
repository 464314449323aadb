/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdint.h>

enum profile { PROFILE_SNIPPET, PROFILE_TOOL_CALL, PROFILE_COUNT };

/* What a profile promises and allows; ceilings of spec, never exceeded. */
struct profile_limits {
    const char *name; /* "Snippet" */
    uint32_t timeout_default_seconds;
    uint32_t timeout_max_seconds;
    uint32_t cpu_max_milli;
    uint64_t memory_max_bytes;
    uint64_t response_max_bytes; /* of output that is kept whole on the node; 0: none */
};

const struct profile_limits *profile_limits(enum profile profile);

/* "Snippet" or "ToolCall"; -EINVAL otherwise. */
int profile_parse(const char *name, enum profile *ret_profile);
