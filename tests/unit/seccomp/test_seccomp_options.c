/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "seccomp/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define MAX_WORDS 12

static int parse(const char *const words[static MAX_WORDS], struct options *ret_options,
                 struct error *err)
{
    static char storage[MAX_WORDS][64];
    static char *argv[MAX_WORDS + 2];
    int argc = 1;

    argv[0] = (char[]){"sandboxrun-seccomp"};
    for (; words[argc - 1]; argc++) {
        (void)snprintf(storage[argc - 1], sizeof(storage[0]), "%s", words[argc - 1]);
        argv[argc] = storage[argc - 1];
    }
    argv[argc] = NULL;
    return options_parse(argc, argv, ret_options, err);
}

static void refuses_what_is_wrong(void **state)
{
    static const struct {
        const char *words[MAX_WORDS];
        const char *message;
    } cases[] = {
        {{NULL}, "no command"},
        {{"list", "f"}, "unknown command 'list'"},
        {{"count"}, "no policy file"},
        {{"count", "a", "b"}, "one policy file"},
        {{"count", "a", "--nothing"}, "unknown option"},
        {{"count", "a", "--arch"}, "without its value"},
        {{"count", "a", "--arch", "i386"}, "not 'i386'"},
        {{"count", "a", "--output", "b"}, "is for compile"},
        {{"explain", "a", "--format", "c"}, "are for compile"},
        {{"exec", "a", "--symbol", "b", "--", "c"}, "are for compile"},
        {{"compile", "a"}, "need --output"},
        {{"compile", "a", "-o", "b", "--format", "elf"}, "not 'elf'"},
        {{"compile", "a", "-o", "b", "--symbol", "1x"}, "no name in C"},
        {{"compile", "a", "-o", "b", "--symbol", ""}, "no name in C"},
        {{"compile", "a", "-o", "b", "--symbol", "x", "--format", "raw"}, "--format c"},
        {{"names"}, "need --output"},
        {{"names", "a", "-o", "b"}, "no policy file"},
        {{"names", "-o", "b", "--symbol", "x"}, "are for compile"},
        {{"exec", "a"}, "no command to run"},
        {{"exec", "a", "--"}, "no command to run"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct options options = {0};
        struct error err = {0};

        assert_int_equal(parse(cases[i].words, &options, &err), -EINVAL);
        if (!strstr(err.text, cases[i].message))
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.text, cases[i].message);
    }
}

static void reads_compile(void **state)
{
    static const char *const words[MAX_WORDS] = {"compile",  "--format", "raw",    "a.json",
                                                 "--output", "out",      "--arch", "aarch64"};
    struct options options = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(parse(words, &options, &err), 0);
    assert_int_equal(options.command, COMMAND_COMPILE);
    assert_int_equal(options.format, OUTPUT_FORMAT_RAW);
    assert_int_equal(options.arch, ARCH_AARCH64);
    assert_string_equal(options.file, "a.json");
    assert_string_equal(options.output, "out");
}

static void reads_names(void **state)
{
    static const char *const words[MAX_WORDS] = {"names", "--arch", "aarch64", "-o", "out"};
    struct options options = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(parse(words, &options, &err), 0);
    assert_int_equal(options.command, COMMAND_NAMES);
    assert_int_equal(options.arch, ARCH_AARCH64);
    assert_string_equal(options.output, "out");
    assert_null(options.file);
}

/* What follows the -- is the command's own. */
static void reads_exec(void **state)
{
    static const char *const words[MAX_WORDS] = {"exec", "a.json", "--", "ls", "-h", "--output"};
    struct options options = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(parse(words, &options, &err), 0);
    assert_int_equal(options.command, COMMAND_EXEC);
    assert_string_equal(options.file, "a.json");
    assert_string_equal(options.program[0], "ls");
    assert_string_equal(options.program[1], "-h");
    assert_string_equal(options.program[2], "--output");
    assert_null(options.program[3]);
}

static void gives_help(void **state)
{
    static const char *const cases[][MAX_WORDS] = {{"--help"}, {"-h"}, {"count", "--help"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct options options = {.command = COMMAND_EXEC};
        struct error err = {0};

        assert_int_equal(parse(cases[i], &options, &err), 0);
        assert_int_equal(options.command, COMMAND_HELP);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(reads_compile),
        cmocka_unit_test(reads_names),
        cmocka_unit_test(reads_exec),
        cmocka_unit_test(gives_help),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
