/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/profile.h"

#include <errno.h>
#include <string.h>

static const struct profile_limits profiles[PROFILE_COUNT] = {
    [PROFILE_SNIPPET] = {.name = "Snippet",
                         .timeout_default_seconds = 20,
                         .timeout_max_seconds = 60,
                         .cpu_max_milli = 1000,
                         .memory_max_bytes = 512ull << 20},
    [PROFILE_TOOL_CALL] = {.name = "ToolCall",
                           .timeout_default_seconds = 30,
                           .timeout_max_seconds = 120,
                           .cpu_max_milli = 2000,
                           .memory_max_bytes = 1024ull << 20,
                           .response_max_bytes = 8ull << 20},
};

const struct profile_limits *profile_limits(enum profile profile)
{
    return &profiles[profile];
}

int profile_parse(const char *name, enum profile *ret_profile)
{
    for (unsigned int i = 0; i < PROFILE_COUNT; i++) {
        if (strcmp(name, profiles[i].name) == 0) {
            *ret_profile = (enum profile)i;
            return 0;
        }
    }
    return -EINVAL;
}
