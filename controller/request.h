/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxrun.h"

/* What a run asks of a node. */
struct run_request {
    enum profile profile;
    char *runtime;
    uint32_t cpu_milli;
    uint64_t memory_bytes;
    struct run_label *node_selector;
    size_t node_selector_count;
};

/* Moves it out of spec. */
struct run_request request_take(struct run_spec *spec);
void request_done(struct run_request *request);

/* True if every node is as suitable for the one as for the other, size aside. */
bool request_same_placement(const struct run_request *a, const struct run_request *b);
