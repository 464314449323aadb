/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/sandboxrun_bounds.h"

#include "common/api/limits.h"
#include "common/api/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

static int64_t timeout_max(const struct profile_limits *limits)
{
    return limits->timeout_max_seconds;
}

static int64_t cpu_max(const struct profile_limits *limits)
{
    return limits->cpu_max_milli;
}

static int64_t memory_max(const struct profile_limits *limits)
{
    return (int64_t)limits->memory_max_bytes;
}

static void format_plain(int64_t value, char text[static QUANTITY_TEXT_SIZE])
{
    (void)snprintf(text, QUANTITY_TEXT_SIZE, "%" PRId64, value);
}

static void format_milli(int64_t value, char text[static QUANTITY_TEXT_SIZE])
{
    quantity_format_milli((uint64_t)value, text);
}

static void format_bytes(int64_t value, char text[static QUANTITY_TEXT_SIZE])
{
    quantity_format_bytes((uint64_t)value, text);
}

static const struct bound {
    const char *field;
    int64_t min;
    int64_t max; /* where the profile doesn't matter */
    int64_t (*profile_max)(const struct profile_limits *limits);
    void (*format)(int64_t value, char text[static QUANTITY_TEXT_SIZE]);
} bounds[RUN_NUMBER_COUNT] = {
    [RUN_NUMBER_TIMEOUT] = {.field = "spec.timeoutSeconds",
                            .min = MIN_TIMEOUT_SECONDS,
                            .profile_max = timeout_max,
                            .format = format_plain},
    [RUN_NUMBER_CPU] = {.field = "spec.resources.limits.cpu",
                        .min = MIN_CPU_MILLI,
                        .profile_max = cpu_max,
                        .format = format_milli},
    [RUN_NUMBER_MEMORY] = {.field = "spec.resources.limits.memory",
                           .min = MIN_MEMORY_BYTES,
                           .profile_max = memory_max,
                           .format = format_bytes},
    [RUN_NUMBER_QUEUE_TIMEOUT] = {.field = "spec.queueTimeoutSeconds",
                                  .min = 1,
                                  .max = MAX_QUEUE_TIMEOUT,
                                  .format = format_plain},
    [RUN_NUMBER_TTL] = {.field = "spec.ttlSecondsAfterFinished",
                        .min = 0,
                        .max = MAX_TTL_SECONDS,
                        .format = format_plain},
};

const char *run_number_field(enum run_number number)
{
    return bounds[number].field;
}

int run_number_check(enum run_number number, enum profile profile, int64_t value, struct error *err)
{
    const struct bound *bound = &bounds[number];
    const struct profile_limits *limits = profile_limits(profile);
    int64_t max = bound->profile_max ? bound->profile_max(limits) : bound->max;
    if (value >= bound->min && value <= max)
        return 0;

    char figure[QUANTITY_TEXT_SIZE], limit[QUANTITY_TEXT_SIZE];
    bool above = value > max;
    /* Quantities are printed unsigned: a negative one was refused where it was read. */
    bound->format(value, figure);
    bound->format(above ? max : bound->min, limit);
    return error_set(err, EINVAL, "%s: %s is %s of %s%s%s", bound->field, figure,
                     above ? "above the maximum" : "below the minimum", limit,
                     bound->profile_max ? " for profile " : "",
                     bound->profile_max ? limits->name : "");
}
