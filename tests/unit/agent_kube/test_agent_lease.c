/* SPDX-License-Identifier: Apache-2.0 */

/* The node's heartbeat, and what the agent does without it. */
#include "tests/unit/agent_kube/fixture.h"

#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

#define OURS(name, version, id) RUN(name, version, "Scheduled", "$INSTANCE", id, "", "")

/* Of a year ago or more. */
#define LATE(name, version, id) RUN_OF("2025", name, version, "Scheduled", "$INSTANCE", id, "", "")

#define SHORT_LEASE                                                                                \
    {                                                                                              \
        .duration_ms = 3000, .renew_ms = 1000                                                      \
    }
#define LEASE_MADE                                                                                 \
    "{\"match\": \"GET " LEASES "/node-a\", \"status\": 404}, {\"match\": \"POST " LEASES          \
    "\", \"status\": 201, " LEASE("1", "")
#define LEASE_FAILS(method, rest)                                                                  \
    "{\"match\": \"" method " " LEASES "/node-a\", \"status\": 503" rest "}"
#define RENEWS                                                                                     \
    "{\"match\": \"GET " LEASES                                                                    \
    "/node-a\", " LEASE("3", "$INSTANCE") ", {\"match\": \"PATCH " LEASES                          \
                                          "/node-a\", \"sticky\": true, " LEASE("4", "$INSTANCE")

/* The node is not told of before it is known to be alive. */
static void test_the_lease_comes_first(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true, .lease_times = SHORT_LEASE};

    fixture_start(&f, "[" LEASE_FAILS("GET", "") "," NODE "," LIST(
                          OURS("a", "4", ID_A)) "," PATCHED("a") "," WATCH("") "]");
    fixture_wait(&f, LEASES, 1);
    assert_int_equal(server_count(&f.server, NODES), 0);
    fixture_wait(&f, SAID("phase", "Succeeded"), 1);
    /* On a connection of its own, with what identifies it. */
    assert_int_equal(server_count(&f.server, SAID("sandboxrun.dev/lease", "node")), 1);
    assert_int_equal(server_count(&f.server, "\\\"leaseDurationSeconds\\\":3,"), 1);
    fixture_wait(&f, "{\\\"resourceVersion\\\":\\\"1\\\",\\\"labels\\\":{\\\"sandboxrun.dev/lease",
                 1);
    fixture_wait(&f, "{\\\"resourceVersion\\\":\\\"2\\\",\\\"labels\\\":{\\\"sandboxrun.dev/lease",
                 1);
    fixture_stop(&f);
}

/* What comes later than the window waits, and is started by the next renewal. */
static void test_nothing_is_started_without_a_lease(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true, .lease_times = SHORT_LEASE};

    fixture_start(&f, "[" LEASE_MADE "," LEASE_FAILS("PATCH", "") "," LEASE_FAILS(
                          "GET", ", \"delay\": 0.9") "," RENEWS "," NODE_ALONE
                                                     "," LIST("") "," PATCHED("a") "," WATCH(
                                                         "{\"sleep\": 1.6}," EVENT(
                                                             "ADDED", OURS("a", "6", ID_A))) "]");
    fixture_wait(&f, "watch=", 1);
    server_run_for(&f.server, 1700);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_CREATE), 0);
    fixture_wait(&f, SAID("phase", "Succeeded"), 1);
    assert_int_equal(server_count(&f.server, SAID("phase", "Pending")), 0);
    assert_true(f.jailer.requests[1].start.not_after_boottime_ns > 0);
    fixture_stop(&f);
}

/* The controller may be about to end it: only whoever's write is first knows. */
static void test_what_waited_too_long_for_a_lease_is_given_back(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true, .lease_times = SHORT_LEASE};

    fixture_start(
        &f, "[" LEASE_MADE
            "," LEASE_FAILS("PATCH", "") "," LEASE_FAILS("GET", ", \"delay\": 0.9") "," LEASE_FAILS(
                "GET", ", \"delay\": 0.9") "," RENEWS "," NODE_ALONE
                                           "," LIST("") "," PATCHED("a") "," WATCH(
                                               "{\"sleep\": 1.6}," EVENT(
                                                   "ADDED", OURS("a", "6", ID_A))) "]");
    fixture_wait(&f, SAID("phase", "Pending"), 1);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_CREATE), 0);
    fixture_stop(&f);
}

/* The watch stood still: whether it is still to be run a new list tells. */
static void test_an_assignment_that_comes_late(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true};

    fixture_start(
        &f, "[" NODE "," LIST("") "," WATCH(EVENT("ADDED", LATE("a", "6", ID_A)) "," EVENT(
                "ADDED",
                LATE("b", "7",
                     ID_B))) "," LIST(RUN("a", "8", "Failed", "$INSTANCE", ID_A, "",
                                          "") "," LATE("b", "7",
                                                       ID_B)) "," PATCHED("b") "," WATCH("") "]");
    fixture_wait(&f, SAID("phase", "Succeeded"), 1);
    server_run_for(&f.server, 100);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_CREATE), 1);
    assert_int_equal(server_count(&f.server, "limit="), 2);
    assert_int_equal(server_count(&f.server, "sandboxruns/a"), 0);
    fixture_stop(&f);
}

/* A jail that is made too slowly. */
static void test_a_lease_that_runs_out_before_the_start(void **state)
{
    (void)state;
    struct fixture f = {.keeps_silent = true, .lease_times = SHORT_LEASE};

    fixture_start(
        &f,
        "[" LEASE_MADE "," LEASE_FAILS("PATCH", ", \"delay\": 0.9") "," LEASE_FAILS(
            "GET", ", \"delay\": 0.9, \"sticky\": true") "," NODE_ALONE
                                                         "," LIST(OURS("a", "4", ID_A)) "," PATCHED(
                                                             "a") "," WATCH("") "]");
    fixture_wait_jailer(&f, PROTO_CREATE, 1);
    server_run_for(&f.server, 1700);
    fake_jailer_created(&f.jailer, ID_A);
    fixture_wait(&f, SAID("phase", "Pending"), 1);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_START), 0);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_KILL), 1);
    assert_int_equal(fixture_spooled(), 0);
    fixture_stop(&f);
}

/* The jailer read the start late, and the request had been written: nobody knows what ran. */
static void test_a_start_that_the_jailer_refuses_as_too_late(void **state)
{
    (void)state;
    struct fixture f = {.lease_times = SHORT_LEASE};

    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," WATCH("") "]");
    fixture_wait_jailer(&f, PROTO_START, 1);
    fake_jailer_refused(&f.jailer, ID_A, ESTALE, "request", "its start came 7 ms later");
    fixture_wait(&f, SAID("reason", "InternalError"), 1);
    assert_int_equal(
        server_count(&f.server, "the jailer refused the run: its start came 7 ms later"), 1);
    assert_int_equal(server_count(&f.server, SAID("phase", "Pending")), 0);
    fixture_stop(&f);
}

static void test_another_agent_takes_the_lease(void **state)
{
    (void)state;
    struct fixture f = {.lease_times = SHORT_LEASE};

    fixture_start(&f, "[" LEASE_MADE ",{\"match\": \"PATCH " LEASES "/node-a\", \"status\": 409},"
                      "{\"match\": \"GET " LEASES
                      "/node-a\", " LEASE("9", "somebody") "," NODE_ALONE
                                                           "," LIST("") "," WATCH("") "]");
    fixture_wait_end(&f);
    assert_non_null(strstr(f.cause.text, "somebody, has taken the lease of node node-a"));
    fixture_stop(&f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_clean, fixture_clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_lease_comes_first),
        TEST(test_nothing_is_started_without_a_lease),
        TEST(test_what_waited_too_long_for_a_lease_is_given_back),
        TEST(test_an_assignment_that_comes_late),
        TEST(test_a_lease_that_runs_out_before_the_start),
        TEST(test_a_start_that_the_jailer_refuses_as_too_late),
        TEST(test_another_agent_takes_the_lease),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
