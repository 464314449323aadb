/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/options.h"
#include "controller/options_bounds.h"

#include <errno.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"

static int parse(const char *const *words, struct error *err)
{
    /* The options point into their words. */
    static char copies[24][64];
    char program[] = "sandboxrun-controller";
    char *argv[26] = {program};
    int argc = 1;
    for (; words[argc - 1]; argc++) {
        assert_true(strlen(words[argc - 1]) < sizeof(copies[0]));
        memcpy(copies[argc - 1], words[argc - 1], strlen(words[argc - 1]) + 1);
        argv[argc] = copies[argc - 1];
    }
    optind = 0;
    return options_parse(argc, argv, err);
}

static void test_values(void **state)
{
    (void)state;
    struct error err = {0};
    static const char *const none[] = {NULL};
    static const char *const elect[] = {"--leader-elect", "--leader-elect=true"};
    static const char *const all[] = {"--kubeconfig=/k",
                                      "--ttl-seconds-after-finished",
                                      "0",
                                      "--log-level=debug",
                                      "--health-address",
                                      ":8081",
                                      "--lease-namespace=system",
                                      "--lease-duration=3s",
                                      "--lease-renew-interval=1s",
                                      "--leader-elect=false",
                                      "--leader-elect-lease-duration=3s",
                                      "--leader-elect-renew-deadline=2s",
                                      "--leader-elect-retry-period=500ms",
                                      NULL};
    assert_int_equal(parse(none, &err), 1);
    assert_null(arg_kubeconfig);
    assert_null(arg_health_address);
    assert_int_equal(arg_ttl_seconds, 600);
    assert_null(arg_lease_namespace);
    assert_int_equal(arg_lease_times.duration_ms, 40000);
    assert_int_equal(arg_lease_times.renew_ms, 10000);
    assert_int_equal(arg_log_level, LOG_LEVEL_INFO);
    assert_true(arg_leader_elect);
    assert_int_equal(arg_leader_times.lease_ms, 15000);
    assert_int_equal(arg_leader_times.renew_ms, 10000);
    assert_int_equal(arg_leader_times.retry_ms, 2000);
    assert_int_equal(parse(all, &err), 1);
    assert_int_equal(arg_ttl_seconds, 0);
    assert_string_equal(arg_lease_namespace, "system");
    assert_int_equal(arg_lease_times.duration_ms, 3000);
    assert_int_equal(arg_lease_times.renew_ms, 1000);
    assert_int_equal(arg_log_level, LOG_LEVEL_DEBUG);
    assert_false(arg_leader_elect);
    assert_int_equal(arg_leader_times.lease_ms, 3000);
    assert_int_equal(arg_leader_times.renew_ms, 2000);
    assert_int_equal(arg_leader_times.retry_ms, 500);
    for (size_t i = 0; i < ARRAY_SIZE(elect); i++) {
        const char *const words[] = {elect[i], NULL};
        arg_leader_elect = false;
        assert_int_equal(parse(words, &err), 1);
        assert_true(arg_leader_elect);
    }
}

static void test_bounds(void **state)
{
    (void)state;
    struct error err = {0};
    static const char *const none[] = {NULL};
    static const char *const all[] = {
        "--max-runs-per-namespace=5",    "--max-memory-per-namespace=4Gi",
        "--max-cpu-per-namespace=2500m", "--max-queued-per-namespace=100",
        "--max-finished-runs=20",        "--max-finished-runs-per-namespace=10",
        "--max-finished-bytes=64Mi",     NULL};
    assert_int_equal(parse(none, &err), 1);
    assert_int_equal(arg_limits.used.runs, 0);
    assert_int_equal(arg_limits.used.memory_bytes, 0);
    assert_int_equal(arg_limits.used.cpu_milli, 0);
    assert_int_equal(arg_limits.queued, 0);
    assert_int_equal(arg_finished.runs, 10000);
    assert_int_equal(arg_finished.runs_per_namespace, 1000);
    assert_int_equal(arg_finished.bytes, 256 << 20);
    assert_int_equal(parse(all, &err), 1);
    assert_int_equal(arg_limits.used.runs, 5);
    assert_int_equal(arg_limits.used.memory_bytes, UINT64_C(4) << 30);
    assert_int_equal(arg_limits.used.cpu_milli, 2500);
    assert_int_equal(arg_limits.queued, 100);
    assert_int_equal(arg_finished.runs, 20);
    assert_int_equal(arg_finished.runs_per_namespace, 10);
    assert_int_equal(arg_finished.bytes, 64 << 20);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *words[3];
        const char *message;
    } cases[] = {
        {{"--nonsense"}, "--nonsense is no option; see --help"},
        {{"-x"}, "-x is no option; see --help"},
        {{"--kubeconfig"}, "--kubeconfig needs a value; see --help"},
        {{"--help=yes"}, "--help=yes is no option; see --help"},
        {{"extra"}, "extra: takes no arguments; see --help"},
        {{"--ttl-seconds-after-finished=-1"},
         "--ttl-seconds-after-finished: \"-1\" is no whole number from 0 to 2592000"},
        {{"--ttl-seconds-after-finished=2592001"},
         "--ttl-seconds-after-finished: \"2592001\" is no whole number from 0 to 2592000"},
        {{"--ttl-seconds-after-finished", "10s"},
         "--ttl-seconds-after-finished: \"10s\" is no whole number from 0 to 2592000"},
        {{"--lease-namespace=A"}, "--lease-namespace: \"A\" is no name of a namespace"},
        {{"--lease-duration=x"}, "--lease-duration: \"x\" is not a duration such as 40s"},
        {{"--leader-elect-lease-duration=10s", "--leader-elect-renew-deadline=10s"},
         "--leader-elect-renew-deadline: is not shorter than --leader-elect-lease-duration, so that "
         "there would be two leaders"},
        {{"--lease-duration=2s", "--lease-renew-interval=1s"},
         "--lease-duration: is shorter than three times --lease-renew-interval, so that one lost "
         "renewal would take the node out of service"},
        {{"--leader-elect=yes"}, "--leader-elect: \"yes\" is neither true nor false"},
        {{"--leader-elect", "no"}, "no: takes no arguments; see --help"},
        {{"--leader-elect-lease-duration=long"},
         "--leader-elect-lease-duration: \"long\" is not a duration such as 40s"},
        {{"--max-runs-per-namespace=many"},
         "--max-runs-per-namespace: \"many\" is no whole number from 0 to 1000000"},
        {{"--max-queued-per-namespace=-1"},
         "--max-queued-per-namespace: \"-1\" is no whole number from 0 to 1000000"},
        {{"--max-finished-runs=0"},
         "--max-finished-runs: \"0\" is no whole number from 1 to 1000000"},
        {{"--max-finished-runs-per-namespace=1000001"},
         "--max-finished-runs-per-namespace: \"1000001\" is no whole number from 1 to 1000000"},
        {{"--max-memory-per-namespace=lots"},
         "--max-memory-per-namespace: \"lots\" is no amount of bytes such as 64Gi"},
        {{"--max-memory-per-namespace=8Ei"},
         "--max-memory-per-namespace: \"8Ei\" is no amount of bytes such as 64Gi"},
        {{"--max-memory-per-namespace=1Mi"},
         "--max-memory-per-namespace: \"1Mi\" is less than 33554432 bytes, which one run may have"},
        {{"--max-finished-bytes=0"},
         "--max-finished-bytes: \"0\" is less than 1310720 bytes, which one run may have"},
        {{"--max-cpu-per-namespace=2GHz"},
         "--max-cpu-per-namespace: \"2GHz\" is no amount of CPU such as 500m or 8"},
        {{"--log-level=loud"}, "--log-level: \"loud\" is not one of debug, info, warn, error"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = {0};
        assert_int_equal(parse(cases[i].words, &err), -EINVAL);
        assert_string_equal(err.text, cases[i].message);
    }
}

static void test_help_and_version(void **state)
{
    (void)state;
    struct error err = {0};
    static const char *const help[] = {"--log-level=debug", "--help", "--nonsense", NULL};
    static const char *const version[] = {"--version", NULL};
    assert_int_equal(parse(help, &err), 0);
    assert_int_equal(parse(version, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_help_and_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
