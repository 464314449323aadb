/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/limits.h"
#include "common/api/profile.h"
#include "common/buf.h"
#include "common/json.h"

#include <stdbool.h>
#include <stdint.h>

/* The SandboxNode object: what a node can run, written by its agent, read by the controller. */

#define SANDBOXNODE_KIND  "SandboxNode"
#define MAX_NODE_RUNTIMES 16

struct node_runtime {
    char name[MAX_RUNTIME_NAME + 1];
    char version[40];
};

struct node_resources {
    uint32_t runs;
    uint64_t memory_bytes;
    uint64_t cpu_milli;
};

/* Where the whole output of runs can be read; written by the agent, for clients. The texts are
 * somebody else's, and a node that was read has none. */
struct node_output {
    const char *address; /* NULL: not known */
    uint32_t port;       /* 0: nowhere */
    const char *certificate;
};

struct sandboxnode {
    char name[MAX_RUN_NAME + 1];
    char uid[64];
    char instance[40];
    struct node_resources capacity;
    struct node_resources allocated;
    uint32_t warm;
    struct node_runtime runtimes[MAX_NODE_RUNTIMES];
    uint32_t runtime_count;
    uint32_t cgroup_version;
    char kernel[65];
    bool profiles[PROFILE_COUNT];
    bool ready;
    char ready_reason[64]; /* CamelCase */
    char ready_message[1024];
    int64_t ready_since_us;
    struct node_output output;
};

/* Lenient: absent or absurd values (negative, too long) leave the node not ready, with the reason
 * in ready_message; only an object without a usable name is -EINVAL. */
int sandboxnode_decode(const cJSON *tree, struct sandboxnode *ret_node, struct error *err);

/* Appends the "status" value as JSON. */
int sandboxnode_status_encode(const struct sandboxnode *node, struct buf *json);
