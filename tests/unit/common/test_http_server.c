/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/http_server.h"
#include "tests/unit/common/cmocka_setup.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

struct client {
    struct loop *loop;
    struct buf answer;
    bool ended;
};

static int serve_hello(struct buf *body, const char **ret_content_type, void *arg)
{
    *ret_content_type = "text/x-test";
    return buf_printf(body, "hello %s\n", (const char *)arg) < 0 ? 500 : 200;
}

static int serve_unready(struct buf *body, const char **ret_content_type, void *arg)
{
    (void)body;
    (void)ret_content_type;
    (void)arg;
    return 503;
}

static int serve_large(struct buf *body, const char **ret_content_type, void *arg)
{
    (void)ret_content_type;
    (void)arg;
    for (int i = 0; i < 100000; i++) {
        if (buf_append_str(body, "0123456789") < 0)
            return 500;
    }
    return 200;
}

static char who[] = "world";
static const struct http_route routes[] = {
    {"/hello", serve_hello}, {"/readyz", serve_unready}, {"/large", serve_large}, {NULL, NULL}};

static int connect_to(unsigned int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(fd_set_nonblock(fd, true), 0);
    return fd;
}

static void on_answer(int fd, unsigned int events, void *arg)
{
    struct client *client = arg;
    (void)events;
    char *room = buf_reserve(&client->answer, 4096);
    assert_non_null(room);
    ssize_t n = read(fd, room, 4096);
    if (n > 0) {
        buf_commit(&client->answer, (size_t)n);
        return;
    }
    client->ended = true;
    loop_stop(client->loop);
}

static void on_timeout(void *arg)
{
    loop_stop(arg);
}

/* Sends request to port and runs the loop until the server closes, or for limit_ms. */
static struct client exchange(struct loop *loop, unsigned int port, const char *request,
                              uint64_t limit_ms)
{
    struct client client = {.loop = loop, .answer = BUF_INIT(4 << 20)};
    cleanup_close int fd = connect_to(port);
    struct loop_io *io = NULL;
    struct loop_timer *timer = NULL;
    assert_int_equal(fd_write_full(fd, request, strlen(request)), 0);
    assert_int_equal(loop_io_new(loop, fd, LOOP_READ, on_answer, &client, &io), 0);
    assert_int_equal(loop_timer_new(loop, on_timeout, loop, &timer), 0);
    assert_int_equal(loop_timer_arm(timer, limit_ms), 0);
    assert_int_equal(loop_run(loop, NULL), 0);
    loop_io_free(io);
    loop_timer_free(timer);
    return client;
}

struct fixture {
    struct loop *loop;
    struct http_server *server;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    if (!f || loop_new(&f->loop, NULL) < 0 ||
        http_server_new(f->loop, "127.0.0.1:0", routes, who, &f->server, NULL) < 0)
        return -1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    http_server_free(f->server);
    loop_free(f->loop);
    free(f);
    return 0;
}

static void test_requests(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *request, *status, *body; /* body NULL: not looked at */
        const char *header;
    } cases[] = {
        {"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "200", "hello world\n",
         "Content-Type: text/x-test\r\n"},
        {"GET /hello?a=b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "200", "hello world\n",
         "Content-Length: 12\r\n"},
        {"HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "200", "",
         "Content-Length: 12\r\n"},
        {"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "503", "",
         "Content-Length: 0\r\n"},
        {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "404", "not found\n", ""},
        {"GET /hello/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "404", "not found\n", ""},
        {"HEAD /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "404", "", ""},
        {"POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", "405",
         "method not allowed\n", "Allow: GET, HEAD\r\n"},
        {"DELETE /hello HTTP/1.1\r\nHost: x\r\n\r\n", "405", "method not allowed\n",
         "Allow: GET, HEAD\r\n"},
        {"PATCH /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc", "405",
         "method not allowed\n", "Allow: GET, HEAD\r\n"},
        {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "405", NULL, "Allow: GET, HEAD\r\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct client client =
            exchange(f->loop, http_server_port(f->server), cases[i].request, 3000);
        const char *text = buf_str(&client.answer);
        const char *body = strstr(text, "\r\n\r\n");
        bool good = client.ended && strncmp(text, "HTTP/1.1 ", 9) == 0 &&
                    strncmp(text + 9, cases[i].status, 3) == 0 && body &&
                    (!cases[i].body || strcmp(body + 4, cases[i].body) == 0) &&
                    strstr(text, cases[i].header);
        if (!good)
            fail_msg("%s\n%s\nended: %d", cases[i].request, text, client.ended);
        buf_done(&client.answer);
    }
}

static void test_body_on_get_is_cut_off(void **state)
{
    struct fixture *f = *state;
    static const char *const requests[] = {
        "GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\nabc",
        "GET /hello HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    };
    for (size_t i = 0; i < 2; i++) {
        struct client client = exchange(f->loop, http_server_port(f->server), requests[i], 3000);
        assert_true(client.ended);
        assert_int_equal(client.answer.len, 0);
        buf_done(&client.answer);
    }
}

static void test_keep_alive_serves_several(void **state)
{
    struct fixture *f = *state;
    struct client client = exchange(f->loop, http_server_port(f->server),
                                    "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
                                    "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"
                                    "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                                    3000);
    if (!strstr(buf_str(&client.answer), " 404 "))
        fail_msg("%s", buf_str(&client.answer));
    const char *second = strstr(buf_str(&client.answer), "HTTP/1.1 404");
    assert_non_null(second);
    assert_non_null(strstr(second, "HTTP/1.1 200"));
    buf_done(&client.answer);
}

static void test_large_body_arrives_whole(void **state)
{
    struct fixture *f = *state;
    struct client client =
        exchange(f->loop, http_server_port(f->server),
                 "GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 10000);
    assert_true(client.ended);
    const char *body = strstr(buf_str(&client.answer), "\r\n\r\n");
    assert_non_null(body);
    assert_int_equal(strlen(body + 4), 1000000);
    buf_done(&client.answer);
}

static void test_oversized_header_is_refused(void **state)
{
    struct fixture *f = *state;
    cleanup_buf struct buf request = BUF_INIT(1 << 20);
    assert_int_equal(buf_append_str(&request, "GET /hello HTTP/1.1\r\nHost: x\r\nX: "), 0);
    for (int i = 0; i < 40000; i++)
        assert_int_equal(buf_append_char(&request, 'x'), 0);
    assert_int_equal(buf_append_str(&request, "\r\n\r\n"), 0);
    struct client client = exchange(f->loop, http_server_port(f->server), buf_str(&request), 3000);
    assert_true(client.ended);
    assert_null(strstr(buf_str(&client.answer), "HTTP/1.1 200"));
    buf_done(&client.answer);
}

static void test_nonsense_is_cut_off(void **state)
{
    struct fixture *f = *state;
    static const char *const requests[] = {"nonsense\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n",
                                           "GET /hello\r\n\r\n"};
    for (size_t i = 0; i < 3; i++) {
        struct client client = exchange(f->loop, http_server_port(f->server), requests[i], 3000);
        assert_true(client.ended);
        assert_null(strstr(buf_str(&client.answer), " 200 "));
        buf_done(&client.answer);
    }
}

/* One says nothing: after 10 s the server ends it, and serves others meanwhile. */
static void test_idle_connection_is_ended(void **state)
{
    struct fixture *f = *state;
    uint64_t start_ns = clock_monotonic_ns();
    struct client client = exchange(f->loop, http_server_port(f->server), "GET /he", 15000);
    uint64_t took_ms = (clock_monotonic_ns() - start_ns) / 1000000;
    assert_true(client.ended);
    assert_true(took_ms >= 8000 && took_ms < 14000);
    buf_done(&client.answer);
}

/* The 65th waits until one of 64 goes. */
static void test_connection_cap(void **state)
{
    struct fixture *f = *state;
    static const char request[] = "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    int held[64];
    for (size_t i = 0; i < 64; i++)
        held[i] = connect_to(http_server_port(f->server));
    struct client refused = exchange(f->loop, http_server_port(f->server), request, 500);
    assert_int_equal(refused.answer.len, 0);
    buf_done(&refused.answer);
    for (size_t i = 0; i < 64; i++)
        held[i] = fd_close(held[i]);
    struct client served = exchange(f->loop, http_server_port(f->server), request, 3000);
    assert_non_null(strstr(buf_str(&served.answer), "hello world"));
    buf_done(&served.answer);
}

static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        int result;
    } cases[] = {
        {"127.0.0.1:0", 0},
        {":0", 0},
        {"[::1]:0", 0},
        {"", -EINVAL},
        {"127.0.0.1", -EINVAL},
        {"127.0.0.1:", -EINVAL},
        {"127.0.0.1:65536", -EINVAL},
        {"127.0.0.1:-1", -EINVAL},
        {"127.0.0.1:http", -EINVAL},
        {"localhost:80", -EINVAL},
        {"::1:80", -EINVAL},
        {"[::1:80", -EINVAL},
        {"[]:80", -EINVAL},
        {"[:80", -EINVAL},
        {"256.0.0.1:80", -EINVAL},
        {"[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb]:80", -EINVAL},
        {"192.0.2.1:0", -EADDRNOTAVAIL},
    };
    struct loop *loop = NULL;
    assert_int_equal(loop_new(&loop, NULL), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_server *server = NULL;
        struct error err = {0};
        int r = http_server_new(loop, cases[i].address, routes, who, &server, &err);
        if (r != cases[i].result)
            fail_msg("\"%s\": %d %s", cases[i].address, r, err.text);
        assert_int_equal(server ? http_server_port(server) > 0 : 0, r == 0);
        assert_int_equal(strlen(err.text) > 0, r < 0);
        http_server_free(server);
    }
    loop_free(loop);
}

static void test_port_in_use(void **state)
{
    struct fixture *f = *state;
    char address[32];
    struct error err = {0};
    struct http_server *second = NULL;
    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", http_server_port(f->server));
    assert_int_equal(http_server_new(f->loop, address, routes, who, &second, &err), -EADDRINUSE);
    assert_non_null(strstr(err.text, "Address already in use"));
    assert_non_null(strstr(err.text, address));
}

/* With no descriptor left, at any of the steps: an error, and all are given back. */
static void test_no_descriptors(void **state)
{
    (void)state;
    struct loop *loop = NULL;
    assert_int_equal(loop_new(&loop, NULL), 0);
    int next = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    assert_int_equal(fd_close(next), -1);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (unsigned int left = 0; left < 2; left++) {
        struct rlimit few = {.rlim_cur = (rlim_t)next + left, .rlim_max = before.rlim_max};
        struct http_server *server = NULL;
        struct error err = {0};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        int r = http_server_new(loop, "127.0.0.1:0", routes, who, &server, &err);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_true(r < 0 && !server && err.text[0]);
        int now = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        assert_int_equal(fd_close(now), -1);
        assert_int_equal(now, next);
    }
    loop_free(loop);
}

int main(void)
{
#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_SERVER(test_requests),
        WITH_SERVER(test_body_on_get_is_cut_off),
        WITH_SERVER(test_keep_alive_serves_several),
        WITH_SERVER(test_large_body_arrives_whole),
        WITH_SERVER(test_oversized_header_is_refused),
        WITH_SERVER(test_nonsense_is_cut_off),
        WITH_SERVER(test_idle_connection_is_ended),
        WITH_SERVER(test_connection_cap),
        cmocka_unit_test(test_addresses),
        WITH_SERVER(test_port_in_use),
        cmocka_unit_test(test_no_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
