/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Objects as a watch may show them, and the plans that are made of them. The input is a JSON
 * list of {"run": object}, {"agent": object}, {"node": object}, {"lease": object}, {"gone":
 * object} (a run), {"lost": "name"} (an agent), {"pass": seconds}, {"refuse": 1} (the writes of
 * the last plan failed) and {"limit": {"runs", "queued", "kept"}}. After each of them a plan is
 * made, and the books must close: what is accounted on nodes and to namespaces is the sum of
 * their runs, no bound is exceeded, and nobody waits for whom there is a place.
 */
#include "controller/plan.h"

#include <stdlib.h>
#include <string.h>

#define BEGIN_US  1795990634000000
#define SECOND_US 1000000

struct world {
    struct nodes nodes;
    struct runs runs;
    struct plan plan;
    struct plan_input input;
};

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_sums(const struct world *world)
{
    for (const struct node *node = world->nodes.by_name; node; node = node->hh.next) {
        struct node_resources sum = {0};
        for (const struct run_digest *run = node->runs; run; run = run->node_next)
            resources_take(&sum, &run->facts.request);
        check(sum.runs == node->used.runs && sum.memory_bytes == node->used.memory_bytes &&
              sum.cpu_milli == node->used.cpu_milli);
    }
    unsigned int waiting = 0, count = 0;
    uint64_t bytes = 0;
    for (const struct run_digest *run = world->runs.by_key; run; run = run->hh.next) {
        waiting += run->lane != NULL;
        bytes += run->kept.place > 0 ? run->bytes : 0;
        check(!run->lane || !run->node);
        check(!run->lane || run->kept.place == 0);
        count++;
    }
    check(waiting == world->runs.waiting && bytes == world->runs.finished.bytes);
    for (const struct tenant *tenant = world->runs.tenants.by_name; tenant;
         tenant = tenant->hh.next) {
        check(tenant->runs > 0 && !tenant->active);
        count -= tenant->runs;
    }
    check(count == 0);
}

static bool may_be_placed(const struct world *world, const struct run_digest *run)
{
    struct scheduler_choice choice;
    if (run->writing || run->settled || world->input.now_us < run->not_before_us ||
        limits_check(&world->input.limits, &run->tenant->used, &run->facts.request) != LIMIT_NONE)
        return false;
    scheduler_choose(&run->facts.request, &world->nodes, 0, &choice);
    return choice.node != NULL;
}

/* A plan that left no room unused has looked at everybody: the first of each lane has no place. */
static void check_nobody_is_forgotten(struct world *world)
{
    if (world->plan.count > 0)
        return;
    for (struct tenant *tenant = world->runs.tenants.turn; tenant; tenant = tenant->next) {
        for (struct lane *lane = tenant->lanes; lane; lane = lane->hh.next) {
            lane_sort(lane);
            check(!may_be_placed(world, lane->queue));
        }
    }
}

static void check_actions(const struct world *world)
{
    unsigned int assigns = 0;
    for (unsigned int i = 0; i < world->plan.count; i++) {
        const struct action *action = &world->plan.actions[i];
        const struct run_facts *facts = &action->run->facts;
        check(action->run->writing && !facts->foreign);
        /* One write at a time: two would overtake each other. */
        for (unsigned int j = 0; j < i; j++)
            check(world->plan.actions[j].run != action->run);
        check(memchr(action->message, '\0', sizeof(action->message)) != NULL);
        if (action->kind == ACTION_ASSIGN) {
            assigns++;
            check(facts->phase == RUN_PHASE_PENDING && !facts->deleting && !facts->invalid);
            check(action->node->used.runs <= action->node->agent->capacity.runs);
            check(action->node->used.memory_bytes <= action->node->agent->capacity.memory_bytes);
            check(action->node->used.cpu_milli <= action->node->agent->capacity.cpu_milli);
        } else if (action->kind == ACTION_DELETE || action->kind == ACTION_OBSERVE) {
            check(run_phase_is_terminal(facts->phase));
        } else {
            check(!run_phase_is_terminal(facts->phase) && action->message[0]);
        }
    }
    check(assigns <= MAX_ASSIGNS_IN_FLIGHT && world->plan.count - assigns <= MAX_WRITES_IN_FLIGHT);
}

static void make_plan(struct world *world, enum write_result result)
{
    plan_make(&world->input, &world->plan);
    check_actions(world);
    check_sums(world);
    check_nobody_is_forgotten(world);
    for (unsigned int i = 0; i < world->plan.count; i++) {
        struct run_digest *run = world->plan.actions[i].run;
        runs_end_write(&world->runs, run, run->facts.resource_version, result, world->input.now_us);
    }
    check_sums(world);
}

static void pass(struct world *world, int64_t seconds)
{
    seconds = seconds > 100000 ? 100000 : seconds;
    world->input.now_us += seconds * SECOND_US;
    world->input.steady_us += seconds * SECOND_US;
}

static void set_limits(struct world *world, const cJSON *limit)
{
    int64_t runs = 0, queued = 0, kept = 0;
    (void)json_get_i64(limit, "runs", &runs);
    (void)json_get_i64(limit, "queued", &queued);
    (void)json_get_i64(limit, "kept", &kept);
    world->input.limits.used.runs = (uint32_t)runs & 0xff;
    world->input.limits.queued = (unsigned int)queued & 0xff;
    world->input.finished.runs_per_namespace = 1 + ((unsigned int)kept & 0xff);
    /* A controller is started with its limits. */
    for (struct run_digest *run = world->runs.by_key; run; run = run->hh.next)
        runs_retry(&world->runs, run);
}

static void forget(struct world *world, const cJSON *object)
{
    const char *name_space = json_get_string(object, "metadata.namespace");
    const char *name = json_get_string(object, "metadata.name");
    const char *uid = json_get_string(object, "metadata.uid");
    if (name_space && name && uid)
        runs_remove(&world->runs, name_space, name, uid);
}

static void apply(struct world *world, const cJSON *step)
{
    struct error err = {0};
    struct node *node = NULL;
    int64_t seconds;
    const cJSON *object;
    if ((object = json_get(step, "run")))
        (void)runs_upsert(&world->runs, object, 1000, world->input.now_us, NULL, &err);
    if ((object = json_get(step, "gone")))
        forget(world, object);
    if ((object = json_get(step, "agent")) &&
        nodes_set_agent(&world->nodes, object, &node, &err) == 0)
        runs_touch_node(&world->runs, node);
    if ((object = json_get(step, "node")))
        (void)nodes_set_core(&world->nodes, object, &err);
    if ((object = json_get(step, "lease")))
        (void)nodes_set_lease(&world->nodes, object, world->input.steady_us, world->input.now_us,
                              &world->input.times, &err);
    if (json_get_string(step, "lost") &&
        (node = nodes_remove_agent(&world->nodes, json_get_string(step, "lost"))))
        runs_touch_node(&world->runs, node);
    if (json_get_i64(step, "pass", &seconds) == 0 && seconds > 0)
        pass(world, seconds);
    if ((object = json_get(step, "limit")))
        set_limits(world, object);
    make_plan(world, json_get(step, "refuse") ? WRITE_FAILED : WRITE_SETTLED);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct world world;
    cleanup_json cJSON *steps = NULL;
    const cJSON *step;
    if (json_parse((const char *)bytes, len, &steps, NULL) < 0 || !cJSON_IsArray(steps))
        return 0;
    memset(&world.nodes, 0, sizeof(world.nodes));
    runs_init(&world.runs, &world.nodes);
    world.input = (struct plan_input){
        .runs = &world.runs,
        .nodes = &world.nodes,
        .now_us = BEGIN_US,
        .steady_us = 1,
        .times = {.duration_ms = 40000, .renew_ms = 10000},
        .ttl_seconds = 600,
        .finished = {.runs = 10, .runs_per_namespace = 5, .bytes = 20000},
        .assign_room = MAX_ASSIGNS_IN_FLIGHT,
        .write_room = MAX_WRITES_IN_FLIGHT,
    };
    cJSON_ArrayForEach (step, steps) {
        apply(&world, step);
    }
    runs_done(&world.runs);
    nodes_done(&world.nodes);
    return 0;
}
