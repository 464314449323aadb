/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/agent/options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#define MAX_ARGV 24
#define LEAST    "agent --node-name n --jailer-socket /j --spool-dir /s"

/* Parses the words of a line. */
static int parse(const char *line, struct error *err)
{
    static char words[512];
    char *argv[MAX_ARGV + 1] = {NULL};
    int argc = 0;

    (void)snprintf(words, sizeof(words), "%s", line);
    for (char *rest = words, *word; (word = strsep(&rest, " ")) && argc < MAX_ARGV;)
        argv[argc++] = word;
    arg_node_name = arg_jailer_socket = arg_spool_dir = arg_kubeconfig = arg_health_address = NULL;
    arg_output_host = arg_output_cert = arg_output_key = NULL;
    arg_lease_namespace = NULL;
    arg_lease_times = (struct lease_times){.duration_ms = DEFAULT_LEASE_DURATION_MS,
                                           .renew_ms = DEFAULT_LEASE_RENEW_MS};
    arg_log_level = LOG_LEVEL_INFO;
    /* Has getopt begin anew (getopt(3)). */
    optind = 0;
    return options_parse(argc, argv, err);
}

static void test_all(void **state)
{
    (void)state;
    struct error err = {0};

    assert_int_equal(parse("agent --node-name node-a.example --jailer-socket /j --spool-dir=/s "
                           "--kubeconfig /k --log-level debug --health-address :8081",
                           &err),
                     1);
    assert_string_equal(arg_node_name, "node-a.example");
    assert_string_equal(arg_jailer_socket, "/j");
    assert_string_equal(arg_spool_dir, "/s");
    assert_string_equal(arg_kubeconfig, "/k");
    assert_string_equal(arg_health_address, ":8081");
    assert_int_equal(arg_log_level, LOG_LEVEL_DEBUG);
}

static void test_output(void **state)
{
    (void)state;
    struct error err = {0};

    assert_int_equal(parse(LEAST " --retain-output 90s --retain-output-bytes 1Gi "
                                 "--output-address 127.0.0.1:9 --output-host fd00::7 "
                                 "--output-cert /c --output-key /k",
                           &err),
                     1);
    assert_int_equal(arg_retain_output_ms, 90000);
    assert_int_equal(arg_retain_output_bytes, 1 << 30);
    assert_string_equal(arg_output_address, "127.0.0.1:9");
    assert_string_equal(arg_output_host, "fd00::7");
    assert_string_equal(arg_output_cert, "/c");
    assert_string_equal(arg_output_key, "/k");
    assert_int_equal(parse(LEAST " --retain-output 0 --output-address=", &err), 1);
    assert_int_equal(arg_retain_output_ms, 0);
    assert_null(arg_output_address);
}

static void test_lease(void **state)
{
    (void)state;
    static const struct {
        const char *words, *message;
    } refused[] = {
        {" --lease-namespace a/b", "--lease-namespace: \"a/b\" is no name of a namespace"},
        {" --lease-duration soon", "--lease-duration: \"soon\" is not a duration such as 40s"},
        {" --lease-renew-interval 999ms", "--lease-renew-interval: is shorter than 1 s"},
        {" --lease-duration 601s", "--lease-duration: is longer than 600 s"},
        {" --lease-renew-interval 14s",
         "--lease-duration: is shorter than three times --lease-renew-interval, so that one lost "
         "renewal would take the node out of service"},
    };
    struct error err = {0};

    assert_int_equal(parse(LEAST " --lease-namespace ns --lease-duration 3s "
                                 "--lease-renew-interval 1s",
                           &err),
                     1);
    assert_string_equal(arg_lease_namespace, "ns");
    assert_int_equal(arg_lease_times.duration_ms, 3000);
    assert_int_equal(arg_lease_times.renew_ms, 1000);
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        char line[256];
        (void)snprintf(line, sizeof(line), LEAST "%s", refused[i].words);
        assert_int_equal(parse(line, &err), -EINVAL);
        assert_string_equal(err.text, refused[i].message);
    }
    assert_int_equal(parse(LEAST, &err), 1);
    assert_null(arg_lease_namespace);
}

static void test_least(void **state)
{
    (void)state;
    struct error err = {0};

    assert_string_equal(arg_output_address, ":8443");
    assert_int_equal(arg_retain_output_ms, 600000);
    assert_int_equal(arg_retain_output_bytes, 256 << 20);
    assert_int_equal(parse(LEAST, &err), 1);
    assert_null(arg_output_host);
    assert_null(arg_output_cert);
    assert_null(arg_kubeconfig);
    assert_null(arg_health_address);
    assert_int_equal(arg_log_level, LOG_LEVEL_INFO);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *says;
    } cases[] = {
        {"agent", "--node-name is missing"},
        {"agent --node-name n", "--jailer-socket is missing"},
        {"agent --node-name n --jailer-socket /j", "--spool-dir is missing"},
        {"agent --node-name Node --jailer-socket /j --spool-dir /s", "\"Node\" is no name"},
        {"agent --node-name n --jailer-socket= --spool-dir /s", "--jailer-socket can't be empty"},
        {"agent --node-name", "--node-name needs a value"},
        {"agent --verbose", "--verbose is no option"},
        {"agent --log-level loud", "\"loud\" is not one of"},
        {"agent --node-name n --jailer-socket /j --spool-dir /s more", "more: takes no arguments"},
        {LEAST " --retain-output soon", "\"soon\" is not a duration"},
        {LEAST " --retain-output 11000m", "at most 7 days"},
        {LEAST " --retain-output-bytes 1Mi", "at least 16Mi"},
        {LEAST " --retain-output-bytes 256MB", "\"256MB\" is not a quantity"},
        {LEAST " --output-host a/b", "\"a/b\" is no host name"},
        {LEAST " --output-host=", "--output-host can't be empty"},
        {LEAST " --output-cert /c", "--output-cert and --output-key go together"},
        {LEAST " --output-key /c", "--output-cert and --output-key go together"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct error err = {0};
        assert_int_equal(parse(cases[i].line, &err), -EINVAL);
        if (!strstr(err.text, cases[i].says))
            fail_msg("\"%s\" instead of \"%s\"", err.text, cases[i].says);
    }
}

static void test_questions(void **state)
{
    (void)state;
    struct error err = {0};

    assert_int_equal(parse("agent --help", &err), 0);
    assert_int_equal(parse("agent --version", &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lease),
        cmocka_unit_test(test_least), /* the first: defaults are what nothing has set */
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_output),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
