/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/ceilings.h"

#include "common/cleanup.h"
#include "node-agent/jailer/limits.h"

#include <inttypes.h>

static const struct ceiling ceilings[] = {
    {.name = "Snippet",
     .timeout_ms = 60000,
     .cpu_milli = 1000,
     .pids = 128,
     .memory_bytes = 512ull << 20,
     .network = false},
    {.name = "ToolCall",
     .timeout_ms = 120000,
     .cpu_milli = 2000,
     .pids = 256,
     .memory_bytes = 1024ull << 20,
     .network = true},
};

const struct ceiling *ceilings_of(uint32_t profile)
{
    return profile < ARRAY_SIZE(ceilings) ? &ceilings[profile] : NULL;
}

uint32_t ceilings_offered(bool network)
{
    uint32_t offered = 0;
    for (uint32_t i = 0; i < ARRAY_SIZE(ceilings); i++)
        offered |= network || !ceilings[i].network ? 1u << i : 0;
    return offered;
}

static int check_range(const char *profile, const char *what, uint64_t value, uint64_t min,
                       uint64_t max, struct error *err)
{
    if (value < min)
        return error_set(err, EINVAL, "%s of %" PRIu64 " is below the minimum of %" PRIu64, what,
                         value, min);
    if (value > max)
        return error_set(err, EINVAL, "%s of %" PRIu64 " is above %s's ceiling of %" PRIu64, what,
                         value, profile, max);
    return 0;
}

int ceilings_check_create(const struct proto_create *create, struct error *err)
{
    const struct ceiling *ceiling = ceilings_of(create->profile);
    if (!ceiling)
        return error_set(err, EINVAL, "there is no profile %" PRIu32, create->profile);
    int r = check_range(ceiling->name, "memory in bytes", create->memory_bytes,
                        MIN_SANDBOX_MEMORY_BYTES, ceiling->memory_bytes, err);
    if (r >= 0)
        r = check_range(ceiling->name, "CPU in thousandths", create->cpu_milli,
                        MIN_SANDBOX_CPU_MILLI, ceiling->cpu_milli, err);
    return r;
}

int ceilings_check_start(uint32_t profile, uint32_t timeout_ms, struct error *err)
{
    const struct ceiling *ceiling = ceilings_of(profile);
    if (!ceiling)
        return error_set(err, EINVAL, "there is no profile %" PRIu32, profile);
    return check_range(ceiling->name, "timeout in milliseconds", timeout_ms, 1, ceiling->timeout_ms,
                       err);
}
