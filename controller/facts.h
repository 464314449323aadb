/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/json.h"
#include "controller/request.h"

/* What the controller keeps of a SandboxRun: who it is, what it asks for, where it is in its
 * life. Never its code, its input or its output. */
struct run_facts {
    char *name_space;
    char *name;
    char *uid;
    char *resource_version;
    int64_t generation;
    int64_t observed_generation; /* by whoever wrote the status; 0: not told */
    bool deleting;
    bool foreign;  /* its phase is one of a later version: nothing is done about it */
    char *invalid; /* why it can't be run, for people; NULL: it can */
    struct run_request request;
    uint32_t timeout_seconds;
    uint32_t queue_timeout_seconds;
    int64_t ttl_seconds; /* -1: not set */
    enum run_phase phase;
    int64_t creation_us; /* microseconds since 1970; 0: not set, as for all times here */
    int64_t scheduled_us;
    int64_t completion_us;
    char *node_name; /* these three are NULL while it isn't assigned */
    char *agent_instance;
    char *sandbox_id;
    char waiting_reason[64]; /* of the condition that says why it waits; "" for none */
    int64_t waiting_since_us;
};

/* Reads an object of the API server. What can't be understood ends in invalid; -EINVAL only for
 * an object without namespace, name, uid or resourceVersion. */
int facts_read(const cJSON *object, struct run_facts *ret_facts, struct error *err);
void facts_done(struct run_facts *facts);
