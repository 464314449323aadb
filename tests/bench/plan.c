/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the controller's planning costs, without an API server: objects in, plans out. Prints a line
 * for each situation, in CPU time of this one thread.
 *
 *     bench_plan [RUNS [NODES]]
 */
#include "controller/plan.h"
#include "common/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOW_US     1795990640000000 /* six seconds after every run's creation */
#define NAMESPACES 50

enum shape { SHAPE_SAME, SHAPE_SIZES, SHAPE_PLACES };

struct world {
    struct nodes nodes;
    struct runs runs;
    struct plan plan;
    unsigned int run_count;
    unsigned int node_count;
};

static uint64_t cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void give_up(const char *what, const struct error *err)
{
    (void)fprintf(stderr, "bench_plan: %s: %s\n", what, err->text);
    exit(EXIT_FAILURE);
}

static cJSON *parse(const char *text)
{
    struct error err = {0};
    cJSON *tree = NULL;
    if (json_parse(text, strlen(text), &tree, &err) < 0)
        give_up(text, &err);
    return tree;
}

static void add_node(struct world *world, unsigned int number, unsigned int slots)
{
    struct error err = {0};
    struct node *node;
    char text[640];
    (void)snprintf(text, sizeof(text),
                   "{\"metadata\":{\"name\":\"n%u\"},\"status\":{\"instance\":\"i\",\"capacity\":"
                   "{\"runs\":%u,\"memory\":\"64Gi\",\"cpu\":\"64\"},\"runtimes\":[{\"name\":"
                   "\"python3.12\"}],\"profiles\":[\"Snippet\"],\"conditions\":[{\"type\":"
                   "\"Ready\",\"status\":\"True\"}]}}",
                   number, slots);
    cleanup_json cJSON *tree = parse(text);
    if (nodes_set_agent(&world->nodes, tree, &node, &err) < 0)
        give_up("node", &err);
    node->heartbeat = (struct node_heartbeat){.moving = true, .fresh = true, .seen_us = 1};
    (void)snprintf(node->heartbeat.holder, sizeof(node->heartbeat.holder), "i");
}

static void put_run(struct world *world, unsigned int number, enum shape shape,
                    unsigned int version, const char *status)
{
    struct error err = {0};
    char spec[128] = "", text[768];
    if (shape == SHAPE_SIZES)
        (void)snprintf(spec, sizeof(spec), ",\"resources\":{\"limits\":{\"memory\":%u}}",
                       (64u << 20) + (world->run_count - number) * 4096);
    if (shape == SHAPE_PLACES)
        (void)snprintf(spec, sizeof(spec), ",\"nodeSelector\":{\"pool\":\"p%u\"}", number);
    (void)snprintf(text, sizeof(text),
                   "{\"metadata\":{\"namespace\":\"ns%u\",\"name\":\"r%u\",\"uid\":\"u%u\","
                   "\"resourceVersion\":\"%u\",\"creationTimestamp\":\"2026-11-29T22:17:14Z\"},"
                   "\"spec\":{\"code\":\"x\"%s},\"status\":{%s}}",
                   number % NAMESPACES, number, number, version, spec, status);
    cleanup_json cJSON *tree = parse(text);
    if (runs_upsert(&world->runs, tree, strlen(text), NOW_US, NULL, &err) < 0)
        give_up("run", &err);
}

static void make_world(struct world *world, enum shape shape, unsigned int slots)
{
    memset(&world->nodes, 0, sizeof(world->nodes));
    runs_init(&world->runs, &world->nodes);
    for (unsigned int i = 0; i < world->node_count; i++)
        add_node(world, i, slots);
    for (unsigned int i = 0; i < world->run_count; i++)
        put_run(world, i, shape, 1, "");
}

static void end_world(struct world *world)
{
    runs_done(&world->runs);
    nodes_done(&world->nodes);
}

static void make_plan(struct world *world)
{
    const struct plan_input input = {
        .runs = &world->runs,
        .nodes = &world->nodes,
        .now_us = NOW_US - 5000000,
        .steady_us = 1,
        .times = {.duration_ms = 40000, .renew_ms = 10000},
        .ttl_seconds = 600,
        .assign_room = MAX_ASSIGNS_IN_FLIGHT,
        .write_room = MAX_WRITES_IN_FLIGHT,
        .finished = {.runs = 10000, .runs_per_namespace = 1000, .bytes = 256ull << 20},
    };
    plan_make(&input, &world->plan);
}

static void accept_all(struct world *world)
{
    for (unsigned int i = 0; i < world->plan.count; i++) {
        struct run_digest *run = world->plan.actions[i].run;
        runs_end_write(&world->runs, run, run->facts.resource_version, WRITE_SETTLED, NOW_US);
    }
}

static void print(const char *what, unsigned int count, const char *unit, uint64_t ns)
{
    (void)printf("%-58s %8.1f us per %s\n", what,
                 count > 0 ? (double)ns / 1000 / count : (double)ns / 1000, unit);
}

/* All fit: a burst is given away, as many at a time as may be under way. */
static void burst(struct world *world)
{
    unsigned int assigned = 0;
    make_world(world, SHAPE_SAME, 64);
    uint64_t start = cpu_ns();
    do {
        make_plan(world);
        accept_all(world);
        assigned += world->plan.count;
    } while (world->plan.count > 0);
    uint64_t ns = cpu_ns() - start;
    print("a burst that fits", assigned, "assignment", ns);
    end_world(world);
}

/* Nothing fits; then one run after the other ends, and another takes its place. */
static void backlog(struct world *world, const char *what, enum shape shape)
{
    char name[128], status[160];
    unsigned int assigned = 0;
    make_world(world, shape, 1);
    uint64_t start = cpu_ns();
    make_plan(world);
    accept_all(world);
    (void)snprintf(name, sizeof(name), "%s: the first look", what);
    print(name, 0, "plan", cpu_ns() - start);
    uint64_t spent = 0;
    for (unsigned int i = 0; i < 300; i++) {
        if (shape != SHAPE_PLACES && world->plan.count > 0) {
            struct run_digest *run = world->plan.actions[0].run;
            uint64_t number = 0;
            (void)parse_u64(run->facts.name + 1, 0, UINT32_MAX, &number);
            (void)snprintf(status, sizeof(status),
                           "\"phase\":\"Succeeded\",\"nodeName\":\"%s\",\"agentInstance\":\"i\"",
                           run->node ? run->node->name : "n0");
            put_run(world, (unsigned int)number, shape, 2, status);
        } else {
            nodes_improve(&world->nodes, world->nodes.by_name);
        }
        start = cpu_ns();
        make_plan(world);
        accept_all(world);
        spent += cpu_ns() - start;
        assigned += world->plan.count;
    }
    (void)snprintf(name, sizeof(name), "%s: one ends, one begins (%u)", what, assigned);
    print(name, 300, "plan", spent);
    end_world(world);
}

int main(int argc, char **argv)
{
    static struct world world;
    uint64_t runs = 10000, nodes = 1000;
    if ((argc > 1 && parse_u64(argv[1], 1, 100000, &runs) < 0) ||
        (argc > 2 && parse_u64(argv[2], 1, 10000, &nodes) < 0)) {
        (void)fprintf(stderr, "usage: bench_plan [RUNS [NODES]]\n");
        return 2;
    }
    world.run_count = (unsigned int)runs;
    world.node_count = (unsigned int)nodes;
    burst(&world);
    backlog(&world, "all ask for the same", SHAPE_SAME);
    backlog(&world, "each asks for another size", SHAPE_SIZES);
    backlog(&world, "each asks for another place", SHAPE_PLACES);
    return 0;
}
