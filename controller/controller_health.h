/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/http_server.h"
#include "common/kube/event_recorder.h"
#include "common/kube/reflector.h"
#include "controller/controller_metrics.h"

/*
 * /healthz, /readyz and /metrics. A controller is ready when what it knows is complete and up to
 * date: one that stands by as well as the leader.
 */
struct controller_health {
    struct reflector *const *reflectors; /* by enum watched, as synced is */
    const bool *synced;
    struct controller_metrics *metrics;
    const struct lease_clock *clock;
    const struct event_recorder *events;
    const struct runs *runs;
    const struct nodes *nodes;
    struct http_server *server;
};

/* The rest is filled by the caller and outlives it. Without an address nothing is served. */
int controller_health_start(struct controller_health *health, struct loop *loop,
                            const char *address, struct error *err);
void controller_health_stop(struct controller_health *health);
