/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/write.h"

#include "common/clock.h"
#include "common/log.h"
#include "controller/run_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void write_free(struct write *write)
{
    free(write->name_space);
    free(write->name);
    free(write->uid);
    free(write->version);
    free(write->node_name);
    free(write);
}

struct write *write_new(struct controller *controller, const struct action *action)
{
    const struct run_facts *facts = &action->run->facts;
    const char *node_name = action->node ? action->node->name : facts->node_name;
    struct write *write = calloc(1, sizeof(*write));
    if (!write)
        return NULL;
    write->controller = controller;
    write->kind = action->kind;
    write->reason = action->reason;
    write->waits_for = action->waits_for;
    write->cause = action->cause;
    memcpy(write->message, action->message, sizeof(write->message));
    write->queued_us = action->run->queued_us;
    if (facts->sandbox_id)
        (void)snprintf(write->sandbox_id, sizeof(write->sandbox_id), "%s", facts->sandbox_id);
    write->name_space = strdup(facts->name_space);
    write->name = strdup(facts->name);
    write->uid = strdup(facts->uid);
    write->version = strdup(facts->resource_version);
    write->node_name = node_name ? strdup(node_name) : NULL;
    if (!write->name_space || !write->name || !write->uid || !write->version ||
        (node_name && !write->node_name)) {
        write_free(write);
        return NULL;
    }
    return write;
}

static void log_outcome(const struct write *write, enum write_outcome outcome,
                        const struct kube_response *response)
{
    static const char *const done[] = {
        [ACTION_ASSIGN] = "assigned the run",
        [ACTION_FAIL] = "ended the run",
        [ACTION_EXPLAIN] = "the run waits",
        [ACTION_OBSERVE] = "took note of a finished run's new TTL",
        [ACTION_DELETE] = "deleted the finished run",
    };
    static const char *const failed[] = {
        [ACTION_ASSIGN] = "can't assign the run",
        [ACTION_FAIL] = "can't end the run",
        [ACTION_EXPLAIN] = "can't write why the run waits",
        [ACTION_OBSERVE] = "can't take note of a finished run's new TTL",
        [ACTION_DELETE] = "can't delete the finished run",
    };
    bool ok = outcome == WRITE_OUTCOME_OK;
    bool overtaken = outcome == WRITE_OUTCOME_CONFLICT || outcome == WRITE_OUTCOME_GONE;
    enum log_level level = write->kind == ACTION_ASSIGN || write->kind == ACTION_FAIL
                               ? LOG_LEVEL_INFO
                               : LOG_LEVEL_DEBUG;
    if (!ok)
        level = overtaken ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN;
    log_event(
        level, ok ? done[write->kind] : failed[write->kind],
        LOG_TEXT("namespace", write->name_space), LOG_TEXT("run", write->name),
        LOG_TEXT("uid", write->uid), LOG_TEXT("node", write->node_name),
        LOG_TEXT("sandbox", write->sandbox_id[0] ? write->sandbox_id : NULL),
        LOG_TEXT("reason", write->kind == ACTION_FAIL ? run_reason_name(write->reason) : NULL),
        LOG_TEXT("cause", write->kind == ACTION_DELETE ? delete_cause_names[write->cause] : NULL),
        LOG_TEXT("error", ok ? NULL : response->error.text));
}

static void count_write(const struct write *write, enum write_outcome outcome,
                        struct controller_metrics *metrics)
{
    metric_add(&metrics->writes, outcome, 1);
    if (outcome != WRITE_OUTCOME_OK)
        return;
    if (write->kind == ACTION_ASSIGN) {
        metric_observe(&metrics->assign_seconds, 0,
                       (double)(clock_monotonic_ns() - write->started_ns) / 1e9);
        metric_observe(&metrics->queue_seconds, 0, (double)write->waited_us / 1e6);
    } else if (write->kind == ACTION_FAIL) {
        controller_metrics_count_failed(metrics, write->reason);
    } else if (write->kind == ACTION_DELETE) {
        metric_add(&metrics->deleted, write->cause, 1);
    }
}

static void tell(const struct write *write, struct event_recorder *events)
{
    struct error err = {0};
    struct event event = {.api_version = SANDBOXRUN_GROUP_VERSION,
                          .kind = SANDBOXRUN_KIND,
                          .name_space = write->name_space,
                          .name = write->name,
                          .uid = write->uid,
                          .note = write->message};
    if (run_event_of(write->kind, write->reason, write->waits_for, &event) &&
        event_recorder_tell(events, &event, &err) < 0)
        log_event(LOG_LEVEL_DEBUG, "an event is left out", LOG_TEXT("namespace", write->name_space),
                  LOG_TEXT("run", write->name), LOG_TEXT("uid", write->uid),
                  LOG_TEXT("error", err.text));
}

void write_report(const struct write *write, enum write_outcome outcome,
                  const struct kube_response *response, struct controller_metrics *metrics,
                  struct event_recorder *events)
{
    log_outcome(write, outcome, response);
    count_write(write, outcome, metrics);
    if (outcome == WRITE_OUTCOME_OK)
        tell(write, events);
}
