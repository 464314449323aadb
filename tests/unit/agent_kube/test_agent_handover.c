/* SPDX-License-Identifier: Apache-2.0 */

/* What an agent does while another one of its node is still there, or its own jailer is about to
 * go; and what it makes of the past. */
#include "tests/unit/agent_kube/fixture.h"

#include "node-agent/agent/spool.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>

#define OURS(name, version, id) RUN(name, version, "Scheduled", "$INSTANCE", id, "", "")

static void test_a_spool_that_is_in_use(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct spool *spool;

    assert_int_equal(spool_open(server_path("spool"), &spool, NULL), 0);
    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," WATCH("") "]");
    server_run_for(&f.server, 300);
    assert_false(f.ended);
    assert_int_equal(server_count(&f.server, "GET"), 0);
    /* Its own as soon as the other one has ended. */
    spool_free(spool);
    fixture_wait_jailer(&f, PROTO_START, 1);
    fixture_stop(&f);
}

static void test_told_to_end_while_the_spool_is_in_use(void **state)
{
    (void)state;
    struct fixture f = {0};
    struct spool *spool;

    assert_int_equal(spool_open(server_path("spool"), &spool, NULL), 0);
    fixture_start(&f, "[]");
    server_run_for(&f.server, 100);
    agent_end(f.agent);
    fixture_wait_end(&f);
    assert_int_equal(f.cause.code, 0);
    assert_int_equal(server_count(&f.server, "GET"), 0);
    fixture_stop(&f);
    spool_free(spool);
}

/* As if the agent itself had been told: what runs ends, and nothing else begins. */
static void test_a_jailer_that_was_told_to_stop(void **state)
{
    (void)state;
    struct fixture f = {0};
    const struct proto_message notice = {.type = PROTO_NOTICE,
                                         .notice = {.kind = PROTO_NOTICE_STOPPING}};

    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," PATCHED(
                          "a") "," WATCH("") "]");
    fixture_wait(&f, SAID("phase", "Running"), 1);
    fake_jailer_say(&f.jailer, &notice);
    fixture_wait(&f, SAID("reason", "Draining"), 1);
    assert_false(f.ended);
    fake_jailer_finished(&f.jailer, ID_A, PROTO_END_EXITED, 0);
    fixture_wait_end(&f);
    assert_int_equal(f.cause.code, 0);
    assert_int_equal(server_count(&f.server, SAID("phase", "Succeeded")), 1);
    fixture_stop(&f);
}

/* What was on its way to it then has not begun, and is for another node or the next jailer. */
static void test_a_jailer_that_stops_before_it_hears_of_a_run(void **state)
{
    (void)state;
    struct fixture f = {.keeps_silent = true};

    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," WATCH("") "]");
    fixture_wait_jailer(&f, PROTO_CREATE, 1);
    fake_jailer_refused(&f.jailer, ID_A, ESHUTDOWN, "request", "the jailer is shutting down");
    fixture_wait(&f, SAID("phase", "Pending"), 1);
    assert_int_equal(server_count(&f.server, SAID("phase", "Failed")), 0);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_START), 0);
    assert_int_equal(fixture_spooled(), 0);
    fixture_stop(&f);
}

#define ENDED(name, version, id) RUN(name, version, "Succeeded", "$INSTANCE", id, "", "")

/* As a cache that lags shows it, or a data base that was put back to an earlier state: by an event,
 * and by a list. */
static void test_an_older_version_is_not_started_again(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true};

    fixture_start(
        &f,
        "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED(
            "a") ", {\"match\": \"watch=\", "
                 "\"chunks\": [" EVENT("MODIFIED", ENDED("a", "11", ID_A)) ", {\"sleep\": 1}," EVENT(
                     "MODIFIED",
                     OURS("a", "4",
                          ID_A)) ", {\"sleep\": 1}, {\"type\": \"ERROR\", "
                                 "\"object\": {\"code\": 410, \"reason\": \"Expired\"}}]}," LIST(
                                     OURS("a", "4", ID_A) "," OURS(
                                         "b", "5", ID_B)) "," PATCHED("b") "," WATCH("") "]");
    fixture_wait(&f, "sandboxruns/b/status", 1);
    server_run_for(&f.server, 100);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_CREATE), 2);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_START), 2);
    assert_int_equal(server_count(&f.server, "sandboxruns/a/status"), 1);
    fixture_stop(&f);
}

#define TEST(name) cmocka_unit_test_setup(name, fixture_clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_spool_that_is_in_use),
        TEST(test_told_to_end_while_the_spool_is_in_use),
        TEST(test_a_jailer_that_was_told_to_stop),
        TEST(test_a_jailer_that_stops_before_it_hears_of_a_run),
        TEST(test_an_older_version_is_not_started_again),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
