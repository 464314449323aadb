/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/lease_times.h"

#include <stdbool.h>

/*
 * Whether a run that was given to a node is given up. Pure. All times are those of the lease clock
 * (lease_clock.h).
 */
enum loss_verdict {
    LOSS_NONE,
    LOSS_ASK,             /* the node seems lost: read its Lease before anything is written */
    LOSS_NODE_LOST,       /* nothing of it can be running any more, and nobody will report it */
    LOSS_NO_AGENT,        /* the SandboxNode is gone */
    LOSS_AGENT_RESTARTED, /* the node has another agent, which doesn't report it */
    LOSS_OVERDUE,         /* the node is alive and should have finished it */
};

struct loss_facts {
    int64_t now_us;
    int64_t seen_us;  /* last change of the node's Lease */
    int64_t asked_us; /* a read that was sent then has found that change to be the last; 0: none */
    int64_t since_us; /* the run was first seen in its phase */
    int64_t orphaned_us; /* since when its agent is known to be gone; 0: it isn't */
    bool has_agent;
    uint32_t timeout_seconds;
};

/* ret_again_us: when to look again. */
enum loss_verdict loss_decide(const struct loss_facts *facts, const struct lease_times *times,
                              int64_t *ret_again_us);
