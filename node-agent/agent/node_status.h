/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxnode.h"
#include "common/error.h"
#include "common/kube/client.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>

/*
 * The SandboxNode of this node: creates it where it isn't there, and keeps its status as it should
 * be. Written at once when the Ready condition changes, else at most every 10 s.
 */
struct node_status;

/* Called whenever the API server has taken a status. */
typedef void (*node_status_written_fn)(bool first, void *arg);

/* Begins with Ready=True for what the jailer offers. */
int node_status_new(struct kube_client *client, const char *node_name, const char *instance,
                    const struct proto_hello *hello, node_status_written_fn written, void *arg,
                    struct node_status **ret_status, struct error *err);
void node_status_free(struct node_status *status);

void node_status_set_allocated(struct node_status *status, const struct node_resources *allocated);

/* How many sandboxes wait for runs. */
void node_status_set_warm(struct node_status *status, uint32_t warm);

/* Where output can be read; copied. */
int node_status_set_output(struct node_status *status, const struct node_output *output);

/* reason is one CamelCase word. */
void node_status_set_unready(struct node_status *status, const char *reason, const char *message);

/* Takes that back. */
void node_status_set_ready(struct node_status *status);

/* True if the API server has what the status should be. */
bool node_status_is_written(const struct node_status *status);
