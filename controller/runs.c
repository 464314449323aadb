/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/runs.h"

#include "common/backoff.h"
#include "controller/limits.h"
#include "controller/wait_clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

void runs_init(struct runs *runs, struct nodes *nodes)
{
    *runs = (struct runs){.nodes = nodes};
}

/* False for names that no object of the API server can have. */
static bool make_key(const char *name_space, const char *name, char ret_key[static MAX_RUN_KEY])
{
    return snprintf(ret_key, MAX_RUN_KEY, "%s/%s", name_space, name) < MAX_RUN_KEY;
}

struct run_digest *runs_find(const struct runs *runs, const char *name_space, const char *name)
{
    struct run_digest *run = NULL;
    char key[MAX_RUN_KEY];
    if (make_key(name_space, name, key))
        HASH_FIND_STR(runs->by_key, key, run);
    return run;
}

static void leave_node(struct runs *runs, struct run_digest *run)
{
    struct node *node = run->node;
    if (!node)
        return;
    run->node = NULL;
    DL_DELETE2(node->runs, run, node_prev, node_next);
    nodes_give_back(runs->nodes, node, &run->facts.request);
    nodes_release(runs->nodes, node);
    resources_give_back(&run->tenant->used, &run->facts.request);
    /* A limit of the namespace may let another in. */
    tenants_refresh(&runs->tenants, run->tenant);
}

static void enter_node(struct run_digest *run, struct node *node)
{
    run->node = node;
    DL_APPEND2(node->runs, run, node_prev, node_next);
    resources_take(&node->used, &run->facts.request);
    resources_take(&run->tenant->used, &run->facts.request);
}

static void leave_queue(struct runs *runs, struct run_digest *run)
{
    if (run->unexplained)
        DL_DELETE2(runs->unexplained, run, unexplained_prev, unexplained_next);
    run->unexplained = false;
    run->tried = 0;
    if (!run->lane)
        return;
    tenants_dequeue(&runs->tenants, run);
    runs->waiting--;
}

static int enter_queue(struct runs *runs, struct run_digest *run)
{
    int r = tenants_enqueue(&runs->tenants, run->tenant, run);
    if (r < 0)
        return r;
    runs->waiting++;
    return 0;
}

void runs_retry(struct runs *runs, struct run_digest *run)
{
    if (!run->lane)
        return;
    run->lane->fresh = true;
    tenants_refresh(&runs->tenants, run->tenant);
}

void runs_mark_unexplained(struct runs *runs, struct run_digest *run)
{
    if (run->unexplained)
        return;
    run->unexplained = true;
    DL_APPEND2(runs->unexplained, run, unexplained_prev, unexplained_next);
}

struct run_digest *runs_next_unexplained(struct runs *runs)
{
    struct run_digest *run = runs->unexplained;
    if (!run)
        return NULL;
    run->unexplained = false;
    DL_DELETE2(runs->unexplained, run, unexplained_prev, unexplained_next);
    return run;
}

/* A run that only waits for room. */
static bool belongs_in_queue(const struct run_facts *facts)
{
    return facts->phase == RUN_PHASE_PENDING && !facts->deleting && !facts->invalid &&
           !facts->foreign;
}

static bool is_assigned(const struct run_facts *facts)
{
    return (facts->phase == RUN_PHASE_SCHEDULED || facts->phase == RUN_PHASE_RUNNING) &&
           facts->node_name;
}

void runs_touch(struct runs *runs, struct run_digest *run)
{
    if (run->dirty)
        return;
    run->dirty = true;
    DL_APPEND2(runs->dirty, run, dirty_prev, dirty_next);
}

static void untouch(struct runs *runs, struct run_digest *run)
{
    if (!run->dirty)
        return;
    run->dirty = false;
    /* The analyser does not know that whoever is in a list has a list.
     * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    DL_DELETE2(runs->dirty, run, dirty_prev, dirty_next);
}

void runs_touch_node(struct runs *runs, struct node *node)
{
    struct run_digest *run;
    DL_FOREACH2(node->runs, run, node_next)
    {
        runs_touch(runs, run);
    }
}

/* Files run by its facts. */
static int file_run(struct runs *runs, struct run_digest *run)
{
    if (belongs_in_queue(&run->facts))
        return enter_queue(runs, run);
    if (!is_assigned(&run->facts))
        return 0;
    struct node *node = nodes_get(runs->nodes, run->facts.node_name);
    if (!node)
        return -ENOMEM;
    enter_node(run, node);
    return 0;
}

static void unfile_run(struct runs *runs, struct run_digest *run)
{
    leave_queue(runs, run);
    leave_node(runs, run);
    finished_remove(&runs->finished, run);
}

void runs_set_aside(struct runs *runs, struct run_digest *run)
{
    leave_queue(runs, run);
    finished_remove(&runs->finished, run);
}

static void free_run(struct runs *runs, struct run_digest *run)
{
    unfile_run(runs, run);
    untouch(runs, run);
    wakeups_remove(&runs->wakeups, &run->wakeup);
    HASH_DEL(runs->by_key, run);
    runs->counts[run->facts.phase]--;
    run->tenant->runs--;
    tenants_release(&runs->tenants, run->tenant);
    free(run->key);
    facts_done(&run->facts);
    free(run);
}

void runs_done(struct runs *runs)
{
    struct run_digest *run, *next;
    HASH_ITER (hh, runs->by_key, run, next) {
        free_run(runs, run);
    }
    finished_done(&runs->finished);
    wakeups_done(&runs->wakeups);
}

static struct run_digest *new_run(struct runs *runs, const struct run_facts *facts)
{
    char key[MAX_RUN_KEY];
    size_t count = HASH_COUNT(runs->by_key) + 1;
    if (!make_key(facts->name_space, facts->name, key) ||
        wakeups_reserve(&runs->wakeups, count) < 0)
        return NULL;
    struct run_digest *run = calloc(1, sizeof(*run));
    if (!run)
        return NULL;
    run->tenant = tenants_get(&runs->tenants, facts->name_space);
    run->key = run->tenant ? strdup(key) : NULL;
    if (run->key)
        HASH_ADD_KEYPTR(hh, runs->by_key, run->key, strlen(run->key), run);
    if (!run->key || !run->hh.tbl) {
        if (run->tenant)
            tenants_release(&runs->tenants, run->tenant);
        free(run->key);
        free(run);
        return NULL;
    }
    run->tenant->runs++;
    run->sequence = runs->next_sequence++;
    runs->counts[RUN_PHASE_PENDING]++;
    return run;
}

/* A wait that a giving back interrupted begins anew. What is new here begins now, whatever clocks
 * say; only of what was there before this controller the past is read off its dates. */
static void set_times(const struct runs *runs, struct run_digest *run, enum run_phase before,
                      int64_t now_us)
{
    const struct run_facts *facts = &run->facts;
    const struct wait_dates dates = {
        .created_us = facts->creation_us,
        .completed_us = facts->completion_us,
    };
    if (run->queued_us == 0) {
        run->queued_us = runs->listed ? now_us : wait_began_us(&dates, now_us);
        run->seen_us = run->queued_us;
        run->awaited = !run_phase_is_terminal(facts->phase);
    } else if (before != RUN_PHASE_PENDING && facts->phase == RUN_PHASE_PENDING) {
        run->queued_us = now_us;
    }
    if (run_phase_is_terminal(facts->phase) && run->finished_us == 0)
        run->finished_us = runs->listed ? now_us : wait_ended_us(&dates, now_us);
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* What was learnt about the old version is forgotten. */
static void take_facts(struct runs *runs, struct run_digest *run, struct run_facts *facts,
                       int64_t now_us)
{
    enum run_phase before = run->facts.phase;
    if (facts->phase != before || !is_same_text(run->facts.sandbox_id, facts->sandbox_id))
        run->since_us = run->orphaned_us = 0;
    facts_done(&run->facts);
    run->facts = *facts;
    *facts = (struct run_facts){0};
    runs->counts[before]--;
    runs->counts[run->facts.phase]++;
    run->settled = false;
    run->failures = 0;
    run->not_before_us = 0;
    set_times(runs, run, before, now_us);
    runs_touch(runs, run);
}

/* Another version of what only waits keeps its place in line, and what is known of it. */
static bool keeps_its_place(const struct run_digest *run, const struct run_facts *facts)
{
    return run->lane && belongs_in_queue(facts) && run->facts.creation_us == facts->creation_us &&
           run->facts.request.memory_bytes == facts->request.memory_bytes &&
           run->facts.request.cpu_milli == facts->request.cpu_milli &&
           request_same_placement(&run->facts.request, &facts->request);
}

/* Moves facts into run and files it anew. */
static int replace_facts(struct runs *runs, struct run_digest *run, struct run_facts *facts,
                         size_t bytes, int64_t now_us)
{
    if (keeps_its_place(run, facts)) {
        take_facts(runs, run, facts, now_us);
        run->bytes = bytes;
        runs_retry(runs, run);
        return 0;
    }
    unfile_run(runs, run);
    take_facts(runs, run, facts, now_us);
    run->bytes = bytes;
    return file_run(runs, run);
}

int runs_upsert(struct runs *runs, const cJSON *object, size_t bytes, int64_t now_us,
                struct run_digest **ret_run, struct error *err)
{
    __attribute__((cleanup(facts_done))) struct run_facts facts = {0};
    int r = facts_read(object, &facts, err);
    if (r < 0)
        return r;
    struct run_digest *run = runs_find(runs, facts.name_space, facts.name);
    if (run && strcmp(run->facts.uid, facts.uid) != 0) {
        free_run(runs, run);
        run = NULL;
    }
    if (!run)
        run = new_run(runs, &facts);
    if (run &&
        (!run->facts.uid || strcmp(run->facts.resource_version, facts.resource_version) != 0))
        r = replace_facts(runs, run, &facts, bytes, now_us);
    if (!run || r < 0)
        return error_set(err, ENOMEM, "out of memory while taking over a SandboxRun");
    if (ret_run)
        *ret_run = run;
    return 0;
}

void runs_remove(struct runs *runs, const char *name_space, const char *name, const char *uid)
{
    struct run_digest *run = runs_find(runs, name_space, name);
    if (run && strcmp(run->facts.uid, uid) == 0)
        free_run(runs, run);
}

int64_t run_take_total_us(struct run_digest *run, int64_t now_us)
{
    if (!run->awaited || !run_phase_is_terminal(run->facts.phase))
        return -1;
    run->awaited = false;
    return now_us > run->seen_us ? now_us - run->seen_us : 0;
}

struct run_digest *runs_next(struct runs *runs, int64_t now_us)
{
    struct wakeup *first = wakeups_first(&runs->wakeups);
    struct run_digest *run = runs->dirty;
    if (!run && first && first->at_us <= now_us)
        run = (struct run_digest *)((char *)first - offsetof(struct run_digest, wakeup));
    if (!run)
        return NULL;
    untouch(runs, run);
    wakeups_remove(&runs->wakeups, &run->wakeup);
    return run;
}

void runs_wake_at(struct runs *runs, struct run_digest *run, int64_t at_us)
{
    if (at_us == INT64_MAX)
        wakeups_remove(&runs->wakeups, &run->wakeup);
    else
        wakeups_set(&runs->wakeups, &run->wakeup, at_us);
}

void runs_begin_write(struct runs *runs, struct run_digest *run, struct node *node)
{
    run->writing = true;
    if (!node)
        return;
    leave_queue(runs, run);
    leave_node(runs, run);
    if (node->warm_taken < UINT32_MAX)
        node->warm_taken++;
    enter_node(run, node);
}

void runs_end_write(struct runs *runs, struct run_digest *run, const char *version,
                    enum write_result result, int64_t now_us)
{
    run->writing = false;
    runs_touch(runs, run);
    if (strcmp(run->facts.resource_version, version) != 0)
        return;
    if (result == WRITE_SETTLED) {
        run->settled = true;
        return;
    }
    run->not_before_us =
        now_us + (int64_t)backoff_ms(++run->failures, BACKOFF_FIRST_MS, BACKOFF_LAST_MS, 0) * 1000;
    /* What was accounted for the write is given back. Out of memory it waits unfiled, for its
     * queue timeout or the next version. */
    unfile_run(runs, run);
    (void)file_run(runs, run);
}
