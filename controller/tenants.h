/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/hash.h"
#include "controller/scheduler.h"
#include "controller/wakeups.h"

struct run_digest;
struct tenant;

/*
 * The waiting runs of a namespace that would go to the same nodes, size aside: the oldest that can
 * be placed goes first, and one for which there is no room now holds up those behind it. What was
 * found out about the nodes is kept, so that only those are looked at again that have changed.
 */
struct lane {
    char *key; /* request_append_placement() */
    struct tenant *tenant;
    struct run_digest *queue; /* oldest first, once sorted */
    bool sorted;
    bool fresh;          /* somebody in it may have a place; else, as of generation, */
    uint64_t generation; /* no node has room for floor, which is no more than any of those */
    struct node_resources floor; /* asks that were looked at */
    struct {
        uint64_t generation; /* as of which no node had room for it; 0: never */
        uint64_t memory_bytes;
        uint32_t cpu_milli;
        enum wait_reason reason;
    } failed; /* the last that was looked at in vain */
    struct {
        int64_t at_us; /* 0: never */
        uint64_t memory_bytes;
        uint32_t cpu_milli;
        struct scheduler_choice choice;
    } count;                   /* of nodes, for people */
    struct run_digest *cursor; /* the planner's: whom to look at next */
    bool active;               /* the planner's, with the links of its list */
    struct lane *active_prev, *active_next;
    UT_hash_handle hh;
};

/* A namespace: whose turn it is, what its runs use, and what it keeps. It lives as long as it has
 * a run. */
struct tenant {
    char *name_space;
    unsigned int runs;          /* in whatever phase */
    struct lane *lanes;         /* by key */
    unsigned int queued;        /* in all lanes */
    bool fresh;                 /* one of its lanes may be, or its limits may let another in */
    struct node_resources used; /* by its assigned runs */
    struct wakeups finished;    /* those that are kept, oldest first */
    struct lane *active;        /* the planner's: lanes to look at */
    struct tenant *prev, *next; /* the round-robin order of those with a queue */
    struct tenant *active_prev, *active_next;
    bool crowded; /* may keep or queue more than it should */
    struct tenant *crowded_prev, *crowded_next;
    UT_hash_handle hh;
};

struct tenants {
    struct tenant *by_name;
    struct tenant *turn; /* whose turn it is, then the others */
    struct tenant *crowded;
    bool fresh; /* some namespace is */
};

/* Finds or makes it; NULL when out of memory. One that gets no run is to be released. */
struct tenant *tenants_get(struct tenants *tenants, const char *name_space);
/* Frees it if it has no run. */
void tenants_release(struct tenants *tenants, struct tenant *tenant);

/* Puts run into the lane that it belongs to. -ENOMEM. */
int tenants_enqueue(struct tenants *tenants, struct tenant *tenant, struct run_digest *run);
void tenants_dequeue(struct tenants *tenants, struct run_digest *run);

/* By creation, then by first sight. */
int run_compare_age(const struct run_digest *a, const struct run_digest *b);

/* Puts the queue of lane into that order. */
void lane_sort(struct lane *lane);

/* The youngest waiting run that no write is under way for; NULL if there is none. */
struct run_digest *tenant_youngest(struct tenant *tenant);

/* Some of its waiting runs may have a place. */
void tenants_refresh(struct tenants *tenants, struct tenant *tenant);

/* It was served: the others' turn comes first. */
void tenants_served(struct tenants *tenants, struct tenant *tenant);

/* To be looked at for what it keeps or queues. */
void tenants_mark_crowded(struct tenants *tenants, struct tenant *tenant);
void tenants_unmark_crowded(struct tenants *tenants, struct tenant *tenant);
