/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "controller/nodes.h"

/*
 * Which node a run goes to. Pure: it looks at what nodes.h knows and changes nothing.
 */

/* Why a node doesn't take a run, in the order in which it is looked at. */
enum node_verdict {
    NODE_FITS,
    NODE_WITHOUT_AGENT, /* a core Node without a SandboxNode: no node of ours */
    NODE_WITHOUT_PROFILE,
    NODE_WITHOUT_RUNTIME,
    NODE_NOT_SELECTED,
    NODE_TOO_SMALL, /* even when it is empty */
    NODE_CORDONED,
    NODE_TAINTED,
    NODE_NOT_READY,
    NODE_SILENT, /* without a heartbeat */
    NODE_WITHOUT_SLOT,
    NODE_WITHOUT_MEMORY, /* left */
    NODE_WITHOUT_CPU,
    NODE_VERDICT_COUNT
};

/* Why a run waits: the reason of its condition Scheduled=False. */
enum wait_reason {
    WAIT_NO_NODES,
    WAIT_NO_MATCH,
    WAIT_NOT_READY,
    WAIT_NO_ROOM,
    WAIT_NAMESPACE_LIMIT, /* never the scheduler's: nodes have nothing to do with it */
    WAIT_REASON_COUNT
};

struct scheduler_choice {
    struct node *node; /* NULL: none takes it, and the rest tells why */
    unsigned int counts[NODE_VERDICT_COUNT];
};

enum node_verdict scheduler_check(const struct run_request *request, const struct node *node);

/* The node with most warm sandboxes; among equals the least loaded one; among these the first by
 * name. Only nodes that were improved after the generation since are looked at and counted; 0: all
 * of them. */
void scheduler_choose(const struct run_request *request, const struct nodes *nodes, uint64_t since,
                      struct scheduler_choice *ret_choice);

enum wait_reason scheduler_wait_reason(const struct scheduler_choice *choice);
const char *wait_reason_name(enum wait_reason reason);

/* "0 of 3 nodes can take it: 2 without room for memory 1Gi, 1 not ready" */
void scheduler_explain(const struct run_request *request, const struct scheduler_choice *choice,
                       char *text, size_t size);
