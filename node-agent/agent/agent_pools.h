/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct jailer_client;

/* The sandboxes that wait for runs, of all of the jailer's pools together. */
struct agent_pools {
    uint32_t waiting;
    uint32_t size;         /* as many are meant to wait */
    uint64_t hits, misses; /* runs that found one, or none, since the jailer's start */
    uint64_t made, forked; /* the second is part of the first */
    uint64_t made_us;      /* in which these were made */
};

/* By the jailer's last words. NULL is fine: there is none. */
void agent_pools_sum(const struct jailer_client *jailer, struct agent_pools *ret_pools);
