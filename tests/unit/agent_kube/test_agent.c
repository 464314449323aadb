/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/agent_kube/fixture.h"

#include "common/cleanup.h"
#include "node-agent/agent/spool.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define OURS(name, version, id) RUN(name, version, "Scheduled", "$INSTANCE", id, "", "")
#define BIG(name, version, id)                                                                     \
    RUN(name, version, "Scheduled", "$INSTANCE", id, "",                                           \
        ", \"resources\": {\"limits\": {\"memory\": \"512Mi\"}}")

static void test_a_run_from_start_to_end(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true};

    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," WATCH("") "]");
    fixture_wait(&f, SAID("phase", "Succeeded"), 1);
    /* Registered first, with everything that the jailer said. */
    assert_int_equal(server_count(&f.server, "POST"), 2);
    assert_true(server_count(&f.server, SAID("kernel", "6.1")) >= 1);
    assert_true(server_count(&f.server, SAID("memory", "1Gi")) >= 1);
    assert_true(server_count(&f.server, SAID("status", "True")) >= 1);
    assert_int_equal(server_count(&f.server, "fieldSelector=status.nodeName%3Dnode-a"), 2);
    /* The mark came before the start, and left with the result. */
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_CREATE), 1);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_START), 1);
    assert_int_equal(f.unmarked_starts, 0);
    server_run_for(&f.server, 100);
    assert_int_equal(fixture_spooled(), 0);
    /* One update, on the version that was seen. */
    assert_int_equal(server_count(&f.server, "sandboxruns/a/status"), 1);
    assert_int_equal(server_count(&f.server, "{\\\"resourceVersion\\\":\\\"4\\\"}"), 1);
    assert_int_equal(server_count(&f.server, SAID("stdout", "hello\\\\n")), 1);
    assert_int_equal(server_count(&f.server, SAID("sandboxID", ID_A)), 1);
    /* Told to end, it says so. */
    assert_false(f.ended);
    agent_end(f.agent);
    fixture_wait_end(&f);
    assert_int_equal(f.cause.code, 0);
    assert_int_equal(server_count(&f.server, SAID("reason", "Draining")), 1);
    fixture_stop(&f);
}

/* In the result, and as an Event beside the run. */
static void test_refused_addresses_are_told(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true, .denies_network = true};

    fixture_start(&f,
                  "[" NODE "," LIST(OURS("a", "4", ID_A)) ",{\"match\": \"POST /apis/events\", "
                                                          "\"status\": 201, \"body\": {}}," PATCHED(
                                                              "a") "," WATCH("") "]");
    fixture_wait(&f, SAID("phase", "Succeeded"), 1);
    fixture_wait(&f, SAID("reason", "EgressDenied"), 1);
    assert_int_equal(server_count(&f.server, SAID("target", "203.0.113.5:22/TCP")), 1);
    assert_int_equal(server_count(&f.server, "/apis/events.k8s.io/v1/namespaces/team/events"), 1);
    assert_int_equal(server_count(&f.server, SAID("uid", "uid-a")), 1);
    assert_int_equal(server_count(&f.server, SAID("reportingInstance", "node-a")), 1);
    assert_int_equal(
        server_count(&f.server, SAID("note", "the sandbox's network refused the program "
                                             "203.0.113.5:22/TCP (3 times)")),
        1);
    fixture_stop(&f);
}

static void test_running_is_written_after_a_while(void **state)
{
    (void)state;
    struct fixture f = {0};

    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," PATCHED(
                          "a") "," WATCH("") "]");
    fixture_wait(&f, SAID("phase", "Running"), 1);
    assert_int_equal(fixture_spooled(), 1);
    fake_jailer_finished(&f.jailer, ID_A, PROTO_END_EXITED, 3 << 8);
    fixture_wait(&f, SAID("reason", "Error"), 1);
    /* On the version that the first update brought. */
    assert_int_equal(server_count(&f.server, "{\\\"resourceVersion\\\":\\\"11\\\"}"), 1);
    server_run_for(&f.server, 100);
    assert_int_equal(fixture_spooled(), 0);
    assert_int_equal(server_count(&f.server, "sandboxruns/a"), 2);
    fixture_stop(&f);
}

static void test_the_same_sandbox_is_started_once(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true};

    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," WATCH(
                          EVENT("MODIFIED", OURS("a", "6", ID_A)) ", {\"sleep\": 1}," EVENT(
                              "MODIFIED",
                              OURS("a", "7", ID_A)) "," EVENT("ADDED", OURS("b", "8", ID_B))) "]");
    fixture_wait_jailer(&f, PROTO_CREATE, 2);
    server_run_for(&f.server, 200);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_CREATE), 2);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_START), 2);
    fixture_stop(&f);
}

static void test_a_conflict_is_settled_by_reading(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true};

    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCH_FAILS("a", "409") "," GOT(
                          "a", OURS("a", "9", ID_A)) "," PATCHED("a") "," WATCH("") "]");
    fixture_wait(&f, "{\\\"resourceVersion\\\":\\\"9\\\"}", 1);
    server_run_for(&f.server, 100);
    assert_int_equal(fixture_spooled(), 0);
    fixture_stop(&f);
}

/* Answers after which there is nothing to write any more; none of them is asked twice. */
static void test_late_results_are_dropped(void **state)
{
    (void)state;
    static const char *const answers[] = {
        PATCH_FAILS("a", "404"),
        PATCH_FAILS("a", "410"),
        PATCH_FAILS("a", "409") ", {\"match\": \"GET " API
                                "/namespaces/team/sandboxruns/a\", \"status\": 404}",
        PATCH_FAILS("a", "409") "," GOT("a", RUN("a", "9", "Failed", "$INSTANCE", ID_A, "", "")),
        PATCH_FAILS("a", "409") "," GOT("a", OURS("a", "9", ID_B)),
        PATCH_FAILS("a", "422") "," GOT("a", RUN("a", "9", "Succeeded", "$INSTANCE", ID_A, "", "")),
    };

    for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
        struct fixture f = {.finishes = true};
        char script[8192];
        (void)snprintf(script, sizeof(script), "[%s,%s,%s,%s]", NODE, LIST(OURS("a", "4", ID_A)),
                       answers[i], WATCH(""));
        fixture_start(&f, script);
        fixture_wait(&f, "sandboxruns/a/status", 1);
        server_run_for(&f.server, 300);
        assert_int_equal(server_count(&f.server, "sandboxruns/a/status"), 1);
        assert_int_equal(fixture_spooled(), 0);
        agent_end(f.agent);
        fixture_wait_end(&f);
        fixture_stop(&f);
    }
}

static void test_results_that_are_too_large(void **state)
{
    (void)state;
    static const char *const answers[] = {
        PATCH_FAILS("a", "413") "," PATCHED("a"),
        "{\"match\": \"" STATUS("a") "\"status\": 500, \"body\": {\"message\": \"etcdserver: "
                                     "request is too large\"}}," PATCHED("a"),
        PATCH_FAILS("a", "413") "," PATCH_FAILS("a", "413") "," PATCHED("a"),
    };

    for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
        struct fixture f = {.finishes = true};
        char script[8192];
        unsigned int expected = i == 2 ? 3 : 2;
        (void)snprintf(script, sizeof(script), "[%s,%s,%s,%s]", NODE, LIST(OURS("a", "4", ID_A)),
                       answers[i], WATCH(""));
        fixture_start(&f, script);
        fixture_wait(&f, "sandboxruns/a/status", expected);
        server_run_for(&f.server, 200);
        assert_int_equal(server_count(&f.server, "sandboxruns/a/status"), expected);
        /* The small form of six bytes is all of them, the last form has none. */
        assert_int_equal(server_count(&f.server, SAID("stdout", "hello\\\\n")), 2);
        assert_int_equal(server_count(&f.server, SAID("stdout", "")), expected - 2);
        assert_int_equal(fixture_spooled(), 0);
        fixture_stop(&f);
    }
}

static void test_a_refused_result_shrinks_to_its_core(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true};

    fixture_start(
        &f,
        "[" NODE
        "," LIST(OURS("a", "4", ID_A)) "," PATCH_FAILS("a", "422") "," GOT("a", OURS("a", "9", ID_A)) "," PATCH_FAILS(
            "a",
            "422") "," PATCH_FAILS("a",
                                   "422") "," PATCH_FAILS("a",
                                                          "422") "," PATCHED("a") "," WATCH("") "]");
    fixture_wait(&f, "The API server has refused the whole result", 1);
    server_run_for(&f.server, 200);
    assert_int_equal(server_count(&f.server, "sandboxruns/a/status"), 5);
    assert_int_equal(server_count(&f.server, SAID("phase", "Succeeded")), 5);
    assert_int_equal(fixture_spooled(), 0);
    fixture_stop(&f);
}

static void test_an_outage_loses_nothing(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true};

    fixture_start(
        &f,
        "[" NODE
        "," LIST(OURS("a", "4", ID_A)) ", {\"match\": \"" STATUS("a") "\"chunks\": [], \"then\": \"break\"}, {\"match\": \"" STATUS(
            "a") "\"status\": 503}," PATCH_FAILS("a", "403") "," PATCHED("a") "," WATCH("") "]");
    fixture_wait(&f, "sandboxruns/a/status", 1);
    assert_int_equal(fixture_spooled(), 1);
    fixture_wait(&f, "sandboxruns/a/status", 4);
    server_run_for(&f.server, 100);
    assert_int_equal(server_count(&f.server, SAID("stdout", "hello\\\\n")), 4);
    assert_int_equal(fixture_spooled(), 0);
    fixture_stop(&f);
}

static void test_runs_of_an_earlier_agent(void **state)
{
    (void)state;
    struct fixture f = {0};

    fixture_spool("instances", "old\n");
    fixture_start(
        &f,
        "[" NODE "," LIST(RUN("a", "4", "Scheduled", "old", ID_A, "", "") "," RUN(
            "b", "4", "Scheduled", "unheard-of", ID_B, "",
            "") "," RUN("c", "4", "Running", "old", "11111111-2222-4333-8444-cccccccccccc", "",
                        "") "," RUN("d", "4", "Failed", "old",
                                    "11111111-2222-4333-8444-dddddddddddd", "",
                                    "")) "," PATCHED("a") "," PATCHED("b") "," PATCHED("c") "," WATCH("") "]");
    fixture_wait(&f, SAID("phase", "Pending"), 1);
    fixture_wait(&f, SAID("reason", "AgentRestarted"), 2);
    server_run_for(&f.server, 100);
    /* Given back: what the assignment set is cleared together. */
    assert_int_equal(server_count(&f.server, "sandboxruns/a/status"), 1);
    assert_int_equal(server_count(&f.server, "\\\"nodeName\\\":null,\\\"agentInstance\\\":null,"
                                             "\\\"sandboxID\\\":null,\\\"scheduledTime\\\":null"),
                     1);
    assert_int_equal(server_count(&f.server, "sandboxruns/d"), 0);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_CREATE), 0);
    fixture_stop(&f);
}

#define ENTRY(id, name, rest)                                                                      \
    "{\"version\":1,\"sandboxID\":\"" id "\",\"namespace\":\"team\",\"name\":\"" name              \
    "\",\"uid\":\"uid-" name "\",\"startTime\":\"2026-01-02T00:00:00.000000Z\"" rest "}"

static void test_what_an_earlier_agent_left_in_the_spool(void **state)
{
    (void)state;
    struct fixture f = {0};

    fixture_spool("instances", "old\n");
    /* A result, a mark, and a mark that can't be read. */
    fixture_spool(
        "run-" ID_A,
        ENTRY(ID_A, "a",
              ",\"status\":{\"phase\":\"Failed\",\"reason\":\"Error\",\"sandboxID\":\"" ID_A
              "\",\"exitCode\":7,\"stdout\":\"kept\"}"));
    fixture_spool("run-" ID_B, ENTRY(ID_B, "b", ""));
    fixture_spool("run-11111111-2222-4333-8444-cccccccccccc", "{");
    fixture_spool("run-11111111-2222-4333-8444-dddddddddddd", "{");
    fixture_start(
        &f,
        "[" NODE
        "," GOT("a", RUN("a", "4", "Running", "old", ID_A, "", "")) "," GOT("b", RUN("b", "4", "Scheduled", "old", ID_B, "", "")) "," PATCHED(
            "a") "," PATCHED("b") "," PATCHED("c") "," LIST(RUN("a", "4", "Running", "old", ID_A,
                                                                "",
                                                                "") "," RUN("b", "4", "Scheduled",
                                                                            "old", ID_B, "",
                                                                            "") "," RUN("c", "4",
                                                                                        "Scheduled",
                                                                                        "old",
                                                                                        "11111111-2222-4333-8444-"
                                                                                        "cccccccccccc",
                                                                                        "",
                                                                                        "")) "," WATCH("") "]");
    fixture_wait(&f, SAID("stdout", "kept"), 1);
    fixture_wait(&f, SAID("reason", "AgentRestarted"), 2);
    server_run_for(&f.server, 100);
    assert_int_equal(server_count(&f.server, "\\\"exitCode\\\":7"), 1);
    assert_int_equal(server_count(&f.server, SAID("startTime", "2026-01-02T00:00:00.000000Z")), 1);
    assert_int_equal(server_count(&f.server, SAID("phase", "Pending")), 0);
    assert_int_equal(fixture_spooled(), 0);
    fixture_stop(&f);
}

static void test_no_more_than_the_jailer_offers(void **state)
{
    (void)state;
    struct fixture f = {0};

    /* 1 GiB in all. */
    fixture_start(
        &f,
        "[" NODE
        "," LIST(BIG("a", "4", ID_A) "," BIG("b", "4", ID_B) "," BIG("c", "4", "11111111-2222-4333-8444-cccccccccccc")) "," PATCHED(
            "a") "," PATCHED("a") "," PATCHED("b") "," PATCHED("b") "," PATCHED("c") "," PATCHED("c") "," WATCH("") "]");
    fixture_wait_jailer(&f, PROTO_START, 2);
    server_run_for(&f.server, 200);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_CREATE), 2);
    fake_jailer_finished(&f.jailer, ID_A, PROTO_END_EXITED, 0);
    fixture_wait_jailer(&f, PROTO_START, 3);
    fixture_stop(&f);
}

static void test_invalid_runs_are_not_started(void **state)
{
    (void)state;
    struct fixture f = {0};

    fixture_start(
        &f,
        "[" NODE "," LIST(
            RUN("a", "4", "Scheduled", "$INSTANCE", ID_A, "", ", \"timeoutSeconds\": 600") "," RUN(
                "b", "4", "Scheduled", "$INSTANCE", ID_B, "",
                ", \"args\": \"x\"")) "," PATCHED("a") "," PATCHED("b") "," WATCH("") "]");
    fixture_wait(&f, SAID("reason", "InvalidSpec"), 2);
    assert_int_equal(server_count(&f.server, "spec.timeoutSeconds"), 1);
    assert_int_equal(server_count(&f.server, "spec.args"), 1);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_CREATE), 0);
    fixture_stop(&f);
}

static void test_deletion(void **state)
{
    (void)state;
    static const char *const words[] = {
        EVENT("DELETED", RUN("a", "6", "Running", "$INSTANCE", ID_A, "", "")),
        EVENT("MODIFIED", RUN("a", "6", "Running", "$INSTANCE", ID_A,
                              ", \"deletionTimestamp\": \"2026-01-01T00:00:00Z\"", "")),
        EVENT("MODIFIED", RUN("a", "6", "Failed", "$INSTANCE", ID_A, "", "")),
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        struct fixture f = {0};
        char script[8192];
        (void)snprintf(script, sizeof(script),
                       "[%s,%s,%s,%s,{\"match\": \"watch=\", \"chunks\": "
                       "[{\"sleep\": 0.4},%s], \"then\": \"hold\"}]",
                       NODE, LIST(OURS("a", "4", ID_A)), PATCHED("a"), PATCHED("a"), words[i]);
        fixture_start(&f, script);
        fixture_wait_jailer(&f, PROTO_KILL, 1);
        fixture_wait(&f, SAID("reason", "Cancelled"), 1);
        server_run_for(&f.server, 100);
        assert_int_equal(fixture_spooled(), 0);
        fixture_stop(&f);
    }
}

static void test_deleted_before_it_was_started(void **state)
{
    (void)state;
    struct fixture f = {0};

    fixture_start(&f, "[" NODE "," LIST(RUN("a", "4", "Scheduled", "$INSTANCE", ID_A,
                                            ", \"deletionTimestamp\": \"2026-01-01T00:00:00Z\"",
                                            "")) "," PATCHED("a") "," WATCH("") "]");
    fixture_wait(&f, SAID("reason", "Cancelled"), 1);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_CREATE), 0);
    fixture_stop(&f);
}

static void test_ending_gives_back_what_has_not_started(void **state)
{
    (void)state;
    struct fixture f = {.keeps_silent = true};

    fixture_start(
        &f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," WATCH(
                "{\"sleep\": 0.5}," EVENT("ADDED", OURS("b", "6", ID_B))) "," PATCHED("b") "]");
    fixture_wait_jailer(&f, PROTO_CREATE, 1);
    agent_end(f.agent);
    fixture_wait(&f, SAID("phase", "Pending"), 1);
    fixture_wait_end(&f);
    assert_int_equal(f.cause.code, 0);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_KILL), 1);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_START), 0);
    fixture_stop(&f);
}

static void test_ending_waits_for_what_runs(void **state)
{
    (void)state;
    struct fixture f = {0};

    fixture_start(
        &f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," PATCHED("a") "," WATCH(
                "{\"sleep\": 0.4}," EVENT("ADDED", OURS("b", "6", ID_B))) "," PATCHED("b") "]");
    fixture_wait_jailer(&f, PROTO_START, 1);
    agent_end(f.agent);
    /* What comes now is given back. */
    fixture_wait(&f, SAID("phase", "Pending"), 1);
    server_run_for(&f.server, 200);
    assert_false(f.ended);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_KILL), 0);
    fake_jailer_finished(&f.jailer, ID_A, PROTO_END_EXITED, 0);
    fixture_wait_end(&f);
    assert_int_equal(f.cause.code, 0);
    assert_int_equal(server_count(&f.server, SAID("phase", "Succeeded")), 1);
    assert_int_equal(fixture_spooled(), 0);
    fixture_stop(&f);
}

static void test_the_jailer_is_lost(void **state)
{
    (void)state;
    struct fixture f = {0};

    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," PATCHED(
                          "a") "," WATCH("") "]");
    fixture_wait_jailer(&f, PROTO_START, 1);
    fake_jailer_die(&f.jailer);
    fixture_wait_end(&f);
    assert_int_not_equal(f.cause.code, 0);
    /* Of the run and of the node. */
    assert_int_equal(server_count(&f.server, SAID("phase", "Failed")), 1);
    assert_true(server_count(&f.server, SAID("reason", "JailerLost")) >= 2);
    assert_int_equal(fixture_spooled(), 0);
    fixture_stop(&f);
}

static void test_the_jailer_is_lost_before_the_start(void **state)
{
    (void)state;
    struct fixture f = {.keeps_silent = true};

    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," WATCH("") "]");
    fixture_wait_jailer(&f, PROTO_CREATE, 1);
    fake_jailer_die(&f.jailer);
    fixture_wait_end(&f);
    assert_int_equal(server_count(&f.server, SAID("phase", "Pending")), 1);
    assert_int_equal(server_count(&f.server, SAID("phase", "Failed")), 0);
    fixture_stop(&f);
}

static const struct proto_check unmet[] = {
    {PROTO_REQUIRED, PROTO_OUTCOME_OK, "root", "uid 0", ""},
    {PROTO_REQUIRED, PROTO_OUTCOME_FAILED, "cgroup.writable", "it is read-only", "mount it anew"},
};

static void test_a_node_that_lacks_something_is_not_ready(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true, .checks = unmet, .check_count = ARRAY_SIZE(unmet)};

    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," WATCH("") "]");
    /* What was assigned all the same goes back, and nothing is started. */
    fixture_wait(&f, SAID("phase", "Pending"), 1);
    server_run_for(&f.server, 100);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_CREATE), 0);
    assert_int_equal(server_count(&f.server, SAID("status", "True")), 0);
    assert_true(server_count(&f.server, SAID("reason", "PreconditionFailed")) >= 1);
    assert_true(server_count(&f.server, "The node lacks: cgroup.writable.") >= 1);
    assert_true(server_count(&f.server, "it is read-only; mount it anew.") >= 1);
    assert_false(f.ended);
    agent_end(f.agent);
    fixture_wait_end(&f);
    assert_int_equal(f.cause.code, 0);
    fixture_stop(&f);
}

/* The spool may be the very thing that is missing. */
static void test_a_node_without_a_spool_says_what_it_lacks(void **state)
{
    (void)state;
    struct fixture f = {.checks = unmet, .check_count = ARRAY_SIZE(unmet)};

    /* Others could write there. */
    assert_int_equal(chmod(server_path("spool"), 0722), 0);
    fixture_start(&f, "[" NODE "]");
    fixture_wait(&f, SAID("reason", "PreconditionFailed"), 1);
    server_run_for(&f.server, 100);
    assert_int_equal(server_count(&f.server, "limit="), 0);
    agent_end(f.agent);
    fixture_wait_end(&f);
    assert_int_equal(f.cause.code, 0);
    fixture_stop(&f);
    assert_int_equal(chmod(server_path("spool"), 0700), 0);
}

static void test_what_is_only_recommended_keeps_nothing_from_running(void **state)
{
    (void)state;
    static const struct proto_check checks[] = {
        {PROTO_RECOMMENDED, PROTO_OUTCOME_FAILED, "apparmor", "docker-default", "unconfine it"},
        {PROTO_INFORMATION, PROTO_OUTCOME_FAILED, "landlock", "none", ""},
    };
    struct fixture f = {.finishes = true, .checks = checks, .check_count = ARRAY_SIZE(checks)};

    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," WATCH("") "]");
    fixture_wait(&f, SAID("phase", "Succeeded"), 1);
    assert_true(server_count(&f.server, SAID("status", "True")) >= 1);
    assert_int_equal(server_count(&f.server, "PreconditionFailed"), 0);
    fixture_stop(&f);
}

static void test_a_node_that_is_deleted_comes_back(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true};

    fixture_start(&f,
                  "[{\"match\": \"GET " NODES "/node-a\", " VERSION(
                      "1") ", {\"match\": \"PATCH " NODES "/node-a/status\", \"status\": 404}," NODE
                           "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," WATCH("") "]");
    fixture_wait(&f, SAID("phase", "Succeeded"), 1);
    assert_int_equal(server_count(&f.server, "POST"), 2);
    fixture_stop(&f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_clean, fixture_clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_run_from_start_to_end),
        TEST(test_refused_addresses_are_told),
        TEST(test_running_is_written_after_a_while),
        TEST(test_the_same_sandbox_is_started_once),
        TEST(test_a_conflict_is_settled_by_reading),
        TEST(test_late_results_are_dropped),
        TEST(test_results_that_are_too_large),
        TEST(test_a_refused_result_shrinks_to_its_core),
        TEST(test_an_outage_loses_nothing),
        TEST(test_runs_of_an_earlier_agent),
        TEST(test_what_an_earlier_agent_left_in_the_spool),
        TEST(test_no_more_than_the_jailer_offers),
        TEST(test_invalid_runs_are_not_started),
        TEST(test_deletion),
        TEST(test_deleted_before_it_was_started),
        TEST(test_ending_gives_back_what_has_not_started),
        TEST(test_ending_waits_for_what_runs),
        TEST(test_the_jailer_is_lost),
        TEST(test_the_jailer_is_lost_before_the_start),
        TEST(test_a_node_that_lacks_something_is_not_ready),
        TEST(test_a_node_without_a_spool_says_what_it_lacks),
        TEST(test_what_is_only_recommended_keeps_nothing_from_running),
        TEST(test_a_node_that_is_deleted_comes_back),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
