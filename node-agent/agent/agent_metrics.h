/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/run_status.h"
#include "common/metrics.h"
#include "node-agent/agent/status_plan.h"

#include <stdint.h>

/* The parts of a run's way through the agent. */
enum agent_stage {
    AGENT_STAGE_DELIVER,    /* from the controller's assignment until the agent sees it */
    AGENT_STAGE_START,      /* until the code starts */
    AGENT_STAGE_MARK,       /* of that, the mark in the spool */
    AGENT_STAGE_RUN,        /* until the sandbox is gone */
    AGENT_STAGE_WRITE_BACK, /* until the API server has the result */
    AGENT_STAGE_COUNT
};

/* What the gauges are filled from. */
struct agent_counts {
    unsigned int active;
    unsigned int held;
    size_t writes; /* to the API server, not yet over */
    size_t spooled;
};

struct agent_metrics {
    struct metric stage_seconds;
    struct metric finished; /* by reason */
    struct metric given_back;
    struct metric too_late; /* results that came after somebody else had ended the run */
    struct metric active;
    struct metric held;
    struct metric pending_writes;
    struct metric spooled;
};

void agent_metrics_init(struct agent_metrics *metrics);
void agent_metrics_stage(struct agent_metrics *metrics, enum agent_stage stage,
                         int64_t duration_us);
void agent_metrics_finished(struct agent_metrics *metrics, enum run_reason reason);
void agent_metrics_written(struct agent_metrics *metrics, enum status_write write,
                           enum status_step step);
int agent_metrics_print(struct agent_metrics *metrics, const struct agent_counts *counts,
                        struct buf *body);
