/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/kube/event_recorder.h"
#include "controller/controller_metrics.h"
#include "controller/plan.h"

struct controller;

/* A request under way. It names the run instead of pointing to it: the run may be gone when the
 * answer comes. */
struct write {
    struct controller *controller;
    struct kube_call *call;
    enum action_kind kind;
    enum run_reason reason;
    enum wait_reason waits_for;
    enum delete_cause cause;
    char message[MAX_ACTION_MESSAGE];
    char *name_space;
    char *name;
    char *uid;
    char *version; /* that it was decided on */
    char *node_name;
    char sandbox_id[40]; /* "": none yet */
    int64_t queued_us;
    int64_t waited_us; /* once it has ended */
    uint64_t started_ns;
    struct write *prev, *next;
};

/* What is to be remembered of action until its answer comes; NULL when out of memory. */
struct write *write_new(struct controller *controller, const struct action *action);
/* It is in no list, and its call is over. */
void write_free(struct write *write);

/* Logs, counts and tells the run's namespace how it has ended. */
void write_report(const struct write *write, enum write_outcome outcome,
                  const struct kube_response *response, struct controller_metrics *metrics,
                  struct event_recorder *events);
