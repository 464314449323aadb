/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxnode.h"
#include "common/error.h"
#include "common/kube/client.h"
#include "common/kube/event_recorder.h"
#include "node-agent/agent/agent_metrics.h"
#include "node-agent/agent/jailer_client.h"
#include "node-agent/agent/node_lease.h"
#include "node-agent/agent/retained.h"
#include "node-agent/agent/spool.h"
#include "node-agent/agent/status_writer.h"

#include <stdbool.h>

/*
 * The runs that are assigned to this node: watches them, starts what is to be started within the
 * jailer's capacity, and sees to it that each ends in a status.
 */
struct assignments;

struct assignments_options {
    struct kube_client *client;
    struct jailer_client *jailer;
    struct spool *spool;
    struct status_writer *writer;
    struct agent_metrics *metrics;
    struct retained *retained; /* NULL: no output is kept on the node */
    struct event_recorder *events;
    const struct node_lease *lease; /* nothing is started while it isn't fresh */
    const char *node_name;
    const char *instance;
};

/* changed is called when what is allocated has changed, or the last run has ended. */
typedef void (*assignments_changed_fn)(void *arg);

/* Begins to watch at once. All that options names outlives the assignments. */
int assignments_new(const struct assignments_options *options, assignments_changed_fn changed,
                    void *arg, struct assignments **ret_assignments, struct error *err);

/* Live jails are killed. */
void assignments_free(struct assignments *assignments);

/* The writer's hook: a write for one of these runs is over. */
void assignments_written(struct assignments *assignments, const struct status_target *target,
                         enum status_write write, enum status_step step);

/* The node's lease was renewed: starts what waited for it. lapsed: gives that back instead, since
 * the controller may be about to end it, and starts nothing before a new list has told what it has
 * ended already. */
void assignments_renewed(struct assignments *assignments, bool lapsed);

/* The spool can be written to, or not: starts what is held, or gives it back for others to run. */
void assignments_spool_changed(struct assignments *assignments);

/* Starts nothing from now on, and gives back what hasn't been started. */
void assignments_drain(struct assignments *assignments);

void assignments_allocated(const struct assignments *assignments,
                           struct node_resources *ret_allocated);
unsigned int assignments_active(const struct assignments *assignments);
unsigned int assignments_held(const struct assignments *assignments);

/* True while the watch is up to date. */
bool assignments_is_healthy(const struct assignments *assignments);
