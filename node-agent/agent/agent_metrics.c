/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/agent_metrics.h"

#include "common/cleanup.h"

static const double second_buckets[] = {0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
                                        0.2,    0.5,    1,     2,     5,     10,   30,   60,   120};

static const char *const stage_labels[] = {
    [AGENT_STAGE_DELIVER] = "deliver",
    [AGENT_STAGE_START_COLD] = "start_cold",
    [AGENT_STAGE_START_WARM] = "start_warm",
    [AGENT_STAGE_MARK] = "mark",
    [AGENT_STAGE_RUN] = "run",
    [AGENT_STAGE_WRITE_BACK] = "write_back",
    [AGENT_STAGE_COUNT] = NULL,
};

enum pool_found { POOL_FOUND_WAITING, POOL_FOUND_NONE };
enum pool_kind { POOL_FRESH, POOL_FORKED };

static const char *const pool_labels[] = {
    [POOL_FOUND_WAITING] = "waiting",
    [POOL_FOUND_NONE] = "none",
    NULL,
};

static const char *const pool_kind_labels[] = {
    [POOL_FRESH] = "fresh",
    [POOL_FORKED] = "forked",
    NULL,
};

#define REASON_LABEL(reason) ((reason)-RUN_REASON_COMPLETED)

/* In the order of enum run_reason, whose names they are, without the first, which is no end. */
static const char *const reason_labels[REASON_LABEL(RUN_REASON_COUNT) + 1] = {
    [REASON_LABEL(RUN_REASON_COMPLETED)] = "Completed",
    [REASON_LABEL(RUN_REASON_ERROR)] = "Error",
    [REASON_LABEL(RUN_REASON_SIGNALED)] = "Signaled",
    [REASON_LABEL(RUN_REASON_DEADLINE_EXCEEDED)] = "DeadlineExceeded",
    [REASON_LABEL(RUN_REASON_OOM_KILLED)] = "OOMKilled",
    [REASON_LABEL(RUN_REASON_OUTPUT_LIMIT_EXCEEDED)] = "OutputLimitExceeded",
    [REASON_LABEL(RUN_REASON_FORBIDDEN_SYSCALL)] = "ForbiddenSyscall",
    [REASON_LABEL(RUN_REASON_CANCELLED)] = "Cancelled",
    [REASON_LABEL(RUN_REASON_QUEUE_TIMEOUT)] = "QueueTimeout",
    [REASON_LABEL(RUN_REASON_QUEUE_FULL)] = "QueueFull",
    [REASON_LABEL(RUN_REASON_INVALID_SPEC)] = "InvalidSpec",
    [REASON_LABEL(RUN_REASON_SANDBOX_SETUP_FAILED)] = "SandboxSetupFailed",
    [REASON_LABEL(RUN_REASON_JAILER_LOST)] = "JailerLost",
    [REASON_LABEL(RUN_REASON_AGENT_RESTARTED)] = "AgentRestarted",
    [REASON_LABEL(RUN_REASON_NODE_LOST)] = "NodeLost",
    [REASON_LABEL(RUN_REASON_INTERNAL_ERROR)] = "InternalError",
};

/* In the order of enum run_denied_kind, whose names they are. */
static const char *const denied_labels[RUN_DENIED_KIND_COUNT + 1] = {
    [RUN_DENIED_NETWORK] = "Network",
    [RUN_DENIED_SYSCALL] = "Syscall",
};

static const char *const output_labels[AGENT_OUTPUT_COUNT + 1] = {
    [AGENT_OUTPUT_SERVED] = "200",       [AGENT_OUTPUT_BAD_REQUEST] = "400",
    [AGENT_OUTPUT_UNAUTHORIZED] = "401", [AGENT_OUTPUT_FORBIDDEN] = "403",
    [AGENT_OUTPUT_NOT_FOUND] = "404",    [AGENT_OUTPUT_TOO_MANY] = "429",
    [AGENT_OUTPUT_UNAVAILABLE] = "503",
};

static const char *const renewal_labels[] = {"ok", "failed", NULL};

static void init_pools(struct agent_metrics *metrics)
{
    metrics->pool_waiting = (struct metric){.name = "sandboxrun_agent_pool_waiting",
                                            .help = "Sandboxes that wait for runs",
                                            .type = METRIC_GAUGE};
    metrics->pool_size = (struct metric){.name = "sandboxrun_agent_pool_size",
                                         .help = "Sandboxes that are meant to wait for runs",
                                         .type = METRIC_GAUGE};
    metrics->pool_runs = (struct metric){.name = "sandboxrun_agent_pool_runs_total",
                                         .help = "Runs by whether a sandbox waited for them",
                                         .type = METRIC_COUNTER,
                                         .label = "found",
                                         .label_values = pool_labels};
    metrics->pool_made = (struct metric){.name = "sandboxrun_agent_pool_made_total",
                                         .help = "Sandboxes made to wait for runs, by how",
                                         .type = METRIC_COUNTER,
                                         .label = "kind",
                                         .label_values = pool_kind_labels};
    metrics->pool_made_seconds =
        (struct metric){.name = "sandboxrun_agent_pool_made_seconds_total",
                        .help = "Time in which these were made, all together",
                        .type = METRIC_COUNTER};
}

void agent_metrics_init(struct agent_metrics *metrics)
{
    *metrics = (struct agent_metrics){
        .stage_seconds = {.name = "sandboxrun_agent_stage_duration_seconds",
                          .help = "Time of a run in each stage on its node",
                          .type = METRIC_HISTOGRAM,
                          .label = "stage",
                          .label_values = stage_labels,
                          .buckets = second_buckets,
                          .bucket_count = ARRAY_SIZE(second_buckets)},
        .finished = {.name = "sandboxrun_agent_runs_finished_total",
                     .help = "Runs that have ended on this node, by reason",
                     .type = METRIC_COUNTER,
                     .label = "reason",
                     .label_values = reason_labels},
        .denied = {.name = "sandboxrun_denied_total",
                   .help = "Refusals that the programs of ended runs met on this node, by kind, at "
                           "least",
                   .type = METRIC_COUNTER,
                   .label = "kind",
                   .label_values = denied_labels},
        .given_back = {.name = "sandboxrun_agent_runs_given_back_total",
                       .help = "Runs that were assigned to this node and not started",
                       .type = METRIC_COUNTER},
        .too_late = {.name = "sandboxrun_agent_results_too_late_total",
                     .help = "Results dropped because the run was deleted or had been ended",
                     .type = METRIC_COUNTER},
        .active = {.name = "sandboxrun_agent_runs_active",
                   .help = "Runs with a sandbox on this node",
                   .type = METRIC_GAUGE},
        .held = {.name = "sandboxrun_agent_runs_held",
                 .help = "Runs assigned to this node that wait for room",
                 .type = METRIC_GAUGE},
        .pending_writes = {.name = "sandboxrun_agent_writes_pending",
                           .help = "Status updates that the API server has not taken yet",
                           .type = METRIC_GAUGE},
        .spooled = {.name = "sandboxrun_agent_spool_entries",
                    .help = "Started runs whose result the API server has not taken yet",
                    .type = METRIC_GAUGE},
        .retained = {.name = "sandboxrun_agent_retained_runs",
                     .help = "Runs whose whole output is kept on this node",
                     .type = METRIC_GAUGE},
        .retained_bytes = {.name = "sandboxrun_agent_retained_bytes",
                           .help = "Bytes on disk of whole outputs that are kept on this node",
                           .type = METRIC_GAUGE},
        .output = {.name = "sandboxrun_agent_output_requests_total",
                   .help = "Requests to read whole outputs, by HTTP status",
                   .type = METRIC_COUNTER,
                   .label = "code",
                   .label_values = output_labels},
        .renewals = {.name = "sandboxrun_agent_lease_renewals_total",
                     .help = "Attempts to renew the node's lease, by outcome",
                     .type = METRIC_COUNTER,
                     .label = "outcome",
                     .label_values = renewal_labels},
        .lease_age = {.name = "sandboxrun_agent_lease_age_seconds",
                      .help = "Time since the last accepted renewal of the node's lease was sent",
                      .type = METRIC_GAUGE},
    };
    init_pools(metrics);
}

/* The jailer counts; a lower figure than before is another jailer's. */
static void follow(struct metric *metric, unsigned int label, double total)
{
    double delta = total - metric->values[label];
    metric_add(metric, label, delta > 0 ? delta : 0);
}

static void fill_pools(struct agent_metrics *metrics, const struct agent_pools *pools)
{
    metric_set(&metrics->pool_waiting, 0, pools->waiting);
    metric_set(&metrics->pool_size, 0, pools->size);
    follow(&metrics->pool_runs, POOL_FOUND_WAITING, (double)pools->hits);
    follow(&metrics->pool_runs, POOL_FOUND_NONE, (double)pools->misses);
    uint64_t fresh = pools->made > pools->forked ? pools->made - pools->forked : 0;
    follow(&metrics->pool_made, POOL_FRESH, (double)fresh);
    follow(&metrics->pool_made, POOL_FORKED, (double)pools->forked);
    follow(&metrics->pool_made_seconds, 0, (double)pools->made_us / 1e6);
}

void agent_metrics_stage(struct agent_metrics *metrics, enum agent_stage stage, int64_t duration_us)
{
    /* Two clocks may disagree about what came first. */
    metric_observe(&metrics->stage_seconds, stage,
                   duration_us > 0 ? (double)duration_us / 1e6 : 0.0);
}

void agent_metrics_finished(struct agent_metrics *metrics, enum run_reason reason)
{
    metric_add(&metrics->finished, REASON_LABEL(reason), 1);
}

void agent_metrics_denied(struct agent_metrics *metrics, const struct run_status *status)
{
    for (size_t i = 0; i < status->denied_count; i++)
        metric_add(&metrics->denied, status->denied[i].kind, (double)status->denied[i].count);
}

void agent_metrics_output(struct agent_metrics *metrics, enum agent_output_outcome outcome)
{
    metric_add(&metrics->output, outcome, 1);
}

void agent_metrics_renewal(struct agent_metrics *metrics, bool accepted)
{
    metric_add(&metrics->renewals, accepted ? 0 : 1, 1);
}

void agent_metrics_written(struct agent_metrics *metrics, enum status_write write,
                           enum status_step step)
{
    if (write == STATUS_WRITE_GIVE_BACK && step == STATUS_STEP_WRITTEN)
        metric_add(&metrics->given_back, 0, 1);
    if (write == STATUS_WRITE_RESULT && step != STATUS_STEP_WRITTEN)
        metric_add(&metrics->too_late, 0, 1);
}

int agent_metrics_print(struct agent_metrics *metrics, const struct agent_counts *counts,
                        struct buf *body)
{
    struct metric *const all[] = {
        &metrics->stage_seconds,
        &metrics->finished,
        &metrics->denied,
        &metrics->given_back,
        &metrics->too_late,
        &metrics->active,
        &metrics->held,
        &metrics->pending_writes,
        &metrics->spooled,
        &metrics->retained,
        &metrics->retained_bytes,
        &metrics->output,
        &metrics->renewals,
        &metrics->lease_age,
        &metrics->pool_waiting,
        &metrics->pool_size,
        &metrics->pool_runs,
        &metrics->pool_made,
        &metrics->pool_made_seconds,
    };

    metric_set(&metrics->active, 0, counts->active);
    metric_set(&metrics->held, 0, counts->held);
    metric_set(&metrics->pending_writes, 0, (double)counts->writes);
    metric_set(&metrics->spooled, 0, (double)counts->spooled);
    metric_set(&metrics->retained, 0, (double)counts->retained);
    metric_set(&metrics->retained_bytes, 0, (double)counts->retained_bytes);
    metric_set(&metrics->lease_age, 0, counts->lease_age_seconds);
    fill_pools(metrics, &counts->pools);
    return metrics_print(all, ARRAY_SIZE(all), body);
}
