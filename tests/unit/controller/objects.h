/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/json.h"
#include "controller/nodes.h"
#include "controller/runs.h"

/* Objects as the API server would give them, for the controller's tests. */

/* 2026-11-29T22:17:14Z, when every run made here was created. */
#define CREATED_US 1795990634000000
#define SECOND_US  1000000
#define RUN_BYTES  1000 /* that every run made here has */

/* Parses text, in which ' stands for ". The tree is the caller's. */
cJSON *parse_object(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Takes over a run of which spec and status are the members given ("'timeoutSeconds':3", "").
 * Its uid is made of its name. */
struct run_digest *put_run(struct runs *runs, const char *name_space, const char *name,
                           const char *version, const char *spec, const char *status,
                           int64_t now_us);

/* When the heartbeats of put_agent() come, by the lease clock; 1 at first. */
extern int64_t objects_steady_us;

/* Takes over a ready SandboxNode for Snippet and python3.12, whose agent is just heard of. */
struct node *put_agent(struct nodes *nodes, const char *name, const char *instance,
                       unsigned int runs, const char *memory, const char *cpu);

/* The same with the members of status given. */
struct node *put_agent_status(struct nodes *nodes, const char *name, const char *status);

/* Takes over a Lease, seen at objects_steady_us; renewed is "22:17:14", of the day that CREATED_US
 * is in, and CREATED_US is now. */
void put_lease(struct nodes *nodes, const char *name, const char *holder, const char *renewed,
               const struct lease_times *times);

/* Takes over a core Node with the members of metadata and spec given. */
void put_core(struct nodes *nodes, const char *name, const char *metadata, const char *spec);
