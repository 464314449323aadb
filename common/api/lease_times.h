/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdint.h>

/*
 * The times by which a node counts as alive. Agents and controller must have the same: what an
 * agent still starts and when the controller gives its runs up follow from them.
 */
struct lease_times {
    uint64_t duration_ms; /* without a renewal for so long a node gets no new runs */
    uint64_t renew_ms;    /* between two renewals */
};

#define DEFAULT_LEASE_DURATION_MS 40000u
#define DEFAULT_LEASE_RENEW_MS    10000u
#define MIN_LEASE_RENEW_MS        1000u
#define MAX_LEASE_DURATION_MS     600000u

/* How long a sandbox may take to be gone after its deadline, before its node can count as lost. */
#define LEASE_END_MS 5000u

/* A run that its node has not finished so long past its timeout never will be. */
#define OVERDUE_MS 30000u

/* -EINVAL unless the duration leaves room for three renewals, and both are in bounds. */
int lease_times_check(const struct lease_times *times, struct error *err);

/* Reads a duration such as 40s for the option of that name. */
int lease_times_parse(const char *option, const char *text, uint64_t *ret_ms, struct error *err);

/* For how long after it sent its last acknowledged renewal an agent may start runs: three halves
 * of the interval, 15 s by default. */
uint64_t lease_times_window_ms(const struct lease_times *times);

/* How long after the last change of its Lease nothing of a run with this timeout can be running on
 * a node any more: what was started within the window has met its deadline and is gone. */
uint64_t lease_times_lost_ms(const struct lease_times *times, uint32_t timeout_seconds);
