/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/node_loss.h"

#include "controller/limits.h"

#define US_PER_MS     1000
#define US_PER_SECOND 1000000

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The new agent reports what it finds in its spool and gives back what was never started; a jailer
 * that lost its agent has ended what was running. */
static int64_t orphan_deadline(const struct loss_facts *facts)
{
    int64_t grace_us = (int64_t)facts->timeout_seconds * US_PER_SECOND + ORPHAN_GRACE_US;
    return facts->orphaned_us + (grace_us > ORPHAN_MIN_US ? grace_us : ORPHAN_MIN_US);
}

static int64_t overdue_deadline(const struct loss_facts *facts)
{
    return facts->since_us + (int64_t)facts->timeout_seconds * US_PER_SECOND +
           (int64_t)OVERDUE_MS * US_PER_MS;
}

enum loss_verdict loss_decide(const struct loss_facts *facts, const struct lease_times *times,
                              int64_t *ret_again_us)
{
    int64_t lost_us =
        facts->seen_us + (int64_t)lease_times_lost_ms(times, facts->timeout_seconds) * US_PER_MS;
    *ret_again_us = INT64_MAX;
    if (facts->now_us >= lost_us) {
        if (facts->asked_us >= lost_us)
            return LOSS_NODE_LOST;
        *ret_again_us = facts->now_us + LEASE_ASK_US;
        return LOSS_ASK;
    }
    int64_t deadline_us = facts->orphaned_us > 0 ? orphan_deadline(facts) : overdue_deadline(facts);
    /* Of a node that falls silent it is not known whether it is alive: then the Lease decides. */
    bool silent = facts->now_us - facts->seen_us >= (int64_t)times->duration_ms * US_PER_MS;
    if (facts->now_us >= deadline_us && !silent) {
        if (facts->orphaned_us == 0)
            return LOSS_OVERDUE;
        return facts->has_agent ? LOSS_AGENT_RESTARTED : LOSS_NO_AGENT;
    }
    *ret_again_us = silent ? lost_us : smaller(deadline_us, lost_us);
    return LOSS_NONE;
}
