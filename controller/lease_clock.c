/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/lease_clock.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US 1000

void lease_clock_init(struct lease_clock *clock, uint64_t settle_ms, uint64_t max_step_ms)
{
    *clock = (struct lease_clock){
        .now_us = 1,
        .settle_ns = settle_ms * NS_PER_MS,
        .max_step_ns = max_step_ms * NS_PER_MS,
    };
}

void lease_clock_advance(struct lease_clock *clock, uint64_t monotonic_ns, bool healthy)
{
    uint64_t step_ns =
        clock->at_ns > 0 && monotonic_ns > clock->at_ns ? monotonic_ns - clock->at_ns : 0;
    clock->at_ns = monotonic_ns;
    if (!healthy || step_ns > clock->max_step_ns) {
        clock->settle_left_ns = clock->settle_ns;
        return;
    }
    if (clock->settle_left_ns > step_ns) {
        clock->settle_left_ns -= step_ns;
        return;
    }
    step_ns -= clock->settle_left_ns;
    clock->settle_left_ns = 0;
    clock->now_us += (int64_t)(step_ns / NS_PER_US);
}

bool lease_clock_runs(const struct lease_clock *clock)
{
    return clock->settle_left_ns == 0;
}
