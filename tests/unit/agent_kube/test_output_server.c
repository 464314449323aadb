/* SPDX-License-Identifier: Apache-2.0 */

/* The output server between an API server that answers from a script and a client. */
#include "tests/unit/common/cmocka_setup.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/json.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/output_server.h"
#include "tests/unit/common/https_client.h"
#include "tests/unit/common/scratch_dir.h"
#include "tests/unit/kube/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS  "/apis/sandboxrun.dev/v1alpha1/namespaces/team/sandboxruns/"
#define BYTES (5u << 20)

#define TOKEN_REVIEW                                                                               \
    "{\"match\": \"POST /apis/authentication.k8s.io/v1/tokenreviews\", \"sticky\": true, "
#define ACCESS_REVIEW                                                                              \
    "{\"match\": \"POST /apis/authorization.k8s.io/v1/subjectaccessreviews\", \"sticky\": true, "
#define KNOWN                                                                                      \
    TOKEN_REVIEW "\"status\": 201, \"body\": {\"status\": {\"authenticated\": true, "              \
                 "\"audiences\": [\"sandboxrun.dev\"], \"user\": {\"username\": \"jo\", "          \
                 "\"groups\": [\"dev\"]}}}}"
#define UNKNOWN TOKEN_REVIEW "\"status\": 201, \"body\": {\"status\": {\"error\": \"expired\"}}}"
#define ALLOWED ACCESS_REVIEW "\"status\": 201, \"body\": {\"status\": {\"allowed\": true}}}"
#define DENIED  ACCESS_REVIEW "\"status\": 201, \"body\": {\"status\": {\"allowed\": false}}}"

/* Tokens that say for whom they are: sandboxrun.dev, "a", both. */
#define OURS   "Authorization: Bearer h.eyJhdWQiOlsic2FuZGJveHJ1bi5kZXYiXX0.s"
#define OTHER  "Authorization: Bearer h.eyJhdWQiOiJhIn0.s"
#define SHARED "Authorization: Bearer h.eyJhdWQiOlsic2FuZGJveHJ1bi5kZXYiLCJhIl19.s"
#define OPAQUE "Authorization: Bearer opaque"

struct fixture {
    struct server server;
    struct scratch_dir *dir;
    struct retained *retained;
    struct agent_metrics metrics;
    struct output_server *output;
    struct node_output described;
    unsigned int changes;
};

static void on_changed(void *arg)
{
    struct fixture *f = arg;
    f->changes++;
}

/* A run "a" with much output and one "b" with none. */
static void keep_output(struct fixture *f)
{
    static const struct retained_owner owners[] = {
        {.sandbox_id = "id-1", .name_space = "team", .name = "a", .uid = "1"},
        {.sandbox_id = "id-2", .name_space = "team", .name = "b", .uid = "2"},
    };
    cleanup_free char *bytes = malloc(BYTES);

    assert_non_null(bytes);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (char)(i * 31 % 251);
    struct retained_run *run = retained_begin(f->retained, &owners[0], 8 << 20);
    assert_non_null(run);
    retained_append(run, RUN_STDOUT, bytes, BYTES);
    retained_append(run, RUN_STDERR, "oh\n", 3);
    retained_end(run);
    retained_end(retained_begin(f->retained, &owners[1], 8 << 20));
}

static void start(struct fixture *f, const char *script)
{
    struct error err = {0};
    void *state = NULL;

    *f = (struct fixture){0};
    server_start(&f->server, script);
    server_client(&f->server);
    assert_int_equal(scratch_dir_setup(&state), 0);
    f->dir = state;
    agent_metrics_init(&f->metrics);
    const struct retained_options retained = {
        .spool_dir = f->dir->path, .keep_ms = 60000, .max_bytes = 64 << 20};
    if (retained_open(f->server.loop, &retained, &f->retained, &err) < 0)
        fail_msg("%s", err.text);
    keep_output(f);
    const struct output_server_options options = {
        .client = f->server.client,
        .retained = f->retained,
        .metrics = &f->metrics,
        .node_name = "node-a",
        .address = "127.0.0.1:0",
        .host = "10.0.0.7",
        .keep_ms = 60000,
    };
    if (output_server_new(&options, on_changed, f, &f->output, &err) < 0)
        fail_msg("%s", err.text);
    output_server_describe(f->output, &f->described);
}

static void stop(struct fixture *f)
{
    void *state = f->dir;
    output_server_free(f->output);
    retained_free(f->retained);
    assert_int_equal(scratch_dir_teardown(&state), 0);
    server_stop(&f->server);
}

static struct https_exchange ask(struct fixture *f, const char *target, const char *authorization)
{
    struct https_exchange e = {.port = f->described.port,
                               .target = target,
                               .ca = f->described.certificate,
                               .headers = {authorization}};
    https_exchange(f->server.loop, &e);
    assert_string_equal(e.failure, "");
    return e;
}

/* A refusal as kubectl would print it. */
static void assert_refused(const struct https_exchange *e, long code, const char *reason,
                           const char *said)
{
    cleanup_json cJSON *tree = NULL;
    int64_t told = 0;

    assert_int_equal(e->status, code);
    assert_string_equal(e->content_type, "application/json");
    assert_int_equal(json_parse(e->answer.data, e->answer.len, &tree, NULL), 0);
    assert_string_equal(json_get_string(tree, "kind"), "Status");
    assert_string_equal(json_get_string(tree, "apiVersion"), "v1");
    assert_string_equal(json_get_string(tree, "status"), "Failure");
    assert_string_equal(json_get_string(tree, "reason"), reason);
    assert_int_equal(json_get_i64(tree, "code", &told), 0);
    assert_int_equal(told, code);
    const char *message = json_get_string(tree, "message");
    assert_non_null(message);
    if (!strstr(message, said))
        fail_msg("%s", message);
}

static void test_served(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, "[" KNOWN "," ALLOWED "]");
    assert_string_equal(f.described.address, "10.0.0.7");
    struct https_exchange e = ask(&f, RUNS "a/log", OURS);
    assert_int_equal(e.status, 200);
    assert_string_equal(e.content_type, "application/octet-stream");
    assert_int_equal(e.length, BYTES);
    assert_int_equal(e.answer.len, BYTES);
    for (size_t i = 0; i < BYTES; i++) {
        if (e.answer.data[i] != (char)(i * 31 % 251))
            fail_msg("byte %zu", i);
    }
    https_exchange_done(&e);
    e = ask(&f, RUNS "a/log?stream=stderr", OPAQUE);
    assert_string_equal(buf_str(&e.answer), "oh\n");
    https_exchange_done(&e);
    e = ask(&f, RUNS "b/log?stream=stderr", OURS);
    assert_int_equal(e.status, 200);
    assert_int_equal(e.length, 0);
    https_exchange_done(&e);
    e = (struct https_exchange){.port = f.described.port,
                                .target = RUNS "a/log",
                                .method = "HEAD",
                                .ca = f.described.certificate,
                                .headers = {OURS}};
    https_exchange(f.server.loop, &e);
    assert_int_equal(e.status, 200);
    assert_int_equal(e.length, BYTES);
    assert_int_equal(e.answer.len, 0);
    https_exchange_done(&e);
    /* The API server was asked each time, for our audience, about the user whom it has named. */
    assert_int_equal(server_count(&f.server, "tokenreviews"), 4);
    assert_int_equal(server_count(&f.server, "subjectaccessreviews"), 4);
    assert_int_equal(server_count(&f.server, "\\\"audiences\\\":[\\\"sandboxrun.dev\\\"]"), 4);
    assert_int_equal(
        server_count(&f.server, "\\\"user\\\":\\\"jo\\\",\\\"groups\\\":[\\\"dev\\\"]"), 4);
    assert_int_equal(server_count(&f.server, "\\\"subresource\\\":\\\"log\\\",\\\"namespace\\\":"
                                             "\\\"team\\\",\\\"name\\\":\\\"a\\\""),
                     3);
    stop(&f);
}

/* What the API server isn't asked for. */
static void test_refused_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        const char *authorization;
        long code;
        const char *reason;
        const char *said;
    } cases[] = {
        {RUNS "a/log", NULL, 401, "Unauthorized", "kubectl create token"},
        {RUNS "a/log", "Authorization: Basic YTpi", 401, "Unauthorized", "--audience"},
        {RUNS "a/log", OTHER, 401, "Unauthorized", "another audience"},
        {RUNS "a/log", SHARED, 401, "Unauthorized", "other audiences"},
        {RUNS "nothing/log", NULL, 401, "Unauthorized", "kubectl create token"},
        {RUNS "a/log?follow=1", OURS, 400, "BadRequest", "stream=stderr"},
        {RUNS "a", OURS, 404, "NotFound", "/log"},
        {"/metrics", OURS, 404, "NotFound", "there is nothing but"},
        {"/", NULL, 404, "NotFound", "there is nothing but"},
    };
    struct fixture f;

    start(&f, "[]");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct https_exchange e = ask(&f, cases[i].target, cases[i].authorization);
        assert_refused(&e, cases[i].code, cases[i].reason, cases[i].said);
        assert_int_equal(strstr(buf_str(&e.header), "WWW-Authenticate: Bearer") != NULL,
                         cases[i].code == 401);
        https_exchange_done(&e);
    }
    struct https_exchange e = {.port = f.described.port,
                               .target = RUNS "a/log",
                               .ca = f.described.certificate,
                               .headers = {OURS, OPAQUE}};
    https_exchange(f.server.loop, &e);
    assert_refused(&e, 400, "BadRequest", "more than one");
    https_exchange_done(&e);
    assert_int_equal(server_count(&f.server, "POST"), 0);
    stop(&f);
}

/* The same for a run that is there and for one that isn't. */
static void test_refused_by_the_api_server(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        long code;
        const char *reason;
        const char *said;
        unsigned int access_reviews;
    } cases[] = {
        {"[" UNKNOWN "," ALLOWED "]", 401, "Unauthorized", "not valid for the audience", 0},
        {"[" TOKEN_REVIEW "\"body\": {\"status\": {\"authenticated\": true, \"user\": "
         "{\"username\": \"jo\"}}}}," ALLOWED "]",
         401, "Unauthorized", "not valid for the audience", 0},
        {"[" KNOWN "," DENIED "]", 403, "Forbidden",
         "user \"jo\" cannot get resource \"sandboxruns/log\"", 1},
        {"[" TOKEN_REVIEW "\"status\": 403}]", 503, "ServiceUnavailable", "try again", 0},
        {"[" TOKEN_REVIEW "\"status\": 500}]", 503, "ServiceUnavailable", "try again", 0},
        {"[" TOKEN_REVIEW "\"body\": \"nonsense\"}]", 503, "ServiceUnavailable", "try again", 0},
        {"[" KNOWN "," ACCESS_REVIEW "\"status\": 403}]", 503, "ServiceUnavailable", "try again",
         1},
        {"[" KNOWN "," ACCESS_REVIEW "\"body\": {\"status\": {}}}]", 503, "ServiceUnavailable",
         "try again", 1},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct fixture f;
        start(&f, cases[i].script);
        struct https_exchange there = ask(&f, RUNS "a/log", OURS);
        struct https_exchange absent = ask(&f, RUNS "z/log", OURS);
        assert_refused(&there, cases[i].code, cases[i].reason, cases[i].said);
        assert_refused(&absent, cases[i].code, cases[i].reason, cases[i].said);
        assert_int_equal(there.answer.len, absent.answer.len);
        assert_int_equal(server_count(&f.server, "subjectaccessreviews"),
                         2 * cases[i].access_reviews);
        https_exchange_done(&there);
        https_exchange_done(&absent);
        stop(&f);
    }
}

static void test_not_kept(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, "[" KNOWN "," ALLOWED "]");
    struct https_exchange e = ask(&f, RUNS "z/log", OURS);
    assert_refused(&e, 404, "NotFound", "node node-a keeps no output of sandboxrun team/z");
    https_exchange_done(&e);
    retained_forget(f.retained, "1");
    e = ask(&f, RUNS "a/log", OURS);
    assert_refused(&e, 404, "NotFound", "60 s after their end");
    https_exchange_done(&e);
    cleanup_buf struct buf text = BUF_INIT(1 << 16);
    const struct agent_counts counts = {0};
    assert_int_equal(agent_metrics_print(&f.metrics, &counts, &text), 0);
    assert_non_null(
        strstr(buf_str(&text), "sandboxrun_agent_output_requests_total{code=\"404\"} 2\n"));
    stop(&f);
}

/* More than are asked about at a time; those that wait are let go when the server ends. */
static void test_too_many(void **state)
{
    (void)state;
    struct https_exchange waiting[MAX_OUTPUT_REVIEWS];
    struct https_flight *flights[MAX_OUTPUT_REVIEWS];
    struct fixture f;

    start(&f, "[" TOKEN_REVIEW "\"delay\": 4}]");
    for (size_t i = 0; i < MAX_OUTPUT_REVIEWS; i++) {
        waiting[i] = (struct https_exchange){.port = f.described.port,
                                             .target = RUNS "a/log",
                                             .ca = f.described.certificate,
                                             .headers = {OURS}};
        flights[i] = https_exchange_begin(f.server.loop, &waiting[i]);
        server_run_for(&f.server, 30);
    }
    for (int i = 0; i < 200 && server_count(&f.server, "tokenreviews") < MAX_OUTPUT_REVIEWS; i++)
        server_run_for(&f.server, 20);
    struct https_exchange e = ask(&f, RUNS "a/log", OURS);
    assert_refused(&e, 429, "TooManyRequests", "try again");
    assert_non_null(strstr(buf_str(&e.header), "Retry-After: 1"));
    https_exchange_done(&e);
    output_server_free(TAKE_PTR(f.output));
    for (size_t i = 0; i < MAX_OUTPUT_REVIEWS; i++) {
        https_exchange_end(flights[i]);
        assert_int_equal(waiting[i].status, 0);
        https_exchange_done(&waiting[i]);
    }
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_served),
        cmocka_unit_test(test_refused_at_once),
        cmocka_unit_test(test_refused_by_the_api_server),
        cmocka_unit_test(test_not_kept),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
