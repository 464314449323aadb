/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/assignment.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/kube/limits.h"
#include "common/log.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/denied.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* An instant of CLOCK_BOOTTIME that nobody can keep. */
#define ALREADY_OVER_NS 1

static void allocate(struct assignment *assignment, const struct run_spec *spec)
{
    struct node_resources *allocated = &assignment->owner->allocated;

    assignment->cpu_milli = spec->cpu_milli;
    assignment->memory_bytes = spec->memory_bytes;
    allocated->runs++;
    allocated->cpu_milli += spec->cpu_milli;
    allocated->memory_bytes += spec->memory_bytes;
    assignment->owner->changed(assignment->owner->arg);
}

static void release(struct assignment *assignment)
{
    struct node_resources *allocated = &assignment->owner->allocated;

    allocated->runs--;
    allocated->cpu_milli -= assignment->cpu_milli;
    allocated->memory_bytes -= assignment->memory_bytes;
}

void assignment_unhold(struct assignment *assignment)
{
    if (assignment->state != ASSIGNMENT_HELD)
        return;
    DL_DELETE(assignment->owner->held, assignment);
    assignment->owner->held_count--;
    sandboxrun_done(&assignment->object);
    assignment->object = (struct sandboxrun){0};
    assignment->state = ASSIGNMENT_UNSEEN;
}

void assignment_drop(struct assignment *assignment)
{
    struct assignments *owner = assignment->owner;

    /* With one that was only held nothing has been done. */
    if (assignment->state != ASSIGNMENT_HELD)
        seen_ids_add(owner->seen, assignment->target.sandbox_id);
    assignment_unhold(assignment);
    retained_abandon(TAKE_PTR(assignment->retained));
    if (assignment->run) {
        run_free(assignment->run);
        release(assignment);
    }
    HASH_DEL(owner->table, assignment);
    free(assignment);
}

void assignment_hold(struct assignment *assignment, struct sandboxrun *object)
{
    struct assignments *owner = assignment->owner;

    assignment->object = *object;
    *object = (struct sandboxrun){0};
    assignment->state = ASSIGNMENT_HELD;
    DL_APPEND(owner->held, assignment);
    owner->held_count++;
    log_event(LOG_LEVEL_INFO, "a run can't be started yet, holding it",
              LOG_TARGET(&assignment->target), LOG_NUMBER("active", owner->allocated.runs),
              LOG_NUMBER("held", owner->held_count),
              LOG_NUMBER("leaseFresh", node_lease_is_fresh(owner->options.lease)));
}

static void log_unwritten(const struct assignment *assignment, const struct error *err)
{
    log_event(LOG_LEVEL_ERROR, "can't write the status of a run", LOG_TARGET(&assignment->target),
              LOG_TEXT("error", err->text));
}

void assignment_give_back(struct assignment *assignment)
{
    struct error err = {0};

    assignment_unhold(assignment);
    retained_abandon(TAKE_PTR(assignment->retained));
    if (assignment->run) {
        run_free(TAKE_PTR(assignment->run));
        release(assignment);
    }
    assignment->state = ASSIGNMENT_WRITING;
    if (status_writer_give_back(assignment->owner->options.writer, &assignment->target, &err) < 0)
        log_unwritten(assignment, &err);
}

static void write_result(struct assignment *assignment, struct run_status *status)
{
    struct error err = {0};

    assignment->state = ASSIGNMENT_WRITING;
    agent_metrics_finished(assignment->owner->options.metrics, status->reason);
    if (status_writer_result(assignment->owner->options.writer, &assignment->target, status, &err) <
        0)
        log_unwritten(assignment, &err);
}

void assignment_fail(struct assignment *assignment, const struct run_status *status,
                     enum run_reason reason, const char *message)
{
    struct run_status failed = *status;

    failed.stdout_text = failed.stderr_text = NULL;
    failed.stdout_len = failed.stderr_len = 0;
    failed.phase = RUN_PHASE_FAILED;
    failed.reason = reason;
    (void)snprintf(failed.message, sizeof(failed.message), "%s", message);
    failed.has_exit_code = true;
    failed.exit_code = -1;
    failed.completion_us = clock_realtime_us();
    log_event(LOG_LEVEL_INFO, "failing a run that was not started here",
              LOG_TARGET(&assignment->target), LOG_TEXT("reason", run_reason_name(reason)),
              LOG_TEXT("error", message));
    write_result(assignment, &failed);
}

static void make_record(const struct assignment *assignment, struct spool_record *ret_record)
{
    const struct status_target *target = &assignment->target;

    *ret_record = (struct spool_record){.start_us = clock_realtime_us()};
    memcpy(ret_record->sandbox_id, target->sandbox_id, sizeof(ret_record->sandbox_id));
    memcpy(ret_record->name_space, target->name_space, sizeof(ret_record->name_space));
    memcpy(ret_record->name, target->name, sizeof(ret_record->name));
    memcpy(ret_record->uid, target->uid, sizeof(ret_record->uid));
}

/* Only what a profile promises beyond head and tail. */
static void begin_retaining(struct assignment *assignment)
{
    const struct status_target *target = &assignment->target;
    const struct retained_owner owner = {
        .sandbox_id = target->sandbox_id,
        .name_space = target->name_space,
        .name = target->name,
        .uid = target->uid,
    };
    struct retained *retained = assignment->owner->options.retained;
    uint64_t max_bytes = profile_limits(assignment->profile)->response_max_bytes;

    if (retained && max_bytes > 0)
        assignment->retained = retained_begin(retained, &owner, max_bytes);
}

static int on_before_start(struct run *run, struct error *err, void *arg)
{
    struct assignment *assignment = arg;
    struct agent_metrics *metrics = assignment->owner->options.metrics;
    const struct node_lease *lease = assignment->owner->options.lease;
    struct spool_record record;
    int64_t began_us = clock_realtime_us();

    /* Time has passed while the jail was made, and passes while the mark is: run.c looks again. */
    if (!node_lease_is_fresh(lease)) {
        run_set_not_after(run, ALREADY_OVER_NS);
        return 0;
    }
    run_set_not_after(run, node_lease_not_after_ns(lease));
    make_record(assignment, &record);
    int r = spool_mark(assignment->owner->options.spool, &record, err);
    /* Whoever has a mark may have been started: no second try. */
    if (r == -EEXIST || r == -EINVAL)
        return r;
    if (r < 0) {
        log_event(LOG_LEVEL_WARN, "giving a run back that can't be marked as started",
                  LOG_TARGET(&assignment->target), LOG_TEXT("error", err->text));
        run_set_not_after(run, ALREADY_OVER_NS);
        /* That the node can't is told before the run is given back. */
        assignment->owner->changed(assignment->owner->arg);
        return 0;
    }
    assignment->marked = true;
    begin_retaining(assignment);
    int64_t now_us = clock_realtime_us();
    agent_metrics_stage(metrics, AGENT_STAGE_MARK, now_us - began_us);
    agent_metrics_stage(metrics, run_is_warm(run) ? AGENT_STAGE_START_WARM : AGENT_STAGE_START_COLD,
                        now_us - assignment->seen_us);
    return 0;
}

static void on_running(struct run *run, void *arg)
{
    struct assignment *assignment = arg;
    struct error err = {0};

    if (status_writer_running(assignment->owner->options.writer, &assignment->target,
                              run_status_now(run), &err) < 0)
        log_unwritten(assignment, &err);
}

static void on_output(struct run *run, enum run_stream stream, const char *bytes, size_t len,
                      void *arg)
{
    struct assignment *assignment = arg;

    (void)run;
    if (assignment->retained)
        retained_append(assignment->retained, stream, bytes, len);
}

/* A stream of the run's buffer as one of the writer's. */
static char *copy_stream(const char *text, size_t len)
{
    char *copy = text ? malloc(len + 1) : NULL;

    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

static void copy_status(const struct run_status *from, struct run_status *to)
{
    *to = *from;
    to->stdout_text = copy_stream(from->stdout_text, from->stdout_len);
    to->stderr_text = copy_stream(from->stderr_text, from->stderr_len);
    /* A run always ends: without memory for its output it ends without it, and says so. */
    if (from->stdout_text && !to->stdout_text) {
        to->stdout_len = 0;
        to->stdout_truncated = true;
    }
    if (from->stderr_text && !to->stderr_text) {
        to->stderr_len = 0;
        to->stderr_truncated = true;
    }
}

static void store(struct assignment *assignment, const struct run_status *status)
{
    struct spool_record record;
    struct error err = {0};

    make_record(assignment, &record);
    record.start_us = status->start_us;
    record.has_result = true;
    /* Borrowed: the record isn't done with. */
    record.status = *status;
    if (spool_store(assignment->owner->options.spool, &record, &err) < 0)
        log_event(LOG_LEVEL_ERROR, "can't keep a result on disk, it would not survive this agent",
                  LOG_TARGET(&assignment->target), LOG_TEXT("error", err.text));
}

static void log_finished(const struct assignment *assignment, const struct run_status *status)
{
    log_event(LOG_LEVEL_INFO, "run finished", LOG_TARGET(&assignment->target),
              LOG_TEXT("reason", run_reason_name(status->reason)),
              LOG_NUMBER("exitCode", status->exit_code),
              LOG_NUMBER("wallMs", (long long)status->usage.wall_ms));
}

/* The result tells it too; an event is seen by who looks at the namespace. */
static void tell_of_denials(const struct assignment *assignment, const struct run_status *status)
{
    char note[MAX_EVENT_NOTE + 1];
    struct error err = {0};
    const struct event event = {.api_version = SANDBOXRUN_GROUP_VERSION,
                                .kind = SANDBOXRUN_KIND,
                                .name_space = assignment->target.name_space,
                                .name = assignment->target.name,
                                .uid = assignment->target.uid,
                                .type = EVENT_WARNING,
                                .reason = "EgressDenied",
                                .action = "Connect",
                                .note = note};

    if (denied_note(status, note, sizeof(note)) &&
        event_recorder_tell(assignment->owner->options.events, &event, &err) < 0)
        log_event(LOG_LEVEL_WARN, "an event is left out", LOG_TARGET(&assignment->target),
                  LOG_TEXT("error", err.text));
}

static void on_finished(struct run *run, const struct run_status *status, void *arg)
{
    struct assignment *assignment = arg;
    struct assignments *owner = assignment->owner;
    struct run_status result;

    if (run_was_withdrawn(run)) {
        /* The mark goes first: it says that the code may have started. */
        if (assignment->marked)
            spool_remove(owner->options.spool, assignment->target.sandbox_id);
        assignment->marked = false;
        assignment_give_back(assignment);
    } else if (!assignment->marked && status->reason == RUN_REASON_JAILER_LOST) {
        /* Nothing of it has run: another node, or this one again, may. */
        assignment_give_back(assignment);
    } else {
        log_finished(assignment, status);
        if (status->start_us > 0)
            agent_metrics_stage(owner->options.metrics, AGENT_STAGE_RUN,
                                status->completion_us - status->start_us);
        agent_metrics_denied(owner->options.metrics, status);
        tell_of_denials(assignment, status);
        copy_status(status, &result);
        if (assignment->marked)
            store(assignment, &result);
        /* Before the result is written: whoever sees that can have the rest. */
        retained_end(TAKE_PTR(assignment->retained));
        assignment->run = NULL;
        release(assignment);
        run_free(run);
        write_result(assignment, &result);
        run_status_done(&result);
    }
    assignments_start_held(owner);
    owner->changed(owner->arg);
}

void assignment_start(struct assignment *assignment, const struct sandboxrun *object)
{
    static const struct run_callbacks callbacks = {
        .before_start = on_before_start,
        .running = on_running,
        .output = on_output,
        .finished = on_finished,
    };
    struct assignments *owner = assignment->owner;
    struct error err = {0};

    assignment->profile = object->spec.profile;
    agent_metrics_stage(owner->options.metrics, AGENT_STAGE_DELIVER,
                        assignment->seen_us - assignment->scheduled_us);
    int r = run_new(kube_client_loop(owner->options.client), owner->options.jailer, object,
                    &callbacks, assignment, &assignment->run, &err);
    if (r == 0) {
        assignment->state = ASSIGNMENT_ACTIVE;
        allocate(assignment, &object->spec);
    } else if (!jailer_client_hello(owner->options.jailer)) {
        assignment_give_back(assignment);
    } else {
        assignment_fail(assignment, &object->status, RUN_REASON_INTERNAL_ERROR, err.text);
    }
}

void assignment_start_held(struct assignment *assignment)
{
    struct sandboxrun object = assignment->object;

    /* Its place in the line goes first: starting may end at once. */
    assignment->object = (struct sandboxrun){0};
    assignment_unhold(assignment);
    assignment->seen_us = clock_realtime_us();
    assignment_start(assignment, &object);
    sandboxrun_done(&object);
}
