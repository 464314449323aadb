/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_world.h"
#include "objects.h"

int setup(void **state)
{
    static struct world world;
    objects_steady_us = 1;
    world = (struct world){0};
    world.input = (struct plan_input){
        .runs = &world.runs,
        .nodes = &world.nodes,
        .now_us = CREATED_US + SECOND_US,
        .steady_us = 1,
        .times = {.duration_ms = 40000, .renew_ms = 10000},
        .ttl_seconds = 600,
        .finished = {.runs = 1000, .runs_per_namespace = 1000, .bytes = 1 << 30},
        .assign_room = MAX_ASSIGNS_IN_FLIGHT,
        .write_room = MAX_WRITES_IN_FLIGHT,
    };
    runs_init(&world.runs, &world.nodes);
    *state = &world;
    return 0;
}

int teardown(void **state)
{
    struct world *world = *state;
    runs_done(&world->runs);
    nodes_done(&world->nodes);
    return 0;
}

struct run_digest *put(struct world *world, const char *name_space, const char *name,
                       const char *version, const char *spec, const char *status)
{
    return put_run(&world->runs, name_space, name, version, spec, status, world->input.now_us);
}

void pass(struct world *world, int64_t seconds, struct node *beats)
{
    world->input.now_us += seconds * SECOND_US;
    world->input.steady_us += seconds * SECOND_US;
    objects_steady_us = world->input.steady_us;
    if (beats)
        beats->heartbeat.seen_us = world->input.steady_us;
}

void end_writes(struct world *world, enum write_result result)
{
    for (unsigned int i = 0; i < world->plan.count; i++) {
        struct run_digest *run = world->plan.actions[i].run;
        runs_end_write(&world->runs, run, run->facts.resource_version, result, world->input.now_us);
    }
}
