/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/agent_kube/fixture.h"

#include "tests/unit/agent_kube/full_disk.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

#define OURS(name, version, id) RUN(name, version, "Scheduled", "$INSTANCE", id, "", "")
#define LATER                   "{\"sleep\": 0.5}"

#define READY     SAID("reason", "JailerReady")
#define NOT_READY SAID("reason", "SpoolNotWritable")

static int setup(void **state)
{
    full_disk = false;
    return fixture_clean(state);
}

/* Other nodes are to have what this one can't mark as started. */
static void test_runs_are_given_back(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true};

    fixture_start(&f, "[" NODE "," LIST("") "," PATCHED("a") "," PATCHED("b") "," WATCH(
                          LATER "," EVENT("ADDED", OURS("a", "6", ID_A)) "," LATER "," EVENT(
                              "ADDED", OURS("b", "7", ID_B))) "]");
    fixture_wait(&f, READY, 1);
    full_disk = true;
    fixture_wait(&f, SAID("phase", "Pending"), 2);
    assert_true(server_count(&f.server, NOT_READY) >= 1);
    assert_true(server_count(&f.server, "No space left on device") >= 1);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_START), 0);
    assert_int_equal(server_count(&f.server, SAID("phase", "Failed")), 0);
    assert_int_equal(fixture_spooled(), 0);
    assert_int_equal(server_count(&f.server, READY), 1);
    full_disk = false;
    fixture_wait(&f, READY, 2);
    assert_false(f.ended);
    fixture_stop(&f);
}

static void test_a_result_needs_no_disk(void **state)
{
    (void)state;
    struct fixture f = {0};

    fixture_start(&f, "[" NODE "," LIST(OURS("a", "4", ID_A)) "," PATCHED("a") "," WATCH("") "]");
    fixture_wait_jailer(&f, PROTO_START, 1);
    full_disk = true;
    fake_jailer_finished(&f.jailer, ID_A, PROTO_END_EXITED, 0);
    fixture_wait(&f, SAID("phase", "Succeeded"), 1);
    fixture_wait(&f, NOT_READY, 1);
    server_run_for(&f.server, 100);
    assert_int_equal(fixture_spooled(), 0);
    fixture_stop(&f);
}

/* What it has to report is what takes the room. */
static void test_an_agent_that_starts_on_a_full_disk(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true};

    fixture_spool("instances", "old\n");
    fixture_spool("run-" ID_A,
                  "{\"version\":1,\"sandboxID\":\"" ID_A
                  "\",\"namespace\":\"team\",\"name\":\"a\",\"uid\":\"uid-a\",\"startTime\":"
                  "\"2026-01-02T00:00:00.000000Z\",\"status\":{\"phase\":\"Failed\",\"reason\":"
                  "\"Error\",\"sandboxID\":\"" ID_A "\",\"exitCode\":7,\"stdout\":\"kept\"}}");
    full_disk = true;
    fixture_start(&f,
                  "[" NODE "," GOT("a", RUN("a", "4", "Running", "old", ID_A, "", "")) "," PATCHED(
                      "a") "," LIST("") "," WATCH("") "]");
    fixture_wait(&f, SAID("stdout", "kept"), 1);
    fixture_wait(&f, NOT_READY, 1);
    server_run_for(&f.server, 100);
    assert_int_equal(fixture_spooled(), 0);
    assert_int_equal(server_count(&f.server, READY), 0);
    full_disk = false;
    fixture_wait(&f, READY, 1);
    fixture_stop(&f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_runs_are_given_back),
        TEST(test_a_result_needs_no_disk),
        TEST(test_an_agent_that_starts_on_a_full_disk),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
