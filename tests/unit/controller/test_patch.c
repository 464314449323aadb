/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/patch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/kube/client.h"
#include "objects.h"
#include "plan_world.h"

#define PATH "/apis/sandboxrun.dev/v1alpha1/namespaces/team-a/sandboxruns/r.1"
#define TIME "2026-11-29T22:17:15.000000Z"

static void check(const struct action *action, const char *sandbox_id, const char *method,
                  const char *path, const char *type, const char *body)
{
    struct write_request request;
    struct error err = {0};
    cleanup_buf struct buf expected = BUF_INIT(8192);
    if (write_request_make(action, sandbox_id, CREATED_US + SECOND_US, &request, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(buf_append_str(&expected, body), 0);
    for (char *quote = strchr(expected.data, '\''); quote; quote = strchr(quote, '\''))
        *quote = '"';
    assert_string_equal(request.method, method);
    assert_string_equal(request.content_type, type);
    assert_string_equal(request.accept, KUBE_METADATA_ONLY);
    assert_string_equal(buf_str(&request.path), path);
    assert_string_equal(buf_str(&request.body), buf_str(&expected));
    write_request_done(&request);
}

static struct run_digest *put_status(struct world *world, const char *status)
{
    return put(world, "team-a", "r.1", "41\\\"", "", status);
}

static void test_assign(void **state)
{
    struct world *world = *state;
    const struct action action = {.kind = ACTION_ASSIGN,
                                  .run = put_status(world, ""),
                                  .node = put_agent(&world->nodes, "n", "i", 1, "1Gi", "1")};
    check(&action, "0123-4567", "PATCH", PATH "/status", "application/merge-patch+json",
          "{'metadata':{'resourceVersion':'41\\''},'status':{'phase':'Scheduled',"
          "'sandboxID':'0123-4567','nodeName':'n','agentInstance':'i','scheduledTime':'" TIME "',"
          "'conditions':[{'type':'Scheduled','status':'True','reason':'Assigned','message':"
          "'Assigned to node n.','lastTransitionTime':'" TIME "'},{'type':'Finished','status':"
          "'False','reason':'Scheduled','message':'The run has not finished.',"
          "'lastTransitionTime':'1970-01-01T00:00:00.000000Z'}],'observedGeneration':1}}");
}

static void test_fail(void **state)
{
    struct world *world = *state;
    struct action action = {.kind = ACTION_FAIL,
                            .run = put_status(world, ""),
                            .reason = RUN_REASON_QUEUE_TIMEOUT,
                            .message = "no room"};
    check(&action, NULL, "PATCH", PATH "/status", "application/merge-patch+json",
          "{'metadata':{'resourceVersion':'41\\''},'status':{'phase':'Failed',"
          "'reason':'QueueTimeout','message':'no room','completionTime':'" TIME "','exitCode':-1,"
          "'conditions':[{'type':'Scheduled','status':'False','reason':'QueueTimeout','message':"
          "'The run ended without a node.','lastTransitionTime':'" TIME "'},{'type':'Finished',"
          "'status':'True','reason':'QueueTimeout','message':'no room','lastTransitionTime':'" TIME
          "'}],'observedGeneration':1}}");
}

/* The end of a run that was assigned keeps where it was. */
static void test_fail_assigned(void **state)
{
    struct world *world = *state;
    struct action action = {
        .kind = ACTION_FAIL,
        .run = put_status(world,
                          "'phase':'Running','nodeName':'n','agentInstance':'i','sandboxID':'s',"
                          "'scheduledTime':'2026-11-29T22:17:14Z',"
                          "'startTime':'2026-11-29T22:17:14.5Z'"),
        .reason = RUN_REASON_NODE_LOST,
        .message = "gone"};
    check(&action, NULL, "PATCH", PATH "/status", "application/merge-patch+json",
          "{'metadata':{'resourceVersion':'41\\''},'status':{'phase':'Failed',"
          "'reason':'NodeLost','message':'gone','sandboxID':'s','nodeName':'n',"
          "'agentInstance':'i','scheduledTime':'2026-11-29T22:17:14.000000Z',"
          "'completionTime':'" TIME "','exitCode':-1,"
          "'conditions':[{'type':'Scheduled','status':'True','reason':'Assigned','message':"
          "'Assigned to node n.','lastTransitionTime':'2026-11-29T22:17:14.000000Z'},"
          "{'type':'Finished','status':'True','reason':'NodeLost','message':'gone',"
          "'lastTransitionTime':'" TIME "'}],'observedGeneration':1}}");
}

static void test_explain(void **state)
{
    struct world *world = *state;
    struct action action = {.kind = ACTION_EXPLAIN,
                            .run = put_status(world, ""),
                            .waits_for = WAIT_NO_ROOM,
                            .message = "0 of 1 node can take it: 1 full"};
    check(&action, NULL, "PATCH", PATH "/status", "application/merge-patch+json",
          "{'metadata':{'resourceVersion':'41\\''},'status':{'phase':'Pending','conditions':["
          "{'type':'Scheduled','status':'False','reason':'NoRoom','message':"
          "'0 of 1 node can take it: 1 full','lastTransitionTime':'" TIME "'},{'type':'Finished',"
          "'status':'False','reason':'Pending','message':'The run has not finished.',"
          "'lastTransitionTime':'1970-01-01T00:00:00.000000Z'}]}}");
    /* Another reason for the same status: it has not changed since. */
    action.run->facts.waiting_since_us = CREATED_US;
    check(&action, NULL, "PATCH", PATH "/status", "application/merge-patch+json",
          "{'metadata':{'resourceVersion':'41\\''},'status':{'phase':'Pending','conditions':["
          "{'type':'Scheduled','status':'False','reason':'NoRoom','message':"
          "'0 of 1 node can take it: 1 full','lastTransitionTime':'2026-11-29T22:17:14.000000Z'},"
          "{'type':'Finished','status':'False','reason':'Pending','message':"
          "'The run has not finished.','lastTransitionTime':'1970-01-01T00:00:00.000000Z'}]}}");
}

static void test_observe(void **state)
{
    struct world *world = *state;
    const struct action action = {.kind = ACTION_OBSERVE,
                                  .run = put_status(world, "'phase':'Failed'")};
    action.run->facts.generation = INT64_C(1) << 40;
    check(&action, NULL, "PATCH", PATH "/status", "application/merge-patch+json",
          "{'metadata':{'resourceVersion':'41\\''},'status':{'observedGeneration':1099511627776}}");
}

static void test_delete(void **state)
{
    struct world *world = *state;
    const struct action action = {.kind = ACTION_DELETE,
                                  .run = put_status(world, "'phase':'Failed'")};
    check(&action, NULL, "DELETE", PATH, "application/json",
          "{'apiVersion':'v1','kind':'DeleteOptions','propagationPolicy':'Background',"
          "'preconditions':{'uid':'uid-r.1','resourceVersion':'41\\''}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_assign, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fail_assigned, setup, teardown),
        cmocka_unit_test_setup_teardown(test_explain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_observe, setup, teardown),
        cmocka_unit_test_setup_teardown(test_delete, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
