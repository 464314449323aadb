/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/run_status.h"
#include "common/metrics.h"
#include "node-agent/agent/agent_pools.h"
#include "node-agent/agent/status_plan.h"

#include <stdint.h>

/* The parts of a run's way through the agent. */
enum agent_stage {
    AGENT_STAGE_DELIVER,    /* from the controller's assignment until the agent sees it */
    AGENT_STAGE_START_COLD, /* until the code starts, in a sandbox made for it */
    AGENT_STAGE_START_WARM, /* or in one that waited for a run */
    AGENT_STAGE_MARK,       /* of that, the mark in the spool */
    AGENT_STAGE_RUN,        /* until the sandbox is gone */
    AGENT_STAGE_WRITE_BACK, /* until the API server has the result */
    AGENT_STAGE_COUNT
};

/* How a request to read output was answered. */
enum agent_output_outcome {
    AGENT_OUTPUT_SERVED,
    AGENT_OUTPUT_BAD_REQUEST,
    AGENT_OUTPUT_UNAUTHORIZED,
    AGENT_OUTPUT_FORBIDDEN,
    AGENT_OUTPUT_NOT_FOUND,
    AGENT_OUTPUT_TOO_MANY,
    AGENT_OUTPUT_UNAVAILABLE,
    AGENT_OUTPUT_COUNT
};

/* What the gauges are filled from. */
struct agent_counts {
    unsigned int active;
    unsigned int held;
    size_t writes; /* to the API server, not yet over */
    size_t spooled;
    size_t retained; /* runs whose output is kept */
    uint64_t retained_bytes;
    double lease_age_seconds;
    struct agent_pools pools;
};

struct agent_metrics {
    struct metric stage_seconds;
    struct metric finished; /* by reason */
    struct metric denied;   /* by kind */
    struct metric given_back;
    struct metric too_late; /* results that came after somebody else had ended the run */
    struct metric active;
    struct metric held;
    struct metric pending_writes;
    struct metric spooled;
    struct metric retained;
    struct metric retained_bytes;
    struct metric output;    /* by outcome */
    struct metric renewals;  /* of the node's lease, by outcome */
    struct metric lease_age; /* seconds */
    struct metric pool_waiting;
    struct metric pool_size;
    struct metric pool_runs; /* by what they found */
    struct metric pool_made;
    struct metric pool_made_seconds;
};

void agent_metrics_init(struct agent_metrics *metrics);
void agent_metrics_stage(struct agent_metrics *metrics, enum agent_stage stage,
                         int64_t duration_us);
void agent_metrics_finished(struct agent_metrics *metrics, enum run_reason reason);
/* What the sandbox refused the program. */
void agent_metrics_denied(struct agent_metrics *metrics, const struct run_status *status);
void agent_metrics_output(struct agent_metrics *metrics, enum agent_output_outcome outcome);
void agent_metrics_renewal(struct agent_metrics *metrics, bool accepted);
void agent_metrics_written(struct agent_metrics *metrics, enum status_write write,
                           enum status_step step);
int agent_metrics_print(struct agent_metrics *metrics, const struct agent_counts *counts,
                        struct buf *body);
