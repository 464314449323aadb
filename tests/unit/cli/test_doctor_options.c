/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/doctor_options.h"
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"

#include <errno.h>
#include <string.h>

#define MAX_WORDS 8

static int parse(const char *const words[MAX_WORDS], struct doctor_options *options,
                 struct error *err)
{
    char *argv[MAX_WORDS + 2] = {(char[]){"doctor"}};
    int argc = 1;
    for (size_t i = 0; i < MAX_WORDS && words[i]; i++)
        argv[argc++] = (char *)(uintptr_t)words[i];
    *err = (struct error){0};
    return doctor_options_parse(argc, argv, options, err);
}

static void test_defaults(void **state)
{
    (void)state;
    struct doctor_options options;
    struct error err;
    assert_int_equal(parse((const char *const[MAX_WORDS]){0}, &options, &err), 0);
    assert_int_equal(options.format, OUTPUT_STREAMS);
    assert_null(options.jailer);
    assert_null(options.runtimes_dir);
    assert_false(options.help);
}

static void test_all_options(void **state)
{
    (void)state;
    struct doctor_options options;
    struct error err;
    const char *const words[MAX_WORDS] = {"-ojson", "--jailer", "/j", "--runtimes-dir=/r"};
    assert_int_equal(parse(words, &options, &err), 0);
    assert_int_equal(options.format, OUTPUT_JSON);
    assert_string_equal(options.jailer, "/j");
    assert_string_equal(options.runtimes_dir, "/r");
    assert_int_equal(parse((const char *const[MAX_WORDS]){"--output", "yaml"}, &options, &err), 0);
    assert_int_equal(options.format, OUTPUT_YAML);
    assert_int_equal(parse((const char *const[MAX_WORDS]){"-h", "x"}, &options, &err), 0);
    assert_true(options.help);
}

static void test_bad_command_lines(void **state)
{
    (void)state;
    static const struct {
        const char *words[MAX_WORDS];
        const char *says;
    } cases[] = {
        {{"x"}, "unexpected argument x"},
        {{"-o"}, "-o needs a value"},
        {{"-o", "xml"}, "--output xml: must be yaml or json"},
        {{"--jailer"}, "--jailer needs a value"},
        {{"--nonsense"}, "unknown option --nonsense"},
        {{"-x"}, "unknown option -x"},
        {{"--help=yes"}, "unknown option --help=yes"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct doctor_options options;
        struct error err;
        if (parse(cases[i].words, &options, &err) != -EINVAL || !strstr(err.text, cases[i].says))
            fail_msg("case %zu: \"%s\"", i, err.text);
    }
}

static void test_help_tells_the_exit_codes(void **state)
{
    (void)state;
    static const char *const words[] = {"  0  ", "  1  ", "  2  ", "--output", "--runtimes-dir"};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        assert_non_null(strstr(doctor_options_help, words[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_all_options),
        cmocka_unit_test(test_bad_command_lines),
        cmocka_unit_test(test_help_tells_the_exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
