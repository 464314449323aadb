/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/deadline.h"
#include "node-agent/jailer/pool_plan.h"
#include "node-agent/jailer/zygote.h"
#include "node-agent/proto/proto_messages.h"

#include <stdbool.h>

/*
 * Sandboxes made ahead, one pool for each runtime, all of profile Snippet. One that waits has every
 * lock on, has said that its interpreter is there, and holds nothing of anybody's. It is taken
 * once.
 *
 * A pool is filled up again when something has happened: a run that took one has ended, or has not
 * after a moment; one is ready; one has died. What is made has next to no share of the CPU
 * where a run wants it. Nothing is looked at by the clock but age and demand.
 *
 * There are two ways to make one: by an interpreter that starts afresh, or as a fork of one that
 * has (zygote.h). The second is the cheaper one. Where it is wanted and not to be had, the first
 * serves.
 *
 * Those that wait are no part of the node's places and memory for runs: the share of the pools is
 * set aside at start (POOL_MEMORY_BYTES for each), and becomes the run's own only when it is taken.
 */
struct jailer;
struct sandbox;

struct pool {
    struct jailer *jailer;
    const char *runtime; /* runtimes.h has it */
    struct pool_size size;
    struct sandbox *oldest; /* of those that wait */
    uint32_t waiting, making;
    uint32_t failures; /* in a row */
    struct deadline refill;
    struct zygote zygote;     /* ZYGOTE_NONE: all start afresh */
    struct proto_pool totals; /* what is counted of it; the rest stands above */
};

struct pools {
    struct jailer *jailer;
    uint32_t count;
    uint32_t sandboxes; /* that belong to a pool: waiting, in the making, or dying unused */
    bool stopped;
    struct pool entries[PROTO_MAX_RUNTIMES];
    struct deadline period;
    struct deadline tell; /* the agent, of what has changed */
    void (*changed)(void *arg);
    void *arg;
};

/* A pool for each runtime of jailer, of min to max sandboxes; none with max 0. changed is called
 * some time after a pool has, at most once a POOL_TELL_MS. */
void pools_init(struct pools *pools, struct jailer *jailer, uint32_t min, uint32_t max,
                void (*changed)(void *arg), void *arg);

/* How many there can be in all. */
uint32_t pools_max(const struct pools *pools);

/* What each pool is to fork its sandboxes from, once the ids are known; where that can't be, it
 * says so in the log and does without. options stays the caller's. Only before the loop runs. */
void pools_prepare_zygotes(struct pools *pools, const struct zygote_options *options);

/* Begins to fill them; from here on they keep themselves full. */
void pools_start(struct pools *pools);

/* Makes nothing any more. What there is must be ended by the caller. */
void pools_stop(struct pools *pools);

/* After pools_stop(): waits for the zygotes to be gone. */
void pools_done(struct pools *pools);

/* One that waits, for a run that asks for this; it belongs to no pool from here on. NULL: there is
 * none, and the run needs one of its own. */
struct sandbox *pools_take(struct pools *pools, const struct proto_create *create);

/* What a run that found none can be forked from; NULL: nothing, or nothing now. */
struct zygote *pools_zygote(struct pools *pools, const struct proto_create *create);

/* A run has ended: what was held back until then can be made. */
void pools_run_ended(struct pools *pools);

/* How each pool is, for the agent. */
void pools_totals(const struct pools *pools, uint32_t index, struct proto_pool *ret_totals);

/* By sandbox.h: one waits; one that no run has taken is gone. */
void pool_on_warm(struct pool *pool, struct sandbox *sandbox);
void pool_on_gone(struct pool *pool, struct sandbox *sandbox);
