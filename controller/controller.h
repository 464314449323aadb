/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/lease_times.h"
#include "common/error.h"
#include "common/kube/client.h"
#include "controller/finished.h"
#include "controller/leader_plan.h"
#include "controller/namespace_limits.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The controller's effects: four watches feed what is known of runs and nodes, a plan is made
 * when something of it has changed or a time has come, and its actions are sent.
 */
struct controller;

struct controller_options {
    int64_t ttl_seconds;         /* of a finished run that sets none */
    const char *health_address;  /* of /healthz, /readyz and /metrics; NULL: none */
    const char *lease_namespace; /* of the nodes' heartbeats; outlives the controller */
    struct lease_times lease_times;
    bool leader_elect; /* false: there is no other controller */
    struct leader_times leader_times;
    struct namespace_limits limits;
    struct finished_limits finished;
};

/* Starts at once, on the client's loop. */
int controller_new(struct kube_client *client, const struct controller_options *options,
                   struct controller **ret_controller, struct error *err);

/* Ends its writes and gives the leadership to another controller; ended is called once, when that
 * is done or has taken too long, perhaps from inside this. */
void controller_end(struct controller *controller, void (*ended)(void *arg), void *arg);

/* Must go before its client does. What is under way is cancelled, and found out from the objects
 * by the next controller. NULL is fine. */
void controller_free(struct controller *controller);
