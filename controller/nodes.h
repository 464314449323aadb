/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/lease_times.h"
#include "common/api/sandboxnode.h"
#include "common/hash.h"
#include "common/json.h"
#include "common/kube/lease.h"
#include "controller/request.h"

struct run_digest;

/* What is known of a node's heartbeat. Times are those of the lease clock (lease_clock.h). */
struct node_heartbeat {
    bool exists; /* there is a Lease */
    bool moving; /* it has changed while we looked, or was just renewed when we first saw it */
    bool fresh;  /* it is moving, has changed lately, and is held by the agent of the SandboxNode */
    bool ask;    /* it is to be read, before a run is given up for it */
    bool asking; /* that read is under way */
    bool told;   /* fresh as it was last logged */
    char holder[MAX_LEASE_HOLDER];
    char renewed[MAX_LEASE_TIME];
    int64_t seen_us;    /* last change; 0: nothing was ever seen */
    int64_t resumed_us; /* last change that came late: what was finished meanwhile is on its way */
    int64_t asked_us;   /* a read that was sent then has found it unchanged */
};

/*
 * What the controller knows of the nodes: the agent's SandboxNode and Lease, of the core Node its
 * labels, cordon and taints, and what the controller itself has given away. Any of them may be
 * missing: an entry lives as long as one of them is there.
 */
struct node {
    char *name;
    struct sandboxnode *agent; /* NULL: no SandboxNode */
    struct node_heartbeat heartbeat;
    bool has_core;            /* a core Node exists */
    struct run_label *labels; /* of the core Node */
    size_t label_count;
    bool cordoned;
    bool tainted;               /* NoSchedule or NoExecute */
    struct node_resources used; /* by the runs below */
    uint32_t warm_taken;        /* since the agent last counted its warm sandboxes */
    struct run_digest *runs;    /* assigned to it, or about to be (runs.h links them) */
    uint64_t improved;          /* the generation in which it last may have got room for a run */
    struct node *recent_prev, *recent_next;
    UT_hash_handle hh;
};

struct nodes {
    struct node *by_name;
    struct node *recent; /* the one that was improved last, then the others in that order */
    uint64_t generation; /* counts improvements */
    bool asks;           /* some heartbeat is to be read; whoever reads them resets it */
    bool untold;         /* some node has become fresh or silent; whoever logs that resets it */
    /* So that nobody looks through all nodes for what can't have happened: */
    bool unaged;       /* something other than a renewal of a fresh heartbeat */
    int64_t silent_us; /* before this no fresh node goes silent */
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

/* Takes over the Lease of a node. steady_us is the lease clock's time. At first sight it counts as
 * moving only if by the wall clock it was renewed lately, within its duration of now_us. */
int nodes_set_lease(struct nodes *nodes, const cJSON *object, int64_t steady_us, int64_t now_us,
                    const struct lease_times *times, struct error *err);
/* It is gone, which counts as a change. */
void nodes_remove_lease(struct nodes *nodes, const char *name, int64_t steady_us);

/* Marks what has become fresh or has gone silent. */
void nodes_age(struct nodes *nodes, int64_t steady_us, int64_t duration_us);

/* Something of node has changed that may let a run be placed there. */
void nodes_improve(struct nodes *nodes, struct node *node);

/* A run on node is over. */
void nodes_give_back(struct nodes *nodes, struct node *node, const struct run_request *request);

/* Frees the entry if nothing holds it. */
void nodes_release(struct nodes *nodes, struct node *node);

void nodes_done(struct nodes *nodes);
