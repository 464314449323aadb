/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/assignment_plan.h"

static enum assignment_action decide_earlier(const struct assignment_facts *facts)
{
    if (facts->spooled)
        return ASSIGNMENT_IGNORE;
    if (facts->marked || facts->phase == RUN_PHASE_RUNNING)
        return ASSIGNMENT_LOSE;
    if (facts->deleting)
        return ASSIGNMENT_CANCEL;
    /* Without the spool of the agent that had it nobody knows whether it was started. */
    return facts->known ? ASSIGNMENT_GIVE_BACK : ASSIGNMENT_LOSE;
}

static enum assignment_action decide_fresh(const struct assignment_facts *facts)
{
    /* An older version than the one that told its end. */
    if (facts->seen)
        return ASSIGNMENT_IGNORE;
    /* Running is written by nobody but the agent that runs it, and this one doesn't. */
    if (facts->phase == RUN_PHASE_RUNNING || facts->spooled || facts->marked)
        return ASSIGNMENT_LOSE;
    if (facts->deleting)
        return ASSIGNMENT_CANCEL;
    if (facts->draining)
        return ASSIGNMENT_GIVE_BACK;
    if (facts->room)
        return ASSIGNMENT_START;
    return facts->can_hold ? ASSIGNMENT_HOLD : ASSIGNMENT_GIVE_BACK;
}

static enum assignment_action decide_held(const struct assignment_facts *facts)
{
    if (facts->deleting)
        return ASSIGNMENT_CANCEL;
    /* It is started when another run ends, not by an event. */
    return facts->draining ? ASSIGNMENT_GIVE_BACK : ASSIGNMENT_IGNORE;
}

enum assignment_action assignment_decide(const struct assignment_facts *facts)
{
    bool over = facts->phase != RUN_PHASE_SCHEDULED && facts->phase != RUN_PHASE_RUNNING;

    switch (facts->state) {
    case ASSIGNMENT_UNSEEN:
        break;
    case ASSIGNMENT_HELD:
        return facts->phase == RUN_PHASE_SCHEDULED ? decide_held(facts) : ASSIGNMENT_FORGET;
    case ASSIGNMENT_ACTIVE:
        if (over)
            return ASSIGNMENT_ABANDON;
        return facts->deleting ? ASSIGNMENT_KILL : ASSIGNMENT_IGNORE;
    case ASSIGNMENT_WRITING:
        /* Its writer asks the API server itself, and learns more than an event tells. */
        return ASSIGNMENT_IGNORE;
    case ASSIGNMENT_WRITTEN:
        return over ? ASSIGNMENT_FORGET : ASSIGNMENT_IGNORE;
    case ASSIGNMENT_STATE_COUNT:
        return ASSIGNMENT_IGNORE;
    }
    if (over)
        return ASSIGNMENT_FORGET;
    return facts->own ? decide_fresh(facts) : decide_earlier(facts);
}
