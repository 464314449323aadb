/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/plan.h"

#include "controller/node_loss.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#define US_PER_SECOND 1000000

struct planner {
    const struct plan_input *in;
    struct plan *plan;
    unsigned int assign_room;
    unsigned int write_room;
    struct {
        const struct run_digest *run;
        enum wait_reason reason;
    } blocked[MAX_BLOCKED_REQUESTS];
    unsigned int blocked_count;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct action *add_action(struct planner *p, enum action_kind kind, struct run_digest *run,
                                 struct node *node)
{
    struct action *action = &p->plan->actions[p->plan->count++];
    *action = (struct action){.kind = kind, .run = run, .node = node};
    if (kind == ACTION_ASSIGN)
        p->assign_room--;
    else
        p->write_room--;
    runs_begin_write(p->in->runs, run, node);
    return action;
}

static void fail(struct planner *p, struct run_digest *run, enum run_reason reason,
                 const char *message)
{
    struct action *action = add_action(p, ACTION_FAIL, run, NULL);
    action->reason = reason;
    (void)snprintf(action->message, sizeof(action->message), "%s", message);
}

static int64_t queue_deadline(const struct run_digest *run)
{
    return run->queued_us + (int64_t)run->facts.queue_timeout_seconds * US_PER_SECOND;
}

static void fail_queue_timeout(struct planner *p, struct run_digest *run)
{
    struct scheduler_choice choice;
    char message[MAX_ACTION_MESSAGE], why[MAX_ACTION_MESSAGE - 100];
    scheduler_choose(&run->facts.request, p->in->nodes, &choice);
    scheduler_explain(&run->facts.request, &choice, why, sizeof(why));
    (void)snprintf(message, sizeof(message), "no room for %" PRIu32 " s (queueTimeoutSeconds): %s",
                   run->facts.queue_timeout_seconds, why);
    fail(p, run, RUN_REASON_QUEUE_TIMEOUT, message);
}

/* Returns when to look again. */
static int64_t plan_pending(struct planner *p, struct run_digest *run)
{
    const struct run_facts *facts = &run->facts;
    if (facts->deleting) {
        fail(p, run, RUN_REASON_CANCELLED, "deleted before it was assigned to a node");
        return INT64_MAX;
    }
    if (facts->invalid) {
        fail(p, run, RUN_REASON_INVALID_SPEC, facts->invalid);
        return INT64_MAX;
    }
    int64_t deadline = queue_deadline(run);
    if (p->in->now_us >= deadline) {
        fail_queue_timeout(p, run);
        return INT64_MAX;
    }
    p->in->runs->queue_changed = true;
    int64_t explain_us = run->queued_us + WAITING_AFTER_US;
    return p->in->now_us < explain_us ? smaller(explain_us, deadline) : deadline;
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
    fail(p, run, reasons[verdict], message);
}

/* The lease clock may stand still: then the next look finds that it was too early. */
static int64_t steady_to_wall(const struct planner *p, int64_t steady_us)
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
    return steady_to_wall(p, again_us);
}

static int64_t plan_finished(struct planner *p, struct run_digest *run)
{
    const struct run_facts *facts = &run->facts;
    if (facts->deleting)
        return INT64_MAX;
    int64_t ttl = facts->ttl_seconds >= 0 ? facts->ttl_seconds : p->in->ttl_seconds;
    int64_t deadline = run->finished_us + ttl * US_PER_SECOND;
    /* Clients, kubectl wait among them, take no condition for true that was decided on an earlier
     * generation than the object has. */
    bool unobserved =
        facts->observed_generation > 0 && facts->observed_generation < facts->generation;
    if (p->in->now_us < deadline && !unobserved)
        return deadline;
    (void)add_action(p, p->in->now_us < deadline ? ACTION_OBSERVE : ACTION_DELETE, run, NULL);
    return INT64_MAX;
}

static void plan_run(struct planner *p, struct run_digest *run)
{
    static int64_t (*const by_phase[RUN_PHASE_COUNT])(struct planner * p,
                                                      struct run_digest * run) = {
        [RUN_PHASE_PENDING] = plan_pending,  [RUN_PHASE_SCHEDULED] = plan_assigned,
        [RUN_PHASE_RUNNING] = plan_assigned, [RUN_PHASE_SUCCEEDED] = plan_finished,
        [RUN_PHASE_FAILED] = plan_finished,
    };
    if (run->writing || run->settled)
        return;
    int64_t at_us = run->not_before_us;
    if (p->in->now_us >= at_us)
        at_us = by_phase[run->facts.phase](p, run);
    runs_wake_at(p->in->runs, run, at_us);
}

/* Whether run is known to have no place, from what was tried before it in this pass: a request
 * that asks for no less found no room, or, to keep the order within a namespace, an earlier one
 * that would go to the same nodes waits for room there. */
static bool is_blocked(const struct planner *p, const struct run_digest *run,
                       enum wait_reason *ret_reason)
{
    const struct run_request *request = &run->facts.request;
    for (unsigned int i = 0; i < p->blocked_count; i++) {
        const struct run_digest *earlier = p->blocked[i].run;
        const struct run_request *other = &earlier->facts.request;
        bool no_less =
            request->memory_bytes >= other->memory_bytes && request->cpu_milli >= other->cpu_milli;
        bool in_line = p->blocked[i].reason == WAIT_NO_ROOM && earlier->tenant == run->tenant;
        if ((no_less || in_line) && request_same_placement(request, other)) {
            *ret_reason = p->blocked[i].reason;
            return true;
        }
    }
    return false;
}

/* NULL: no place, and ret_reason tells why. */
static struct node *find_place(struct planner *p, const struct run_digest *run,
                               enum wait_reason *ret_reason)
{
    struct scheduler_choice choice;
    if (is_blocked(p, run, ret_reason))
        return NULL;
    scheduler_choose(&run->facts.request, p->in->nodes, &choice);
    if (choice.node)
        return choice.node;
    *ret_reason = scheduler_wait_reason(&choice);
    if (p->blocked_count < MAX_BLOCKED_REQUESTS) {
        p->blocked[p->blocked_count].run = run;
        p->blocked[p->blocked_count++].reason = *ret_reason;
    }
    return NULL;
}

/* Says why a run waits, once it has waited for a while, and again when the reason is another. */
static void explain(struct planner *p, struct run_digest *run, enum wait_reason reason)
{
    struct scheduler_choice choice;
    if (p->write_room == 0 || p->in->now_us < run->queued_us + WAITING_AFTER_US ||
        strcmp(run->facts.waiting_reason, wait_reason_name(reason)) == 0)
        return;
    struct action *action = add_action(p, ACTION_EXPLAIN, run, NULL);
    scheduler_choose(&run->facts.request, p->in->nodes, &choice);
    scheduler_explain(&run->facts.request, &choice, action->message, sizeof(action->message));
    action->waits_for = reason;
}

/* Places the oldest run of tenant that can be placed; false if there is none. */
static bool serve_tenant(struct planner *p, struct tenant *tenant)
{
    while (tenant->cursor) {
        struct run_digest *run = tenant->cursor;
        enum wait_reason reason;
        tenant->cursor = run->queue_next;
        if (run->writing || run->settled || p->in->now_us < run->not_before_us)
            continue;
        struct node *node = find_place(p, run, &reason);
        if (node) {
            (void)add_action(p, ACTION_ASSIGN, run, node);
            return true;
        }
        explain(p, run, reason);
    }
    return false;
}

/* One run of each namespace at most. Who was served goes to the end of the line, and stays there
 * for the next plan; who was not keeps his place. */
static bool serve_round(struct planner *p, unsigned int tenants)
{
    struct runs *runs = p->in->runs;
    struct tenant *tenant = runs->turn;
    bool served = false;
    for (unsigned int i = 0; i < tenants && p->assign_room > 0; i++) {
        struct tenant *next = tenant->next;
        if (serve_tenant(p, tenant)) {
            DL_DELETE(runs->turn, tenant);
            DL_APPEND(runs->turn, tenant);
            served = true;
        }
        tenant = next;
    }
    return served;
}

/* Namespaces take turns until there is no room or nothing fits. */
static void plan_queues(struct planner *p)
{
    struct runs *runs = p->in->runs;
    struct tenant *tenant;
    unsigned int tenants = 0;
    if (!runs->queue_changed && !p->in->nodes->changed)
        return;
    DL_FOREACH (runs->turn, tenant) {
        tenant_sort(tenant);
        tenant->cursor = tenant->queue;
        tenants++;
    }
    while (p->assign_room > 0 && serve_round(p, tenants))
        ;
    /* Without room left somebody may have been passed over: the flags stay for the next plan. */
    if (p->assign_room > 0 && p->write_room > 0) {
        runs->queue_changed = false;
        p->in->nodes->changed = false;
    }
    runs_drop_empty_tenants(runs);
}

void plan_make(const struct plan_input *input, struct plan *ret_plan)
{
    struct planner p = {
        .in = input,
        .plan = ret_plan,
        .assign_room = input->assign_room,
        .write_room = input->write_room,
    };
    ret_plan->count = 0;
    nodes_age(input->nodes, input->steady_us, (int64_t)input->times.duration_ms * 1000);
    while (p.write_room > 0) {
        struct run_digest *run = runs_next(input->runs, input->now_us);
        if (!run)
            break;
        plan_run(&p, run);
    }
    plan_queues(&p);
    const struct wakeup *first = wakeups_first(&input->runs->wakeups);
    ret_plan->wake_us = first ? first->at_us : INT64_MAX;
}
