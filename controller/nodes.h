/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxnode.h"
#include "common/json.h"
#include "controller/hash.h"
#include "controller/request.h"

struct run_digest;

/*
 * What the controller knows of the nodes: the agent's SandboxNode, of the core Node its labels,
 * cordon and taints, and what the controller itself has given away. Any of them may be missing:
 * an entry lives as long as one of them is there.
 */
struct node {
    char *name;
    struct sandboxnode *agent; /* NULL: no SandboxNode */
    bool has_core;             /* a core Node exists */
    struct run_label *labels;  /* of the core Node */
    size_t label_count;
    bool cordoned;
    bool tainted;               /* NoSchedule or NoExecute */
    struct node_resources used; /* by the runs below */
    uint32_t warm_taken;        /* since the agent last counted its warm sandboxes */
    struct run_digest *runs;    /* assigned to it, or about to be (runs.h links them) */
    UT_hash_handle hh;
};

struct nodes {
    struct node *by_name;
    bool changed; /* something that may let a run be placed; whoever places them resets it */
};

struct node *nodes_find(const struct nodes *nodes, const char *name);

/* Finds or makes the entry; NULL when out of memory. */
struct node *nodes_get(struct nodes *nodes, const char *name);

/* Takes over a SandboxNode; ret_node is its entry. -EINVAL without a usable name; -ENOMEM. */
int nodes_set_agent(struct nodes *nodes, const cJSON *object, struct node **ret_node,
                    struct error *err);
/* The SandboxNode is gone. Returns the entry if it still has runs, else NULL. */
struct node *nodes_remove_agent(struct nodes *nodes, const char *name);

/* The same for the core Node. */
int nodes_set_core(struct nodes *nodes, const cJSON *object, struct error *err);
void nodes_remove_core(struct nodes *nodes, const char *name);

/* Accounts for a run on node. */
void node_take(struct node *node, const struct run_request *request);
void nodes_give_back(struct nodes *nodes, struct node *node, const struct run_request *request);

/* Frees the entry if nothing holds it. */
void nodes_release(struct nodes *nodes, struct node *node);

void nodes_done(struct nodes *nodes);
