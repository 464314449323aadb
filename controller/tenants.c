/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/tenants.h"

#include "common/cleanup.h"
#include "controller/limits.h"
#include "controller/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static void tenant_free(struct tenants *tenants, struct tenant *tenant)
{
    tenants_unmark_crowded(tenants, tenant);
    if (tenants->by_name && tenant->hh.tbl)
        HASH_DEL(tenants->by_name, tenant);
    wakeups_done(&tenant->finished);
    free(tenant->name_space);
    free(tenant);
}

struct tenant *tenants_get(struct tenants *tenants, const char *name_space)
{
    struct tenant *tenant = NULL;
    HASH_FIND_STR(tenants->by_name, name_space, tenant);
    if (tenant)
        return tenant;
    tenant = calloc(1, sizeof(*tenant));
    if (!tenant)
        return NULL;
    tenant->name_space = strdup(name_space);
    if (tenant->name_space)
        HASH_ADD_KEYPTR(hh, tenants->by_name, tenant->name_space, strlen(tenant->name_space),
                        tenant);
    if (!tenant->name_space || !tenant->hh.tbl) {
        tenant_free(tenants, tenant);
        return NULL;
    }
    return tenant;
}

void tenants_release(struct tenants *tenants, struct tenant *tenant)
{
    if (tenant->runs == 0)
        tenant_free(tenants, tenant);
}

static void lane_free(struct lane *lane)
{
    struct tenant *tenant = lane->tenant;
    if (lane->active)
        DL_DELETE2(tenant->active, lane, active_prev, active_next);
    if (tenant->lanes && lane->hh.tbl)
        HASH_DEL(tenant->lanes, lane);
    free(lane->key);
    free(lane);
}

static struct lane *lane_get(struct tenant *tenant, const struct run_request *request)
{
    cleanup_buf struct buf key = BUF_INIT(MAX_PLACEMENT_KEY);
    struct lane *lane = NULL;
    if (request_append_placement(request, &key) < 0)
        return NULL;
    HASH_FIND_STR(tenant->lanes, buf_str(&key), lane);
    if (lane)
        return lane;
    lane = calloc(1, sizeof(*lane));
    if (!lane)
        return NULL;
    lane->tenant = tenant;
    lane->key = strdup(buf_str(&key));
    if (lane->key)
        HASH_ADD_KEYPTR(hh, tenant->lanes, lane->key, strlen(lane->key), lane);
    if (!lane->key || !lane->hh.tbl) {
        lane_free(lane);
        return NULL;
    }
    return lane;
}

int run_compare_age(const struct run_digest *a, const struct run_digest *b)
{
    if (a->facts.creation_us != b->facts.creation_us)
        return a->facts.creation_us < b->facts.creation_us ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

void lane_sort(struct lane *lane)
{
    if (!lane->sorted && lane->queue)
        /* The macro empties the list while it merges, and reads it only when it is full again. */
        /* cppcheck-suppress nullPointer */
        DL_SORT2(lane->queue, run_compare_age, queue_prev, queue_next);
    lane->sorted = true;
}

/* Most are the youngest; what was given back is among the oldest. Whose place is near neither end
 * waits for a sort. */
static void insert_in_line(struct lane *lane, struct run_digest *run)
{
    struct run_digest *before = lane->queue ? lane->queue->queue_prev : NULL;
    struct run_digest *after = lane->queue;
    for (unsigned int i = 0; i < MAX_QUEUE_STEPS && lane->sorted && before; i++) {
        if (run_compare_age(before, run) < 0) {
            DL_APPEND_ELEM2(lane->queue, before, run, queue_prev, queue_next);
            return;
        }
        before = before == lane->queue ? NULL : before->queue_prev;
    }
    for (unsigned int i = 0; i < MAX_QUEUE_STEPS && lane->sorted && after; i++) {
        if (run_compare_age(run, after) < 0) {
            DL_PREPEND_ELEM2(lane->queue, after, run, queue_prev, queue_next);
            return;
        }
        after = after->queue_next;
    }
    lane->sorted = !lane->queue;
    /* The analyser does not know that a list with a head has a tail.
     * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    DL_APPEND2(lane->queue, run, queue_prev, queue_next);
}

void tenants_refresh(struct tenants *tenants, struct tenant *tenant)
{
    tenant->fresh = true;
    tenants->fresh = true;
}

int tenants_enqueue(struct tenants *tenants, struct tenant *tenant, struct run_digest *run)
{
    struct lane *lane = lane_get(tenant, &run->facts.request);
    if (!lane)
        return -ENOMEM;
    insert_in_line(lane, run);
    run->lane = lane;
    lane->fresh = true;
    if (tenant->queued++ == 0)
        DL_APPEND(tenants->turn, tenant);
    tenants_refresh(tenants, tenant);
    return 0;
}

void tenants_dequeue(struct tenants *tenants, struct run_digest *run)
{
    struct lane *lane = run->lane;
    struct tenant *tenant = lane->tenant;
    if (lane->cursor == run)
        lane->cursor = run->queue_next;
    DL_DELETE2(lane->queue, run, queue_prev, queue_next);
    run->lane = NULL;
    /* Whoever waited behind it may have a place. */
    lane->fresh = true;
    tenants_refresh(tenants, tenant);
    if (!lane->queue)
        lane_free(lane);
    if (--tenant->queued == 0)
        DL_DELETE(tenants->turn, tenant);
}

static bool is_free(const struct run_digest *run)
{
    return !run->writing && !run->settled;
}

struct run_digest *tenant_youngest(struct tenant *tenant)
{
    struct run_digest *youngest = NULL;
    for (struct lane *lane = tenant->lanes; lane; lane = lane->hh.next) {
        lane_sort(lane);
        struct run_digest *run = lane->queue->queue_prev;
        while (!is_free(run) && run != lane->queue)
            run = run->queue_prev;
        if (is_free(run) && (!youngest || run_compare_age(run, youngest) > 0))
            youngest = run;
    }
    return youngest;
}

void tenants_served(struct tenants *tenants, struct tenant *tenant)
{
    if (tenant->queued == 0)
        return;
    DL_DELETE(tenants->turn, tenant);
    DL_APPEND(tenants->turn, tenant);
}

void tenants_mark_crowded(struct tenants *tenants, struct tenant *tenant)
{
    if (tenant->crowded)
        return;
    tenant->crowded = true;
    DL_APPEND2(tenants->crowded, tenant, crowded_prev, crowded_next);
}

void tenants_unmark_crowded(struct tenants *tenants, struct tenant *tenant)
{
    if (!tenant->crowded)
        return;
    tenant->crowded = false;
    DL_DELETE2(tenants->crowded, tenant, crowded_prev, crowded_next);
}
