/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The clock by which waits are counted: time-outs, back-off, TTLs. It shows about what the API
 * server's clock showed when it was set, and goes on with the monotonic clock from there: whoever
 * sets a clock, here, on a node or there, makes no wait longer or shorter. Pure.
 */
struct wait_clock {
    int64_t origin_us; /* what it showed at monotonic time 0 */
    bool is_set;
};

/* server_us: what the API server's clock shows, 0 if that isn't known; then wall_us, our own. Only
 * the first time counts. */
void wait_clock_set(struct wait_clock *clock, int64_t server_us, int64_t wall_us,
                    uint64_t monotonic_ns);

int64_t wait_clock_now_us(const struct wait_clock *clock, uint64_t monotonic_ns);

/* What is known of the past of something that is seen now. By clocks of others; 0: not dated. */
struct wait_dates {
    int64_t created_us;   /* by the API server, in whole seconds */
    int64_t completed_us; /* by a node */
};

/* Since when a run waits that was there before this controller, and since when it is over. Never
 * later than now; a node's date counts between those of the API server only. */
int64_t wait_began_us(const struct wait_dates *dates, int64_t now_us);
int64_t wait_ended_us(const struct wait_dates *dates, int64_t now_us);
