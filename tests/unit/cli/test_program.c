/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/program.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

static struct buf text(const char *bytes, size_t len)
{
    struct buf buf = BUF_INIT(MAX_REQUEST_BYTES);
    assert_int_equal(buf_append(&buf, bytes, len), 0);
    return buf;
}

static void test_everything(void **state)
{
    (void)state;
    cleanup_buf struct buf code = text("print(1)\n", 9);
    cleanup_buf struct buf in = text("line\n", 5);
    const char *env[] = {"A=1", "B=x=y", "C="};
    char *args[] = {(char[]){"one"}, (char[]){"--two"}};
    struct program_options options = {
        .profile = "ToolCall",
        .runtime = "python3.13",
        .cpu = "1500m",
        .memory = "768Mi",
        .timeout = "2m",
        .env = env,
        .env_count = 3,
        .args = args,
        .arg_count = 2,
    };
    struct document_list list = {0};
    struct error err = {0};
    int r = program_add(&list, "/jobs/My Job.py", &code, &in, &options, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(r, 0);
    assert_int_equal(list.count, 1);
    const struct sandboxrun *run = &list.items[0].run;
    assert_string_equal(run->name, "my-job");
    assert_int_equal(run->spec.profile, PROFILE_TOOL_CALL);
    assert_string_equal(run->spec.runtime, "python3.13");
    assert_string_equal(run->spec.code, "print(1)\n");
    assert_string_equal(run->spec.stdin_text, "line\n");
    assert_int_equal(run->spec.timeout_seconds, 120);
    assert_int_equal(run->spec.cpu_milli, 1500);
    assert_int_equal(run->spec.memory_bytes, 768u << 20);
    assert_int_equal(run->spec.arg_count, 2);
    assert_string_equal(run->spec.args[1], "--two");
    assert_int_equal(run->spec.env_count, 3);
    assert_string_equal(run->spec.env[1].name, "B");
    assert_string_equal(run->spec.env[1].value, "x=y");
    assert_string_equal(run->spec.env[2].value, "");
    documents_done(&list);
}

static void test_defaults(void **state)
{
    (void)state;
    cleanup_buf struct buf code = text("pass", 4);
    struct document_list list = {0};
    assert_int_equal(program_add(&list, "a.py", &code, NULL, &(struct program_options){0}, NULL),
                     0);
    const struct run_spec *spec = &list.items[0].run.spec;
    assert_int_equal(spec->profile, PROFILE_SNIPPET);
    assert_int_equal(spec->timeout_seconds, 20);
    assert_null(spec->stdin_text);
    documents_done(&list);
}

/* Each complaint names the option, since that is what the user wrote. */
static void test_refusals(void **state)
{
    (void)state;
    static const char *const bad_env[] = {"A=\xff"};
    static const char *const twice[] = {"A=1", "A=2"};
    static char bad_arg[] = "\xff";
    static char *const bad_args[] = {bad_arg};
    static const struct {
        struct program_options options;
        const char *code;
        size_t code_len;
        const char *start;
    } cases[] = {
        {{.timeout = "61"}, "x", 1, "a.py: --timeout: spec.timeoutSeconds: "},
        {{.timeout = "0"}, "x", 1, "a.py: --timeout: spec.timeoutSeconds: "},
        {{.timeout = "1500ms"}, "x", 1, "--timeout 1500ms: must be whole seconds"},
        {{.timeout = "soon"}, "x", 1, "--timeout soon: must be a duration such as 20, 20s or 1m"},
        {{.timeout = "-1"}, "x", 1, "--timeout -1: must be a duration such as 20, 20s or 1m"},
        {{.memory = "513Mi"}, "x", 1, "a.py: --memory: spec.resources.limits.memory: "},
        {{.memory = "much"}, "x", 1, "a.py: --memory: spec.resources.limits.memory: "},
        {{.cpu = "2"}, "x", 1, "a.py: --cpu: spec.resources.limits.cpu: "},
        {{.profile = "Root"}, "x", 1, "a.py: --profile: spec.profile: "},
        {{.runtime = "../.."}, "x", 1, "a.py: --runtime: spec.runtime: "},
        {{.env = (const char **)(uintptr_t)twice, .env_count = 2}, "x", 1, "a.py: --env: spec.env"},
        {{.env = (const char **)(uintptr_t)bad_env, .env_count = 1},
         "x",
         1,
         "--env: number 1 is not UTF-8"},
        {{.args = (char **)(uintptr_t)bad_args, .arg_count = 1},
         "x",
         1,
         "arguments after --: number 1 is not UTF-8"},
        {{0}, "", 0, "a.py: spec.code: "},
        {{0}, "a\xff", 2, "a.py: byte 2 is not UTF-8"},
        {{0}, "ab\0c", 4, "a.py: byte 3 is a NUL byte"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cleanup_buf struct buf code = text(cases[i].code, cases[i].code_len);
        struct document_list list = {0};
        struct error err = {0};
        int r = program_add(&list, "a.py", &code, NULL, &cases[i].options, &err);
        if (r != -EINVAL || strncmp(err.text, cases[i].start, strlen(cases[i].start)) != 0)
            fail_msg("case %zu: %d \"%s\"", i, r, err.text);
        assert_int_equal(list.count, 0);
        documents_done(&list);
    }
}

static void test_stdin_must_be_text(void **state)
{
    (void)state;
    cleanup_buf struct buf code = text("x", 1);
    cleanup_buf struct buf in = text("\x80", 1);
    struct document_list list = {0};
    struct error err;
    assert_int_equal(program_add(&list, "a.py", &code, &in, &(struct program_options){0}, &err),
                     -EINVAL);
    assert_string_equal(err.text, "--stdin: byte 1 is not UTF-8; a SandboxRun carries text only");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_stdin_must_be_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
