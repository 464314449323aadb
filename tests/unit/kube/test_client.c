/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/kube/client.h"
#include "common/kube/limits.h"
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What has come of a call. */
struct answer {
    struct server *server;
    unsigned int count;
    int status;
    int code;
    uint64_t retry_after_ms;
    char reason[64];
    char error[MAX_ERROR_TEXT];
    char *body;
    struct kube_call *cancel; /* when this answer comes, if not NULL */
    bool free_client;
};

static void on_answer(const struct kube_response *response, void *arg)
{
    struct answer *answer = arg;

    answer->count++;
    answer->status = response->status;
    answer->code = response->error.code;
    answer->retry_after_ms = response->retry_after_ms;
    memcpy(answer->reason, response->reason, sizeof(answer->reason));
    memcpy(answer->error, response->error.text, sizeof(answer->error));
    free(answer->body);
    answer->body = strdup(response->body);
    assert_non_null(answer->body);
    assert_int_equal(strlen(response->body), response->body_len);
    kube_call_cancel(answer->cancel);
    if (answer->free_client) {
        kube_client_free(answer->server->client);
        answer->server->client = NULL;
    }
    loop_stop(answer->server->loop);
}

static struct kube_call *send_to(struct server *server, const struct kube_request *request,
                                 struct answer *answer)
{
    struct error err = {0};
    struct kube_call *call = NULL;

    *answer = (struct answer){.server = server};
    if (kube_client_send(server->client, request, on_answer, answer, &call, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(answer->count, 0);
    return call;
}

static void ask(struct server *server, const struct kube_request *request, struct answer *answer)
{
    (void)send_to(server, request, answer);
    server_run(server);
    assert_int_equal(answer->count, 1);
}

static const struct kube_request get = {.method = "GET", .path = "/x"};

static void test_get(void **state)
{
    (void)state;
    struct server server;
    struct answer answer;

    server_start(&server, "[{\"match\": \"GET /x?a=%20b\", \"body\": \"hello\"}]");
    server_client(&server);
    ask(&server, &(struct kube_request){.method = "GET", .path = "/x?a=%20b"}, &answer);
    assert_int_equal(answer.status, 200);
    assert_int_equal(answer.code, 0);
    assert_string_equal(answer.body, "hello");
    assert_int_equal(
        server_count(&server,
                     "\"GET\", \"/x?a=%20b\", \"Bearer sesame\", \"\", \"application/json\""),
        1);
    free(answer.body);
    server_stop(&server);
}

static void test_patch_and_reuse_of_the_connection(void **state)
{
    (void)state;
    const struct kube_request patch = {.method = "PATCH",
                                       .path = "/x",
                                       .content_type = "application/merge-patch+json",
                                       .accept = "text/plain",
                                       .body = "{\"a\":1}",
                                       .body_len = 7};
    struct server server;
    struct answer answer;

    server_start(&server, "[{\"sticky\": true, \"body\": \"ok\"}]");
    server_client(&server);
    for (int i = 0; i < 3; i++) {
        ask(&server, &patch, &answer);
        assert_int_equal(answer.status, 200);
        free(answer.body);
    }
    assert_int_equal(server_count(&server, "[1, \"PATCH\", \"/x\", \"Bearer sesame\", "
                                           "\"application/merge-patch+json\", \"text/plain\", "
                                           "\"{\\\"a\\\":1}\"]"),
                     3);
    server_stop(&server);
}

struct error_case {
    const char *step;
    int status;
    int code;
    const char *reason;
    const char *says;
};

static const struct error_case errors[] = {
    {"{\"status\": 404, \"body\": {\"kind\": \"Status\", \"reason\": \"NotFound\", "
     "\"message\": \"sandboxruns \\\"x\\\" not found\"}}",
     404, ENOENT, "NotFound", "sandboxruns \"x\" not found"},
    {"{\"status\": 409, \"body\": {\"reason\": \"Conflict\", \"message\": \"modified\"}}", 409,
     EBUSY, "Conflict", "modified"},
    {"{\"status\": 503, \"body\": \"<html>\\nbad gateway\"}", 503, EIO, "", "<html>"},
    {"{\"status\": 500, \"body\": {\"reason\": 7, \"message\": []}}", 500, EIO, "", "500"},
    {"{\"status\": 429}", 429, EAGAIN, "", "429"},
    {"{\"status\": 302, \"headers\": {\"Location\": \"https://127.0.0.1:1/\"}}", 302, EIO, "",
     "302"},
    {"{\"status\": 200, \"chunks\": [\"half\"], \"then\": \"break\"}", 0, ECONNRESET, "", "/x"},
    {"{\"status\": 200, \"body\": \"0123456789abcdef\", \"times\": 600000}", 0, EMSGSIZE, "",
     "exceeds 8388608 bytes"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
        struct server server;
        struct answer answer;
        char script[512];
        (void)snprintf(script, sizeof(script), "[%s]", errors[i].step);
        server_start(&server, script);
        server_client(&server);
        ask(&server, &get, &answer);
        assert_int_equal(answer.status, errors[i].status);
        assert_int_equal(answer.code, errors[i].code);
        assert_string_equal(answer.reason, errors[i].reason);
        if (!strstr(answer.error, errors[i].says))
            fail_msg("\"%s\" instead of \"%s\"", answer.error, errors[i].says);
        assert_int_equal(server_count(&server, "GET"), 1);
        free(answer.body);
        server_stop(&server);
    }
}

static void test_retry(void **state)
{
    (void)state;
    struct server server;
    struct answer answer;

    server_start(&server, "[{\"chunks\": [\"x\"], \"then\": \"break\"}, {\"status\": 503},"
                          " {\"status\": 429, \"headers\": {\"Retry-After\": \"2\"}},"
                          " {\"body\": \"at last\"}]");
    server_client(&server);
    uint64_t began_ns = clock_monotonic_ns();
    ask(&server, &(struct kube_request){.method = "GET", .path = "/x", .retry_for_ms = 60000},
        &answer);
    uint64_t ms = (clock_monotonic_ns() - began_ns) / 1000000;
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "at last");
    assert_int_equal(server_count(&server, "GET"), 4);
    /* 250 to 500, 500 to 1000, 2000 to 2200. */
    assert_in_range(ms, 2750, 5000);
    free(answer.body);
    server_stop(&server);
}

static void test_what_is_not_tried_again(void **state)
{
    (void)state;
    static const char *const steps[] = {
        "{\"status\": 409}",
        "{\"status\": 500, \"body\": {\"message\": \"etcdserver: request is too large\"}}",
        "{\"body\": \"0123456789abcdef\", \"times\": 600000}",
    };

    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        struct server server;
        struct answer answer;
        char script[512];
        (void)snprintf(script, sizeof(script), "[%s, {\"body\": \"again\"}]", steps[i]);
        server_start(&server, script);
        server_client(&server);
        ask(&server, &(struct kube_request){.method = "GET", .path = "/x", .retry_for_ms = 60000},
            &answer);
        assert_string_not_equal(answer.body, "again");
        free(answer.body);
        server_stop(&server);
    }
}

static void test_retry_gives_up(void **state)
{
    (void)state;
    struct server server;
    struct answer answer;

    server_start(&server, "[{\"status\": 429, \"headers\": {\"Retry-After\": \"9\"}},"
                          " {\"sticky\": true, \"status\": 503}]");
    server_client(&server);
    ask(&server, &get, &answer);
    assert_int_equal(answer.status, 429);
    assert_int_equal(answer.retry_after_ms, 9000);
    free(answer.body);
    ask(&server, &(struct kube_request){.method = "GET", .path = "/x", .retry_for_ms = 1200},
        &answer);
    assert_int_equal(answer.status, 503);
    assert_int_equal(answer.retry_after_ms, 0);
    assert_in_range(server_count(&server, "GET"), 3, 5);
    free(answer.body);
    server_stop(&server);
}

/* However it is put off, by a pause before the next attempt or by a stop of the process, a request
 * doesn't go out after its time. */
static void test_too_late(void **state)
{
    (void)state;
    const uint64_t now_ns = clock_boottime_ns();
    struct server server;
    struct answer answer;

    server_start(&server, "[{\"sticky\": true, \"status\": 503}]");
    server_client(&server);
    ask(&server, &(struct kube_request){.method = "GET", .path = "/x", .not_after_ns = now_ns},
        &answer);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.code, ECANCELED);
    assert_non_null(strstr(answer.error, "/x: not sent, as the time for it has passed"));
    free(answer.body);
    ask(&server,
        &(struct kube_request){
            .method = "GET", .path = "/x", .retry_for_ms = 60000, .not_after_ns = now_ns},
        &answer);
    assert_int_equal(answer.code, ECANCELED);
    free(answer.body);
    assert_int_equal(server_count(&server, "GET"), 0);
    ask(&server,
        &(struct kube_request){.method = "GET",
                               .path = "/x",
                               .retry_for_ms = 60000,
                               .not_after_ns = clock_boottime_ns() + 1500000000u},
        &answer);
    assert_true(answer.status == 503 || answer.code == ECANCELED);
    free(answer.body);
    assert_in_range(server_count(&server, "GET"), 1, 5);
    server_stop(&server);
}

/* The stop comes while there is no connection yet. */
static void test_too_late_when_connected(void **state)
{
    (void)state;
    struct server server;
    struct answer answer;

    server_start(&server, "[{\"sticky\": true}]");
    server_client(&server);
    (void)send_to(&server,
                  &(struct kube_request){.method = "GET",
                                         .path = "/x",
                                         .not_after_ns = clock_boottime_ns() + 20000000},
                  &answer);
    const struct timespec stop = {.tv_nsec = 30000000};
    assert_int_equal(nanosleep(&stop, NULL), 0);
    server_run(&server);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.code, ECANCELED);
    assert_int_equal(server_count(&server, "GET"), 0);
    free(answer.body);
    server_stop(&server);
}

static void test_nobody_there(void **state)
{
    (void)state;
    struct server server;
    struct answer answer;

    server_start(&server, "[]");
    free(server.config.server);
    server.config.server = strdup("https://127.0.0.1:1");
    server_client(&server);
    ask(&server, &get, &answer);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.code, ECONNREFUSED);
    free(answer.body);
    server_stop(&server);
}

static void set_text(char **field, const char *text)
{
    free(*field);
    *field = text ? strdup(text) : NULL;
}

static void test_tls(void **state)
{
    (void)state;
    static const struct {
        const char *ca;
        const char *host;
        const char *name;
        int status;
    } cases[] = {
        {"ca.pem", "127.0.0.1", NULL, 200},
        {"ca.pem", "127.0.0.1", "kube.test", 200},
        {"ca.pem", "127.0.0.1", "other.test", 0},
        {"ca.pem", "localhost", NULL, 0},
        {"ca.pem", "localhost", "kube.test", 200},
        {"other.pem", "127.0.0.1", NULL, 0},
        {NULL, "127.0.0.1", NULL, 0},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct server server;
        struct answer answer;
        char address[64];
        server_start(&server, "[{\"body\": \"ok\"}]");
        (void)snprintf(address, sizeof(address), "https://%s:%d", cases[i].host, server.port);
        set_text(&server.config.server, address);
        set_text(&server.config.tls_server_name, cases[i].name);
        set_text(&server.config.ca_file, cases[i].ca ? server_path(cases[i].ca) : NULL);
        server_client(&server);
        ask(&server, &get, &answer);
        if (answer.status != cases[i].status)
            fail_msg("case %zu: %d, %s", i, answer.status, answer.error);
        assert_true(answer.status == 200 || answer.code == EKEYREJECTED);
        free(answer.body);
        server_stop(&server);
    }
}

static void test_timeout_takes_another_connection(void **state)
{
    (void)state;
    struct server server;
    struct answer answer;

    server_start(&server, "[{\"match\": \"/slow\", \"delay\": 60}, {\"sticky\": true}]");
    server_client(&server);
    ask(&server, &(struct kube_request){.method = "GET", .path = "/slow", .timeout_ms = 300},
        &answer);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.code, ETIMEDOUT);
    assert_non_null(strstr(answer.error, "within 300 ms"));
    free(answer.body);
    ask(&server, &get, &answer);
    assert_int_equal(answer.status, 200);
    assert_int_equal(server_count(&server, "[2, \"GET\", \"/x\""), 1);
    free(answer.body);
    server_stop(&server);
}

static void write_token(const char *text)
{
    cleanup_close int fd =
        open(server_path("token"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(fd_write_full(fd, text, strlen(text)), 0);
}

static void test_a_refused_token_is_read_again(void **state)
{
    (void)state;
    struct server server;
    struct answer answer;

    write_token("old");
    server_start(&server, "[{\"body\": \"ok\"}, {\"status\": 401}, {\"body\": \"ok\"},"
                          " {\"sticky\": true, \"status\": 401}]");
    set_text(&server.config.token_file, server_path("token"));
    server_client(&server);
    ask(&server, &get, &answer);
    free(answer.body);
    write_token("new");
    /* Within the second in which the file isn't looked at. */
    ask(&server, &get, &answer);
    assert_int_equal(answer.status, 200);
    assert_int_equal(server_count(&server, "Bearer old"), 2);
    assert_int_equal(server_count(&server, "Bearer new"), 1);
    free(answer.body);
    /* But only once. */
    ask(&server, &get, &answer);
    assert_int_equal(answer.status, 401);
    assert_int_equal(server_count(&server, "GET"), 5);
    free(answer.body);
    server_stop(&server);
}

/* The file is replaced after the token has expired: a request that has time waits for that. */
static void test_a_refused_token_is_waited_for(void **state)
{
    (void)state;
    const struct kube_request patient = {.method = "GET", .path = "/x", .retry_for_ms = 60000};
    struct server server;
    struct answer answer;

    write_token("old");
    server_start(&server, "[{\"status\": 401}, {\"status\": 401}, {\"status\": 401},"
                          " {\"body\": \"ok\"}]");
    set_text(&server.config.token_file, server_path("token"));
    server_client(&server);
    uint64_t began_ns = clock_monotonic_ns();
    (void)send_to(&server, &patient, &answer);
    for (int n = 0; n < 100 && server_count(&server, "GET") < 3; n++)
        server_run_for(&server, 20);
    write_token("new");
    server_run(&server);
    assert_int_equal(answer.status, 200);
    assert_int_equal(server_count(&server, "Bearer new"), 1);
    /* The second attempt was made at once, the others with back-off. */
    assert_true(clock_monotonic_ns() - began_ns > 700000000u);
    free(answer.body);
    server_stop(&server);
}

static void test_a_token_that_can_not_be_read(void **state)
{
    (void)state;
    struct server server;
    struct answer answer;

    server_start(&server, "[]");
    set_text(&server.config.token_file, server_path("none"));
    server_client(&server);
    ask(&server, &get, &answer);
    assert_int_equal(answer.status, 0);
    assert_non_null(strstr(answer.error, "none"));
    free(answer.body);
    server_stop(&server);
}

static void test_cancel(void **state)
{
    (void)state;
    struct server server;
    struct answer answers[4];

    server_start(&server, "[{\"match\": \"/slow\", \"delay\": 1, \"sticky\": true},"
                          " {\"match\": \"/503\", \"status\": 503, \"sticky\": true},"
                          " {\"sticky\": true}]");
    server_client(&server);
    /* Under way. */
    struct kube_call *slow =
        send_to(&server, &(struct kube_request){.method = "GET", .path = "/slow"}, &answers[0]);
    kube_call_cancel(slow);
    /* Asleep. */
    struct kube_call *asleep = send_to(
        &server, &(struct kube_request){.method = "GET", .path = "/503", .retry_for_ms = 60000},
        &answers[1]);
    server_run_for(&server, 100);
    kube_call_cancel(asleep);
    /* By another call's answer. */
    slow = send_to(&server, &(struct kube_request){.method = "GET", .path = "/slow"}, &answers[2]);
    (void)send_to(&server, &get, &answers[3]);
    answers[3].cancel = slow;
    server_run_for(&server, 1500);
    server_run_for(&server, 1500);
    kube_call_cancel(NULL);
    assert_int_equal(answers[0].count, 0);
    assert_int_equal(answers[1].count, 0);
    assert_int_equal(answers[2].count, 0);
    assert_int_equal(answers[3].count, 1);
    free(answers[3].body);
    server_stop(&server);
}

static void test_free_from_an_answer(void **state)
{
    (void)state;
    struct server server;
    struct answer answers[3];

    server_start(&server, "[{\"match\": \"/slow\", \"delay\": 1}, {\"sticky\": true}]");
    server_client(&server);
    (void)send_to(&server, &(struct kube_request){.method = "GET", .path = "/slow"}, &answers[0]);
    (void)send_to(&server, &get, &answers[1]);
    (void)send_to(&server, &get, &answers[2]);
    /* Whichever comes first: over HTTP/1.1 a newer libcurl lets the others wait for /slow. */
    for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
        answers[i].free_client = true;
    server_run(&server);
    server_run_for(&server, 200);
    assert_int_equal(answers[0].count + answers[1].count + answers[2].count, 1);
    for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
        free(answers[i].body);
    server_stop(&server);
}

static void test_bounds(void **state)
{
    (void)state;
    struct server server;
    struct answer answer = {0};
    struct error err = {0};
    char *path = malloc(MAX_KUBE_URL + 1);

    server_start(&server, "[{\"sticky\": true, \"delay\": 10}]");
    server_client(&server);
    assert_int_equal(kube_client_send(server.client, &(struct kube_request){"GET", "x"}, on_answer,
                                      &answer, NULL, &err),
                     -EINVAL);
    memset(path, '/', MAX_KUBE_URL);
    path[MAX_KUBE_URL] = '\0';
    assert_int_equal(kube_client_send(server.client, &(struct kube_request){"GET", path}, on_answer,
                                      &answer, NULL, &err),
                     -EINVAL);
    free(path);
    for (unsigned int i = 0; i < MAX_KUBE_CALLS; i++)
        assert_int_equal(kube_client_send(server.client, &get, on_answer, &answer, NULL, &err), 0);
    assert_int_equal(kube_client_send(server.client, &get, on_answer, &answer, NULL, &err), -EBUSY);
    assert_non_null(strstr(err.text, "8192"));
    server_stop(&server);
    assert_int_equal(answer.count, 0);
}

static void test_many_at_once(void **state)
{
    (void)state;
    struct server server;
    struct answer answers[200];
    unsigned int count = 0;

    server_start(&server, "[{\"sticky\": true, \"body\": \"ok\"}]");
    server_client(&server);
    for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
        (void)send_to(&server, &get, &answers[i]);
    while (count < ARRAY_SIZE(answers)) {
        server_run(&server);
        count = 0;
        for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
            count += answers[i].count;
    }
    for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
        assert_int_equal(answers[i].count, 1);
        assert_int_equal(answers[i].status, 200);
        free(answers[i].body);
    }
    server_stop(&server);
}

static void test_escape(void **state)
{
    (void)state;
    cleanup_buf struct buf out = BUF_INIT(64);

    assert_int_equal(kube_append_escaped(&out, "a-Z_0.~=&/ %\xc3\xa4"), 0);
    assert_string_equal(buf_str(&out), "a-Z_0.~%3D%26%2F%20%25%C3%A4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_patch_and_reuse_of_the_connection),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_retry),
        cmocka_unit_test(test_what_is_not_tried_again),
        cmocka_unit_test(test_retry_gives_up),
        cmocka_unit_test(test_too_late),
        cmocka_unit_test(test_too_late_when_connected),
        cmocka_unit_test(test_nobody_there),
        cmocka_unit_test(test_tls),
        cmocka_unit_test(test_timeout_takes_another_connection),
        cmocka_unit_test(test_a_refused_token_is_read_again),
        cmocka_unit_test(test_a_refused_token_is_waited_for),
        cmocka_unit_test(test_a_token_that_can_not_be_read),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_free_from_an_answer),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_escape),
    };
    return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
