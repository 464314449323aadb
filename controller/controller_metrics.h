/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/metrics.h"
#include "controller/heartbeats.h"
#include "controller/plan.h"

/* How a write about a run ended. */
enum write_outcome {
    WRITE_OUTCOME_OK,
    WRITE_OUTCOME_CONFLICT,
    WRITE_OUTCOME_GONE,
    WRITE_OUTCOME_REFUSED,     /* any other 4xx */
    WRITE_OUTCOME_THROTTLED,   /* 429 */
    WRITE_OUTCOME_SERVER,      /* 5xx */
    WRITE_OUTCOME_UNREACHABLE, /* no answer */
    WRITE_OUTCOME_COUNT
};

enum write_outcome write_outcome(int http_status);

/* The collections that are watched. */
enum watched { WATCHED_RUNS, WATCHED_AGENTS, WATCHED_NODES, WATCHED_LEASES, WATCHED_COUNT };
const char *watched_name(enum watched watched);

struct controller_metrics {
    struct metric queue_seconds;  /* of a run, until its assignment was accepted */
    struct metric assign_seconds; /* of the write that assigns it */
    struct metric total_seconds;  /* of a run, until its end was seen */
    struct metric queue_length;
    struct metric runs;           /* by phase */
    struct metric nodes;          /* by state */
    struct metric failed;         /* ended by the controller, by reason */
    struct metric finished;       /* that are kept */
    struct metric finished_bytes; /* of those */
    struct metric deleted;        /* finished ones, by cause */
    struct metric events;         /* by outcome, enum event_outcome */
    struct metric writes;         /* by outcome */
    struct metric watch_errors;   /* by collection */
    struct metric lease_asks;     /* reads of Leases before runs are given up, by outcome */
    struct metric lease_clock;    /* 1 while it runs */

    struct metric leading;            /* 1 while this controller is the one that writes */
    struct metric leader_transitions; /* by enum leader_transition */
    struct metric leader_failures;    /* attempts to read or write the Lease */
};

void controller_metrics_init(struct controller_metrics *metrics);

/* Counts a run that the controller itself has ended. */
void controller_metrics_count_failed(struct controller_metrics *metrics, enum run_reason reason);

/* Fills the gauges from what is known now, and appends the exposition to body. */
int controller_metrics_print(struct controller_metrics *metrics, const struct runs *runs,
                             const struct nodes *nodes, struct buf *body);
