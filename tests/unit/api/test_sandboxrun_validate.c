/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/sandboxrun.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/parse.h"

/* Members of spec beside a code of one byte, "<text*n>" standing for n times the text. */
struct spec_case {
    const char *members;
    const char *message; /* NULL: valid */
};

static const struct spec_case snippet_cases[] = {
    {"\"runtime\":\"python3.12\"", NULL},
    {"\"runtime\":\"a.b_c-1\"", NULL},
    {"\"runtime\":\"<a*63>\"", NULL},
    {"\"runtime\":\"A\"", "spec.runtime: \"A\" is no runtime's name: 1 to 63 lower-case letters, "
                          "digits, '.', '_' and '-', with a letter or digit at both ends"},
    {"\"runtime\":\"\"", "spec.runtime: \"\" is no runtime's name"},
    {"\"runtime\":\"../etc\"", "spec.runtime: \"../etc\" is no runtime's name"},
    {"\"runtime\":\"a/b\"", "spec.runtime: \"a/b\" is no runtime's name"},
    {"\"runtime\":\"a.\"", "spec.runtime: \"a.\" is no runtime's name"},
    {"\"runtime\":\"<a*64>\"", "spec.runtime: \"<a*64>\" is no runtime's name"},

    {"\"args\":[]", NULL},
    {"\"args\":[\"\"<,\"a\"*63>]", NULL},
    {"\"args\":[\"\"<,\"a\"*64>]", "spec.args: 65 is above the maximum of 64; pass more by stdin"},
    {"\"args\":[\"<a*16384>\"]", NULL},
    {"\"args\":[\"x\",\"<a*16385>\"]",
     "spec.args[1]: 16385 bytes is above the maximum of 16384; pass more by stdin"},
    {"\"args\":[\"<\u00e4*8193>\"]",
     "spec.args[0]: 16386 bytes is above the maximum of 16384; pass more by stdin"},

    {"\"env\":[{\"name\":\"A\"},{\"name\":\"my.var-1\",\"value\":\"a=b\"},{\"name\":\"a\"}]", NULL},
    {"\"env\":[{\"name\":\"A\"},{\"name\":\"B\"},{\"name\":\"A\"}]",
     "spec.env[2].name: \"A\" was given before, by spec.env[0]"},
    {"\"env\":[{\"name\":\"A=B\"}]",
     "spec.env[0].name: \"A=B\" is no variable's name: letters, digits, '_', '.' and '-', not "
     "starting with a digit"},
    {"\"env\":[{\"name\":\"1A\"}]", "spec.env[0].name: \"1A\" is no variable's name"},
    {"\"env\":[{\"name\":\"\"}]", "spec.env[0].name: \"\" is no variable's name"},
    {"\"env\":[{\"name\":\"A B\"}]", "spec.env[0].name: \"A B\" is no variable's name"},
    {"\"env\":[{\"name\":\"\u00e4\"}]", "spec.env[0].name: \"\u00e4\" is no variable's name"},
    {"\"env\":[{\"name\":\"<A*256>\"}]", NULL},
    {"\"env\":[{\"name\":\"<A*257>\"}]", "spec.env[0].name: 257 bytes is above the maximum of 256"},
    {"\"env\":[{\"name\":\"AB\",\"value\":\"<v*16382>\"}]", NULL},
    {"\"env\":[{\"name\":\"AB\",\"value\":\"<v*16383>\"}]",
     "spec.env[0]: name and value are 16385 bytes, above the maximum of 16384; pass more by stdin"},
    {"\"env\":[{\"name\":\"A\"}<,{\"name\":\"B\"}*64>]",
     "spec.env: 65 is above the maximum of 64; pass more by stdin"},

    /* With the one byte of code. */
    {"\"stdin\":\"<s*1048575>\"", NULL},
    {"\"stdin\":\"<s*1048576>\"",
     "spec: code, stdin, args and env together are 1048577 bytes, above the maximum of 1048576"},
    {"\"stdin\":\"<\u00e4*524288>\"",
     "spec: code, stdin, args and env together are 1048577 bytes, above the maximum of 1048576"},
    {"\"stdin\":\"<s*1048569>\",\"args\":[\"a\",\"bc\"],\"env\":[{\"name\":\"A\",\"value\":\"xy\"}]",
     NULL},
    {"\"stdin\":\"<s*1048570>\",\"args\":[\"a\",\"bc\"],\"env\":[{\"name\":\"A\",\"value\":\"xy\"}]",
     "spec: code, stdin, args and env together are 1048577 bytes, above the maximum of 1048576"},

    {"\"timeoutSeconds\":0",
     "spec.timeoutSeconds: 0 is below the minimum of 1 for profile Snippet"},
    {"\"timeoutSeconds\":1", NULL},
    {"\"timeoutSeconds\":60", NULL},
    {"\"timeoutSeconds\":61",
     "spec.timeoutSeconds: 61 is above the maximum of 60 for profile Snippet"},
    {"\"queueTimeoutSeconds\":0", "spec.queueTimeoutSeconds: 0 is below the minimum of 1"},
    {"\"queueTimeoutSeconds\":3600", NULL},
    {"\"queueTimeoutSeconds\":3601", "spec.queueTimeoutSeconds: 3601 is above the maximum of 3600"},
    {"\"ttlSecondsAfterFinished\":0", NULL},
    {"\"ttlSecondsAfterFinished\":2592000", NULL},
    {"\"ttlSecondsAfterFinished\":2592001",
     "spec.ttlSecondsAfterFinished: 2592001 is above the maximum of 2592000"},

    {"\"resources\":{\"limits\":{\"cpu\":0}}",
     "spec.resources.limits.cpu: 0 is below the minimum of 10m for profile Snippet"},
    {"\"resources\":{\"limits\":{\"cpu\":\"9m\"}}",
     "spec.resources.limits.cpu: 9m is below the minimum of 10m for profile Snippet"},
    {"\"resources\":{\"limits\":{\"cpu\":\"10m\"}}", NULL},
    {"\"resources\":{\"limits\":{\"cpu\":1}}", NULL},
    {"\"resources\":{\"limits\":{\"cpu\":\"1001m\"}}",
     "spec.resources.limits.cpu: 1001m is above the maximum of 1 for profile Snippet"},
    {"\"resources\":{\"limits\":{\"memory\":\"32Mi\"}}", NULL},
    {"\"resources\":{\"limits\":{\"memory\":\"31Mi\"}}",
     "spec.resources.limits.memory: 31Mi is below the minimum of 32Mi for profile Snippet"},
    {"\"resources\":{\"limits\":{\"memory\":0}}",
     "spec.resources.limits.memory: 0 is below the minimum of 32Mi for profile Snippet"},
    {"\"resources\":{\"limits\":{\"memory\":536870912}}", NULL},
    {"\"resources\":{\"limits\":{\"memory\":536870913}}",
     "spec.resources.limits.memory: 536870913 is above the maximum of 512Mi for profile Snippet"},
    {"\"resources\":{\"limits\":{\"memory\":\"7Ei\"}}",
     "spec.resources.limits.memory: 7Ei is above the maximum of 512Mi for profile Snippet"},

    {"\"egress\":[]", "spec.egress: needs profile ToolCall; profile Snippet has no network at all"},

    {"\"nodeSelector\":{\"node.kubernetes.io/pool\":\"a_B.c\",\"empty\":\"\",\"n\":\"<v*63>\"}",
     NULL},
    {"\"nodeSelector\":{\"a/b/c\":\"x\"}", "spec.nodeSelector: \"a/b/c\" is no label's name"},
    {"\"nodeSelector\":{\"A!/b\":\"x\"}", "spec.nodeSelector: \"A!/b\" is no label's name"},
    {"\"nodeSelector\":{\"a/\":\"x\"}", "spec.nodeSelector: \"a/\" is no label's name"},
    {"\"nodeSelector\":{\"/a\":\"x\"}", "spec.nodeSelector: \"/a\" is no label's name"},
    {"\"nodeSelector\":{\"<p*254>/a\":\"x\"}", "spec.nodeSelector: \"<p*64>\" is no label's name"},
    {"\"nodeSelector\":{\"a\":\"-x\"}",
     "spec.nodeSelector: a: \"-x\" is no label's value: at most 63 letters, digits, '-', '_' and "
     "'.'"},
    {"\"nodeSelector\":{\"a\":\"<v*64>\"}", "spec.nodeSelector: a: \"<v*64>\" is no label's value"},
    {"\"nodeSelector\":{\"a\":\"1\",\"b\":\"1\",\"c\":\"1\",\"d\":\"1\",\"e\":\"1\",\"f\":\"1\","
     "\"g\":\"1\",\"h\":\"1\",\"i\":\"1\",\"j\":\"1\",\"k\":\"1\",\"l\":\"1\",\"m\":\"1\","
     "\"n\":\"1\",\"o\":\"1\",\"p\":\"1\",\"q\":\"1\"}",
     "spec.nodeSelector: 17 labels is above the maximum of 16"},
};

static const struct spec_case tool_call_cases[] = {
    {"\"timeoutSeconds\":120", NULL},
    {"\"timeoutSeconds\":121",
     "spec.timeoutSeconds: 121 is above the maximum of 120 for profile ToolCall"},
    {"\"resources\":{\"limits\":{\"cpu\":2,\"memory\":\"1Gi\"}}", NULL},
    {"\"resources\":{\"limits\":{\"cpu\":\"2.001\"}}",
     "spec.resources.limits.cpu: 2001m is above the maximum of 2 for profile ToolCall"},
    {"\"resources\":{\"limits\":{\"memory\":\"1025Mi\"}}",
     "spec.resources.limits.memory: 1025Mi is above the maximum of 1Gi for profile ToolCall"},
    {"\"egress\":[]", NULL},
    {"\"egress\":[{\"to\":[{\"fqdn\":\"api.example.com\"}]}]", NULL},
};

/* Writes text with its "<..*n>" repeated. */
static void expand(const char *text, struct buf *out)
{
    while (*text) {
        const char *star = *text == '<' ? strchr(text, '*') : NULL;
        const char *end = star ? strchr(star, '>') : NULL;
        if (!end) {
            assert_int_equal(buf_append_char(out, *text++), 0);
            continue;
        }
        char count_text[16];
        uint64_t count;
        (void)snprintf(count_text, sizeof(count_text), "%.*s", (int)(end - star - 1), star + 1);
        assert_int_equal(parse_u64(count_text, 0, 1 << 21, &count), 0);
        while (count-- > 0)
            assert_int_equal(buf_append(out, text + 1, (size_t)(star - text - 1)), 0);
        text = end + 1;
    }
}

static void check(const char *profile, const struct spec_case *c)
{
    cleanup_buf struct buf json = BUF_INIT(4 << 20);
    cleanup_json cJSON *tree = NULL;
    struct sandboxrun run;
    struct error err = {0};
    assert_int_equal(buf_printf(&json,
                                "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"code\":\"1\","
                                "\"profile\":\"%s\",",
                                profile),
                     0);
    expand(c->members, &json);
    assert_int_equal(buf_append_str(&json, "}}"), 0);
    if (json_parse(json.data, json.len, &tree, &err) < 0 ||
        sandboxrun_decode(tree, SANDBOXRUN_LENIENT, &run, &err) < 0)
        fail_msg("%s: %s", c->members, err.text);

    int r = sandboxrun_validate(&run, &err);
    if (!c->message && r != 0)
        fail_msg("%s: %s", c->members, err.text);
    if (c->message) {
        cleanup_buf struct buf message = BUF_INIT(1024);
        expand(c->message, &message);
        if (r != -EINVAL || strncmp(err.text, buf_str(&message), message.len) != 0)
            fail_msg("%s: got %d \"%s\"", c->message, r, err.text);
    }
    sandboxrun_done(&run);
}

static void test_snippet(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(snippet_cases); i++)
        check("Snippet", &snippet_cases[i]);
}

static void test_tool_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(tool_call_cases); i++)
        check("ToolCall", &tool_call_cases[i]);
}

/* What can't come out of JSON, but from a command line or a file. */
static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *name, *name_space, *code, *stdin_text, *message;
    } cases[] = {
        {"a", "default", "1", "", NULL},
        {"a.b-c", "team-a", "1", NULL, NULL},
        {"Hello", "default", "1", NULL, "metadata.name: \"Hello\" is no name"},
        {"../a", "default", "1", NULL, "metadata.name: \"../a\" is no name"},
        {"", "default", "1", NULL, "metadata.name: \"\" is no name"},
        {"a", "a.b", "1", NULL, "metadata.namespace: \"a.b\" is no namespace"},
        {"a", "default", "", NULL, "spec.code: is empty; give it the program's source"},
        {"a", "default", "print('\xe4')", NULL,
         "spec.code: is not valid UTF-8; encode binary data"},
        {"a", "default", "1", "\xff", "spec.stdin: is not valid UTF-8; encode binary data"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct sandboxrun run;
        struct error err = {0};
        assert_int_equal(sandboxrun_init(&run, cases[i].name, PROFILE_SNIPPET, cases[i].code), 0);
        free(run.name_space);
        run.name_space = strdup(cases[i].name_space);
        run.spec.stdin_text = cases[i].stdin_text ? strdup(cases[i].stdin_text) : NULL;
        int r = sandboxrun_validate(&run, &err);
        assert_int_equal(r, cases[i].message ? -EINVAL : 0);
        if (cases[i].message && strncmp(err.text, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s: got \"%s\"", cases[i].message, err.text);
        sandboxrun_done(&run);
    }
}

static void test_numbers_of_the_struct(void **state)
{
    (void)state;
    struct sandboxrun run;
    struct error err = {0};
    assert_int_equal(sandboxrun_init(&run, "a", PROFILE_SNIPPET, "1"), 0);
    run.spec.memory_bytes = UINT64_MAX;
    assert_int_equal(sandboxrun_validate(&run, &err), -EINVAL);
    sandboxrun_apply_defaults(&run);
    run.spec.memory_bytes = 1ull << 29;
    run.spec.ttl_seconds = -2;
    assert_int_equal(sandboxrun_validate(&run, &err), -EINVAL);
    assert_string_equal(err.text, "spec.ttlSecondsAfterFinished: -2 is below the minimum of 0");
    sandboxrun_done(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snippet),
        cmocka_unit_test(test_tool_call),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_numbers_of_the_struct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
