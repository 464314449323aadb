/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/agent/options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#define MAX_ARGV 12

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

static void test_least(void **state)
{
    (void)state;
    struct error err = {0};

    assert_int_equal(parse("agent --node-name n --jailer-socket /j --spool-dir /s", &err), 1);
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
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
