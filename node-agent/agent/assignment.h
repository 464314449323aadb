/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/hash.h"
#include "node-agent/agent/assignment_plan.h"
#include "node-agent/agent/assignments.h"
#include "node-agent/agent/run.h"
#include "node-agent/agent/seen_ids.h"

struct reflector;

/* What assignments.c (what is to be done) and assignment.c (doing it for one run) share. */
struct assignments {
    struct assignments_options options;
    assignments_changed_fn changed;
    void *arg;
    struct reflector *reflector;
    struct assignment *table; /* by sandbox id */
    struct assignment *held;  /* in the order of their coming */
    unsigned int held_count;
    struct seen_ids *seen;
    struct node_resources allocated; /* by the active ones */
    bool draining;
    bool listed; /* once whole */
    bool
        unsure; /* what was told may be old: nothing is started before the list that is asked for */
};

/* One sandbox id that this agent was given, until the watch shows that the run is over or gone;
 * from then on it is one of those seen, so that nothing old can start it a second time. */
struct assignment {
    UT_hash_handle hh;
    struct assignment *prev;
    struct assignment *next;
    struct assignments *owner;
    struct status_target target;
    enum assignment_state state;
    bool over;   /* the watch has shown its end already */
    bool marked; /* the code may have started */
    int64_t scheduled_us;
    int64_t seen_us;
    struct sandboxrun object; /* while held */
    struct run *run;          /* while active */
    enum profile profile;
    struct retained_run *retained; /* its output, if that is kept */
    uint32_t cpu_milli;            /* allocated */
    uint64_t memory_bytes;
};

void assignments_start_held(struct assignments *assignments);

/* Starts the code, or writes why it can't be started. object is read during the call only. */
void assignment_start(struct assignment *assignment, const struct sandboxrun *object);
void assignment_start_held(struct assignment *assignment);

/* Takes object over. */
void assignment_hold(struct assignment *assignment, struct sandboxrun *object);
void assignment_unhold(struct assignment *assignment);

/* A run that was not started: kills its jail if it has one. */
void assignment_give_back(struct assignment *assignment);

/* A run that was not started by us ends so. status has its identity. */
void assignment_fail(struct assignment *assignment, const struct run_status *status,
                     enum run_reason reason, const char *message);

/* Forgets it; a live jail is killed. */
void assignment_drop(struct assignment *assignment);
