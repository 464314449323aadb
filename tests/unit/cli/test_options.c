/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/options.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 16

/* One call: its words, which getopt may reorder and the options point into. */
struct call {
    char *argv[MAX_WORDS + 2];
    int argc;
    struct run_options options;
    struct error err;
};

static int parse(struct call *call, const char *const words[MAX_WORDS])
{
    *call = (struct call){.argv = {strdup("run")}, .argc = 1};
    for (size_t i = 0; i < MAX_WORDS && words[i]; i++)
        call->argv[call->argc++] = strdup(words[i]);
    return options_parse(call->argc, call->argv, &call->options, &call->err);
}

static void call_done(struct call *call)
{
    options_done(&call->options);
    for (int i = 0; i < call->argc; i++)
        free(call->argv[i]);
}

static void test_all_options(void **state)
{
    (void)state;
    struct call call;
    int r = parse(&call, (const char *const[MAX_WORDS]){
                             "--profile=Snippet", "a.py", "--timeout", "20s", "--memory=64Mi",
                             "--cpu=500m", "--env", "A=1", "--env=B==2", "--stdin=in.txt",
                             "--runtime=python3.12", "-q", "-ojson", "--", "--not-ours", "x"});
    assert_int_equal(r, 0);
    const struct run_options *o = &call.options;
    assert_int_equal(o->input_count, 1);
    assert_string_equal(o->inputs[0], "a.py");
    assert_string_equal(o->program.profile, "Snippet");
    assert_string_equal(o->program.timeout, "20s");
    assert_string_equal(o->program.memory, "64Mi");
    assert_string_equal(o->program.cpu, "500m");
    assert_string_equal(o->program.runtime, "python3.12");
    assert_string_equal(o->program.stdin_path, "in.txt");
    assert_int_equal(o->program.env_count, 2);
    assert_string_equal(o->program.env[1], "B==2");
    assert_int_equal(o->program.arg_count, 2);
    assert_string_equal(o->program.args[0], "--not-ours");
    assert_string_equal(o->program.args[1], "x");
    assert_true(o->quiet);
    assert_false(o->raw);
    assert_int_equal(o->format, OUTPUT_JSON);
    call_done(&call);
}

static void test_defaults(void **state)
{
    (void)state;
    struct call call;
    assert_int_equal(parse(&call, (const char *const[MAX_WORDS]){"-", "b.yaml"}), 0);
    assert_int_equal(call.options.input_count, 2);
    assert_int_equal(call.options.format, OUTPUT_STREAMS);
    assert_in_range(call.options.parallel, 1, MAX_PARALLEL);
    assert_null(call.options.program.first_given);
    assert_int_equal(call.options.program.arg_count, 0);
    call_done(&call);
    assert_int_equal(
        parse(&call,
              (const char *const[MAX_WORDS]){"x.yaml", "--parallel", "7", "--raw", "--jailer=/j",
                                             "--runtimes-dir=/r", "-o", "yaml"}),
        0);
    assert_int_equal(call.options.parallel, 7);
    assert_true(call.options.raw);
    assert_string_equal(call.options.jailer, "/j");
    assert_string_equal(call.options.runtimes_dir, "/r");
    assert_int_equal(call.options.format, OUTPUT_YAML);
    call_done(&call);
}

static void test_help_wins_over_what_follows(void **state)
{
    (void)state;
    struct call call;
    assert_int_equal(parse(&call, (const char *const[MAX_WORDS]){"-h", "--nonsense"}), 0);
    assert_true(call.options.help);
    call_done(&call);
    assert_non_null(strstr(options_run_help, "usage: sandboxrun run"));
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *words[MAX_WORDS];
        const char *message;
    } cases[] = {
        {{NULL}, "name a FILE to run, or - for stdin"},
        {{"--quiet"}, "name a FILE to run, or - for stdin"},
        {{""}, "a FILE has an empty name"},
        {{"--nonsense", "a.py"}, "unknown option --nonsense"},
        {{"-x", "a.py"}, "unknown option -x"},
        {{"a.py", "--quiet=1"}, "option --quiet=1 takes no value"},
        {{"a.py", "--timeout"}, "option --timeout needs a value"},
        {{"a.py", "--timeout", "soon"}, "--timeout soon: must be a duration such as 20, 20s or 1m"},
        {{"a.py", "--timeout", ""}, "--timeout : must be a duration such as 20, 20s or 1m"},
        {{"a.py", "--timeout=1500ms"}, "--timeout 1500ms: must be whole seconds"},
        {{"a.py", "-o"}, "option -o needs a value"},
        {{"a.py", "-o", "xml"}, "--output xml: must be yaml or json"},
        {{"a.py", "--parallel", "0"}, "--parallel 0: must be a number from 1 to 256"},
        {{"a.py", "--parallel", "257"}, "--parallel 257: must be a number from 1 to 256"},
        {{"a.py", "--parallel", "two"}, "--parallel two: must be a number from 1 to 256"},
        {{"a.py", "--env", "NAME"}, "--env NAME: must be NAME=VALUE"},
        {{"a.py", "--env", "=x"}, "--env =x: must be NAME=VALUE"},
        {{"a.py", "--timeout=1", "--timeout=2"}, "--timeout is given twice"},
        {{"a.yaml", "--timeout=1"},
         "--timeout is for .py programs, and a.yaml holds SandboxRun documents: set it there, or "
         "leave the option out"},
        {{"a.py", "-", "--env", "A=1", "--cpu=1"},
         "--env is for .py programs, and - holds SandboxRun documents: set it there, or leave the "
         "option out"},
        {{"a.yaml", "--", "x"},
         "arguments after -- are for .py programs, and a.yaml holds SandboxRun documents: set "
         "spec.args there, or leave them out"},
        {{"-", "-"}, "stdin can be read once: only one FILE or --stdin can be -"},
        {{"-", "--stdin=-"}, "stdin can be read once: only one FILE or --stdin can be -"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct call call;
        int r = parse(&call, cases[i].words);
        if (r != -EINVAL || strcmp(call.err.text, cases[i].message) != 0)
            fail_msg("case %zu: %d \"%s\"", i, r, call.err.text);
        call_done(&call);
    }
}

static void test_too_many_files(void **state)
{
    (void)state;
    char *argv[MAX_INPUTS + 3] = {(char[]){"run"}};
    char name[] = "a.py";
    for (size_t i = 1; i <= MAX_INPUTS + 1; i++)
        argv[i] = name;
    struct run_options options;
    struct error err;
    assert_int_equal(options_parse(MAX_INPUTS + 1, argv, &options, &err), 0);
    options_done(&options);
    assert_int_equal(options_parse(MAX_INPUTS + 2, argv, &options, &err), -EINVAL);
    assert_string_equal(err.text, "at most 256 files in one call");
    options_done(&options);
}

static void test_is_program(void **state)
{
    (void)state;
    assert_true(options_is_program("a.py"));
    assert_true(options_is_program("/x/y.z.py"));
    assert_false(options_is_program(".py"));
    assert_false(options_is_program("-"));
    assert_false(options_is_program("a.yaml"));
    assert_false(options_is_program("py"));
    assert_false(options_is_program("a.pyc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_options),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_help_wins_over_what_follows),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_too_many_files),
        cmocka_unit_test(test_is_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
