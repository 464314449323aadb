/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/lease_times.h"
#include "controller/limits.h"
#include "controller/namespace_limits.h"
#include "controller/runs.h"
#include "controller/scheduler.h"

/*
 * From what is known to what is to be written. Pure: no clock, no I/O; it files what it has
 * decided in runs and nodes, so that the next plan counts it. Leases that are to be read before a
 * run is given up are marked in nodes (node_heartbeat.ask).
 */

enum action_kind {
    ACTION_ASSIGN,  /* give run to node */
    ACTION_FAIL,    /* end run with reason and message */
    ACTION_EXPLAIN, /* write why it waits */
    ACTION_OBSERVE, /* write that a change to what may still change, its TTL, was seen */
    ACTION_DELETE   /* its TTL is over, or finished runs keep too much */
};

struct action {
    enum action_kind kind;
    struct run_digest *run;
    struct node *node;          /* of ACTION_ASSIGN */
    enum run_reason reason;     /* of ACTION_FAIL */
    enum wait_reason waits_for; /* of ACTION_EXPLAIN */
    enum delete_cause cause;    /* of ACTION_DELETE */
    char message[MAX_ACTION_MESSAGE];
};

struct plan_input {
    struct runs *runs;
    struct nodes *nodes;
    int64_t now_us;           /* by the wait clock (wait_clock.h) */
    int64_t steady_us;        /* lease clock (lease_clock.h), for what others' silence means */
    int64_t led_since_us;     /* by it; silence from before doesn't count as loss; 0: all does */
    struct lease_times times; /* of heartbeats */
    int64_t ttl_seconds;      /* of a run that sets none */
    struct namespace_limits limits;
    struct finished_limits finished;
    unsigned int assign_room; /* assignments that may be started, at most MAX_ASSIGNS_IN_FLIGHT */
    unsigned int write_room;  /* other writes, at most MAX_WRITES_IN_FLIGHT */
};

struct plan {
    struct action actions[MAX_PLAN_ACTIONS];
    unsigned int count;
    int64_t wake_us; /* when to plan again if nothing changes; INT64_MAX: never */
};

/* Every action in it is filed as begun (runs_begin_write) and must be ended (runs_end_write).
 * Where room was too small for all that is to be done, plan again when a write has ended. */
void plan_make(const struct plan_input *input, struct plan *ret_plan);
