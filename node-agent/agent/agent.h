/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/lease_times.h"
#include "common/error.h"
#include "common/kube/config.h"
#include "common/loop.h"

#include <stdint.h>

/*
 * The agent as a whole: jailer, spool, SandboxNode, assignments and health, and the order in which
 * they begin and end.
 */
struct agent;

struct agent_options {
    const char *node_name;
    const char *jailer_socket;
    const char *spool_dir;
    const char *health_address;   /* NULL: no server */
    uint64_t retain_output_ms;    /* 0: whole outputs aren't kept */
    uint64_t retain_output_bytes; /* of all of them on disk */
    const char *output_address;   /* NULL: they aren't served */
    const char *output_host;      /* for clients; NULL: not known */
    const char *output_cert;      /* both NULL: one of our own */
    const char *output_key;
    const char *lease_namespace; /* of the node's heartbeat */
    struct lease_times lease_times;
    const struct kube_config *kube; /* outlives the agent */
};

/* Begins to connect to the jailer. ended is called once, when there is nothing left to do: with
 * NULL if it was told to end, else with what it can't go on without. */
typedef void (*agent_ended_fn)(const struct error *err, void *arg);

int agent_new(struct loop *loop, const struct agent_options *options, agent_ended_fn ended,
              void *arg, struct agent **ret_agent, struct error *err);

/* No new work: what hasn't started is given back, what runs ends, results are written; then
 * ended(). */
void agent_end(struct agent *agent);

/* At once, whatever runs. */
void agent_free(struct agent *agent);
