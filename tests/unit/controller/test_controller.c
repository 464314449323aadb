/* SPDX-License-Identifier: Apache-2.0 */

/* The controller's effects, with a client and watches made here: what is sent when, and what
 * becomes of the answers. */
#include "world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "controller/limits.h"
#include "objects.h"

static void check_event(const struct kube_call *call, const char *reason, const char *action,
                        const char *note)
{
    cleanup_json cJSON *tree = NULL;
    assert_string_equal(call->method, "POST");
    assert_string_equal(call->path, "/apis/events.k8s.io/v1/namespaces/a/events");
    assert_int_equal(json_parse(call->body, strlen(call->body), &tree, NULL), 0);
    assert_string_equal(json_get_string(tree, "regarding.kind"), "SandboxRun");
    assert_string_equal(json_get_string(tree, "regarding.name"), "r");
    assert_string_equal(json_get_string(tree, "regarding.uid"), "uid-r");
    assert_string_equal(json_get_string(tree, "type"), "Warning");
    assert_string_equal(json_get_string(tree, "reason"), reason);
    assert_string_equal(json_get_string(tree, "action"), action);
    assert_string_equal(json_get_string(tree, "reportingController"), "sandboxrun.dev/controller");
    assert_non_null(strstr(json_get_string(tree, "note"), note));
}

static void assign(struct world *world)
{
    sync_all();
    watch_agent("i", 5);
    watch_short_run();
    turn(world);
    assert_int_equal(world->client.count, 0);
}

/* The API server itself is asked before anything is given up, until it answers. */
static void test_node_lost(void **state)
{
    struct world *world = *state;
    static const char lease[] = "/apis/coordination.k8s.io/v1/namespaces/system/leases/n";
    assign(world);
    pass(world, LOST_MS - 2 * RENEW_MS);
    assert_int_equal(world->client.count, 0);
    pass(world, 3 * RENEW_MS);
    assert_int_equal(world->client.count, 1);
    assert_string_equal(last_call(world)->method, "GET");
    assert_string_equal(last_call(world)->path, lease);
    answer(last_call(world), 503);
    pass(world, 4 * RENEW_MS);
    run_loop(world, 150);
    assert_int_equal(world->client.count, 2);
    assert_string_equal(last_call(world)->path, lease);
    answer(last_call(world), 404);
    /* That it is gone is a change that nobody had seen. */
    pass(world, LOST_MS - 2 * RENEW_MS);
    assert_int_equal(world->client.count, 2);
    pass(world, 3 * RENEW_MS);
    assert_int_equal(world->client.count, 3);
    answer(last_call(world), 404);
    turn(world);
    assert_int_equal(world->client.count, 4);
    assert_string_equal(last_call(world)->method, "PATCH");
    assert_non_null(strstr(last_call(world)->body, "\"reason\":\"NodeLost\""));
    assert_non_null(strstr(last_call(world)->body, "\"resourceVersion\":\"7\""));
    answer(last_call(world), 200);
    assert_int_equal(world->client.count, 5);
    check_event(last_call(world), "NodeLost", "Running", "has not renewed its lease");
    answer(last_call(world), 200);
}

/* A watch that has missed a renewal. */
static void test_not_lost_after_all(void **state)
{
    struct world *world = *state;
    assign(world);
    pass(world, LOST_MS + RENEW_MS);
    assert_int_equal(world->client.count, 1);
    answer_with(last_call(world), 200,
                "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"2\"},\"spec\":"
                "{\"holderIdentity\":\"i\",\"renewTime\":\"2026-11-29T00:00:00Z\"}}");
    pass(world, LOST_MS - 2 * RENEW_MS);
    assert_int_equal(world->client.count, 1);
}

/* Neither a watch that isn't up to date nor a controller that was stopped lets a node get lost. */
static void test_nothing_is_lost_while_nobody_can_be_heard(void **state)
{
    struct world *world = *state;
    assign(world);
    reflectors[LEASES].healthy = false;
    pass(world, 10 * LOST_MS);
    reflectors[LEASES].healthy = true;
    skipped_ns += 10 * LOST_MS * UINT64_C(1000000);
    /* It settles, and then begins where it was. */
    pass(world, DURATION_MS + LOST_MS - 2 * RENEW_MS);
    assert_int_equal(world->client.count, 0);
    pass(world, 4 * RENEW_MS);
    assert_int_equal(world->client.count, 1);
    answer(last_call(world), 503);
}

static void test_nothing_before_all_is_known(void **state)
{
    struct world *world = *state;
    watch_run("r", "1", "", "");
    watch_agent("i", 5);
    turn(world);
    reflectors[RUNS].handlers.synced(reflectors[RUNS].arg);
    reflectors[AGENTS].handlers.synced(reflectors[AGENTS].arg);
    turn(world);
    assert_int_equal(world->client.count, 0);
    reflectors[NODES].handlers.synced(reflectors[NODES].arg);
    turn(world);
    assert_int_equal(world->client.count, 0);
    reflectors[LEASES].handlers.synced(reflectors[LEASES].arg);
    turn(world);
    assert_int_equal(world->client.count, 1);
    answer(last_call(world), 200);
}

static void test_claim(void **state)
{
    struct world *world = *state;
    static const char begin[] = "{\"metadata\":{\"resourceVersion\":\"7\"},\"status\":{\"phase\":"
                                "\"Scheduled\",\"sandboxID\":\"";
    sync_all();
    watch_agent("i-1", 5);
    watch_run("r1", "7", "", "");
    watch_run("r2", "7", "", "");
    /* Not from inside the watch's call: one plan for all changes of a turn. */
    assert_int_equal(world->client.count, 0);
    turn(world);
    assert_int_equal(world->client.count, 2);
    const struct kube_call *calls = world->client.calls;
    assert_string_equal(calls[0].method, "PATCH");
    assert_string_equal(calls[0].path,
                        "/apis/sandboxrun.dev/v1alpha1/namespaces/a/sandboxruns/r1/status");
    assert_int_equal(strncmp(calls[0].body, begin, strlen(begin)), 0);
    assert_non_null(strstr(calls[0].body, "\"nodeName\":\"n\",\"agentInstance\":\"i-1\""));
    /* Every run has an id of its own. */
    const char *id = calls[0].body + strlen(begin);
    const char *other = calls[1].body + strlen(begin);
    assert_int_equal(strcspn(id, "\""), 36);
    assert_int_not_equal(strncmp(id, other, 36), 0);
    answer(&world->client.calls[0], 200);
    answer(&world->client.calls[1], 200);
    turn(world);
    assert_int_equal(world->client.count, 2);
}

static void test_conflict_waits_for_the_watch(void **state)
{
    struct world *world = *state;
    sync_all();
    watch_agent("i", 5);
    watch_run("r", "1", "", "");
    turn(world);
    answer(last_call(world), 409);
    outwait_backoff(world);
    assert_int_equal(world->client.count, 1);
    watch_run("r", "2", "", "");
    turn(world);
    assert_int_equal(world->client.count, 2);
    assert_non_null(strstr(last_call(world)->body, "\"resourceVersion\":\"2\""));
    /* Another has claimed it: nothing more to do. */
    answer(last_call(world), 409);
    watch_run("r", "3", "", "'phase':'Scheduled','nodeName':'n','agentInstance':'i'");
    turn(world);
    assert_int_equal(world->client.count, 2);
}

static void test_failure_is_tried_again(void **state)
{
    struct world *world = *state;
    static const int statuses[] = {0, 500, 429, 403};
    sync_all();
    watch_agent("i", 5);
    for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
        char version[8];
        (void)snprintf(version, sizeof(version), "%zu", i);
        watch_run("r", version, "", "");
        turn(world);
        assert_int_equal(world->client.count, 2 * i + 1);
        answer(last_call(world), statuses[i]);
        turn(world);
        assert_int_equal(world->client.count, 2 * i + 1);
        outwait_backoff(world);
        assert_int_equal(world->client.count, 2 * i + 2);
        answer(last_call(world), 409);
    }
}

static void test_not_sent(void **state)
{
    struct world *world = *state;
    sync_all();
    watch_agent("i", 1);
    world->client.send_error = EBUSY;
    watch_run("r", "1", "", "");
    turn(world);
    turn(world);
    assert_int_equal(world->client.count, 0);
    /* Its place was given back. */
    world->client.send_error = 0;
    watch_run("r2", "1", "", "");
    turn(world);
    assert_non_null(strstr(last_call(world)->path, "/r2/"));
    answer(last_call(world), 200);
}

/* Told when it is true: once the API server has taken the condition. */
static void test_waiting_is_told_by_an_event(void **state)
{
    struct world *world = *state;
    sync_all();
    watch_run("r", "1", "", "");
    turn(world);
    assert_int_equal(world->client.count, 0);
    skipped_ns += UINT64_C(3000000000);
    watch_run("other", "1", "", "");
    turn(world);
    assert_int_equal(world->client.count, 1);
    assert_non_null(strstr(last_call(world)->body, "\"reason\":\"NoNodes\""));
    answer(last_call(world), 409);
    turn(world);
    assert_int_equal(world->client.count, 1);
    watch_run("r", "2", "", "");
    turn(world);
    assert_int_equal(world->client.count, 2);
    answer(last_call(world), 200);
    assert_int_equal(world->client.count, 3);
    check_event(last_call(world), "NoNodes", "Scheduling", "no node has an agent");
}

static void test_program_ends_and_bad_specs_are_no_events(void **state)
{
    struct world *world = *state;
    sync_all();
    watch_run("r", "1", ",'timeoutSeconds':61", "");
    watch_run("done", "1", ",'ttlSecondsAfterFinished':0", "'phase':'Failed','reason':'Error'");
    turn(world);
    assert_int_equal(world->client.count, 2);
    answer(&world->client.calls[0], 200);
    answer(&world->client.calls[1], 200);
    turn(world);
    assert_int_equal(world->client.count, 2);
}

/* The answer may come when the run, or the run of that name, is another. */
static void test_late_answers(void **state)
{
    struct world *world = *state;
    sync_all();
    watch_agent("i", 1);
    watch_run("r", "1", "", "");
    turn(world);
    struct kube_call *first = last_call(world);
    reflectors[RUNS].handlers.remove("a", "r", "uid-r", reflectors[RUNS].arg);
    upsert(RUNS, parse_object("{'metadata':{'namespace':'a','name':'r','uid':'other',"
                              "'resourceVersion':'1','creationTimestamp':'2036-01-01T00:00:00Z'},"
                              "'spec':{'code':'x'}}"));
    turn(world);
    assert_int_equal(world->client.count, 2);
    answer(first, 500);
    outwait_backoff(world);
    assert_int_equal(world->client.count, 2);
    answer(last_call(world), 200);
    reflectors[RUNS].handlers.remove("a", "r", "other", reflectors[RUNS].arg);
    turn(world);
}

static void test_bounded(void **state)
{
    struct world *world = *state;
    char name[16];
    sync_all();
    watch_agent("i", 1000);
    for (unsigned int i = 0; i < MAX_ASSIGNS_IN_FLIGHT + 10; i++) {
        (void)snprintf(name, sizeof(name), "r%u", i);
        watch_run(name, "1", "", "");
    }
    for (unsigned int i = 0; i < MAX_WRITES_IN_FLIGHT + 5; i++) {
        (void)snprintf(name, sizeof(name), "done%u", i);
        watch_run(name, "1", ",'ttlSecondsAfterFinished':0", "'phase':'Failed'");
    }
    turn(world);
    watch_run("r0-late", "1", "", "");
    turn(world);
    assert_int_equal(world->client.count, MAX_ASSIGNS_IN_FLIGHT + MAX_WRITES_IN_FLIGHT);
    unsigned int answered = 0;
    while (answered < world->client.count) {
        unsigned int before = world->client.count;
        while (answered < before)
            answer(&world->client.calls[answered++], 200);
        turn(world);
    }
    assert_int_equal(answered, MAX_ASSIGNS_IN_FLIGHT + 11 + MAX_WRITES_IN_FLIGHT + 5);
}

static void test_agent_is_gone(void **state)
{
    struct world *world = *state;
    sync_all();
    watch_agent("i", 1);
    reflectors[AGENTS].handlers.remove("", "n", "", reflectors[AGENTS].arg);
    watch_run("r", "1", "", "");
    turn(world);
    assert_int_equal(world->client.count, 0);
    watch_agent("i", 1);
    turn(world);
    assert_int_equal(world->client.count, 1);
    answer(last_call(world), 200);
}

static void test_cordon(void **state)
{
    struct world *world = *state;
    sync_all();
    watch_agent("i", 1);
    upsert(NODES, parse_object("{'metadata':{'name':'n'},'spec':{'unschedulable':true}}"));
    watch_run("r", "1", "", "");
    turn(world);
    assert_int_equal(world->client.count, 0);
    reflectors[NODES].handlers.remove("", "n", "", reflectors[NODES].arg);
    turn(world);
    assert_int_equal(world->client.count, 1);
    answer(last_call(world), 200);
}

/* Alone it has nobody to hand over to, and takes no part in any election. */
static void test_end_alone(void **state)
{
    struct world *world = *state;
    bool done = false;
    sync_all();
    turn(world);
    controller_end(world->controller, ended, &done);
    assert_true(done);
    assert_int_equal(world->client.count, 0);
}

/* Lets time pass, until both have ended, in which the API server accepts what is said of the one
 * that waits. */
static unsigned int pass_and_count_ends(struct world *world, unsigned int seconds)
{
    static unsigned int version = 1;
    char text[16];
    bool is_deleted = false, is_timed_out = false;
    for (unsigned int i = 0; i < seconds && !(is_deleted && is_timed_out); i++) {
        pass(world, 1000);
        for (unsigned int k = 0; k < world->client.count; k++) {
            struct kube_call *call = &world->client.calls[k];
            if (strcmp(call->method, "DELETE") == 0) {
                is_deleted = true;
            } else if (strstr(call->body, "QueueTimeout")) {
                is_timed_out = true;
            } else if (call->fn) {
                bool explains = strstr(call->path, "/waits/status");
                answer(call, 200);
                (void)snprintf(text, sizeof(text), "%u", ++version);
                if (explains)
                    watch_run("waits", text, ",'queueTimeoutSeconds':60", "");
            }
        }
    }
    return (unsigned int)is_deleted + (unsigned int)is_timed_out;
}

/* No wait ends early or late for a wall clock that is wrong, or is set, by hours. */
static void test_clocks_that_are_set(void **state)
{
    struct world *world = *state;
    static const int64_t hours[] = {-1, 2, -2, 5, -5};
    wall_ahead_us = INT64_C(-3600000000);
    sync_all();
    watch_run("waits", "1", ",'queueTimeoutSeconds':60", "");
    watch_run("over", "1", ",'ttlSecondsAfterFinished':60",
              "'phase':'Failed','completionTime':'2020-01-01T00:00:00Z'");
    for (size_t i = 0; i < ARRAY_SIZE(hours); i++) {
        wall_ahead_us = hours[i] * INT64_C(3600000000);
        assert_int_equal(pass_and_count_ends(world, 11), 0);
    }
    assert_int_equal(pass_and_count_ends(world, 10), 2);
    wall_ahead_us = 0;
}

/* Objects that make no sense are left aside. */
static void test_nonsense(void **state)
{
    struct world *world = *state;
    sync_all();
    for (unsigned int i = 0; i < COLLECTIONS; i++)
        upsert(i, parse_object("{'metadata':{}}"));
    turn(world);
    assert_int_equal(world->client.count, 0);
}

/* What is under way at the end is cancelled; teardown looks. */
static void test_end_with_calls_under_way(void **state)
{
    struct world *world = *state;
    sync_all();
    watch_agent("i", 5);
    watch_run("r1", "1", "", "");
    watch_run("r2", "1", ",'ttlSecondsAfterFinished':0", "'phase':'Failed'");
    turn(world);
    assert_int_equal(world->client.count, 2);
}

int main(void)
{
    log_init("test", LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_before_all_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(test_claim, setup, teardown),
        cmocka_unit_test_setup_teardown(test_conflict_waits_for_the_watch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failure_is_tried_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_sent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_waiting_is_told_by_an_event, setup, teardown),
        cmocka_unit_test_setup_teardown(test_program_ends_and_bad_specs_are_no_events, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_late_answers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_agent_is_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cordon, setup, teardown),
        cmocka_unit_test_setup_teardown(test_node_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_lost_after_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_is_lost_while_nobody_can_be_heard, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_end_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_clocks_that_are_set, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nonsense, setup, teardown),
        cmocka_unit_test_setup_teardown(test_end_with_calls_under_way, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
