/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/run_status.h"

#include <stdbool.h>

/*
 * What an agent does about a run that the API server shows it, decided from facts alone. The rule
 * behind all of it is I2: code is started only by the agent it was assigned to, only if that agent
 * has never seen this sandbox id, and a run of an earlier agent is given back only if it surely
 * wasn't started.
 */
enum assignment_action {
    ASSIGNMENT_IGNORE,
    ASSIGNMENT_START,
    ASSIGNMENT_HOLD,      /* until there is room */
    ASSIGNMENT_GIVE_BACK, /* Scheduled -> Pending */
    ASSIGNMENT_KILL,      /* deleted while it runs */
    ASSIGNMENT_ABANDON,   /* somebody else ended it while it runs */
    ASSIGNMENT_CANCEL,    /* deleted before it was started: Failed, Cancelled */
    ASSIGNMENT_LOSE,      /* of an earlier start of the agent: Failed, AgentRestarted */
    ASSIGNMENT_FORGET     /* over: nothing more will come of it */
};

/* What this agent has done about the sandbox id so far. */
enum assignment_state {
    ASSIGNMENT_UNSEEN,
    ASSIGNMENT_HELD,    /* waits for room */
    ASSIGNMENT_ACTIVE,  /* its jail is being made, runs, or is going away */
    ASSIGNMENT_WRITING, /* its result, or that it is given back, is on its way */
    ASSIGNMENT_WRITTEN, /* the API server has taken that; the watch hasn't shown it yet */
    ASSIGNMENT_STATE_COUNT
};

struct assignment_facts {
    enum run_phase phase;
    bool deleting;
    bool own;      /* bears this agent's instance */
    bool known;    /* bears an instance that has used this spool */
    bool seen;     /* this agent is through with it */
    bool spooled;  /* the spool has it, and its write is under way */
    bool marked;   /* the spool has a mark that can't be read */
    bool draining; /* nothing new is started */
    bool room;     /* on the node and in the spool */
    bool can_hold;
    enum assignment_state state;
};

enum assignment_action assignment_decide(const struct assignment_facts *facts);
