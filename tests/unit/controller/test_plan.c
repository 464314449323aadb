/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "objects.h"

#define ON_NODE(instance) "'nodeName':'n','agentInstance':'" instance "','sandboxID':'s'"

static void describe(struct world *world)
{
    size_t len = 0;
    world->text[0] = '\0';
    for (unsigned int i = 0; i < world->plan.count; i++) {
        static const char *const kinds[] = {"assign", "fail", "explain", "observe", "delete"};
        const struct action *action = &world->plan.actions[i];
        const char *detail = "";
        if (action->kind == ACTION_ASSIGN)
            detail = action->node->name;
        if (action->kind == ACTION_FAIL)
            detail = run_reason_name(action->reason);
        if (action->kind == ACTION_EXPLAIN)
            detail = wait_reason_name(action->waits_for);
        len += (size_t)snprintf(world->text + len, sizeof(world->text) - len, "%s%s %s%s%s",
                                i > 0 ? ", " : "", kinds[action->kind], action->run->facts.name,
                                detail[0] ? " " : "", detail);
    }
}

/* "assign a n, fail b QueueTimeout" */
static const char *plan(struct world *world)
{
    plan_make(&world->input, &world->plan);
    describe(world);
    return world->text;
}

static void test_assign(void **state)
{
    struct world *world = *state;
    assert_string_equal(plan(world), "");
    (void)put_agent(&world->nodes, "n", "i", 2, "1Gi", "2");
    (void)put(world, "a", "r1", "1", "", "");
    assert_string_equal(plan(world), "assign r1 n");
    /* Under way, then accepted but not yet seen: nothing more. */
    assert_string_equal(plan(world), "");
    end_writes(world, WRITE_SETTLED);
    assert_string_equal(plan(world), "");
    /* What was given away counts, whatever the agent says is allocated. */
    (void)put(world, "a", "r2", "1", "", "");
    (void)put(world, "a", "r3", "1", "", "");
    assert_string_equal(plan(world), "assign r2 n");
    end_writes(world, WRITE_SETTLED);
    (void)put(world, "a", "r1", "2", "", "'phase':'Running'," ON_NODE("i"));
    (void)put(world, "a", "r2", "2", "", "'phase':'Scheduled'," ON_NODE("i"));
    assert_string_equal(plan(world), "");
    (void)put(world, "a", "r1", "3", "", "'phase':'Succeeded'," ON_NODE("i"));
    assert_string_equal(plan(world), "assign r3 n");
}

static void test_refused_writes(void **state)
{
    struct world *world = *state;
    (void)put_agent(&world->nodes, "n", "i", 2, "1Gi", "2");
    struct run_digest *run = put(world, "a", "r", "1", "", "");
    assert_string_equal(plan(world), "assign r n");
    /* A conflict: nothing before the watch has told of another version. */
    runs_end_write(&world->runs, run, "1", WRITE_SETTLED, world->input.now_us);
    world->input.now_us += 10 * SECOND_US;
    assert_string_equal(plan(world), "");
    (void)put(world, "a", "r", "2", "", "");
    assert_string_equal(plan(world), "assign r n");
    /* A failure: again after a pause. */
    runs_end_write(&world->runs, run, "2", WRITE_FAILED, world->input.now_us);
    assert_string_equal(plan(world), "");
    assert_int_equal(world->plan.wake_us, world->input.now_us + BACKOFF_FIRST_MS * 1000);
    world->input.now_us += BACKOFF_FIRST_MS * 1000;
    assert_string_equal(plan(world), "assign r n");
}

static void test_never_assigned(void **state)
{
    struct world *world = *state;
    struct error err = {0};
    (void)put_agent(&world->nodes, "n", "i", 20, "100Gi", "20");
    cleanup_json cJSON *deleting =
        parse_object("{'metadata':{'namespace':'a','name':'r','uid':'u','resourceVersion':'1',"
                     "'finalizers':['x'],'creationTimestamp':'2026-11-29T22:17:14Z',"
                     "'deletionTimestamp':'2026-11-29T22:17:14Z'},'spec':{'code':'x'}}");
    assert_int_equal(
        runs_upsert(&world->runs, deleting, RUN_BYTES, world->input.now_us, NULL, &err), 0);
    (void)put(world, "a", "ports", "1", "'profile':'ToolCall','egress':[{'ports':[{'port':22}]}]",
              "");
    (void)put(world, "a", "long", "1", "'timeoutSeconds':61", "");
    (void)put(world, "a", "done", "1", "", "'phase':'Succeeded'");
    assert_string_equal(plan(world),
                        "fail r Cancelled, fail ports InvalidSpec, fail long InvalidSpec");
    assert_string_equal(world->plan.actions[0].message, "deleted before it was assigned to a node");
    assert_string_equal(world->plan.actions[1].message,
                        "spec.egress[0].ports: has neither TCP 80 nor TCP 443, and a sandbox "
                        "reaches no other port; name one of them, or leave ports out");
    assert_string_equal(world->plan.actions[2].message,
                        "spec.timeoutSeconds: 61 is above the maximum of 60 for profile Snippet");
}

/* ToolCall goes where it is offered, and waits where it isn't, until its time is over. */
static void test_profile_of_few_nodes(void **state)
{
    struct world *world = *state;
    (void)put_agent(&world->nodes, "n1", "i", 20, "100Gi", "20");
    (void)put(world, "a", "tool", "1", "'profile':'ToolCall','queueTimeoutSeconds':5", "");
    world->input.now_us = CREATED_US + 3 * SECOND_US;
    assert_string_equal(plan(world), "explain tool NoMatchingNode");
    assert_string_equal(world->plan.actions[0].message,
                        "0 of 1 node can take it: 1 without profile ToolCall");
    end_writes(world, WRITE_SETTLED);
    (void)put(world, "a", "tool", "2", "'profile':'ToolCall','queueTimeoutSeconds':5",
              "'conditions':[{'type':'Scheduled','status':'False','reason':'NoMatchingNode',"
              "'lastTransitionTime':'2026-11-29T22:17:17Z'}]");
    world->input.now_us = CREATED_US + 7 * SECOND_US;
    assert_string_equal(plan(world), "fail tool QueueTimeout");
    assert_string_equal(
        world->plan.actions[0].message,
        "not placed within 5 s (queueTimeoutSeconds): 0 of 1 node can take it: 1 without "
        "profile ToolCall");
    end_writes(world, WRITE_SETTLED);

    (void)put_agent_status(&world->nodes, "n2",
                           "'instance':'i','capacity':{'runs':20,'memory':'9Gi','cpu':'20'},"
                           "'runtimes':[{'name':'python3.12'}],'profiles':['Snippet','ToolCall'],"
                           "'conditions':[{'type':'Ready','status':'True'}]");
    world->input.now_us = CREATED_US;
    (void)put(world, "a", "second", "1", "'profile':'ToolCall'", "");
    assert_string_equal(plan(world), "assign second n2");
}

static void test_queue_timeout(void **state)
{
    struct world *world = *state;
    (void)put_agent_status(&world->nodes, "n1", "");
    (void)put_agent(&world->nodes, "n2", "i", 2, "1Gi", "2");
    (void)put(world, "a", "r", "1", "'runtime':'python3.13','queueTimeoutSeconds':5", "");
    assert_string_equal(plan(world), "");
    /* The condition comes after two seconds, the end after five. */
    assert_int_equal(world->plan.wake_us, CREATED_US + 999999 + 2 * SECOND_US);
    world->input.now_us = world->plan.wake_us;
    assert_string_equal(plan(world), "explain r NoReadyNode");
    assert_string_equal(world->plan.actions[0].message,
                        "0 of 2 nodes can take it: 1 without runtime python3.13, 1 not ready");
    end_writes(world, WRITE_SETTLED);
    (void)put(world, "a", "r", "2", "'runtime':'python3.13','queueTimeoutSeconds':5",
              "'conditions':[{'type':'Scheduled','status':'False','reason':'NoReadyNode',"
              "'lastTransitionTime':'2026-11-29T22:17:17Z'}]");
    assert_string_equal(plan(world), "");
    assert_int_equal(world->plan.wake_us, CREATED_US + 999999 + 5 * SECOND_US);
    world->input.now_us = world->plan.wake_us - 1;
    assert_string_equal(plan(world), "");
    world->input.now_us++;
    assert_string_equal(plan(world), "fail r QueueTimeout");
    assert_string_equal(world->plan.actions[0].message,
                        "not placed within 5 s (queueTimeoutSeconds): 0 of 2 nodes can take it: 1 "
                        "without runtime python3.13, 1 not ready");
}

static void test_explained_again_for_another_reason(void **state)
{
    struct world *world = *state;
    static const char waiting[] =
        "'conditions':[{'type':'Scheduled','status':'False','reason':'NoNodes',"
        "'lastTransitionTime':'2026-11-29T22:17:17Z'}]";
    world->input.now_us = CREATED_US + 3 * SECOND_US;
    (void)put(world, "a", "r", "1", "", "");
    assert_string_equal(plan(world), "explain r NoNodes");
    end_writes(world, WRITE_SETTLED);
    (void)put(world, "a", "r", "2", "", waiting);
    assert_string_equal(plan(world), "");
    struct node *node = put_agent(&world->nodes, "n", "i", 1, "1Gi", "2");
    node->used.runs = 1;
    assert_string_equal(plan(world), "");
    world->input.now_us += WAITING_AGAIN_US;
    assert_string_equal(plan(world), "explain r NoRoom");
    /* Refused for a conflict: not before the next version. */
    end_writes(world, WRITE_SETTLED);
    nodes_improve(&world->nodes, node);
    assert_string_equal(plan(world), "");
    node->used.runs = 0;
    (void)put(world, "a", "r", "3", "", waiting);
    assert_string_equal(plan(world), "assign r n");
}

static void test_ttl(void **state)
{
    struct world *world = *state;
    static const char done[] = "'phase':'Succeeded','completionTime':'2026-11-29T22:17:15Z'";
    (void)put(world, "a", "default", "1", "", done);
    (void)put(world, "a", "own", "1", "'ttlSecondsAfterFinished':10", done);
    (void)put(world, "a", "now", "1", "'ttlSecondsAfterFinished':0", done);
    assert_string_equal(plan(world), "delete now");
    assert_int_equal(world->plan.wake_us, CREATED_US + 11 * SECOND_US);
    end_writes(world, WRITE_SETTLED);
    world->input.now_us = CREATED_US + 11 * SECOND_US - 1;
    assert_string_equal(plan(world), "");
    world->input.now_us++;
    assert_string_equal(plan(world), "delete own");
    assert_int_equal(world->plan.wake_us, CREATED_US + (1 + world->input.ttl_seconds) * SECOND_US);
    /* The one field of spec that may change. */
    (void)put(world, "a", "default", "2", "'ttlSecondsAfterFinished':5", done);
    assert_string_equal(plan(world), "delete default");
    assert_int_equal(world->plan.wake_us, INT64_MAX);
}

/* A new TTL is a new generation, which a status that was decided on the old one doesn't cover. */
static void test_new_ttl_is_observed(void **state)
{
    struct world *world = *state;
    static const char done[] =
        "'phase':'Succeeded','completionTime':'2026-11-29T22:17:15Z','observedGeneration':1";
    struct run_digest *run = put(world, "a", "r", "2", "'ttlSecondsAfterFinished':10", done);
    run->facts.generation = 2;
    assert_string_equal(plan(world), "observe r");
    end_writes(world, WRITE_SETTLED);
    run = put(world, "a", "r", "3", "'ttlSecondsAfterFinished':10", done);
    run->facts.generation = run->facts.observed_generation = 2;
    assert_string_equal(plan(world), "");
    assert_int_equal(world->plan.wake_us, CREATED_US + 11 * SECOND_US);
    run = put(world, "a", "r", "4", "'ttlSecondsAfterFinished':0", done);
    run->facts.generation = 3;
    assert_string_equal(plan(world), "delete r");
}

static void test_not_deleted_twice(void **state)
{
    struct world *world = *state;
    struct error err = {0};
    cleanup_json cJSON *deleting = parse_object(
        "{'metadata':{'namespace':'a','name':'r','uid':'u','resourceVersion':'1',"
        "'finalizers':['x'],'deletionTimestamp':'2026-11-29T22:17:14Z'},"
        "'spec':{'code':'x','ttlSecondsAfterFinished':0},'status':{'phase':'Failed'}}");
    assert_int_equal(
        runs_upsert(&world->runs, deleting, RUN_BYTES, world->input.now_us, NULL, &err), 0);
    assert_string_equal(plan(world), "");
    assert_int_equal(world->plan.wake_us, INT64_MAX);
}

static void answer_ask(struct node *node, int64_t asked_us)
{
    assert_true(node->heartbeat.ask);
    node->heartbeat.ask = false;
    node->heartbeat.asked_us = asked_us;
}

/* The new agent has the first word about what was assigned to the old one. */
static void test_agent_restarted(void **state)
{
    struct world *world = *state;
    (void)put_agent(&world->nodes, "n", "i", 5, "10Gi", "5");
    struct run_digest *run =
        put(world, "a", "r", "1", "'timeoutSeconds':30", "'phase':'Running'," ON_NODE("i"));
    assert_string_equal(plan(world), "");

    struct node *node = put_agent(&world->nodes, "n", "i2", 5, "10Gi", "5");
    runs_touch_node(&world->runs, node);
    assert_string_equal(plan(world), "");
    int64_t end_us = world->input.now_us + 50 * SECOND_US;
    assert_int_equal(world->plan.wake_us, end_us);
    /* The agent's further words about itself don't start the time afresh. */
    pass(world, 10, NULL);
    runs_touch_node(&world->runs, put_agent(&world->nodes, "n", "i2", 5, "10Gi", "5"));
    assert_string_equal(plan(world), "");
    assert_int_equal(world->plan.wake_us, end_us);
    pass(world, 40, node);
    assert_string_equal(plan(world), "fail r AgentRestarted");
    assert_string_equal(world->plan.actions[0].message,
                        "the agent on node n was restarted and has not reported this run for 50 s; "
                        "it is not started again");
    runs_end_write(&world->runs, run, "1", WRITE_SETTLED, world->input.now_us);

    /* Short runs get 40 seconds, and what the new agent reports or gives back is its own. */
    (void)put(world, "a", "short", "1", "'timeoutSeconds':1", "'phase':'Scheduled'," ON_NODE("i"));
    assert_string_equal(plan(world), "");
    assert_int_equal(world->plan.wake_us, world->input.now_us + 40 * SECOND_US);
    (void)put(world, "a", "short", "2", "'timeoutSeconds':1", "");
    assert_string_equal(plan(world), "assign short n");
}

static void test_agent_gone(void **state)
{
    struct world *world = *state;
    struct node *node = put_agent(&world->nodes, "n", "i", 5, "10Gi", "5");
    (void)put(world, "a", "r", "1", "'timeoutSeconds':30", "'phase':'Running'," ON_NODE("i"));
    assert_string_equal(plan(world), "");
    runs_touch_node(&world->runs, nodes_remove_agent(&world->nodes, "n"));
    assert_string_equal(plan(world), "");
    pass(world, 49, node);
    /* It comes back in time, as the same. */
    runs_touch_node(&world->runs, put_agent(&world->nodes, "n", "i", 5, "10Gi", "5"));
    assert_string_equal(plan(world), "");
    runs_touch_node(&world->runs, nodes_remove_agent(&world->nodes, "n"));
    assert_string_equal(plan(world), "");
    assert_int_equal(world->plan.wake_us, world->input.now_us + 50 * SECOND_US);
    pass(world, 50, node);
    assert_string_equal(plan(world), "fail r NodeLost");
    assert_string_equal(world->plan.actions[0].message,
                        "node n has had no agent for 50 s; the run is not started again");
}

/* A silent node gets nothing new at 40 s; what it has is given up when it must be over, and only
 * after the API server was asked. */
static void test_node_lost(void **state)
{
    struct world *world = *state;
    struct node *node = put_agent(&world->nodes, "n", "i", 5, "10Gi", "5");
    (void)put(world, "a", "r", "1", "'timeoutSeconds':30", "'phase':'Running'," ON_NODE("i"));
    (void)put(world, "a", "q", "1", "'timeoutSeconds':1", "'phase':'Scheduled'," ON_NODE("i"));
    assert_string_equal(plan(world), "");
    pass(world, 39, NULL);
    assert_string_equal(plan(world), "fail q InternalError");
    end_writes(world, WRITE_SETTLED);
    (void)put(world, "a", "q", "2", "'timeoutSeconds':1", "'phase':'Failed'," ON_NODE("i"));
    (void)put(world, "b", "new", "1", "", "");
    pass(world, 1, NULL);
    assert_string_equal(plan(world), "explain new NoReadyNode");
    assert_string_equal(world->plan.actions[0].message,
                        "0 of 1 node can take it: 1 without a heartbeat of its agent");
    end_writes(world, WRITE_SETTLED);
    assert_false(node->heartbeat.fresh);
    pass(world, 9, NULL);
    assert_string_equal(plan(world), "");
    assert_false(world->nodes.asks);
    pass(world, 1, NULL);
    assert_string_equal(plan(world), "");
    assert_true(world->nodes.asks);
    /* An answer that was asked for too early is none. */
    answer_ask(node, world->input.steady_us - 1);
    pass(world, 1, NULL);
    assert_string_equal(plan(world), "");
    answer_ask(node, world->input.steady_us);
    runs_touch_node(&world->runs, node);
    assert_string_equal(plan(world), "fail r NodeLost");
    assert_string_equal(world->plan.actions[0].message,
                        "the agent on node n has not renewed its lease for 51 s; the run is not "
                        "started again");
}

/* The clock of the silence stands still, the other one goes on. */
static void test_nothing_is_lost_while_nobody_can_be_heard(void **state)
{
    struct world *world = *state;
    struct node *node = put_agent(&world->nodes, "n", "i", 5, "10Gi", "5");
    (void)put(world, "a", "r", "1", "'timeoutSeconds':1", "'phase':'Running'," ON_NODE("i"));
    for (unsigned int i = 0; i < 100; i++) {
        assert_string_equal(plan(world), "");
        assert_true(world->plan.wake_us >= world->input.now_us + MIN_STEADY_US);
        world->input.now_us += 10 * SECOND_US;
    }
    assert_false(node->heartbeat.ask);
    assert_true(node->heartbeat.fresh);
}

static void test_overdue(void **state)
{
    struct world *world = *state;
    struct node *node = put_agent(&world->nodes, "n", "i", 5, "10Gi", "5");
    (void)put(world, "a", "r", "1", "'timeoutSeconds':30", "'phase':'Scheduled'," ON_NODE("i"));
    assert_string_equal(plan(world), "");
    pass(world, 40, node);
    /* It begins anew with the start. */
    (void)put(world, "a", "r", "2", "'timeoutSeconds':30", "'phase':'Running'," ON_NODE("i"));
    assert_string_equal(plan(world), "");
    pass(world, 59, node);
    assert_string_equal(plan(world), "");
    pass(world, 1, node);
    assert_string_equal(plan(world), "fail r InternalError");
    assert_string_equal(world->plan.actions[0].message,
                        "node n is alive and has not finished the run 30 s past its timeoutSeconds "
                        "of 30");
}

static void test_namespaces_take_turns(void **state)
{
    struct world *world = *state;
    (void)put_agent(&world->nodes, "n", "i", 100, "100Gi", "100");
    for (unsigned int i = 0; i < 4; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "a%u", i);
        (void)put(world, "a", name, "1", "", "");
    }
    (void)put(world, "b", "b0", "1", "", "");
    (void)put(world, "c", "c0", "1", "", "");
    (void)put(world, "c", "c1", "1", "", "");
    world->input.assign_room = 2;
    assert_string_equal(plan(world), "assign a0 n, assign b0 n");
    /* Whose turn it is, is kept between plans. */
    assert_string_equal(plan(world), "assign c0 n, assign a1 n");
    assert_string_equal(plan(world), "assign c1 n, assign a2 n");
    assert_string_equal(plan(world), "assign a3 n");
}

static void test_order_within_a_namespace(void **state)
{
    struct world *world = *state;
    (void)put_agent(&world->nodes, "n", "i", 5, "512Mi", "5");
    (void)put(world, "a", "first", "1", "'resources':{'limits':{'memory':'256Mi'}}", "");
    (void)put(world, "a", "big", "1", "'resources':{'limits':{'memory':'512Mi'}}", "");
    (void)put(world, "a", "small", "1", "'resources':{'limits':{'memory':'32Mi'}}", "");
    (void)put(world, "a", "other", "1", "'runtime':'python3.13'", "");
    (void)put(world, "a", "huge", "1",
              "'runtime':'python3.13','resources':{'limits':{'memory':'32Mi'}}", "");
    (void)put(world, "b", "b", "1", "'resources':{'limits':{'memory':'32Mi'}}", "");
    /* The small one waits behind the big one; another namespace doesn't. */
    assert_string_equal(plan(world), "assign first n, assign b n");
    /* Nodes with another runtime are no concern of theirs. */
    (void)put_agent_status(&world->nodes, "m",
                           "'instance':'j','capacity':{'runs':1,'memory':'1Gi','cpu':'9'},"
                           "'runtimes':[{'name':'python3.13'}],'profiles':['Snippet'],"
                           "'conditions':[{'type':'Ready','status':'True'}]");
    assert_string_equal(plan(world), "assign other m");
}

/* What doesn't fit any node ever is passed by. */
static void test_misfits_block_nobody(void **state)
{
    struct world *world = *state;
    (void)put_agent(&world->nodes, "n", "i", 5, "256Mi", "5");
    (void)put(world, "a", "big", "1", "", "");
    (void)put(world, "a", "elsewhere", "1", "'nodeSelector':{'pool':'x'}", "");
    (void)put(world, "a", "small", "1", "'resources':{'limits':{'memory':'32Mi'}}", "");
    assert_string_equal(plan(world), "assign small n");
}

static void test_room_for_writes(void **state)
{
    struct world *world = *state;
    (void)put_agent(&world->nodes, "n", "i", 100, "100Gi", "100");
    for (unsigned int i = 0; i < 5; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "t%u", i);
        (void)put(world, "a", name, "1", "'ttlSecondsAfterFinished':0",
                  "'phase':'Failed','completionTime':'2026-11-29T22:17:14Z'");
    }
    (void)put(world, "a", "r0", "1", "", "");
    (void)put(world, "a", "r1", "1", "", "");
    world->input.write_room = 2;
    world->input.assign_room = 1;
    assert_string_equal(plan(world), "delete t0, delete t1, assign r0 n");
    /* Without any room for other writes, runs are still assigned, and nothing is forgotten. */
    world->input.write_room = 0;
    assert_string_equal(plan(world), "assign r1 n");
    assert_string_equal(plan(world), "");
    world->input.write_room = 2;
    assert_string_equal(plan(world), "delete t2, delete t3");
    assert_string_equal(plan(world), "delete t4");
    assert_string_equal(plan(world), "");
}

/* An explanation for which there was no room is written by a later plan. */
static void test_room_for_explanations(void **state)
{
    struct world *world = *state;
    world->input.now_us = CREATED_US + 3 * SECOND_US;
    (void)put(world, "a", "r0", "1", "", "");
    (void)put(world, "a", "r1", "1", "", "");
    world->input.write_room = 1;
    assert_string_equal(plan(world), "explain r0 NoNodes");
    assert_string_equal(plan(world), "explain r1 NoNodes");
    assert_string_equal(plan(world), "");
}

/* Those behind a run that waits for room wait no longer than there is a node that it waits for. */
static void test_the_node_that_one_waited_for_is_gone(void **state)
{
    struct world *world = *state;
    struct node *large = put_agent(&world->nodes, "large", "i", 5, "512Mi", "5");
    (void)put_agent(&world->nodes, "small", "i", 5, "256Mi", "5");
    large->used.runs = 5;
    (void)put(world, "a", "big", "1", "'resources':{'limits':{'memory':'512Mi'}}", "");
    (void)put(world, "a", "little", "1", "'resources':{'limits':{'memory':'64Mi'}}", "");
    assert_string_equal(plan(world), "");
    large->agent->ready = false;
    world->input.now_us = CREATED_US + 3 * SECOND_US;
    assert_string_equal(plan(world), "explain big NoReadyNode");
    end_writes(world, WRITE_SETTLED);
    assert_string_equal(plan(world), "assign little small");
    large->used.runs = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_assign, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_writes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_never_assigned, setup, teardown),
        cmocka_unit_test_setup_teardown(test_profile_of_few_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_queue_timeout, setup, teardown),
        cmocka_unit_test_setup_teardown(test_explained_again_for_another_reason, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ttl, setup, teardown),
        cmocka_unit_test_setup_teardown(test_new_ttl_is_observed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_deleted_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_agent_restarted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_agent_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_node_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_is_lost_while_nobody_can_be_heard, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_overdue, setup, teardown),
        cmocka_unit_test_setup_teardown(test_namespaces_take_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order_within_a_namespace, setup, teardown),
        cmocka_unit_test_setup_teardown(test_misfits_block_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(test_room_for_writes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_room_for_explanations, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_node_that_one_waited_for_is_gone, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
