/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/kube/stream.h"
#include "server.h"

static const struct kube_request get = {.method = "GET", .path = "/x"};

/* A stream whose handlers end things. */
struct stream_test {
    struct server *server;
    struct kube_call *call;
    struct buf body;
    unsigned int opened;
    unsigned int ended;
    int status;
    bool cancel;
    bool free_client;
};

static void on_opened(void *arg)
{
    struct stream_test *test = arg;

    test->opened++;
}

static void on_data(const char *bytes, size_t len, void *arg)
{
    struct stream_test *test = arg;

    assert_int_equal(buf_append(&test->body, bytes, len), 0);
    loop_stop(test->server->loop);
    if (test->cancel)
        kube_call_cancel(test->call);
    if (test->free_client) {
        kube_client_free(test->server->client);
        test->server->client = NULL;
    }
}

static void on_ended(const struct kube_response *response, void *arg)
{
    struct stream_test *test = arg;

    test->ended++;
    test->status = response->status;
    loop_stop(test->server->loop);
}

static const struct kube_stream_handlers handlers = {
    .opened = on_opened, .data = on_data, .ended = on_ended};

static void stream(struct stream_test *test, struct server *server, const char *script)
{
    struct error err = {0};

    server_start(server, script);
    server_client(server);
    test->server = server;
    buf_init(&test->body, 1024);
    assert_int_equal(kube_client_stream(server->client, &get, &handlers, test, &test->call, &err),
                     0);
    assert_int_equal(test->opened, 0);
}

static void test_stream(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        int status;
        const char *body;
    } cases[] = {
        {"[{\"chunks\": [\"a\", {\"sleep\": 0.1}, \"b\"]}]", 200, "ab"},
        {"[{\"chunks\": [\"a\", {\"sleep\": 0.1}, \"b\"], \"then\": \"break\"}]", 0, "ab"},
        {"[{\"status\": 410, \"body\": \"gone\"}]", 410, ""},
        {"[{\"chunks\": []}]", 200, ""},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct stream_test test = {0};
        struct server server;
        stream(&test, &server, cases[i].script);
        while (test.ended == 0)
            server_run(&server);
        assert_int_equal(test.status, cases[i].status);
        assert_string_equal(buf_str(&test.body), cases[i].body);
        assert_int_equal(test.opened, cases[i].status != 410);
        buf_done(&test.body);
        server_stop(&server);
    }
}

static void stream_again(struct server *server)
{
    struct stream_test test = {.server = server};
    struct error err = {0};

    buf_init(&test.body, 1024);
    assert_int_equal(kube_client_stream(server->client, &get, &handlers, &test, &test.call, &err),
                     0);
    while (test.ended == 0)
        server_run(server);
    assert_int_equal(test.status, 200);
    buf_done(&test.body);
}

static void test_stream_ended_by_its_own_handler(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct stream_test test = {.cancel = i == 0, .free_client = i == 1};
        struct server server;
        stream(&test, &server, "[{\"chunks\": [\"a\", {\"sleep\": 0.2}, \"b\"]}, {}]");
        server_run(&server);
        server_run_for(&server, 500);
        assert_int_equal(test.ended, 0);
        assert_string_equal(buf_str(&test.body), "a");
        /* The client goes on. */
        if (i == 0)
            stream_again(&server);
        buf_done(&test.body);
        server_stop(&server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_stream_ended_by_its_own_handler),
    };
    return cmocka_run_group_tests(tests, server_setup, server_teardown);
}
