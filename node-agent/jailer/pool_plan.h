/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/*
 * How many sandboxes are made ahead. Pure: no clock, no I/O.
 *
 * The size follows the demand between two bounds: each run that finds the pool empty makes it one
 * larger; at the end of a period in which some were never taken it becomes smaller by as many.
 */
struct pool_size {
    uint32_t min, max;
    uint32_t target; /* between them */
    uint32_t lowest; /* how few waited at one time in this period */
};

/* A run found none. */
void pool_plan_miss(struct pool_size *size);

/* One was taken, and so many still wait. */
void pool_plan_taken(struct pool_size *size, uint32_t left);

/* A period is over, and so many wait. */
void pool_plan_period(struct pool_size *size, uint32_t waiting);

/* How many are to be begun now, with so many waiting and so many in the making; negative: to be
 * ended. */
int32_t pool_plan_refill(const struct pool_size *size, uint32_t waiting, uint32_t making);

/* How long nothing is made after so many in a row, at least one, have failed, in milliseconds. No
 * jitter: nobody else waits for the same. */
uint32_t pool_plan_backoff_ms(uint32_t failures);
