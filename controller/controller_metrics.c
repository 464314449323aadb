/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/controller_metrics.h"

#include "common/cleanup.h"
#include "common/kube/event_recorder.h"
#include "controller/leader.h"

enum node_state {
    NODE_STATE_READY,
    NODE_STATE_UNSCHEDULABLE,
    NODE_STATE_NOT_READY,
    NODE_STATE_SILENT
};

static const double second_buckets[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2,
                                        0.5,   1,     2,     5,    10,   30,   60,  600};

static const char *const phase_labels[] = {"Pending",   "Scheduled", "Running",
                                           "Succeeded", "Failed",    NULL};

static const char *const state_labels[] = {"ready", "unschedulable", "not_ready", "silent", NULL};

static const char *const answer_labels[] = {
    [LEASE_ANSWER_SILENT] = "silent",
    [LEASE_ANSWER_RENEWED] = "renewed",
    [LEASE_ANSWER_FAILED] = "failed",
    [LEASE_ANSWER_FAILED + 1] = NULL,
};

static const char *const transition_labels[] = {
    [LEADER_TRANSITION_STARTED] = "leader",
    [LEADER_TRANSITION_STOPPED] = "standby",
    [LEADER_TRANSITION_STOPPED + 1] = NULL,
};

static const char *const watch_labels[] = {
    [WATCHED_RUNS] = "sandboxruns", [WATCHED_AGENTS] = "sandboxnodes",
    [WATCHED_NODES] = "nodes",      [WATCHED_LEASES] = "leases",
    [WATCHED_COUNT] = NULL,
};

static const char *const outcome_labels[] = {
    [WRITE_OUTCOME_OK] = "ok",
    [WRITE_OUTCOME_CONFLICT] = "conflict",
    [WRITE_OUTCOME_GONE] = "gone",
    [WRITE_OUTCOME_REFUSED] = "refused",
    [WRITE_OUTCOME_THROTTLED] = "throttled",
    [WRITE_OUTCOME_SERVER] = "server_error",
    [WRITE_OUTCOME_UNREACHABLE] = "unreachable",
    [WRITE_OUTCOME_COUNT] = NULL,
};

/* The reasons that a controller gives, and their labels. */
static const enum run_reason failed_reasons[] = {
    RUN_REASON_CANCELLED,     RUN_REASON_QUEUE_TIMEOUT,   RUN_REASON_QUEUE_FULL,
    RUN_REASON_INVALID_SPEC,  RUN_REASON_AGENT_RESTARTED, RUN_REASON_NODE_LOST,
    RUN_REASON_INTERNAL_ERROR};
static const char *const failed_labels[] = {
    "Cancelled",      "QueueTimeout", "QueueFull",     "InvalidSpec",
    "AgentRestarted", "NodeLost",     "InternalError", NULL};

static const char *const event_labels[] = {
    [EVENT_CREATED] = "created",
    [EVENT_REPEATED] = "repeated",
    [EVENT_LEFT_OUT] = "left_out",
    [EVENT_OUTCOME_COUNT] = NULL,
};

enum write_outcome write_outcome(int http_status)
{
    static const struct {
        int first, last;
        enum write_outcome outcome;
    } ranges[] = {
        {200, 299, WRITE_OUTCOME_OK},       {404, 404, WRITE_OUTCOME_GONE},
        {409, 409, WRITE_OUTCOME_CONFLICT}, {429, 429, WRITE_OUTCOME_THROTTLED},
        {300, 499, WRITE_OUTCOME_REFUSED},  {500, 599, WRITE_OUTCOME_SERVER},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
        if (http_status >= ranges[i].first && http_status <= ranges[i].last)
            return ranges[i].outcome;
    }
    return WRITE_OUTCOME_UNREACHABLE;
}

const char *watched_name(enum watched watched)
{
    return watch_labels[watched];
}

static void init_leader_metrics(struct controller_metrics *metrics)
{
    metrics->leading = (struct metric){
        .name = "sandboxrun_controller_leader",
        .help = "1 if this controller is the one that writes, 0 if it stands by",
        .type = METRIC_GAUGE,
    };
    metrics->leader_transitions = (struct metric){
        .name = "sandboxrun_controller_leader_transitions_total",
        .help = "How often this controller became the leader or ceased to be",
        .type = METRIC_COUNTER,
        .label = "to",
        .label_values = transition_labels,
    };
    metrics->leader_failures = (struct metric){
        .name = "sandboxrun_controller_leader_failures_total",
        .help = "Attempts to read or write the leader's lease that failed",
        .type = METRIC_COUNTER,
    };
}

#define SECONDS(metric_name, text)                                                                 \
    {                                                                                              \
        .name = "sandboxrun_controller_" metric_name "_duration_seconds", .help = text,            \
        .type = METRIC_HISTOGRAM, .buckets = second_buckets,                                       \
        .bucket_count = ARRAY_SIZE(second_buckets)                                                 \
    }

static void init_kept(struct controller_metrics *metrics)
{
    metrics->finished = (struct metric){.name = "sandboxrun_controller_finished_runs",
                                        .help = "Finished runs that are kept",
                                        .type = METRIC_GAUGE};
    metrics->finished_bytes =
        (struct metric){.name = "sandboxrun_controller_finished_bytes",
                        .help = "Encoded size of the finished runs that are kept",
                        .type = METRIC_GAUGE};
    metrics->events = (struct metric){.name = "sandboxrun_controller_events_total",
                                      .help = "Events about runs, by what became of them",
                                      .type = METRIC_COUNTER,
                                      .label = "outcome",
                                      .label_values = event_labels};
}

void controller_metrics_init(struct controller_metrics *metrics)
{
    *metrics = (struct controller_metrics){
        .queue_seconds =
            SECONDS("queue", "Time a run waited for a node, until its assignment was accepted"),
        .assign_seconds =
            SECONDS("assign", "Time of the write that assigns a run, retries included"),
        .total_seconds = SECONDS(
            "total", "Time from the first sight of a run until its end was seen, whatever its end"),
        .queue_length = {.name = "sandboxrun_controller_queue_length",
                         .help = "Runs that wait for a node",
                         .type = METRIC_GAUGE},
        .runs = {.name = "sandboxrun_controller_runs",
                 .help = "SandboxRun objects by phase",
                 .type = METRIC_GAUGE,
                 .label = "phase",
                 .label_values = phase_labels},
        .nodes = {.name = "sandboxrun_controller_nodes",
                  .help = "Nodes with an agent, by whether they take new runs",
                  .type = METRIC_GAUGE,
                  .label = "state",
                  .label_values = state_labels},
        .failed = {.name = "sandboxrun_controller_runs_failed_total",
                   .help = "Runs that the controller ended, by reason",
                   .type = METRIC_COUNTER,
                   .label = "reason",
                   .label_values = failed_labels},
        .deleted = {.name = "sandboxrun_controller_runs_deleted_total",
                    .help = "Finished runs deleted, after their TTL or because too many were kept",
                    .type = METRIC_COUNTER,
                    .label = "cause",
                    .label_values = delete_cause_names},
        .writes = {.name = "sandboxrun_controller_writes_total",
                   .help = "Writes about runs to the API server, by outcome",
                   .type = METRIC_COUNTER,
                   .label = "outcome",
                   .label_values = outcome_labels},
        .watch_errors = {.name = "sandboxrun_controller_watch_errors_total",
                         .help = "Lists and watches that failed, by collection",
                         .type = METRIC_COUNTER,
                         .label = "collection",
                         .label_values = watch_labels},
        .lease_asks = {.name = "sandboxrun_controller_lease_reads_total",
                       .help = "Reads of a silent node's lease before its runs are given up, by "
                               "what they told",
                       .type = METRIC_COUNTER,
                       .label = "outcome",
                       .label_values = answer_labels},
        .lease_clock = {.name = "sandboxrun_controller_lease_clock_running",
                        .help = "1 while the silence of nodes is counted, 0 while a watch is not "
                                "healthy or was not until lately",
                        .type = METRIC_GAUGE},
    };
    init_kept(metrics);
    init_leader_metrics(metrics);
}

void controller_metrics_count_failed(struct controller_metrics *metrics, enum run_reason reason)
{
    for (unsigned int i = 0; i < ARRAY_SIZE(failed_reasons); i++) {
        if (failed_reasons[i] == reason)
            metric_add(&metrics->failed, i, 1);
    }
}

static enum node_state node_state(const struct node *node)
{
    if (!node->agent->ready)
        return NODE_STATE_NOT_READY;
    if (!node->heartbeat.fresh)
        return NODE_STATE_SILENT;
    return node->cordoned || node->tainted ? NODE_STATE_UNSCHEDULABLE : NODE_STATE_READY;
}

static void fill_gauges(struct controller_metrics *metrics, const struct runs *runs,
                        const struct nodes *nodes)
{
    unsigned int states[ARRAY_SIZE(state_labels)] = {0};
    metric_set(&metrics->queue_length, 0, runs->waiting);
    metric_set(&metrics->finished, 0, (double)runs->finished.oldest.count);
    metric_set(&metrics->finished_bytes, 0, (double)runs->finished.bytes);
    for (unsigned int i = 0; i < RUN_PHASE_COUNT; i++)
        metric_set(&metrics->runs, i, runs->counts[i]);
    for (const struct node *node = nodes->by_name; node; node = node->hh.next) {
        if (node->agent)
            states[node_state(node)]++;
    }
    for (unsigned int i = 0; state_labels[i]; i++)
        metric_set(&metrics->nodes, i, states[i]);
}

int controller_metrics_print(struct controller_metrics *metrics, const struct runs *runs,
                             const struct nodes *nodes, struct buf *body)
{
    struct metric *const all[] = {
        &metrics->queue_seconds,
        &metrics->assign_seconds,
        &metrics->total_seconds,
        &metrics->queue_length,
        &metrics->runs,
        &metrics->nodes,
        &metrics->failed,
        &metrics->finished,
        &metrics->finished_bytes,
        &metrics->deleted,
        &metrics->events,
        &metrics->writes,
        &metrics->watch_errors,
        &metrics->lease_asks,
        &metrics->lease_clock,
        &metrics->leading,
        &metrics->leader_transitions,
        &metrics->leader_failures,
    };
    fill_gauges(metrics, runs, nodes);
    return metrics_print(all, ARRAY_SIZE(all), body);
}
