/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/output_audience.h"
#include "node-agent/agent/output_target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BASE "/apis/sandboxrun.dev/v1alpha1/namespaces/"
#define A253                                                                                       \
    "a23456789.123456789.123456789.123456789.123456789.123456789.123456789.123456789.123456789."   \
    "123456789.123456789.123456789.123456789.123456789.123456789.123456789.123456789.123456789."   \
    "123456789.123456789.123456789.123456789.123456789.123456789.123456789.123"

static void test_targets(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        int result;
        const char *name_space;
        const char *name;
        enum run_stream stream;
    } cases[] = {
        {BASE "team/sandboxruns/a/log", 0, "team", "a", RUN_STDOUT},
        {BASE "team/sandboxruns/a.b-c/log?", 0, "team", "a.b-c", RUN_STDOUT},
        {BASE "team/sandboxruns/a/log?stream=stdout", 0, "team", "a", RUN_STDOUT},
        {BASE "team/sandboxruns/a/log?stream=stderr", 0, "team", "a", RUN_STDERR},
        {BASE "log/sandboxruns/log/log", 0, "log", "log", RUN_STDOUT},
        {BASE "team/sandboxruns/" A253 "/log", 0, "team", A253, RUN_STDOUT},
        {BASE "team/sandboxruns/" A253 "x/log", -ENOENT, NULL, NULL, 0},
        {BASE "team/sandboxruns/a/log?stream=", -EINVAL, NULL, NULL, 0},
        {BASE "team/sandboxruns/a/log?stream=stdin", -EINVAL, NULL, NULL, 0},
        {BASE "team/sandboxruns/a/log?stream=stdout&stream=stderr", -EINVAL, NULL, NULL, 0},
        {BASE "team/sandboxruns/a/log?follow=true", -EINVAL, NULL, NULL, 0},
        {BASE "team/sandboxruns/a/log?stream=st%64out", -EINVAL, NULL, NULL, 0},
        {"", -ENOENT, NULL, NULL, 0},
        {"/", -ENOENT, NULL, NULL, 0},
        {"/healthz", -ENOENT, NULL, NULL, 0},
        {BASE, -ENOENT, NULL, NULL, 0},
        {BASE "team/sandboxruns/a", -ENOENT, NULL, NULL, 0},
        {BASE "team/sandboxruns/a/", -ENOENT, NULL, NULL, 0},
        {BASE "team/sandboxruns/a/logs", -ENOENT, NULL, NULL, 0},
        {BASE "team/sandboxruns/a/log/", -ENOENT, NULL, NULL, 0},
        {BASE "team/sandboxruns/a/b/log", -ENOENT, NULL, NULL, 0},
        {BASE "team/sandboxruns//log", -ENOENT, NULL, NULL, 0},
        {BASE "/sandboxruns/a/log", -ENOENT, NULL, NULL, 0},
        {BASE "../sandboxruns/a/log", -ENOENT, NULL, NULL, 0},
        {BASE "team/sandboxruns/../log", -ENOENT, NULL, NULL, 0},
        {BASE "te%61m/sandboxruns/a/log", -ENOENT, NULL, NULL, 0},
        {BASE "team/sandboxruns/a%2Fb/log", -ENOENT, NULL, NULL, 0},
        {BASE "Team/sandboxruns/a/log", -ENOENT, NULL, NULL, 0},
        {BASE "te.am/sandboxruns/a/log", -ENOENT, NULL, NULL, 0},
        {"http://node" BASE "team/sandboxruns/a/log", -ENOENT, NULL, NULL, 0},
        {"//apis/sandboxrun.dev/v1alpha1/namespaces/team/sandboxruns/a/log", -ENOENT, NULL, NULL,
         0},
        {BASE "team/sandboxruns/a?x=/log", -ENOENT, NULL, NULL, 0},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct output_target target = {.name = "untouched"};
        struct error err = {0};
        int r = output_target_parse(cases[i].target, &target, &err);
        if (r != cases[i].result)
            fail_msg("%s: %d", cases[i].target, r);
        if (r < 0) {
            assert_true(err.text[0]);
            assert_string_equal(target.name, "untouched");
            continue;
        }
        assert_string_equal(target.name_space, cases[i].name_space);
        assert_string_equal(target.name, cases[i].name);
        assert_int_equal(target.stream, cases[i].stream);
    }
}

static void test_bearers(void **state)
{
    (void)state;
    static char longest[MAX_OUTPUT_TOKEN + 10] = "Bearer ";
    static const struct {
        const char *value;
        const char *token; /* NULL: none */
    } cases[] = {
        {"Bearer abc.DEF-_~+/=", "abc.DEF-_~+/="},
        {"bearer x", "x"},
        {"BEARER   x", "x"},
        {"Bearer", NULL},
        {"Bearer ", NULL},
        {"Bearer a b", NULL},
        {"Bearer a,b", NULL},
        {"Bearer a\"", NULL},
        {"Bearer \x80", NULL},
        {"Basic abc", NULL},
        {"abc", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *token = NULL;
        int r = output_bearer_parse(cases[i].value, &token);
        assert_int_equal(r, cases[i].token ? 0 : -EINVAL);
        if (cases[i].token)
            assert_string_equal(token, cases[i].token);
    }
    const char *token = NULL;
    memset(longest + 7, 'a', MAX_OUTPUT_TOKEN);
    assert_int_equal(output_bearer_parse(longest, &token), 0);
    longest[7 + MAX_OUTPUT_TOKEN] = 'a';
    assert_int_equal(output_bearer_parse(longest, &token), -EINVAL);
}

static void test_audiences(void **state)
{
    (void)state;
    /* The middle parts are base64url of what stands behind. */
    static const struct {
        const char *token;
        enum output_audience audience;
    } cases[] = {
        {"h.eyJhdWQiOlsic2FuZGJveHJ1bi5kZXYiXX0.s", OUTPUT_AUDIENCE_OURS}, /* list of ours */
        {"h.eyJhdWQiOiJzYW5kYm94cnVuLmRldiJ9.s", OUTPUT_AUDIENCE_OURS},    /* text */
        {"h.eyJhdWQiOiJhIn0.s", OUTPUT_AUDIENCE_OTHER},                    /* {"aud":"a"} */
        {"h.eyJhdWQiOlsiYSIsImIiXX0.s", OUTPUT_AUDIENCE_OTHER},            /* ["a","b"] */
        {"h.eyJhdWQiOlsic2FuZGJveHJ1bi5kZXYiLCJhIl19.s", OUTPUT_AUDIENCE_SHARED},
        {"h.eyJhdWQiOlsic2FuZGJveHJ1bi5kZXYiLDFdfQ.s", OUTPUT_AUDIENCE_SHARED}, /* and 1 */
        {"h.eyJhdWQiOltdfQ.s", OUTPUT_AUDIENCE_OTHER},                          /* [] */
        {"h.e30.s", OUTPUT_AUDIENCE_UNKNOWN},                                   /* {} */
        {"h.eyJhdWQiOjF9.s", OUTPUT_AUDIENCE_UNKNOWN},                          /* 1 */
        {"h.W10.s", OUTPUT_AUDIENCE_UNKNOWN},
        {"h.!!!.s", OUTPUT_AUDIENCE_UNKNOWN},
        {"h..s", OUTPUT_AUDIENCE_UNKNOWN},
        {"h.e30", OUTPUT_AUDIENCE_UNKNOWN},
        {"h.e30.s.t", OUTPUT_AUDIENCE_UNKNOWN},
        {"opaque", OUTPUT_AUDIENCE_UNKNOWN},
        {"", OUTPUT_AUDIENCE_UNKNOWN},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        if (output_audience(cases[i].token) != cases[i].audience)
            fail_msg("%s: %d", cases[i].token, (int)output_audience(cases[i].token));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_bearers),
        cmocka_unit_test(test_audiences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
