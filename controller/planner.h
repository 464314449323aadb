/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "controller/plan.h"

/* What plan.c (whose time has come) and plan_queues.c (who waits) share while a plan is made. */
struct planner {
    const struct plan_input *in;
    struct plan *plan;
    unsigned int assign_room;
    unsigned int write_room;
    unsigned int scans_left; /* looks at all nodes */
    struct tenant *active;   /* namespaces that may be served, in their turn */
};

struct action *planner_add(struct planner *p, enum action_kind kind, struct run_digest *run,
                           struct node *node);

/* Namespaces take turns until there is no room or nothing fits. */
void planner_place(struct planner *p);

/* Why run waits, for people; false if it doesn't any more, or nobody has looked yet. */
bool planner_explain(struct planner *p, struct run_digest *run, enum wait_reason *ret_reason,
                     char *text, size_t size);
