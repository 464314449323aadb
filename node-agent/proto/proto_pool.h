/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/proto_hello.h"

#include <stdint.h>

/* Whether a sandbox was made before its run was there, and how its interpreter started. */
enum proto_warm { PROTO_WARM_NOT = 0, PROTO_WARM_FRESH = 1, PROTO_WARM_FORKED = 2 };

/* Of the sandboxes that are made ahead for one runtime and profile; counts since the jailer's
 * start. */
struct proto_pool {
    char runtime[PROTO_RUNTIME_SIZE];
    uint32_t profile;
    uint32_t waiting; /* for a run, now */
    uint32_t size;    /* as many are meant to wait */
    uint64_t hits;    /* runs that found one */
    uint64_t misses;  /* that found none, where one could have been */
    uint64_t made;
    uint64_t forked;  /* of these, those that are forks of an interpreter */
    uint64_t made_us; /* in which these were made, all together */
};
