/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/runs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "objects.h"

#define ON_NODE(name) "'nodeName':'" name "','agentInstance':'i','sandboxID':'s'"

struct store {
    struct nodes nodes;
    struct runs runs;
};

static int setup(void **state)
{
    static struct store store;
    store.nodes = (struct nodes){0};
    runs_init(&store.runs, &store.nodes);
    *state = &store;
    return 0;
}

static int teardown(void **state)
{
    struct store *store = *state;
    runs_done(&store->runs);
    nodes_done(&store->nodes);
    return 0;
}

static struct run_digest *put(struct store *store, const char *name, const char *version,
                              const char *status, int64_t now_us)
{
    return put_run(&store->runs, "a", name, version, "", status, now_us);
}

static void test_filed_by_phase(void **state)
{
    struct store *store = *state;
    struct runs *runs = &store->runs;
    struct run_digest *run = put(store, "r", "1", "", CREATED_US);
    assert_ptr_equal(runs_find(runs, "a", "r"), run);
    assert_null(runs_find(runs, "b", "r"));
    assert_non_null(run->lane);
    assert_null(run->node);
    assert_int_equal(runs->waiting, 1);
    assert_true(runs->tenants.fresh);
    assert_int_equal(runs->counts[RUN_PHASE_PENDING], 1);

    assert_ptr_equal(put(store, "r", "2", "'phase':'Scheduled'," ON_NODE("n"), CREATED_US), run);
    assert_null(run->lane);
    assert_ptr_equal(run->node, nodes_find(&store->nodes, "n"));
    assert_int_equal(run->node->used.runs, 1);
    assert_int_equal(runs->waiting, 0);

    (void)put(store, "r", "3", "'phase':'Running'," ON_NODE("n"), CREATED_US);
    assert_int_equal(run->node->used.runs, 1);
    assert_int_equal(run->node->used.memory_bytes, 512 << 20);

    uint64_t generation = store->nodes.generation;
    (void)put(store, "r", "4", "'phase':'Failed','reason':'Error'," ON_NODE("n"), CREATED_US);
    assert_null(run->node);
    assert_true(store->nodes.generation > generation);
    assert_null(nodes_find(&store->nodes, "n"));
    assert_int_equal(runs->counts[RUN_PHASE_FAILED], 1);
    assert_int_equal(runs->counts[RUN_PHASE_PENDING], 0);

    runs_remove(runs, "a", "r", "another uid");
    assert_non_null(runs_find(runs, "a", "r"));
    runs_remove(runs, "a", "r", "uid-r");
    assert_null(runs_find(runs, "a", "r"));
    assert_int_equal(runs->counts[RUN_PHASE_FAILED], 0);
}

/* From first sight, through a giving back, to the sight of the end, which is told once. */
static void test_total(void **state)
{
    struct store *store = *state;
    struct run_digest *run = put(store, "r", "1", "", CREATED_US + 500000);
    assert_int_equal(run_take_total_us(run, CREATED_US + 600000), -1);
    (void)put(store, "r", "2", "'phase':'Scheduled'," ON_NODE("n"), CREATED_US + 700000);
    (void)put(store, "r", "3", "", CREATED_US + 800000);
    assert_int_equal(run_take_total_us(run, CREATED_US + 800000), -1);
    (void)put(store, "r", "4", "'phase':'Failed','reason':'QueueTimeout'", CREATED_US + 2500000);
    assert_int_equal(run_take_total_us(run, CREATED_US + 2500000), 2000000);
    assert_int_equal(run_take_total_us(run, CREATED_US + 2600000), -1);

    run = put(store, "older", "1", "", CREATED_US + 60000000);
    (void)put(store, "older", "2", "'phase':'Failed','reason':'QueueTimeout'",
              CREATED_US + 61000000);
    assert_int_equal(run_take_total_us(run, CREATED_US + 61000000), 60000001);

    run = put(store, "over", "1", "'phase':'Failed','reason':'QueueTimeout'", CREATED_US);
    assert_int_equal(run_take_total_us(run, CREATED_US + 1), -1);
}

/* What waits for nothing but room is queued; the rest is only looked at. */
static void test_what_is_queued(void **state)
{
    struct store *store = *state;
    (void)put_run(&store->runs, "a", "egress", "1", "'egress':[]", "", CREATED_US);
    (void)put_run(&store->runs, "a", "long", "1", "'timeoutSeconds':61", "", CREATED_US);
    assert_int_equal(store->runs.waiting, 0);
    assert_non_null(runs_next(&store->runs, CREATED_US));
    assert_non_null(runs_next(&store->runs, CREATED_US));
    assert_null(runs_next(&store->runs, CREATED_US));
}

static void test_same_name_new_object(void **state)
{
    struct store *store = *state;
    struct error err = {0};
    struct run_digest *run = put(store, "r", "1", "'phase':'Running'," ON_NODE("n"), CREATED_US);
    assert_non_null(run->node);
    cleanup_json cJSON *object =
        parse_object("{'metadata':{'namespace':'a','name':'r','uid':'other','resourceVersion':'1'},"
                     "'spec':{'code':'x'}}");
    assert_int_equal(runs_upsert(&store->runs, object, RUN_BYTES, CREATED_US, &run, &err), 0);
    assert_string_equal(run->facts.uid, "other");
    assert_null(run->node);
    assert_null(nodes_find(&store->nodes, "n"));
    assert_int_equal(store->runs.counts[RUN_PHASE_RUNNING], 0);
    assert_int_equal(store->runs.counts[RUN_PHASE_PENDING], 1);
}

/* A version that is known already changes nothing: what was decided on it still holds. */
static void test_same_version(void **state)
{
    struct store *store = *state;
    struct run_digest *run = put(store, "r", "1", "", CREATED_US);
    assert_ptr_equal(runs_next(&store->runs, CREATED_US), run);
    runs_begin_write(&store->runs, run, NULL);
    runs_end_write(&store->runs, run, "1", WRITE_SETTLED, CREATED_US);
    assert_true(run->settled);
    (void)put(store, "r", "1", "", CREATED_US);
    assert_true(run->settled);
    (void)put(store, "r", "2", "", CREATED_US);
    assert_false(run->settled);
}

static void test_times(void **state)
{
    struct store *store = *state;
    /* creationTimestamp has whole seconds: the wait counts from the end of that second. */
    struct run_digest *run = put(store, "r", "1", "", CREATED_US + 5 * SECOND_US);
    assert_int_equal(run->queued_us, CREATED_US + 999999);
    (void)put(store, "r", "2", "'phase':'Scheduled'," ON_NODE("n"), CREATED_US + 6 * SECOND_US);
    assert_int_equal(run->queued_us, CREATED_US + 999999);
    /* Given back: the wait begins anew. */
    (void)put(store, "r", "3", "", CREATED_US + 7 * SECOND_US);
    assert_int_equal(run->queued_us, CREATED_US + 7 * SECOND_US);
    assert_int_equal(run->finished_us, 0);
    (void)put(store, "r", "4", "'phase':'Failed','completionTime':'2026-11-29T22:17:16Z'",
              CREATED_US + 8 * SECOND_US);
    assert_int_equal(run->finished_us, CREATED_US + 2 * SECOND_US);
    (void)put(store, "r", "5", "'phase':'Failed','completionTime':'2026-11-29T22:17:16Z'",
              CREATED_US + 9 * SECOND_US);
    assert_int_equal(run->finished_us, CREATED_US + 2 * SECOND_US);

    /* Clocks that run ahead, and times that are missing. */
    run = put(store, "early", "1", "", CREATED_US - SECOND_US);
    assert_int_equal(run->queued_us, CREATED_US - SECOND_US);
    run = put(store, "late", "1", "'phase':'Failed','completionTime':'2036-01-01T00:00:00Z'",
              CREATED_US + 1);
    assert_int_equal(run->finished_us, CREATED_US + 1);
    run = put(store, "none", "1", "'phase':'Failed'", CREATED_US + 2);
    assert_int_equal(run->finished_us, CREATED_US + 2);
}

static void test_assignment_under_way(void **state)
{
    struct store *store = *state;
    struct runs *runs = &store->runs;
    struct node *node = put_agent(&store->nodes, "n", "i", 2, "1Gi", "2");
    struct run_digest *run = put(store, "r", "1", "", CREATED_US);

    /* Accounted for at once, and taken back when it fails, with a growing pause. */
    static const int64_t pauses_us[] = {500000,  1000000,  2000000,  4000000,
                                        8000000, 16000000, 30000000, 30000000};
    for (size_t i = 0; i < ARRAY_SIZE(pauses_us); i++) {
        runs_begin_write(runs, run, node);
        assert_true(run->writing);
        assert_null(run->lane);
        assert_int_equal(node->used.runs, 1);
        assert_int_equal(node->warm_taken, i + 1);
        uint64_t generation = store->nodes.generation;
        runs_end_write(runs, run, "1", WRITE_FAILED, CREATED_US);
        assert_false(run->writing);
        assert_non_null(run->lane);
        assert_int_equal(node->used.runs, 0);
        assert_true(store->nodes.generation > generation);
        assert_int_equal(run->not_before_us, CREATED_US + pauses_us[i]);
    }

    /* Kept when it was accepted, until the watch says the same. */
    runs_begin_write(runs, run, node);
    runs_end_write(runs, run, "1", WRITE_SETTLED, CREATED_US);
    assert_true(run->settled);
    assert_int_equal(node->used.runs, 1);
    (void)put(store, "r", "2", "'phase':'Scheduled'," ON_NODE("n"), CREATED_US);
    assert_int_equal(node->used.runs, 1);
    assert_false(run->settled);
    assert_int_equal(run->not_before_us, 0);
}

/* The watch may be faster than the answer, and tell of a version that came after. */
static void test_answer_for_an_old_version(void **state)
{
    struct store *store = *state;
    struct runs *runs = &store->runs;
    struct node *node = put_agent(&store->nodes, "n", "i", 2, "1Gi", "2");
    struct run_digest *run = put(store, "r", "1", "", CREATED_US);
    runs_begin_write(runs, run, node);
    (void)put(store, "r", "2", "'phase':'Scheduled'," ON_NODE("n"), CREATED_US);
    (void)put(store, "r", "3", "'phase':'Failed','reason':'Error'," ON_NODE("n"), CREATED_US);
    assert_int_equal(node->used.runs, 0);
    assert_true(run->writing);
    runs_end_write(runs, run, "1", WRITE_SETTLED, CREATED_US);
    assert_false(run->writing);
    assert_false(run->settled);
    assert_int_equal(run->facts.phase, RUN_PHASE_FAILED);

    /* The same after a change that made the write fail: free to be decided on again. */
    run = put(store, "r2", "1", "", CREATED_US);
    runs_begin_write(runs, run, node);
    (void)put(store, "r2", "2", "", CREATED_US);
    assert_non_null(run->lane);
    assert_int_equal(node->used.runs, 0);
    runs_end_write(runs, run, "1", WRITE_SETTLED, CREATED_US);
    assert_false(run->settled);
    runs_end_write(runs, run, "1", WRITE_FAILED, CREATED_US);
    assert_int_equal(run->not_before_us, 0);
}

static void check_order(struct lane *lane, const char *wanted)
{
    char order[8] = "";
    size_t len = 0;
    const struct run_digest *run;
    lane_sort(lane);
    for (run = lane->queue; run; run = run->queue_next)
        order[len++] = run->facts.name[0];
    assert_string_equal(order, wanted);
}

static void test_queue_order(void **state)
{
    struct store *store = *state;
    static const struct {
        const char *name, *created;
    } cases[] = {{"b", "2026-11-29T22:17:16Z"},
                 {"c", "2026-11-29T22:17:14Z"},
                 {"a", "2026-11-29T22:17:15Z"},
                 {"0", "2026-11-29T22:17:15Z"}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = {0};
        cleanup_json cJSON *object =
            parse_object("{'metadata':{'namespace':'x','name':'%s','uid':'u%s','resourceVersion':"
                         "'1','creationTimestamp':'%s'},'spec':{'code':'x'}}",
                         cases[i].name, cases[i].name, cases[i].created);
        assert_int_equal(runs_upsert(&store->runs, object, RUN_BYTES, CREATED_US, NULL, &err), 0);
    }
    check_order(store->runs.tenants.turn->lanes, "ca0b");
}

/* Whoever comes far behind its time is put in place by a sort, once. */
static void test_long_queue(void **state)
{
    struct store *store = *state;
    struct error err = {0};
    for (unsigned int i = 0; i < 1000; i++) {
        cleanup_json cJSON *object = parse_object(
            "{'metadata':{'namespace':'x','name':'r%u','uid':'u','resourceVersion':'1',"
            "'creationTimestamp':'2026-11-29T22:%02u:%02uZ'},'spec':{'code':'x'}}",
            i, i * 7 % 60, i * 13 % 60);
        assert_int_equal(runs_upsert(&store->runs, object, RUN_BYTES, CREATED_US, NULL, &err), 0);
    }
    struct lane *lane = store->runs.tenants.turn->lanes;
    assert_false(lane->sorted);
    lane_sort(lane);
    const struct run_digest *run;
    unsigned int count = 1;
    for (run = lane->queue; run->queue_next; run = run->queue_next, count++)
        assert_true(run_compare_age(run, run->queue_next) < 0);
    assert_int_equal(count, 1000);
}

static void test_lanes(void **state)
{
    struct store *store = *state;
    struct tenants *tenants = &store->runs.tenants;
    struct run_digest *a = put_run(&store->runs, "x", "a", "1", "", "", CREATED_US);
    struct run_digest *small = put_run(&store->runs, "x", "small", "1",
                                       "'resources':{'limits':{'memory':'32Mi'}}", "", CREATED_US);
    struct run_digest *pool =
        put_run(&store->runs, "x", "pool", "1", "'nodeSelector':{'a':'b'}", "", CREATED_US);
    struct run_digest *tool =
        put_run(&store->runs, "x", "tool", "1", "'profile':'ToolCall'", "", CREATED_US);
    struct run_digest *other = put_run(&store->runs, "y", "other", "1", "", "", CREATED_US);
    assert_ptr_equal(a->lane, small->lane);
    assert_ptr_not_equal(a->lane, pool->lane);
    assert_ptr_not_equal(a->lane, tool->lane);
    assert_ptr_not_equal(a->lane, other->lane);
    assert_int_equal(a->tenant->queued, 4);
    assert_ptr_equal(tenant_youngest(a->tenant), tool);
    tool->writing = true;
    assert_ptr_equal(tenant_youngest(a->tenant), pool);
    tool->writing = false;

    /* Another version of it keeps its place. */
    a->tried = 7;
    (void)put_run(&store->runs, "x", "a", "2", "", "", CREATED_US);
    assert_ptr_equal(a->lane->queue, a);
    assert_int_equal(a->tried, 7);

    assert_ptr_equal(tenants->turn, a->tenant);
    tenants_served(tenants, a->tenant);
    assert_ptr_equal(tenants->turn, other->tenant);
    (void)put_run(&store->runs, "y", "other", "2", "", "'phase':'Running'," ON_NODE("n"),
                  CREATED_US);
    assert_ptr_equal(tenants->turn, a->tenant);
    tenants_served(tenants, other->tenant);
    assert_ptr_equal(tenants->turn, a->tenant);
    assert_int_equal(other->tenant->used.runs, 1);
    assert_int_equal(other->tenant->used.memory_bytes, 512 << 20);
    assert_int_equal(other->tenant->used.cpu_milli, 1000);
}

/* A namespace is remembered as long as it has a run. */
static void test_empty_tenants_go(void **state)
{
    struct store *store = *state;
    struct tenants *tenants = &store->runs.tenants;
    (void)put(store, "r", "1", "", CREATED_US);
    (void)put_run(&store->runs, "b", "r", "1", "", "", CREATED_US);
    (void)put(store, "r", "2", "'phase':'Failed'", CREATED_US);
    assert_int_equal(HASH_COUNT(tenants->by_name), 2);
    assert_string_equal(tenants->turn->name_space, "b");
    assert_null(tenants->turn->next);
    runs_remove(&store->runs, "a", "r", "uid-r");
    assert_int_equal(HASH_COUNT(tenants->by_name), 1);
}

static void test_wake_ups(void **state)
{
    struct store *store = *state;
    struct runs *runs = &store->runs;
    struct run_digest *a = put(store, "a", "1", "", CREATED_US);
    struct run_digest *b = put(store, "b", "1", "", CREATED_US);
    assert_ptr_equal(runs_next(runs, CREATED_US), a);
    assert_ptr_equal(runs_next(runs, CREATED_US), b);
    assert_null(runs_next(runs, CREATED_US));
    runs_wake_at(runs, a, CREATED_US + 20);
    runs_wake_at(runs, b, CREATED_US + 10);
    assert_null(runs_next(runs, CREATED_US + 9));
    runs_wake_at(runs, b, INT64_MAX);
    assert_null(runs_next(runs, CREATED_US + 19));
    runs_touch(runs, b);
    runs_touch(runs, b);
    assert_ptr_equal(runs_next(runs, CREATED_US + 20), b);
    assert_ptr_equal(runs_next(runs, CREATED_US + 20), a);
    assert_null(runs_next(runs, CREATED_US + 20));
}

static void test_touched_by_its_node(void **state)
{
    struct store *store = *state;
    struct run_digest *run = put(store, "a", "1", "'phase':'Running'," ON_NODE("n"), CREATED_US);
    (void)put(store, "b", "1", "'phase':'Running'," ON_NODE("m"), CREATED_US);
    while (runs_next(&store->runs, CREATED_US))
        ;
    runs_touch_node(&store->runs, run->node);
    assert_ptr_equal(runs_next(&store->runs, CREATED_US), run);
    assert_null(runs_next(&store->runs, CREATED_US));
}

/* Whatever the clocks show by which others have dated it. */
static void test_what_is_new_begins_now(void **state)
{
    struct store *store = *state;
    static const int64_t skews_us[] = {-INT64_C(7200) * SECOND_US, -90 * SECOND_US, 0,
                                       90 * SECOND_US, INT64_C(7200) * SECOND_US};
    for (size_t i = 0; i < ARRAY_SIZE(skews_us); i++) {
        int64_t now_us = CREATED_US + skews_us[i];
        store->runs.listed = true;
        struct run_digest *run = put(store, "r", "1", "", now_us);
        assert_int_equal(run->queued_us, now_us);
        assert_int_equal(run->finished_us, 0);
        now_us += 5 * SECOND_US;
        (void)put(store, "r", "2", "'phase':'Failed','completionTime':'2026-11-29T22:17:15Z'",
                  now_us);
        assert_int_equal(run->finished_us, now_us);
        (void)put(store, "r", "3", "'phase':'Failed','completionTime':'2026-11-29T22:17:15Z'",
                  now_us + SECOND_US);
        assert_int_equal(run->finished_us, now_us);
        runs_remove(&store->runs, "a", "r", "uid-r");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_filed_by_phase, setup, teardown),
        cmocka_unit_test_setup_teardown(test_total, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_queued, setup, teardown),
        cmocka_unit_test_setup_teardown(test_same_name_new_object, setup, teardown),
        cmocka_unit_test_setup_teardown(test_same_version, setup, teardown),
        cmocka_unit_test_setup_teardown(test_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_assignment_under_way, setup, teardown),
        cmocka_unit_test_setup_teardown(test_answer_for_an_old_version, setup, teardown),
        cmocka_unit_test_setup_teardown(test_queue_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lanes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_empty_tenants_go, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wake_ups, setup, teardown),
        cmocka_unit_test_setup_teardown(test_touched_by_its_node, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_new_begins_now, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
