/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The clock by which the silence of others is counted: monotonic time in which this controller
 * could have heard of them. It stands still while a watch is not healthy, and for a while after,
 * since those who were cut off with it need a moment to be heard again; so it does when the
 * controller itself was stopped. Pure: the time comes from outside.
 */
struct lease_clock {
    int64_t now_us; /* of this clock; begins at 1 */
    uint64_t at_ns; /* monotonic time of the last advance; 0: none yet */
    uint64_t settle_left_ns;
    uint64_t settle_ns;
    uint64_t max_step_ns; /* between two advances; a longer one was a stop */
};

void lease_clock_init(struct lease_clock *clock, uint64_t settle_ms, uint64_t max_step_ms);

/* To be called again and again. healthy: all watches are, at this moment. */
void lease_clock_advance(struct lease_clock *clock, uint64_t monotonic_ns, bool healthy);

bool lease_clock_runs(const struct lease_clock *clock);
