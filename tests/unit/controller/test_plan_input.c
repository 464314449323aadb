/* SPDX-License-Identifier: Apache-2.0 */

/* Objects that nobody of ours has written: ignored, or failed with a reason, and never in the way
 * of others. */
#include "plan_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "objects.h"

#define ON_NODE "'nodeName':'n','agentInstance':'i','sandboxID':'s'"

struct run_case {
    const char *spec, *status;
    int64_t after_s; /* from creation */
    int action;      /* on it; -1: none */
    enum run_reason reason;
};

static const struct run_case run_cases[] = {
    /* Of a later version. */
    {"", "'phase':'Paused'", 5000, -1, RUN_REASON_NONE},
    {"'profile':'Notebook'", "'phase':'Paused'," ON_NODE, 5000, -1, RUN_REASON_NONE},
    {"", "'phase':'Failed','reason':'Evicted'", 1, -1, RUN_REASON_NONE},
    {"", "'phase':'Failed','reason':'Evicted'", 5000, ACTION_DELETE, RUN_REASON_NONE},
    {"'profile':'Notebook'", "", 1, ACTION_FAIL, RUN_REASON_INVALID_SPEC},
    {"'profile':'Notebook'", "'phase':'Running'," ON_NODE, 100, -1, RUN_REASON_NONE},
    {"'profile':'Notebook'", "'phase':'Succeeded'", 5000, ACTION_DELETE, RUN_REASON_NONE},
    {"'gpu':{'count':1}", "", 1, ACTION_ASSIGN, RUN_REASON_NONE},
    {"'profile':7", "", 1, ACTION_FAIL, RUN_REASON_INVALID_SPEC},
    /* Status written by hand. */
    {"", "'phase':'Pending','nodeName':'n'", 1, ACTION_ASSIGN, RUN_REASON_NONE},
    {"", "'phase':'Running'", 100, -1, RUN_REASON_NONE},
    {"", "'phase':'Scheduled','nodeName':'n','agentInstance':'other'", 1, -1, RUN_REASON_NONE},
    {"", "'phase':7", 1, ACTION_FAIL, RUN_REASON_INVALID_SPEC},
    {"", "'phase':'Failed','sandboxID':'1234567890123456789012345678901234567890123'", 5000,
     ACTION_DELETE, RUN_REASON_NONE},
    {"", "'phase':'Failed','completionTime':'0001-01-01T00:00:00Z'", 1, -1, RUN_REASON_NONE},
    {"", "'phase':'Failed','completionTime':'9999-12-31T23:59:59Z'", 1, -1, RUN_REASON_NONE},
    {"", "'phase':'Failed','completionTime':'soon'", 1, -1, RUN_REASON_NONE},
    {"", "'conditions':[{'type':'Scheduled','status':'False','reason':'x'},7,null,'x']", 1,
     ACTION_ASSIGN, RUN_REASON_NONE},
    {"", "'conditions':'none'", 1, ACTION_ASSIGN, RUN_REASON_NONE},
    /* Figures at their ends. */
    {"'resources':{'limits':{'memory':'7Ei','cpu':'4294967'}}", "'phase':'Running'," ON_NODE, 1, -1,
     RUN_REASON_NONE},
    {"'resources':{'limits':{'memory':'-1'}}", "", 1, ACTION_FAIL, RUN_REASON_INVALID_SPEC},
    {"'timeoutSeconds':2147483647,'queueTimeoutSeconds':2147483647,"
     "'ttlSecondsAfterFinished':2147483647",
     "'phase':'Running'," ON_NODE, 5000, -1, RUN_REASON_NONE},
    {"'ttlSecondsAfterFinished':2147483647", "'phase':'Failed'", 5000, -1, RUN_REASON_NONE},
    {"'queueTimeoutSeconds':2147483647", "", 1, ACTION_FAIL, RUN_REASON_INVALID_SPEC},
};

static const struct action *action_on(const struct world *world, const char *name)
{
    for (unsigned int i = 0; i < world->plan.count; i++) {
        if (strcmp(world->plan.actions[i].run->facts.name, name) == 0)
            return &world->plan.actions[i];
    }
    return NULL;
}

static void check_case(struct world *world, size_t number)
{
    const struct run_case *c = &run_cases[number];
    struct node *node = put_agent(&world->nodes, "n", "i", 5, "5Gi", "5");
    (void)put(world, "a", "strange", "1", c->spec, c->status);
    pass(world, c->after_s - 1, node);
    const struct action *action = NULL;
    /* The second look is that for which the first has set a time. */
    for (unsigned int i = 0; i < 2 && !action; i++) {
        plan_make(&world->input, &world->plan);
        action = action_on(world, "strange");
        if (c->after_s > 1)
            pass(world, 20, node);
    }
    if ((action ? (int)action->kind : -1) != c->action || (action && action->reason != c->reason))
        fail_msg("case %zu: action %d, reason %s, %s", number, action ? (int)action->kind : -1,
                 action ? run_reason_name(action->reason) : "", action ? action->message : "");
    if (action && action->kind == ACTION_FAIL)
        assert_true(action->message[0] != '\0');
    /* Others are not held up by it. */
    struct run_digest *plain =
        put(world, "a", "plain", "1", "'resources':{'limits':{'memory':'64Mi'}}", "");
    plain->queued_us = world->input.now_us;
    node->heartbeat.seen_us = world->input.steady_us;
    plan_make(&world->input, &world->plan);
    bool crowded_out = node->used.memory_bytes > UINT64_C(5) << 30;
    if (!crowded_out && !action_on(world, "plain"))
        fail_msg("case %zu: the next run was held up", number);
}

static void test_runs(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(run_cases); i++) {
        (void)setup(state);
        check_case(*state, i);
        (void)teardown(state);
    }
    (void)setup(state);
}

struct node_case {
    const char *status;
    const char *why; /* in the explanation; NULL: it takes the run */
};

static const struct node_case node_cases[] = {
#define HAS(capacity)                                                                              \
    "'instance':'i','capacity':" capacity ",'runtimes':[{'name':'python3.12'}],"                   \
    "'profiles':['Snippet','Notebook',7],'conditions':[{'type':'Ready','status':'True'}]"
    {HAS("{'runs':1,'memory':'1Gi','cpu':'1'}"), NULL},
    {HAS("{'runs':-1,'memory':'1Gi','cpu':'1'}"), "1 not ready"},
    {HAS("{'runs':1,'memory':'-1Gi','cpu':'1'}"), "1 not ready"},
    {HAS("{'runs':1,'memory':'1Gi','cpu':'-1'}"), "1 not ready"},
    {HAS("{'runs':4294967296,'memory':'1Gi','cpu':'1'}"), "1 not ready"},
    {HAS("{'runs':1,'memory':'9223372036854775807','cpu':'1'}"), "1 not ready"},
    {HAS("{'runs':1,'memory':'1Gi','cpu':'99999999999999'}"), "1 not ready"},
    {HAS("{'runs':0.5,'memory':'1Gi','cpu':'1'}"), "1 not ready"},
    {HAS("'much'"), "1 too small"},
    {HAS("{}"), "1 too small"},
    {"'conditions':[{'type':'Ready','status':'Maybe'}]", "1 not ready"},
    {"'conditions':{}", "1 not ready"},
    {"'instance':7", "1 not ready"},
};

static void test_nodes(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(node_cases); i++) {
        (void)setup(state);
        struct world *world = *state;
        (void)put_agent_status(&world->nodes, "n", node_cases[i].status);
        world->input.now_us = CREATED_US + 3 * SECOND_US;
        (void)put(world, "a", "r", "1", "", "");
        plan_make(&world->input, &world->plan);
        assert_int_equal(world->plan.count, 1);
        const struct action *action = &world->plan.actions[0];
        if ((action->kind == ACTION_ASSIGN) != (node_cases[i].why == NULL) ||
            (node_cases[i].why && !strstr(action->message, node_cases[i].why)))
            fail_msg("case %zu: %d %s", i, (int)action->kind, action->message);
        (void)teardown(state);
    }
    (void)setup(state);
}

/* As many as a reflector holds, each of the largest request that an assigned run is counted for. */
static void test_sums_do_not_overflow(void **state)
{
    struct world *world = *state;
    const uint64_t most = UINT64_C(262144);
    assert_true(MAX_RUN_MEMORY <= UINT64_MAX / most);
    assert_true(UINT32_MAX <= UINT64_MAX / most);
    struct node *node = put_agent(&world->nodes, "n", "i", 5, "5Gi", "5");
    for (unsigned int i = 0; i < 3; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "r%u", i);
        (void)put(world, "a", name, "1", "'resources':{'limits':{'memory':'7Ei','cpu':'4294967'}}",
                  "'phase':'Running'," ON_NODE);
    }
    assert_int_equal(node->used.memory_bytes, 3 * MAX_RUN_MEMORY);
    (void)put(world, "a", "r", "1", "", "");
    plan_make(&world->input, &world->plan);
    assert_int_equal(world->plan.count, 0);
    for (unsigned int i = 0; i < 3; i++) {
        char name[16], uid[24];
        (void)snprintf(name, sizeof(name), "r%u", i);
        (void)snprintf(uid, sizeof(uid), "uid-r%u", i);
        runs_remove(&world->runs, "a", name, uid);
    }
    assert_int_equal(node->used.memory_bytes, 0);
    plan_make(&world->input, &world->plan);
    assert_int_equal(world->plan.count, 1);
}

/* Renewed in days to come: that is no sign of life, and neither is one that stays so. */
static void test_lease_from_the_future(void **state)
{
    struct world *world = *state;
    struct error err = {0};
    struct node *node = put_agent(&world->nodes, "n", "i", 5, "5Gi", "5");
    node->heartbeat = (struct node_heartbeat){0};
    static const char *const times[] = {"9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "never"};
    for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
        cleanup_json cJSON *lease =
            parse_object("{'metadata':{'name':'n','resourceVersion':'1'},'spec':"
                         "{'holderIdentity':'i','renewTime':'%s','leaseDurationSeconds':-1}}",
                         times[i]);
        node->heartbeat.exists = false;
        assert_int_equal(nodes_set_lease(&world->nodes, lease, world->input.steady_us,
                                         world->input.now_us, &world->input.times, &err),
                         0);
        nodes_age(&world->nodes, world->input.steady_us, 40 * SECOND_US);
        assert_false(node->heartbeat.fresh);
    }
}

static void test_thousands_of_labels(void **state)
{
    struct world *world = *state;
    struct error err = {0};
    cleanup_json cJSON *run = parse_object(
        "{'metadata':{'namespace':'a','name':'r','uid':'u','resourceVersion':'1','labels':{},"
        "'creationTimestamp':'2026-11-29T22:17:14Z'},'spec':{'code':'x','nodeSelector':{}}}");
    cleanup_json cJSON *core = parse_object("{'metadata':{'name':'n','labels':{}},'spec':{}}");
    for (unsigned int i = 0; i < 5000; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "label-%u", i);
        cJSON *const maps[] = {
            cJSON_GetObjectItem(cJSON_GetObjectItem(run, "metadata"), "labels"),
            cJSON_GetObjectItem(cJSON_GetObjectItem(run, "spec"), "nodeSelector"),
            cJSON_GetObjectItem(cJSON_GetObjectItem(core, "metadata"), "labels")};
        for (size_t j = 0; j < ARRAY_SIZE(maps); j++)
            assert_non_null(cJSON_AddStringToObject(maps[j], name, "v"));
    }
    (void)put_agent(&world->nodes, "n", "i", 5, "5Gi", "5");
    assert_int_equal(runs_upsert(&world->runs, run, RUN_BYTES, world->input.now_us, NULL, &err), 0);
    assert_int_equal(nodes_set_core(&world->nodes, core, &err), 0);
    assert_true(nodes_find(&world->nodes, "n")->cordoned);
    plan_make(&world->input, &world->plan);
    assert_int_equal(world->plan.count, 1);
    assert_int_equal(world->plan.actions[0].reason, RUN_REASON_INVALID_SPEC);
    assert_non_null(strstr(world->plan.actions[0].message, "spec.nodeSelector"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sums_do_not_overflow, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lease_from_the_future, setup, teardown),
        cmocka_unit_test_setup_teardown(test_thousands_of_labels, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
