/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/node_loss.h"
#include "controller/planner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#define US_PER_SECOND 1000000

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct action *planner_add(struct planner *p, enum action_kind kind, struct run_digest *run,
                           struct node *node)
{
    struct action *action = &p->plan->actions[p->plan->count++];
    *action = (struct action){.kind = kind, .run = run, .node = node};
    if (kind == ACTION_ASSIGN)
        p->assign_room--;
    else
        p->write_room--;
    runs_begin_write(p->in->runs, run, node);
    if (kind == ACTION_FAIL || kind == ACTION_DELETE)
        runs_set_aside(p->in->runs, run);
    return action;
}

static void fail_run(struct planner *p, struct run_digest *run, enum run_reason reason,
                     const char *message)
{
    struct action *action = planner_add(p, ACTION_FAIL, run, NULL);
    action->reason = reason;
    (void)snprintf(action->message, sizeof(action->message), "%s", message);
}

static void delete_run(struct planner *p, struct run_digest *run, enum delete_cause cause)
{
    planner_add(p, ACTION_DELETE, run, NULL)->cause = cause;
}

static bool queues_too_many(const struct planner *p, const struct tenant *tenant)
{
    unsigned int most = p->in->limits.queued;
    return most > 0 && tenant->queued > most;
}

static int64_t queue_deadline(const struct run_digest *run)
{
    return run->queued_us + (int64_t)run->facts.queue_timeout_seconds * US_PER_SECOND;
}

static void fail_queue_timeout(struct planner *p, struct run_digest *run)
{
    enum wait_reason reason;
    char message[MAX_ACTION_MESSAGE], why[MAX_ACTION_MESSAGE - 100] = "out of memory";
    /* Without memory for a place in line it has none. */
    if (run->lane)
        (void)planner_explain(p, run, &reason, why, sizeof(why));
    (void)snprintf(message, sizeof(message),
                   "not placed within %" PRIu32 " s (queueTimeoutSeconds): %s",
                   run->facts.queue_timeout_seconds, why);
    fail_run(p, run, RUN_REASON_QUEUE_TIMEOUT, message);
}

/* Returns when to look again. */
static int64_t plan_pending(struct planner *p, struct run_digest *run)
{
    const struct run_facts *facts = &run->facts;
    if (facts->deleting) {
        fail_run(p, run, RUN_REASON_CANCELLED, "deleted before it was assigned to a node");
        return INT64_MAX;
    }
    if (facts->invalid) {
        fail_run(p, run, RUN_REASON_INVALID_SPEC, facts->invalid);
        return INT64_MAX;
    }
    int64_t deadline = queue_deadline(run);
    if (p->in->now_us >= deadline) {
        fail_queue_timeout(p, run);
        return INT64_MAX;
    }
    runs_retry(p->in->runs, run);
    if (queues_too_many(p, run->tenant))
        tenants_mark_crowded(&p->in->runs->tenants, run->tenant);
    int64_t explain_us = run->queued_us + WAITING_AFTER_US;
    if (p->in->now_us < explain_us)
        return smaller(explain_us, deadline);
    runs_mark_unexplained(p->in->runs, run);
    return smaller(p->in->now_us + WAITING_AGAIN_US, deadline);
}

static bool agent_is_gone(const struct run_digest *run)
{
    const struct node *node = run->node;
    return node && (!node->agent || !run->facts.agent_instance ||
                    strcmp(node->agent->instance, run->facts.agent_instance) != 0);
}

static void describe_loss(const struct run_digest *run, enum loss_verdict verdict,
                          int64_t steady_us, char *text, size_t size)
{
    const char *node = run->facts.node_name;
    int64_t silent_s = (steady_us - run->node->heartbeat.seen_us) / US_PER_SECOND;
    int64_t orphaned_s = (steady_us - run->orphaned_us) / US_PER_SECOND;
    if (verdict == LOSS_NODE_LOST)
        (void)snprintf(text, size,
                       "the agent on node %s has not renewed its lease for %" PRId64
                       " s; the run is not started again",
                       node, silent_s);
    else if (verdict == LOSS_NO_AGENT)
        (void)snprintf(text, size,
                       "node %s has had no agent for %" PRId64 " s; the run is not started again",
                       node, orphaned_s);
    else if (verdict == LOSS_AGENT_RESTARTED)
        (void)snprintf(text, size,
                       "the agent on node %s was restarted and has not reported this run for "
                       "%" PRId64 " s; it is not started again",
                       node, orphaned_s);
    else
        (void)snprintf(text, size,
                       "node %s is alive and has not finished the run %u s past its "
                       "timeoutSeconds of %" PRIu32,
                       node, OVERDUE_MS / 1000, run->facts.timeout_seconds);
}

static void fail_lost(struct planner *p, struct run_digest *run, enum loss_verdict verdict)
{
    static const enum run_reason reasons[] = {
        [LOSS_NODE_LOST] = RUN_REASON_NODE_LOST,
        [LOSS_NO_AGENT] = RUN_REASON_NODE_LOST,
        [LOSS_AGENT_RESTARTED] = RUN_REASON_AGENT_RESTARTED,
        [LOSS_OVERDUE] = RUN_REASON_INTERNAL_ERROR,
    };
    char message[MAX_ACTION_MESSAGE];
    describe_loss(run, verdict, p->in->steady_us, message, sizeof(message));
    fail_run(p, run, reasons[verdict], message);
}

/* The lease clock may stand still: then the next look finds that it was too early. */
static int64_t steady_to_now(const struct planner *p, int64_t steady_us)
{
    int64_t wait_us = steady_us - p->in->steady_us;
    return steady_us == INT64_MAX
               ? INT64_MAX
               : p->in->now_us + (wait_us > MIN_STEADY_US ? wait_us : MIN_STEADY_US);
}

static int64_t plan_assigned(struct planner *p, struct run_digest *run)
{
    struct node *node = run->node;
    int64_t again_us;
    if (!node)
        return INT64_MAX;
    if (run->since_us == 0)
        run->since_us = p->in->steady_us;
    if (node->heartbeat.seen_us == 0)
        node->heartbeat.seen_us = p->in->steady_us;
    if (!agent_is_gone(run))
        run->orphaned_us = 0;
    else if (run->orphaned_us == 0)
        run->orphaned_us = p->in->steady_us;
    const struct loss_facts facts = {
        .now_us = p->in->steady_us,
        .seen_us = larger(node->heartbeat.seen_us, p->in->led_since_us),
        .asked_us = node->heartbeat.asked_us,
        .since_us = larger(run->since_us, node->heartbeat.resumed_us),
        .orphaned_us = run->orphaned_us,
        .has_agent = node->agent != NULL,
        .timeout_seconds = run->facts.timeout_seconds,
    };
    enum loss_verdict verdict = loss_decide(&facts, &p->in->times, &again_us);
    if (verdict == LOSS_ASK)
        node->heartbeat.ask = p->in->nodes->asks = true;
    else if (verdict != LOSS_NONE)
        fail_lost(p, run, verdict);
    return steady_to_now(p, again_us);
}

static int64_t plan_finished(struct planner *p, struct run_digest *run)
{
    const struct run_facts *facts = &run->facts;
    if (facts->deleting)
        return INT64_MAX;
    int64_t ttl = facts->ttl_seconds >= 0 ? facts->ttl_seconds : p->in->ttl_seconds;
    int64_t deadline = run->finished_us + ttl * US_PER_SECOND;
    if (p->in->now_us >= deadline) {
        delete_run(p, run, DELETE_TTL);
        return INT64_MAX;
    }
    /* Clients, kubectl wait among them, take no condition for true that was decided on an earlier
     * generation than the object has. */
    if (facts->observed_generation > 0 && facts->observed_generation < facts->generation) {
        (void)planner_add(p, ACTION_OBSERVE, run, NULL);
        return INT64_MAX;
    }
    /* Out of memory it isn't counted before it is looked at again. */
    (void)finished_put(&p->in->runs->finished, run);
    if (finished_excess_of(run->tenant, &p->in->finished))
        tenants_mark_crowded(&p->in->runs->tenants, run->tenant);
    return deadline;
}

static void plan_run(struct planner *p, struct run_digest *run)
{
    static int64_t (*const by_phase[RUN_PHASE_COUNT])(struct planner * p,
                                                      struct run_digest * run) = {
        [RUN_PHASE_PENDING] = plan_pending,  [RUN_PHASE_SCHEDULED] = plan_assigned,
        [RUN_PHASE_RUNNING] = plan_assigned, [RUN_PHASE_SUCCEEDED] = plan_finished,
        [RUN_PHASE_FAILED] = plan_finished,
    };
    if (run->writing || run->settled || run->facts.foreign)
        return;
    int64_t at_us = run->not_before_us;
    if (p->in->now_us >= at_us)
        at_us = by_phase[run->facts.phase](p, run);
    runs_wake_at(p->in->runs, run, at_us);
}

/* More wait than may: the youngest are refused, but not while some of them may have a place. */
static void shed(struct planner *p, struct tenant *tenant)
{
    char message[MAX_ACTION_MESSAGE];
    while (queues_too_many(p, tenant) && !tenant->fresh && p->write_room > 0) {
        struct run_digest *run = tenant_youngest(tenant);
        if (!run)
            return;
        limits_explain_queue(&p->in->limits, tenant->queued - 1, message, sizeof(message));
        fail_run(p, run, RUN_REASON_QUEUE_FULL, message);
        /* Nobody has a place because of that. */
        tenant->fresh = false;
    }
}

static bool is_crowded(const struct planner *p, const struct tenant *tenant)
{
    return queues_too_many(p, tenant) || finished_excess_of(tenant, &p->in->finished);
}

/* Whatever exceeds its bounds: of a namespace, then of all. */
static void plan_bounds(struct planner *p)
{
    struct tenants *tenants = &p->in->runs->tenants;
    struct tenant *tenant, *next;
    struct run_digest *run;
    enum delete_cause cause;
    DL_FOREACH_SAFE2(tenants->crowded, tenant, next, crowded_next)
    {
        while (p->write_room > 0 && (run = finished_excess_of(tenant, &p->in->finished)))
            delete_run(p, run, DELETE_MAX_NAMESPACE_RUNS);
        shed(p, tenant);
        if (!is_crowded(p, tenant))
            tenants_unmark_crowded(tenants, tenant);
    }
    while (p->write_room > 0 &&
           (run = finished_excess(&p->in->runs->finished, &p->in->finished, &cause)))
        delete_run(p, run, cause);
}

/* Says why a run waits, and again when the reason is another. */
static void plan_explanations(struct planner *p)
{
    struct run_digest *run;
    char text[MAX_ACTION_MESSAGE];
    while (p->write_room > 0 && (run = runs_next_unexplained(p->in->runs))) {
        enum wait_reason reason;
        if (!run->lane || run->writing || run->settled ||
            !planner_explain(p, run, &reason, text, sizeof(text)) ||
            strcmp(run->facts.waiting_reason, wait_reason_name(reason)) == 0)
            continue;
        struct action *action = planner_add(p, ACTION_EXPLAIN, run, NULL);
        action->waits_for = reason;
        memcpy(action->message, text, sizeof(text));
    }
}

void plan_make(const struct plan_input *input, struct plan *ret_plan)
{
    struct planner p = {
        .in = input,
        .plan = ret_plan,
        .assign_room = input->assign_room,
        .write_room = input->write_room,
        .scans_left = MAX_PLAN_SCANS,
    };
    ret_plan->count = 0;
    nodes_age(input->nodes, input->steady_us, (int64_t)input->times.duration_ms * 1000);
    while (p.write_room > 0) {
        struct run_digest *run = runs_next(input->runs, input->now_us);
        if (!run)
            break;
        plan_run(&p, run);
    }
    planner_place(&p);
    plan_bounds(&p);
    plan_explanations(&p);
    const struct wakeup *first = wakeups_first(&input->runs->wakeups);
    ret_plan->wake_us = first ? first->at_us : INT64_MAX;
    if (p.scans_left == 0)
        ret_plan->wake_us = input->now_us;
}
