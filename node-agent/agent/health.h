/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"
#include "common/http_server.h"
#include "common/loop.h"

#include <stdbool.h>

/* /healthz (the loop turns), /readyz and /metrics of the agent. */
struct health;

struct health_sources {
    /* A line about whether it is ready, and why not. */
    bool (*ready)(const char **ret_text, void *arg);
    int (*metrics)(struct buf *body, void *arg);
};

int health_new(struct loop *loop, const char *address, const struct health_sources *sources,
               void *arg, struct health **ret_health, struct error *err);
void health_free(struct health *health);
