/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxnode.h"
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

/* Appends a text that two requests share exactly if so. -ENOMEM, -EMSGSIZE. */
int request_append_placement(const struct run_request *request, struct buf *key);

/* Accounts for what a run takes. Sums stay below where they overflow: of MAX_KUBE_OBJECTS runs none
 * has more than MAX_RUN_MEMORY. */
void resources_take(struct node_resources *used, const struct run_request *request);
void resources_give_back(struct node_resources *used, const struct run_request *request);
