/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxnode.h"
#include "common/error.h"
#include "common/kube/client.h"
#include "node-agent/agent/agent_metrics.h"
#include "node-agent/agent/retained.h"

/*
 * Serves the whole output of runs that have ended on this node, over TLS:
 *
 *   GET /apis/sandboxrun.dev/v1alpha1/namespaces/NS/sandboxruns/NAME/log?stream=stdout|stderr
 *
 * with a bearer token made for the audience sandboxrun.dev and for no other, whose user may get
 * sandboxruns/log of that run. Whether there is such a run is told only to who may read it. What is
 * refused is answered with a Status of Kubernetes.
 */
struct output_server;

struct output_server_options {
    struct kube_client *client;
    struct retained *retained;
    struct agent_metrics *metrics;
    const char *node_name;
    const char *address;   /* to listen on */
    const char *host;      /* under which clients reach it; NULL: not known */
    const char *cert_file; /* both NULL: one of our own */
    const char *key_file;
    uint64_t keep_ms; /* for messages */
};

/* Called when there is another certificate. */
typedef void (*output_server_changed_fn)(void *arg);

/* What options points to outlives it. */
int output_server_new(const struct output_server_options *options, output_server_changed_fn changed,
                      void *arg, struct output_server **ret_server, struct error *err);
void output_server_free(struct output_server *server);

/* What clients have to know; the texts live until the next change. */
void output_server_describe(const struct output_server *server, struct node_output *ret_output);
