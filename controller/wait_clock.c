/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/wait_clock.h"

#define NS_PER_US 1000

/* creationTimestamp has whole seconds, cut off: counted from its end nothing is too early. */
#define CREATION_GRANULARITY_US 999999

static int64_t between(int64_t least, int64_t value, int64_t most)
{
    if (value > most)
        return most;
    return value < least ? least : value;
}

void wait_clock_set(struct wait_clock *clock, int64_t server_us, int64_t wall_us,
                    uint64_t monotonic_ns)
{
    if (clock->is_set)
        return;
    clock->is_set = true;
    clock->origin_us = (server_us > 0 ? server_us : wall_us) - (int64_t)(monotonic_ns / NS_PER_US);
}

int64_t wait_clock_now_us(const struct wait_clock *clock, uint64_t monotonic_ns)
{
    return clock->origin_us + (int64_t)(monotonic_ns / NS_PER_US);
}

int64_t wait_began_us(const struct wait_dates *dates, int64_t now_us)
{
    return dates->created_us > 0 ? between(0, dates->created_us + CREATION_GRANULARITY_US, now_us)
                                 : now_us;
}

int64_t wait_ended_us(const struct wait_dates *dates, int64_t now_us)
{
    return dates->completed_us > 0
               ? between(wait_began_us(dates, now_us), dates->completed_us, now_us)
               : now_us;
}
