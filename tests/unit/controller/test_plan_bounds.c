/* SPDX-License-Identifier: Apache-2.0 */

/* What namespaces may use and queue, what finished runs may keep, and what a plan may cost. */
#include "plan_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "objects.h"

#define ON_NODE     "'nodeName':'n','agentInstance':'i','sandboxID':'s'"
#define RUNNING     "'phase':'Running'," ON_NODE
#define SMALL       "'resources':{'limits':{'memory':'64Mi','cpu':'100m'}}"
#define DONE(sec)   "'phase':'Succeeded','completionTime':'2026-11-29T22:18:" sec "Z'"
#define ALL_DONE_US (CREATED_US + 120 * SECOND_US)

static int setup_node(void **state)
{
    (void)setup(state);
    struct world *world = *state;
    (void)put_agent(&world->nodes, "n", "i", 1000, "1000Gi", "1000");
    return 0;
}

/* "a/r1 b/r2!QueueFull c/r3?NoRoom d/r4-max_runs e/r5~": assigned, failed, explained, deleted,
 * observed. */
static const char *plan(struct world *world)
{
    size_t len = 0;
    plan_make(&world->input, &world->plan);
    world->text[0] = '\0';
    for (unsigned int i = 0; i < world->plan.count; i++) {
        const struct action *action = &world->plan.actions[i];
        const char *detail = "", *mark = "";
        if (action->kind == ACTION_FAIL) {
            mark = "!";
            detail = run_reason_name(action->reason);
        } else if (action->kind == ACTION_EXPLAIN) {
            mark = "?";
            detail = wait_reason_name(action->waits_for);
        } else if (action->kind == ACTION_OBSERVE) {
            mark = "~";
        } else if (action->kind == ACTION_DELETE) {
            mark = "-";
            detail = delete_cause_names[action->cause];
        }
        len += (size_t)snprintf(world->text + len, sizeof(world->text) - len, "%s%s%s%s",
                                i > 0 ? " " : "", action->run->key, mark, detail);
    }
    return world->text;
}

static void test_concurrent_runs(void **state)
{
    struct world *world = *state;
    world->input.limits.used.runs = 2;
    (void)put(world, "a", "r1", "1", "", RUNNING);
    (void)put(world, "a", "r2", "1", "", "");
    (void)put(world, "a", "r3", "1", "", "");
    (void)put(world, "b", "s1", "1", "", "");
    (void)put(world, "b", "s2", "1", "", "");
    (void)put(world, "b", "s3", "1", "", "");
    /* What is about to be assigned counts, and the one namespace doesn't hold up the other. */
    assert_string_equal(plan(world), "a/r2 b/s1 b/s2");
    end_writes(world, WRITE_SETTLED);
    world->input.now_us = CREATED_US + 3 * SECOND_US;
    assert_string_equal(plan(world), "b/s3?NamespaceLimit a/r3?NamespaceLimit");
    assert_string_equal(world->plan.actions[0].message,
                        "2 of at most 2 runs of the namespace are scheduled or running "
                        "(--max-runs-per-namespace)");
    end_writes(world, WRITE_SETTLED);
    (void)put(world, "a", "r3", "2", "",
              "'conditions':[{'type':'Scheduled','status':'False','reason':'NamespaceLimit',"
              "'lastTransitionTime':'2026-11-29T22:17:17Z'}]");
    assert_string_equal(plan(world), "");
    /* One of its runs ends, or the assignment of one fails. */
    (void)put(world, "a", "r1", "2", "", "'phase':'Failed'");
    assert_string_equal(plan(world), "a/r3");
    world->input.limits.used.runs = 0;
    (void)put(world, "b", "s3", "2", "", "");
    assert_string_equal(plan(world), "b/s3");
}

static void test_a_failed_assignment_gives_its_share_back(void **state)
{
    struct world *world = *state;
    world->input.limits.used.runs = 1;
    (void)put(world, "a", "r1", "1", "", "");
    (void)put(world, "a", "r2", "1", "", "");
    assert_string_equal(plan(world), "a/r1");
    end_writes(world, WRITE_FAILED);
    assert_string_equal(plan(world), "a/r2");
}

static void test_memory_and_cpu(void **state)
{
    struct world *world = *state;
    world->input.limits.used.memory_bytes = 1 << 30;
    (void)put(world, "a", "r1", "1", "", RUNNING);
    (void)put(world, "a", "r2", "1", "", "");
    (void)put(world, "a", "r3", "1", "", "");
    (void)put(world, "a", "r4", "1", SMALL, "");
    /* The small one waits behind the one that waits for memory. */
    assert_string_equal(plan(world), "a/r2");
    world->input.limits.used.memory_bytes = 0;
    world->input.limits.used.cpu_milli = 2050;
    (void)put(world, "a", "r1", "2", "", "'phase':'Failed'");
    assert_string_equal(plan(world), "a/r3");
    (void)put(world, "a", "r2", "2", "", "'phase':'Failed'");
    assert_string_equal(plan(world), "a/r4");
}

/* What asks for more than its namespace may ever have holds up nobody, and is told so. */
static void test_larger_than_the_limit(void **state)
{
    struct world *world = *state;
    world->input.limits.used.memory_bytes = 256 << 20;
    (void)put(world, "a", "large", "1", "'queueTimeoutSeconds':5", "");
    (void)put(world, "a", "small", "1", SMALL, "");
    assert_string_equal(plan(world), "a/small");
    world->input.now_us = CREATED_US + 7 * SECOND_US;
    assert_string_equal(plan(world), "a/large!QueueTimeout");
    assert_string_equal(world->plan.actions[0].message,
                        "not placed within 5 s (queueTimeoutSeconds): the namespace's runs have "
                        "memory 64Mi of at most 256Mi (--max-memory-per-namespace), and this one "
                        "asks for 512Mi");
}

static void test_queue_length(void **state)
{
    struct world *world = *state;
    static const char nowhere[] = "'nodeSelector':{'no':'where'}";
    world->input.limits.queued = 2;
    (void)put(world, "a", "r1", "1", nowhere, "");
    (void)put(world, "a", "r2", "1", nowhere, "");
    (void)put(world, "b", "s1", "1", nowhere, "");
    assert_string_equal(plan(world), "");
    /* The youngest go, and runs that can be placed at once don't count. */
    (void)put(world, "a", "r3", "1", nowhere, "");
    (void)put(world, "a", "r4", "1", "", "");
    (void)put(world, "a", "r5", "1", "'runtime':'none'", "");
    assert_string_equal(plan(world), "a/r4 a/r5!QueueFull a/r3!QueueFull");
    assert_string_equal(world->plan.actions[1].message,
                        "3 runs of the namespace wait, and at most 2 may "
                        "(--max-queued-per-namespace): create it again when fewer wait");
    /* A write that failed is tried again. */
    end_writes(world, WRITE_FAILED);
    world->input.now_us += BACKOFF_FIRST_MS * 1000;
    assert_string_equal(plan(world), "a/r4 a/r5!QueueFull a/r3!QueueFull");
    end_writes(world, WRITE_SETTLED);
    assert_string_equal(plan(world), "");
    assert_int_equal(world->runs.waiting, 3);
}

/* A burst that has a place isn't refused because it can't be assigned in one plan. */
static void test_a_burst_is_no_queue(void **state)
{
    struct world *world = *state;
    char name[16];
    world->input.limits.queued = 3;
    world->input.assign_room = 2;
    for (unsigned int i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof(name), "r%u", i);
        (void)put(world, "a", name, "1", "", "");
    }
    for (unsigned int i = 0; i < 5; i++) {
        (void)plan(world);
        assert_int_equal(world->plan.count, 2);
        assert_int_equal(world->plan.actions[1].kind, ACTION_ASSIGN);
    }
    assert_string_equal(plan(world), "");
}

/* What was given back had its place before, and is older than what came after it. */
static void test_given_back(void **state)
{
    struct world *world = *state;
    struct error err = {0};
    world->input.limits.queued = 1;
    world->input.limits.used.runs = 1;
    cleanup_json cJSON *younger =
        parse_object("{'metadata':{'namespace':'a','name':'young','uid':'u','resourceVersion':'1',"
                     "'creationTimestamp':'2026-11-29T22:17:15Z'},'spec':{'code':'x'}}");
    (void)put(world, "a", "running", "1", "", RUNNING);
    (void)put(world, "a", "old", "1", "", RUNNING);
    assert_int_equal(runs_upsert(&world->runs, younger, RUN_BYTES, world->input.now_us, NULL, &err),
                     0);
    assert_string_equal(plan(world), "");
    (void)put(world, "a", "old", "2", "", "");
    assert_string_equal(plan(world), "a/young!QueueFull");
}

struct kept_case {
    struct finished_limits limits;
    const char *plan;
};

/* Of a's oldest and b's the older one is a/a2. */
static void test_finished(void **state)
{
    struct world *world = *state;
    static const struct kept_case cases[] = {
        {{6, 6, 6 * RUN_BYTES}, ""},
        {{5, 6, 6 * RUN_BYTES}, "a/a2-max_runs"},
        {{3, 6, 6 * RUN_BYTES}, "a/a2-max_runs b/b1-max_runs a/a1-max_runs"},
        {{6, 3, 6 * RUN_BYTES}, "a/a2-max_namespace_runs"},
        {{6, 1, 6 * RUN_BYTES},
         "a/a2-max_namespace_runs a/a1-max_namespace_runs a/a4-max_namespace_runs "
         "b/b1-max_namespace_runs"},
        {{6, 6, 6 * RUN_BYTES - 1}, "a/a2-max_bytes"},
        {{6, 6, 4 * RUN_BYTES}, "a/a2-max_bytes b/b1-max_bytes"},
        {{1, 6, 6 * RUN_BYTES},
         "a/a2-max_runs b/b1-max_runs a/a1-max_runs a/a4-max_runs b/b2-max_runs"},
    };
    world->input.now_us = ALL_DONE_US;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        world->input.finished = cases[i].limits;
        (void)put(world, "a", "a1", "1", "", DONE("12"));
        (void)put(world, "a", "a2", "1", "", DONE("10"));
        (void)put(world, "a", "a3", "1", "", DONE("15"));
        (void)put(world, "a", "a4", "1", "", DONE("13"));
        (void)put(world, "b", "b1", "1", "", DONE("11"));
        (void)put(world, "b", "b2", "1", "", DONE("14"));
        (void)put(world, "a", "alive", "1", "", RUNNING);
        assert_string_equal(plan(world), cases[i].plan);
        assert_string_equal(plan(world), "");
        runs_done(&world->runs);
        runs_init(&world->runs, &world->nodes);
    }
}

static void test_deletions_wait_for_room(void **state)
{
    struct world *world = *state;
    char name[16];
    world->input.now_us = ALL_DONE_US;
    world->input.finished.runs_per_namespace = 2;
    world->input.write_room = 3;
    for (unsigned int i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof(name), "r%u", i);
        (void)put(world, "a", name, "1", "", i % 2 ? DONE("13") : DONE("14"));
    }
    for (unsigned int i = 0; i < 2; i++) {
        (void)plan(world);
        assert_int_equal(world->plan.count, 3);
        end_writes(world, WRITE_SETTLED);
    }
    (void)plan(world);
    assert_int_equal(world->plan.count, 2);
    end_writes(world, WRITE_SETTLED);
    assert_string_equal(plan(world), "");
    assert_int_equal(world->runs.finished.oldest.count, 2);
    assert_int_equal(world->runs.finished.bytes, 2 * RUN_BYTES);
}

/* A deletion that fails is tried again after a pause, and nobody else goes in its stead; one that
 * met another version is decided on again; what is being deleted doesn't count. */
static void test_deletions_that_fail(void **state)
{
    struct world *world = *state;
    struct error err = {0};
    world->input.now_us = ALL_DONE_US;
    world->input.finished.runs = 1;
    (void)put(world, "a", "r1", "1", "", DONE("13"));
    (void)put(world, "a", "r2", "1", "", DONE("14"));
    assert_string_equal(plan(world), "a/r1-max_runs");
    end_writes(world, WRITE_FAILED);
    assert_string_equal(plan(world), "");
    world->input.now_us += BACKOFF_FIRST_MS * 1000;
    assert_string_equal(plan(world), "a/r1-max_runs");
    end_writes(world, WRITE_SETTLED);
    assert_string_equal(plan(world), "");
    (void)put(world, "a", "r1", "2", "", DONE("13"));
    assert_string_equal(plan(world), "a/r1-max_runs");
    end_writes(world, WRITE_SETTLED);
    cleanup_json cJSON *held = parse_object(
        "{'metadata':{'namespace':'a','name':'r1','uid':'uid-r1','resourceVersion':'3',"
        "'deletionTimestamp':'2026-11-29T22:17:14Z','finalizers':['x']},"
        "'spec':{'code':'x'},'status':{'phase':'Failed'}}");
    assert_int_equal(runs_upsert(&world->runs, held, RUN_BYTES, world->input.now_us, NULL, &err),
                     0);
    assert_string_equal(plan(world), "");
    assert_int_equal(world->runs.finished.oldest.count, 1);
}

/* A run that is written about isn't deleted at the same time, but right after. */
static void test_observed_before_it_is_counted(void **state)
{
    struct world *world = *state;
    struct error err = {0};
    world->input.now_us = ALL_DONE_US;
    world->input.finished.runs = 1;
    (void)put(world, "a", "newer", "1", "", DONE("14"));
    for (unsigned int i = 1; i <= 2; i++) {
        cleanup_json cJSON *run = parse_object(
            "{'metadata':{'namespace':'a','name':'older','uid':'u','resourceVersion':'%u',"
            "'generation':2,'creationTimestamp':'2026-11-29T22:17:14Z'},'spec':{'code':'x'},'status':{" DONE(
                "10") ",'observedGeneration':%u}}",
            i, i);
        assert_int_equal(runs_upsert(&world->runs, run, RUN_BYTES, world->input.now_us, NULL, &err),
                         0);
        assert_string_equal(plan(world), i == 1 ? "a/older~" : "a/older-max_runs");
        end_writes(world, WRITE_SETTLED);
    }
}

/* Its size is that of its newest version. */
static void test_size_of_the_newest_version(void **state)
{
    struct world *world = *state;
    struct error err = {0};
    cleanup_json cJSON *larger =
        parse_object("{'metadata':{'namespace':'a','name':'r','uid':'uid-r','resourceVersion':'2'},"
                     "'spec':{'code':'x'},'status':{'phase':'Failed'}}");
    (void)put(world, "a", "r", "1", "", DONE("13"));
    assert_string_equal(plan(world), "");
    assert_int_equal(world->runs.finished.bytes, RUN_BYTES);
    assert_int_equal(
        runs_upsert(&world->runs, larger, 5 * RUN_BYTES, world->input.now_us, NULL, &err), 0);
    assert_string_equal(plan(world), "");
    assert_int_equal(world->runs.finished.bytes, 5 * RUN_BYTES);
    runs_remove(&world->runs, "a", "r", "uid-r");
    assert_int_equal(world->runs.finished.bytes, 0);
}

/* However many ask for something else each, a plan looks at all nodes a bounded number of times,
 * and the next one goes on where it ended. */
static void test_scans_are_bounded(void **state)
{
    struct world *world = *state;
    unsigned int count = 3 * MAX_PLAN_SCANS;
    (void)put_agent(&world->nodes, "n", "i", 5, "5Gi", "5");
    for (unsigned int i = 0; i < count; i++) {
        char name[16], spec[64];
        (void)snprintf(name, sizeof(name), "r%u", i);
        (void)snprintf(spec, sizeof(spec), "'nodeSelector':{'pool':'p%u'}", i);
        (void)put(world, i % 2 ? "a" : "b", name, "1", spec, "");
    }
    (void)put(world, "a", "last", "1", "", "");
    for (unsigned int i = 0; i < 3; i++) {
        assert_string_equal(plan(world), "");
        assert_int_equal(world->plan.wake_us, world->input.now_us);
    }
    assert_string_equal(plan(world), "a/last");
    assert_true(world->plan.wake_us > world->input.now_us);
    put_core(&world->nodes, "n", "'labels':{'pool':'p700'}", "");
    assert_string_equal(plan(world), "b/r700");
}

/* Of a thousand full nodes one gets room for a run again and again, and of ten thousand that wait
 * the namespaces' oldest take it in turn. */
static void test_large_backlog(void **state)
{
    struct world *world = *state;
    char name[32];
    (void)nodes_remove_agent(&world->nodes, "n");
    for (unsigned int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "n%u", i);
        put_agent(&world->nodes, name, "i", 1, "1Gi", "1")->used.runs = 1;
    }
    for (unsigned int i = 0; i < 10000; i++) {
        char name_space[32];
        (void)snprintf(name, sizeof(name), "r%u", i);
        (void)snprintf(name_space, sizeof(name_space), "ns%u", i % 50);
        (void)put(world, name_space, name, "1", "", "");
    }
    assert_string_equal(plan(world), "");
    struct node *node = nodes_find(&world->nodes, "n500");
    for (unsigned int i = 0; i < 50; i++) {
        node->used.runs = 0;
        node->used.cpu_milli = 0;
        node->used.memory_bytes = 0;
        nodes_improve(&world->nodes, node);
        (void)plan(world);
        assert_int_equal(world->plan.count, 1);
        (void)snprintf(name, sizeof(name), "r%u", i);
        assert_string_equal(world->plan.actions[0].run->facts.name, name);
        assert_ptr_equal(world->plan.actions[0].node, node);
    }
    /* Undo what the test took from the books, so that they close. */
    node->used =
        (struct node_resources){.runs = 51, .memory_bytes = 51ull << 29, .cpu_milli = 51000};
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_concurrent_runs, setup_node, teardown),
        cmocka_unit_test_setup_teardown(test_a_failed_assignment_gives_its_share_back, setup_node,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_memory_and_cpu, setup_node, teardown),
        cmocka_unit_test_setup_teardown(test_larger_than_the_limit, setup_node, teardown),
        cmocka_unit_test_setup_teardown(test_queue_length, setup_node, teardown),
        cmocka_unit_test_setup_teardown(test_a_burst_is_no_queue, setup_node, teardown),
        cmocka_unit_test_setup_teardown(test_given_back, setup_node, teardown),
        cmocka_unit_test_setup_teardown(test_finished, setup_node, teardown),
        cmocka_unit_test_setup_teardown(test_deletions_wait_for_room, setup_node, teardown),
        cmocka_unit_test_setup_teardown(test_deletions_that_fail, setup_node, teardown),
        cmocka_unit_test_setup_teardown(test_observed_before_it_is_counted, setup_node, teardown),
        cmocka_unit_test_setup_teardown(test_size_of_the_newest_version, setup_node, teardown),
        cmocka_unit_test_setup_teardown(test_scans_are_bounded, setup_node, teardown),
        cmocka_unit_test_setup_teardown(test_large_backlog, setup_node, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
