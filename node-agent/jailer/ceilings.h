/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/proto/proto.h"

#include <stdint.h>

/* What the jailer allows whatever the agent asks; its own table, a message can only tighten it. */
struct ceiling {
    const char *name;
    uint32_t timeout_ms;
    uint32_t cpu_milli;
    uint32_t pids;
    uint64_t memory_bytes;
    bool network; /* can be made only where there is one for sandboxes */
};

/* NULL beyond the known profiles. */
const struct ceiling *ceilings_of(uint32_t profile);

/* Bit 1 << profile for each that this jailer can make, with or without network. */
uint32_t ceilings_offered(bool network);

/* 0, or -errno with the limit and the figure. */
int ceilings_check_create(const struct proto_create *create, struct error *err);
int ceilings_check_start(uint32_t profile, uint32_t timeout_ms, struct error *err);
