/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places for those that wait. What a plan costs does not grow with their number: of a lane only the
 * oldest are looked at, and of the nodes those that have changed since they last were.
 */
#include "controller/planner.h"

#include <utlist.h>

/* Nobody else in lane has a place: none asks for less than those that were looked at, or, to keep
 * the order, one of them waits for room. */
static void lane_close(const struct planner *p, struct lane *lane)
{
    lane->fresh = false;
    lane->generation = p->in->nodes->generation;
    lane->active = false;
    DL_DELETE2(lane->tenant->active, lane, active_prev, active_next);
}

/* Without anything new about lane itself, only improved nodes can matter. */
static bool lane_may_move(const struct planner *p, struct lane *lane)
{
    const struct nodes *nodes = p->in->nodes;
    struct scheduler_choice choice;
    if (lane->fresh || lane->generation == nodes->generation)
        return lane->fresh;
    struct run_request floor = lane->queue->facts.request;
    floor.memory_bytes = lane->floor.memory_bytes;
    floor.cpu_milli = (uint32_t)lane->floor.cpu_milli;
    scheduler_choose(&floor, nodes, lane->generation, &choice);
    lane->fresh = choice.node != NULL;
    if (!lane->fresh)
        lane->generation = nodes->generation;
    return lane->fresh;
}

static bool tenant_activate(struct planner *p, struct tenant *tenant)
{
    for (struct lane *lane = tenant->lanes; lane; lane = lane->hh.next) {
        if (!lane_may_move(p, lane))
            continue;
        lane_sort(lane);
        lane->cursor = lane->queue;
        lane->floor = (struct node_resources){.memory_bytes = UINT64_MAX, .cpu_milli = UINT32_MAX};
        lane->active = true;
        DL_APPEND2(tenant->active, lane, active_prev, active_next);
    }
    tenant->fresh = false;
    return tenant->active != NULL;
}

static void activate(struct planner *p)
{
    struct runs *runs = p->in->runs;
    struct tenant *tenant;
    bool improved = runs->looked != p->in->nodes->generation;
    if (!improved && !runs->tenants.fresh)
        return;
    DL_FOREACH (runs->tenants.turn, tenant) {
        if ((improved || tenant->fresh) && tenant_activate(p, tenant))
            DL_APPEND2(p->active, tenant, active_prev, active_next);
    }
    runs->looked = p->in->nodes->generation;
    runs->tenants.fresh = false;
}

/* Ends the looking at tenant; with again the next plan goes on with it, else it waits for something
 * new. */
static void tenant_deactivate(struct planner *p, struct tenant *tenant, bool again)
{
    struct lane *lane, *next;
    DL_FOREACH_SAFE2(tenant->active, lane, next, active_next)
    {
        lane->active = false;
        /* The analyser does not know that whoever is in a list has a list.
         * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
        DL_DELETE2(tenant->active, lane, active_prev, active_next);
    }
    tenant->fresh = false;
    if (again)
        tenants_refresh(&p->in->runs->tenants, tenant);
}

static struct lane *oldest_lane(const struct planner *p, struct tenant *tenant)
{
    struct lane *lane, *next, *oldest = NULL;
    DL_FOREACH_SAFE2(tenant->active, lane, next, active_next)
    {
        if (!lane->cursor)
            lane_close(p, lane);
        else if (!oldest || run_compare_age(lane->cursor, oldest->cursor) < 0)
            oldest = lane;
    }
    return oldest;
}

/* The generation up to which run is known to have no place, by itself or by one of its lane that
 * asks for no more; 0: nothing is known. */
static uint64_t known_until(struct run_digest *run)
{
    const struct lane *lane = run->lane;
    const struct run_request *request = &run->facts.request;
    if (run->tried == 0 && lane->failed.generation > 0 &&
        request->memory_bytes >= lane->failed.memory_bytes &&
        request->cpu_milli >= lane->failed.cpu_milli) {
        run->tried = lane->failed.generation;
        run->waits_for = lane->failed.reason;
    }
    return run->tried;
}

static void note_failure(const struct planner *p, struct run_digest *run)
{
    struct lane *lane = run->lane;
    const struct run_request *request = &run->facts.request;
    run->tried = p->in->nodes->generation;
    lane->failed.generation = run->tried;
    lane->failed.memory_bytes = request->memory_bytes;
    lane->failed.cpu_milli = request->cpu_milli;
    lane->failed.reason = run->waits_for;
    if (request->memory_bytes < lane->floor.memory_bytes)
        lane->floor.memory_bytes = request->memory_bytes;
    if (request->cpu_milli < lane->floor.cpu_milli)
        lane->floor.cpu_milli = request->cpu_milli;
}

/* False if this plan looks at no more nodes; else ret_node is run's place, NULL for none. */
static bool look(struct planner *p, struct run_digest *run, struct node **ret_node)
{
    struct scheduler_choice choice;
    uint64_t since = known_until(run);
    if (since == 0 && p->scans_left == 0)
        return false;
    if (since == 0)
        p->scans_left--;
    scheduler_choose(&run->facts.request, p->in->nodes, since, &choice);
    *ret_node = choice.node;
    if (choice.node)
        return true;
    enum wait_reason reason = scheduler_wait_reason(&choice);
    /* Of a few nodes only this can be told. */
    if (since == 0 || reason == WAIT_NO_ROOM)
        run->waits_for = reason;
    note_failure(p, run);
    return true;
}

static bool is_away(const struct planner *p, const struct run_digest *run)
{
    return run->writing || run->settled || p->in->now_us < run->not_before_us;
}

/* Places the oldest run of tenant that can be placed; false if there is none. */
static bool serve_tenant(struct planner *p, struct tenant *tenant)
{
    struct lane *lane;
    while ((lane = oldest_lane(p, tenant))) {
        struct run_digest *run = lane->cursor;
        struct node *node;
        enum limit_verdict limit = limits_check(&p->in->limits, &tenant->used, &run->facts.request);
        lane->cursor = run->queue_next;
        if (is_away(p, run) || limit == LIMIT_TOO_LARGE)
            continue;
        if (limit != LIMIT_NONE) {
            /* Until one of its runs has ended. */
            tenant_deactivate(p, tenant, false);
            return false;
        }
        if (!look(p, run, &node)) {
            tenant_deactivate(p, tenant, true);
            return false;
        }
        if (node) {
            (void)planner_add(p, ACTION_ASSIGN, run, node);
            return true;
        }
        if (run->waits_for == WAIT_NO_ROOM)
            lane_close(p, lane);
    }
    tenant_deactivate(p, tenant, false);
    return false;
}

/* Who was served goes to the end of the line, and stays there for the next plan; who was not keeps
 * his place. */
void planner_place(struct planner *p)
{
    struct tenants *tenants = &p->in->runs->tenants;
    struct tenant *tenant, *next;
    activate(p);
    while (p->assign_room > 0 && p->active) {
        tenant = p->active;
        DL_DELETE2(p->active, tenant, active_prev, active_next);
        if (serve_tenant(p, tenant)) {
            tenants_served(tenants, tenant);
            DL_APPEND2(p->active, tenant, active_prev, active_next);
        }
    }
    DL_FOREACH_SAFE2(p->active, tenant, next, active_next)
    {
        /* As above. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
        DL_DELETE2(p->active, tenant, active_prev, active_next);
        tenant_deactivate(p, tenant, true);
    }
}

static const struct scheduler_choice *count_nodes(struct planner *p, struct run_digest *run)
{
    struct lane *lane = run->lane;
    const struct run_request *request = &run->facts.request;
    int64_t age_us = p->in->now_us - lane->count.at_us;
    if (lane->count.at_us > 0 && age_us >= 0 && age_us < WAITING_COUNT_US &&
        lane->count.memory_bytes == request->memory_bytes &&
        lane->count.cpu_milli == request->cpu_milli)
        return &lane->count.choice;
    scheduler_choose(request, p->in->nodes, 0, &lane->count.choice);
    lane->count.at_us = p->in->now_us;
    lane->count.memory_bytes = request->memory_bytes;
    lane->count.cpu_milli = request->cpu_milli;
    return &lane->count.choice;
}

bool planner_explain(struct planner *p, struct run_digest *run, enum wait_reason *ret_reason,
                     char *text, size_t size)
{
    const struct run_request *request = &run->facts.request;
    const struct node_resources *used = &run->tenant->used;
    if (limits_check(&p->in->limits, used, request) != LIMIT_NONE) {
        limits_explain(&p->in->limits, used, request, text, size);
        *ret_reason = WAIT_NAMESPACE_LIMIT;
        return true;
    }
    const struct scheduler_choice *choice = count_nodes(p, run);
    scheduler_explain(request, choice, text, size);
    *ret_reason = scheduler_wait_reason(choice);
    /* The nodes that it waited for have gone: it need not hold up those behind it. */
    if (run->tried > 0 && run->waits_for == WAIT_NO_ROOM && *ret_reason != WAIT_NO_ROOM) {
        run->tried = 0;
        run->lane->failed.generation = 0;
        runs_retry(p->in->runs, run);
    }
    return !choice->node || !run->lane->fresh;
}
