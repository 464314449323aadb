/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/lease_times.h"
#include "common/error.h"
#include "common/kube/config.h"
#include "common/loop.h"
#include "node-agent/agent/agent_metrics.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The heartbeat of this node: a Lease of its name that is renewed again and again, on a connection
 * of its own, so that no result is ever in front of it. (coordination.k8s.io/v1)
 *
 * What it tells the agent counts from the moment when a renewal that was accepted later had been
 * sent, on the clock that goes on while the machine sleeps: the controller can have seen it no
 * earlier.
 */
struct node_lease;

struct node_lease_options {
    const struct kube_config *kube; /* copied */
    const char *name_space;
    const char *node_name;
    const char *instance;
    struct lease_times times;
    struct agent_metrics *metrics;
};

/* A renewal was accepted. lapsed: so long after the one before that the controller may have given
 * up what was assigned to this node. */
typedef void (*node_lease_renewed_fn)(bool first, bool lapsed, void *arg);

/* Another agent holds the Lease that was this one's; nothing is renewed any more. May free the
 * lease. */
typedef void (*node_lease_taken_fn)(const struct error *err, void *arg);

/* Begins at once. Takes the Lease from whoever holds it: an earlier agent of this node. Texts and
 * metrics outlive it. */
int node_lease_new(struct loop *loop, const struct node_lease_options *options,
                   node_lease_renewed_fn renewed, node_lease_taken_fn taken, void *arg,
                   struct node_lease **ret_lease, struct error *err);
void node_lease_free(struct node_lease *lease);

/* Until when runs may be started (CLOCK_BOOTTIME); never 0. */
uint64_t node_lease_not_after_ns(const struct node_lease *lease);

/* True while there is some time left until then. */
bool node_lease_is_fresh(const struct node_lease *lease);

/* Since the last accepted renewal was sent. 0 before the first. */
double node_lease_age_seconds(const struct node_lease *lease);
