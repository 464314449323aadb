/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/options.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

#define MAX_ARGS 16

static int parse(const char *line, struct options *options, struct error *err)
{
    static char copy[1024];
    char *argv[MAX_ARGS + 1] = {0};
    int argc = 0;
    (void)snprintf(copy, sizeof(copy), "jailer %s", line);
    for (char *at = copy; *at && argc < MAX_ARGS;) {
        argv[argc++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
    }
    *err = (struct error){0};
    return options_parse(argc, argv, options, err);
}

static void test_defaults(void **state)
{
    (void)state;
    struct options options;
    struct error err;
    assert_int_equal(parse("--fd 5 --runtimes-dir /r", &options, &err), OPTIONS_RUN);
    assert_int_equal(options.fd, 5);
    assert_null(options.socket_path);
    assert_string_equal(options.runtimes_dir, "/r");
    assert_null(options.spool_dir);
    assert_string_equal(options.cgroup_parent, "sandboxrun");
    assert_int_equal(options.uid_base, 2000000000);
    assert_int_equal(options.uid_count, 65536);
    assert_int_equal(options.max_runs, DEFAULT_SANDBOXES);
    assert_int_equal(options.memory_capacity_bytes, 0);
    assert_int_equal(options.cpu_capacity_milli, 0);
    assert_int_equal(options.log_level, LOG_LEVEL_INFO);
    assert_int_equal(options.log_format, LOG_FORMAT_JSON);
    assert_false(options.has_peer_uid);
    assert_int_equal(options.slots, 0);
    assert_int_equal(options.slot_range.length, 18);
    assert_int_equal(options.slot_range6.length, 112);
    assert_int_equal(options.forbidden_count, 0);
    assert_null(options.resolver_socket);
    assert_int_equal(options.resolver_fd, -1);
}

static void test_network(void **state)
{
    (void)state;
    struct options options;
    struct error err;
    assert_int_equal(parse("--socket /s --peer-uid 7 --runtimes-dir /r --resolver-socket /n "
                           "--resolver-uid 8 --slot-range 10.9.0.0/20",
                           &options, &err),
                     OPTIONS_RUN);
    assert_int_equal(options.peer_uid, 7);
    assert_string_equal(options.resolver_socket, "/n");
    assert_int_equal(options.resolver_uid, 8);
    assert_int_equal(options.slots, DEFAULT_SLOTS);
    assert_int_equal(options.slot_range.length, 20);
    assert_int_equal(parse("--fd 5 --runtimes-dir /r --slots 3 --resolver-fd 6 "
                           "--forbid 203.0.114.0/24 --forbid 2600::/20",
                           &options, &err),
                     OPTIONS_RUN);
    assert_int_equal(options.slots, 3);
    assert_int_equal(options.resolver_fd, 6);
    assert_int_equal(options.forbidden_count, 2);
    assert_int_equal(options.forbidden[1].length, 20);
    static const struct {
        const char *line, *word;
    } bad[] = {
        {"--fd 5 --runtimes-dir /r --slots 129", "--slots"},
        {"--fd 5 --runtimes-dir /r --slot-range 10.0.0.0/26", "--slot-range"},
        {"--fd 5 --runtimes-dir /r --slot-range 10.0.0.1/18", "--slot-range"},
        {"--fd 5 --runtimes-dir /r --slot-range fd00::/112", "--slot-range"},
        {"--fd 5 --runtimes-dir /r --slot-range6 fd00::/64", "--slot-range6"},
        {"--fd 5 --runtimes-dir /r --forbid 10.0.0.0", "--forbid"},
        {"--fd 5 --runtimes-dir /r --forbid 10.0.0.1/8", "--forbid"},
        {"--fd 5 --runtimes-dir /r --resolver-socket /n", "--resolver-uid"},
        {"--fd 5 --runtimes-dir /r --resolver-uid 8", "--resolver-socket"},
        {"--fd 5 --runtimes-dir /r --resolver-uid 8 --resolver-socket /n --resolver-fd 6",
         "--resolver-fd"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        assert_int_equal(parse(bad[i].line, &options, &err), -EINVAL);
        assert_non_null(strstr(err.text, bad[i].word));
    }
}

static void test_forbidden_ranges_have_a_number(void **state)
{
    (void)state;
    static char word[] = "--forbid", prefix[] = "203.0.114.0/24", name[] = "jailer";
    static char fd[] = "--fd=5", runtimes[] = "--runtimes-dir=/r";
    char *argv[3 + 2 * (NET_MAX_FORBIDDEN + 1) + 1] = {name, fd, runtimes};
    struct options options;
    struct error err = {0};
    int argc = 3;
    for (unsigned int i = 0; i < NET_MAX_FORBIDDEN + 1; i++) {
        argv[argc++] = word;
        argv[argc++] = prefix;
    }
    assert_int_equal(options_parse(argc - 2, argv, &options, &err), OPTIONS_RUN);
    assert_int_equal(options_parse(argc, argv, &options, &err), -EINVAL);
    assert_non_null(strstr(err.text, "64"));
}

static void test_check(void **state)
{
    (void)state;
    struct options options;
    struct error err;
    assert_int_equal(parse("--fd 5 --runtimes-dir /r", &options, &err), OPTIONS_RUN);
    assert_false(options.check);
    assert_int_equal(parse("--fd 5 --check --runtimes-dir /r", &options, &err), OPTIONS_RUN);
    assert_true(options.check);
    assert_int_equal(parse("--socket /s --peer-uid 1 --check --runtimes-dir /r", &options, &err),
                     -EINVAL);
    assert_non_null(strstr(err.text, "--fd"));
}

static void test_every_option(void **state)
{
    (void)state;
    struct options options;
    struct error err;
    assert_int_equal(parse("--socket /s --peer-uid 0 --runtimes-dir /r --spool-dir /p "
                           "--cgroup-parent self --log-level debug --log-format text",
                           &options, &err),
                     OPTIONS_RUN);
    assert_string_equal(options.socket_path, "/s");
    assert_true(options.has_peer_uid);
    assert_int_equal(options.peer_uid, 0);
    assert_string_equal(options.spool_dir, "/p");
    assert_string_equal(options.cgroup_parent, "self");
    assert_int_equal(options.log_level, LOG_LEVEL_DEBUG);
    assert_int_equal(options.log_format, LOG_FORMAT_TEXT);
    assert_int_equal(parse("--fd=3 --runtimes-dir=/r --uid-base=70000 --uid-count=128 "
                           "--max-runs=512 --memory-capacity=2Gi --cpu-capacity=1500m",
                           &options, &err),
                     OPTIONS_RUN);
    assert_int_equal(options.uid_base, 70000);
    assert_int_equal(options.uid_count, 128);
    assert_int_equal(options.max_runs, 512);
    assert_int_equal(options.memory_capacity_bytes, 2ull << 30);
    assert_int_equal(options.cpu_capacity_milli, 1500);
}

static void test_what_waits(void **state)
{
    (void)state;
    struct options options;
    struct error err;
    assert_int_equal(parse("--fd=3 --runtimes-dir=/r", &options, &err), OPTIONS_RUN);
    assert_true(options.forks);
    assert_int_equal(options.zygote_forks, DEFAULT_ZYGOTE_FORKS);
    assert_string_equal(options.zygote_modules, DEFAULT_ZYGOTE_MODULES);
    assert_int_equal(parse("--fd=3 --runtimes-dir=/r --pool-mode=fork --pool-min=1 --pool-max=4 "
                           "--zygote-modules=json,os.path --zygote-forks=100",
                           &options, &err),
                     OPTIONS_RUN);
    assert_true(options.forks);
    assert_int_equal(options.pool_min, 1);
    assert_int_equal(options.pool_max, 4);
    assert_string_equal(options.zygote_modules, "json,os.path");
    assert_int_equal(options.zygote_forks, 100);
    assert_int_equal(
        parse("--fd=3 --runtimes-dir=/r --pool-mode=fork --pool-mode=fresh", &options, &err),
        OPTIONS_RUN);
    assert_false(options.forks);
}

static void test_help_and_version_need_nothing_else(void **state)
{
    (void)state;
    struct options options;
    struct error err;
    assert_int_equal(parse("--help", &options, &err), OPTIONS_HELP);
    assert_int_equal(parse("--version", &options, &err), OPTIONS_VERSION);
    assert_non_null(strstr(options_help, "--memory-capacity"));
}

struct bad_case {
    const char *line, *names;
};

#define GOOD "--fd 3 --runtimes-dir /r "

static const struct bad_case bad_cases[] = {
    {"", "--socket or --fd"},
    {"--runtimes-dir /r", "--socket or --fd"},
    {"--fd 3 --socket /s --peer-uid 1 --runtimes-dir /r", "--socket or --fd"},
    {"--socket /s --runtimes-dir /r", "--peer-uid"},
    {GOOD "--spool-dir /p", "--peer-uid"},
    {"--fd 3", "--runtimes-dir"},
    {"--fd 3 --runtimes-dir", "needs a value"},
    {"--fd 3 --runtimes-dir=", "--runtimes-dir"},
    {GOOD "--fd 2", "out of range"},
    {GOOD "--fd x", "--fd"},
    {GOOD "--fd -1", "--fd"},
    {GOOD "--max-runs 0", "out of range"},
    {GOOD "--max-runs 513", "out of range"},
    {GOOD "--max-runs 1e3", "--max-runs"},
    {GOOD "--uid-base 65535", "out of range"},
    {GOOD "--uid-base 4294967295", "out of range"},
    {GOOD "--uid-count 127", "out of range"},
    {GOOD "--uid-base 4294920000 --uid-count 65536", "beyond the last uid"},
    {GOOD "--peer-uid 4294967295", "out of range"},
    {GOOD "--memory-capacity 0", "out of range"},
    {GOOD "--memory-capacity 1Ti", "--memory-capacity"},
    {GOOD "--memory-capacity Mi", "--memory-capacity"},
    {GOOD "--memory-capacity 1.5Gi", "--memory-capacity"},
    {GOOD "--memory-capacity 9223372036854775807Gi", "out of range"},
    {GOOD "--cpu-capacity 0m", "out of range"},
    {GOOD "--cpu-capacity 1u", "--cpu-capacity"},
    {GOOD "--cgroup-parent a/b", "--cgroup-parent"},
    {GOOD "--cgroup-parent ..", "--cgroup-parent"},
    {GOOD "--cgroup-parent /x", "--cgroup-parent"},
    {GOOD "--log-level loud", "--log-level"},
    {GOOD "--log-format xml", "--log-format"},
    {GOOD "--pool-mode forked", "--pool-mode"},
    {GOOD "--pool-min 2 --pool-max 1", "--pool-max"},
    {GOOD "--zygote-modules json;os", "--zygote-modules"},
    {GOOD "--zygote-forks 0", "out of range"},
    {GOOD "--nonsense", "--nonsense"},
    {GOOD "-x", "-x"},
    {GOOD "argument", "unexpected argument argument"},
    {GOOD "--help=1", "--help=1"},
};

static void test_bad_command_lines_say_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad_cases); i++) {
        struct options options = {.fd = 77};
        struct error err;
        int r = parse(bad_cases[i].line, &options, &err);
        if (r != -EINVAL || !strstr(err.text, bad_cases[i].names))
            fail_msg("%s: %d \"%s\"", bad_cases[i].line, r, err.text);
        assert_int_equal(options.fd, 77);
    }
}

static void test_quantities(void **state)
{
    (void)state;
    uint64_t value = 7;
    assert_int_equal(options_parse_bytes("1073741824", &value), 0);
    assert_int_equal(value, 1ull << 30);
    assert_int_equal(options_parse_bytes("1Ki", &value), 0);
    assert_int_equal(value, 1024);
    assert_int_equal(options_parse_bytes("512Mi", &value), 0);
    assert_int_equal(value, 512ull << 20);
    assert_int_equal(options_parse_bytes("9223372036854775807", &value), 0);
    assert_int_equal(options_parse_bytes("9223372036854775808", &value), -ERANGE);
    assert_int_equal(options_parse_bytes("99999999999999999999999999", &value), -ERANGE);
    assert_int_equal(options_parse_bytes("", &value), -EINVAL);
    assert_int_equal(options_parse_bytes("1K", &value), -EINVAL);
    assert_int_equal(options_parse_bytes("1KiB", &value), -EINVAL);
    assert_int_equal(options_parse_bytes("-1", &value), -EINVAL);
    assert_int_equal(options_parse_bytes(" 1", &value), -EINVAL);
    assert_int_equal(options_parse_cpu("2", &value), 0);
    assert_int_equal(value, 2000);
    assert_int_equal(options_parse_cpu("250m", &value), 0);
    assert_int_equal(value, 250);
    assert_int_equal(options_parse_cpu("m", &value), -EINVAL);
    assert_int_equal(options_parse_cpu("1m1", &value), -EINVAL);
    assert_int_equal(options_parse_cpu("9999999999", &value), -ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_forbidden_ranges_have_a_number),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_every_option),
        cmocka_unit_test(test_what_waits),
        cmocka_unit_test(test_help_and_version_need_nothing_else),
        cmocka_unit_test(test_bad_command_lines_say_what_is_wrong),
        cmocka_unit_test(test_quantities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
