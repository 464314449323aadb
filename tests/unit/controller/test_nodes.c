/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/nodes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "controller/limits.h"
#include "objects.h"

static void test_agent_and_core_share_an_entry(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    put_core(&nodes, "node-a", "'labels':{'pool':'x','zone':''}", "");
    struct node *node = put_agent(&nodes, "node-a", "i", 2, "1Gi", "2");
    assert_ptr_equal(node, nodes_find(&nodes, "node-a"));
    assert_true(node->has_core);
    assert_int_equal(node->label_count, 2);
    assert_string_equal(node->agent->instance, "i");
    uint64_t generation = nodes.generation;
    assert_int_equal(node->improved, generation);
    assert_null(nodes_remove_agent(&nodes, "node-a"));
    assert_int_equal(nodes.generation, generation);
    assert_non_null(nodes_find(&nodes, "node-a"));
    nodes_remove_core(&nodes, "node-a");
    assert_null(nodes_find(&nodes, "node-a"));
    assert_null(nodes.recent);

    assert_null(nodes_remove_agent(&nodes, "node-b"));
    nodes_remove_core(&nodes, "node-b");
    nodes_done(&nodes);
}

static void test_an_entry_lives_with_its_runs(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    struct runs runs;
    runs_init(&runs, &nodes);
    struct node *node = put_agent(&nodes, "node-a", "i", 2, "1Gi", "2");
    (void)put_run(&runs, "a", "r", "1", "",
                  "'phase':'Running','nodeName':'node-a','agentInstance':'i','sandboxID':'s'",
                  CREATED_US);
    assert_int_equal(node->used.runs, 1);
    assert_int_equal(node->used.memory_bytes, 512 << 20);
    assert_int_equal(node->used.cpu_milli, 1000);
    assert_ptr_equal(nodes_remove_agent(&nodes, "node-a"), node);
    assert_null(node->agent);
    assert_ptr_equal(nodes_find(&nodes, "node-a"), node);
    runs_remove(&runs, "a", "r", "uid-r");
    assert_null(nodes_find(&nodes, "node-a"));
    runs_done(&runs);
    nodes_done(&nodes);
}

static void test_cordons_and_taints(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        bool cordoned, tainted;
    } cases[] = {
        {"", false, false},
        {"'unschedulable':true", true, false},
        {"'unschedulable':false", false, false},
        {"'unschedulable':'yes'", false, false},
        {"'taints':[{'key':'a','effect':'PreferNoSchedule'}]", false, false},
        {"'taints':[{'key':'a','effect':'PreferNoSchedule'},{'key':'b','effect':'NoSchedule'}]",
         false, true},
        {"'taints':[{'key':'a','effect':'NoExecute'}]", false, true},
        {"'taints':[1,{}]", false, false},
        {"'taints':7", false, false},
    };
    struct nodes nodes = {0};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        put_core(&nodes, "node-a", "", cases[i].spec);
        const struct node *node = nodes_find(&nodes, "node-a");
        assert_int_equal(node->cordoned, cases[i].cordoned);
        assert_int_equal(node->tainted, cases[i].tainted);
    }
    nodes_done(&nodes);
}

/* A node with more labels than are kept could be chosen for a label that it lacks. */
static void test_too_many_labels(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    struct error err = {0};
    cleanup_json cJSON *object = parse_object("{'metadata':{'name':'node-a','labels':{}}}");
    cJSON *labels = cJSON_GetObjectItem(cJSON_GetObjectItem(object, "metadata"), "labels");
    for (unsigned int i = 0; i <= MAX_NODE_LABELS; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "label-%u", i);
        assert_non_null(cJSON_AddStringToObject(labels, key, "x"));
    }
    assert_int_equal(nodes_set_core(&nodes, object, &err), 0);
    assert_true(nodes_find(&nodes, "node-a")->cordoned);
    assert_int_equal(nodes_find(&nodes, "node-a")->label_count, 0);
    cJSON_DeleteItemFromObject(labels, "label-0");
    assert_int_equal(nodes_set_core(&nodes, object, &err), 0);
    assert_false(nodes_find(&nodes, "node-a")->cordoned);
    assert_int_equal(nodes_find(&nodes, "node-a")->label_count, MAX_NODE_LABELS);
    nodes_done(&nodes);
}

static void test_no_name(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    struct node *node = NULL;
    struct error err = {0};
    cleanup_json cJSON *object = parse_object("{'metadata':{}}");
    assert_int_equal(nodes_set_core(&nodes, object, &err), -EINVAL);
    assert_int_equal(nodes_set_agent(&nodes, object, &node, &err), -EINVAL);
    assert_null(nodes.by_name);
}

static void test_warm_count_starts_afresh(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    struct node *node = put_agent(&nodes, "node-a", "i", 2, "1Gi", "2");
    node->warm_taken = 3;
    (void)put_agent(&nodes, "node-a", "i", 2, "1Gi", "2");
    assert_int_equal(node->warm_taken, 0);
    nodes_done(&nodes);
}

static const struct lease_times lease_times = {.duration_ms = 40000, .renew_ms = 10000};

static bool is_fresh(struct nodes *nodes, int64_t seconds)
{
    nodes_age(nodes, 1 + seconds * SECOND_US, 40 * SECOND_US);
    return nodes_find(nodes, "n")->heartbeat.fresh;
}

static void see_lease(struct nodes *nodes, int64_t seconds, const char *holder, const char *renewed)
{
    objects_steady_us = 1 + seconds * SECOND_US;
    put_lease(nodes, "n", holder, renewed, &lease_times);
}

static void test_heartbeat(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    struct error err = {0};
    struct node *node;
    cleanup_json cJSON *agent = parse_object("{'metadata':{'name':'n'},'status':{'instance':'i'}}");
    see_lease(&nodes, 0, "i", "22:17:10");
    /* Without an agent, or for another start of it, it means nothing. */
    assert_false(is_fresh(&nodes, 0));
    assert_int_equal(nodes_set_agent(&nodes, agent, &node, &err), 0);
    uint64_t generation = nodes.generation;
    assert_true(is_fresh(&nodes, 39));
    assert_int_equal(nodes.generation, generation + 1);
    assert_int_equal(node->improved, generation + 1);
    /* Nobody finds a place by that. */
    assert_false(is_fresh(&nodes, 40));
    assert_int_equal(nodes.generation, generation + 1);
    /* Another version of the same renewal is no sign of life. */
    see_lease(&nodes, 41, "i", "22:17:10");
    assert_false(is_fresh(&nodes, 41));
    see_lease(&nodes, 42, "i", "22:17:20");
    assert_true(is_fresh(&nodes, 42));
    assert_int_equal(node->heartbeat.resumed_us, 1 + 42 * SECOND_US);
    see_lease(&nodes, 52, "i", "22:17:30");
    assert_int_equal(node->heartbeat.resumed_us, 1 + 42 * SECOND_US);
    see_lease(&nodes, 53, "other", "22:17:30");
    assert_false(is_fresh(&nodes, 53));
    see_lease(&nodes, 54, "i", "22:17:30");
    assert_true(is_fresh(&nodes, 54));
    node->heartbeat.asked_us = 7;
    nodes_remove_lease(&nodes, "n", 1 + 60 * SECOND_US);
    assert_false(is_fresh(&nodes, 60));
    assert_int_equal(node->heartbeat.seen_us, 1 + 60 * SECOND_US);
    assert_int_equal(node->heartbeat.asked_us, 0);
    assert_null(nodes_remove_agent(&nodes, "n"));
    assert_null(nodes_find(&nodes, "n"));
    nodes_remove_lease(&nodes, "n", 1);
    objects_steady_us = 1;
}

/* Renewals alone don't have all nodes looked through; the one that stays away is found all the
 * same, and so is whoever comes after it. */
static void test_silence_among_renewals(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    struct error err = {0};
    struct node *node;
    static const char *const names[] = {"n", "m"};
    cleanup_json cJSON *another =
        parse_object("{'metadata':{'name':'n'},'status':{'instance':'another'}}");
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        (void)put_agent(&nodes, names[i], "i", 2, "1Gi", "2");
        objects_steady_us = 1;
        put_lease(&nodes, names[i], "i", "22:17:10", &lease_times);
    }
    assert_true(is_fresh(&nodes, 0));
    nodes.untold = false;
    uint64_t generation = nodes.generation;
    see_lease(&nodes, 10, "i", "22:17:20");
    assert_true(is_fresh(&nodes, 10));
    assert_false(nodes.unaged);
    assert_int_equal(nodes.generation, generation);
    assert_true(is_fresh(&nodes, 40));
    assert_false(nodes_find(&nodes, "m")->heartbeat.fresh);
    assert_true(nodes.untold);
    assert_true(is_fresh(&nodes, 49));
    assert_false(is_fresh(&nodes, 50));
    see_lease(&nodes, 51, "another", "22:18:01");
    assert_false(is_fresh(&nodes, 51));
    assert_int_equal(nodes_set_agent(&nodes, another, &node, &err), 0);
    assert_true(is_fresh(&nodes, 52));
    nodes_done(&nodes);
    objects_steady_us = 1;
}

/* At first sight a Lease may be one that nobody renews any more, or that a clock far ahead wrote:
 * then it has to move first. */
static void test_heartbeat_at_first_sight(void **state)
{
    (void)state;
    static const struct {
        const char *renewed;
        bool fresh;
    } cases[] = {
        {"22:17:14", true},  {"22:16:35", true},  {"22:16:34", false}, {"22:17:53", true},
        {"22:17:54", false}, {"23:59:59", false}, {"nonsense", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct nodes nodes = {0};
        struct error err = {0};
        struct node *node;
        cleanup_json cJSON *agent =
            parse_object("{'metadata':{'name':'n'},'status':{'instance':'i'}}");
        assert_int_equal(nodes_set_agent(&nodes, agent, &node, &err), 0);
        see_lease(&nodes, 0, "i", cases[i].renewed);
        if (is_fresh(&nodes, 1) != cases[i].fresh)
            fail_msg("case %zu", i);
        see_lease(&nodes, 2, "i", "22:17:15");
        assert_true(is_fresh(&nodes, 2));
        nodes_done(&nodes);
    }
    objects_steady_us = 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agent_and_core_share_an_entry),
        cmocka_unit_test(test_an_entry_lives_with_its_runs),
        cmocka_unit_test(test_cordons_and_taints),
        cmocka_unit_test(test_too_many_labels),
        cmocka_unit_test(test_no_name),
        cmocka_unit_test(test_warm_count_starts_afresh),
        cmocka_unit_test(test_heartbeat),
        cmocka_unit_test(test_silence_among_renewals),
        cmocka_unit_test(test_heartbeat_at_first_sight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
