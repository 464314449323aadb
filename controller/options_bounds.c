/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/options_bounds.h"

#include "common/api/limits.h"
#include "common/api/quantity.h"
#include "common/cleanup.h"
#include "common/parse.h"
#include "controller/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* More than any cluster has. */
#define MAX_OPTION_BYTES (UINT64_C(1) << 60)
#define MAX_OPTION_MILLI UINT64_C(1000000000000)

struct namespace_limits arg_limits;
struct finished_limits arg_finished = {
    .runs = DEFAULT_FINISHED_RUNS,
    .runs_per_namespace = DEFAULT_FINISHED_RUNS_PER_NAMESPACE,
    .bytes = DEFAULT_FINISHED_BYTES,
};

static int set_count(const char *name, const char *text, uint64_t min, unsigned int *ret_count,
                     struct error *err)
{
    uint64_t count;
    if (parse_u64(text, min, MAX_OPTION_RUNS, &count) < 0)
        return error_set(err, EINVAL, "--%s: \"%.64s\" is no whole number from %" PRIu64 " to %d",
                         name, text, min, MAX_OPTION_RUNS);
    *ret_count = (unsigned int)count;
    return 1;
}

static int set_bytes(const char *name, const char *text, uint64_t min, uint64_t *ret_bytes,
                     struct error *err)
{
    uint64_t bytes;
    if (quantity_parse_bytes(text, &bytes) < 0 || bytes > MAX_OPTION_BYTES)
        return error_set(err, EINVAL, "--%s: \"%.64s\" is no amount of bytes such as 64Gi", name,
                         text);
    /* Less than one run has would let none run, or stay. */
    if (bytes < min && (bytes > 0 || min == MAX_OBJECT_BYTES))
        return error_set(err, EINVAL,
                         "--%s: \"%.64s\" is less than %" PRIu64 " bytes, which one "
                         "run may have",
                         name, text, min);
    *ret_bytes = bytes;
    return 1;
}

static int set_milli(const char *name, const char *text, uint64_t *ret_milli, struct error *err)
{
    uint64_t milli;
    if (quantity_parse_milli(text, &milli) < 0 || milli > MAX_OPTION_MILLI)
        return error_set(err, EINVAL, "--%s: \"%.64s\" is no amount of CPU such as 500m or 8", name,
                         text);
    *ret_milli = milli;
    return 1;
}

int options_set_bound(const char *name, const char *value, struct error *err)
{
    const struct {
        const char *name;
        uint64_t min;
        unsigned int *count;
    } counts[] = {
        {"max-runs-per-namespace", 0, &arg_limits.used.runs},
        {"max-queued-per-namespace", 0, &arg_limits.queued},
        {"max-finished-runs", 1, &arg_finished.runs},
        {"max-finished-runs-per-namespace", 1, &arg_finished.runs_per_namespace},
    };
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
        if (strcmp(name, counts[i].name) == 0)
            return set_count(name, value, counts[i].min, counts[i].count, err);
    }
    if (strcmp(name, "max-memory-per-namespace") == 0)
        return set_bytes(name, value, MIN_MEMORY_BYTES, &arg_limits.used.memory_bytes, err);
    if (strcmp(name, "max-finished-bytes") == 0)
        return set_bytes(name, value, MAX_OBJECT_BYTES, &arg_finished.bytes, err);
    return set_milli(name, value, &arg_limits.used.cpu_milli, err);
}
