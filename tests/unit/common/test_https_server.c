/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/certificate.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/https_server.h"
#include "tests/unit/common/https_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define FILE_BYTES (12u << 20)

/* The linker has the server's clock go through here. */
static uint64_t skipped_ns;
uint64_t real_monotonic_ns(void) __asm__("__real_clock_monotonic_ns");
uint64_t skipped_monotonic_ns(void) __asm__("__wrap_clock_monotonic_ns");
uint64_t skipped_monotonic_ns(void)
{
    return real_monotonic_ns() + skipped_ns;
}

struct fixture {
    struct loop *loop;
    struct https_server *server;
    struct buf certificate;
    struct buf key;
    struct https_request *waiting;
    struct loop_timer *timer;
    unsigned int later_ms; /* 0: never */
    unsigned int asked;
    int file_fd; /* the last one; not to be closed here */
    bool file_closed;
};

static void answer_text(struct https_request *request, const char *text)
{
    struct buf body = BUF_INIT(4096);
    assert_int_equal(buf_append_str(&body, text), 0);
    https_answer(request, 200, "text/x-test", &body);
}

static void on_later(void *arg)
{
    struct fixture *f = arg;
    answer_text(TAKE_PTR(f->waiting), "later");
}

static int make_file(void)
{
    int fd = memfd_create("answer", MFD_CLOEXEC);
    char block[4096];
    assert_true(fd >= 0);
    for (unsigned int i = 0; i < FILE_BYTES / sizeof(block); i++) {
        memset(block, (int)(i & 0xff), sizeof(block));
        assert_int_equal(fd_write_full(fd, block, sizeof(block)), 0);
    }
    return fd;
}

static void on_request(struct https_request *request, void *arg)
{
    struct fixture *f = arg;
    const char *target = https_request_target(request);
    const char *value = NULL;
    f->asked++;
    if (strcmp(target, "/later") == 0) {
        f->waiting = request;
        if (f->later_ms > 0)
            assert_int_equal(loop_timer_arm(f->timer, f->later_ms), 0);
    } else if (strcmp(target, "/file") == 0) {
        f->file_fd = make_file();
        https_answer_file(request, "application/octet-stream", f->file_fd, FILE_BYTES);
    } else if (strcmp(target, "/empty") == 0) {
        answer_text(request, "");
    } else if (https_request_header(request, "x-Test", &value) < 0) {
        answer_text(request, "several");
    } else {
        char text[2048];
        (void)snprintf(text, sizeof(text), "%s %s", target, value ? value : "none");
        https_request_add_header(request, "X-Back", "b");
        answer_text(request, text);
    }
}

static void make_pair(struct buf *certificate, struct buf *key)
{
    static const char *const names[] = {"node.test", "127.0.0.1"};
    int64_t now_s = clock_realtime_us() / 1000000;
    const struct certificate_subject subject = {
        .names = names, .name_count = 2, .from_s = now_s - 60, .until_s = now_s + 3600};
    struct error err = {0};
    buf_done(certificate);
    buf_done(key);
    if (certificate_make(&subject, certificate, key, &err) < 0)
        fail_msg("%s", err.text);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct error err = {0};
    if (!f || loop_new(&f->loop, NULL) < 0 || loop_timer_new(f->loop, on_later, f, &f->timer) < 0)
        return -1;
    skipped_ns = 0;
    f->certificate = BUF_INIT(1 << 16);
    f->key = BUF_INIT(1 << 16);
    make_pair(&f->certificate, &f->key);
    const struct https_options options = {.address = "127.0.0.1:0",
                                          .certificate = buf_str(&f->certificate),
                                          .key = buf_str(&f->key),
                                          .fn = on_request,
                                          .arg = f};
    if (https_server_new(f->loop, &options, &f->server, &err) < 0)
        fail_msg("%s", err.text);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    https_server_free(f->server);
    loop_timer_free(f->timer);
    loop_free(f->loop);
    buf_done(&f->certificate);
    buf_done(&f->key);
    free(f);
    return 0;
}

static struct https_exchange to(const struct fixture *f, const char *target)
{
    return (struct https_exchange){
        .port = https_server_port(f->server), .target = target, .ca = buf_str(&f->certificate)};
}

static void test_answers(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *method;
        const char *target;
        const char *headers[MAX_CLIENT_HEADERS];
        long status;
        long long length;
        const char *answer;
    } cases[] = {
        {NULL, "/a%2Fb?x=%31&x=2", {"X-Test: 1"}, 200, 18, "/a%2Fb?x=%31&x=2 1"},
        {NULL, "/a/../b", {NULL}, 200, 12, "/a/../b none"},
        {"HEAD", "/a", {NULL}, 200, 7, ""},
        {NULL, "/a", {"X-Test: 1", "X-Test: 2"}, 200, 7, "several"},
        {NULL, "/empty", {NULL}, 200, 0, ""},
        {"DELETE", "/a", {NULL}, 405, 19, "method not allowed\n"},
        {"OPTIONS", "/a", {NULL}, 405, 19, "method not allowed\n"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct https_exchange e = to(f, cases[i].target);
        e.method = cases[i].method;
        memcpy(e.headers, cases[i].headers, sizeof(e.headers));
        https_exchange(f->loop, &e);
        assert_int_equal(e.status, cases[i].status);
        assert_int_equal(e.length, cases[i].length);
        assert_string_equal(buf_str(&e.answer), cases[i].answer);
        if (e.status == 405)
            assert_non_null(strstr(buf_str(&e.header), "Allow: GET, HEAD"));
        else
            assert_string_equal(e.content_type, "text/x-test");
        https_exchange_done(&e);
    }
}

static void test_by_name_and_not_by_another_certificate(void **state)
{
    struct fixture *f = *state;
    cleanup_buf struct buf certificate = BUF_INIT(1 << 16);
    cleanup_buf struct buf key = BUF_INIT(1 << 16);
    struct https_exchange e = to(f, "/a");
    e.host = "node.test";
    https_exchange(f->loop, &e);
    assert_int_equal(e.status, 200);
    https_exchange_done(&e);
    e = to(f, "/a");
    e.host = "other.test";
    https_exchange(f->loop, &e);
    assert_int_equal(e.status, 0);
    https_exchange_done(&e);
    make_pair(&certificate, &key);
    e = to(f, "/a");
    e.ca = buf_str(&certificate);
    https_exchange(f->loop, &e);
    assert_int_equal(e.status, 0);
    https_exchange_done(&e);
    assert_int_equal(f->asked, 1);
}

static void test_a_file(void **state)
{
    struct fixture *f = *state;
    struct https_exchange e = to(f, "/file");
    https_exchange(f->loop, &e);
    assert_int_equal(e.status, 200);
    assert_int_equal(e.length, FILE_BYTES);
    assert_int_equal(e.answer.len, FILE_BYTES);
    for (size_t i = 0; i < e.answer.len; i += 1021)
        assert_int_equal((unsigned char)e.answer.data[i], (i / 4096) & 0xff);
    https_exchange_done(&e);
    e = to(f, "/file");
    e.method = "HEAD";
    https_exchange(f->loop, &e);
    assert_int_equal(e.length, FILE_BYTES);
    assert_int_equal(e.answer.len, 0);
    https_exchange_done(&e);
}

static void test_an_answer_that_comes_later(void **state)
{
    struct fixture *f = *state;
    struct https_exchange e = to(f, "/later");
    f->later_ms = 100;
    https_exchange(f->loop, &e);
    assert_string_equal(e.failure, "");
    assert_int_equal(e.status, 200);
    assert_string_equal(buf_str(&e.answer), "later");
    https_exchange_done(&e);
}

static void test_bodies_and_long_targets(void **state)
{
    struct fixture *f = *state;
    char target[MAX_HTTPS_TARGET_BYTES + 2];
    memset(target, 'a', sizeof(target));
    target[0] = '/';
    target[sizeof(target) - 1] = '\0';
    struct https_exchange e = to(f, target);
    https_exchange(f->loop, &e);
    assert_int_equal(e.status, 414);
    https_exchange_done(&e);
    target[sizeof(target) - 2] = '\0';
    e = to(f, target);
    https_exchange(f->loop, &e);
    assert_int_equal(e.status, 200);
    https_exchange_done(&e);
    e = to(f, "/a");
    e.method = "GET";
    e.body = "x=1";
    https_exchange(f->loop, &e);
    assert_int_equal(e.status, 0);
    https_exchange_done(&e);
}

static void test_another_certificate(void **state)
{
    struct fixture *f = *state;
    cleanup_buf struct buf certificate = BUF_INIT(1 << 16);
    cleanup_buf struct buf key = BUF_INIT(1 << 16);
    struct error err = {0};
    /* One that is being answered goes on under the old one. */
    struct https_exchange slow = to(f, "/later");
    struct https_flight *flight = https_exchange_begin(f->loop, &slow);
    f->later_ms = 300;
    for (int i = 0; i < 100 && !f->waiting; i++) {
        struct https_exchange other = to(f, "/a");
        https_exchange(f->loop, &other);
        https_exchange_done(&other);
    }
    make_pair(&certificate, &key);
    assert_int_equal(https_server_set_certificate(f->server, "x", buf_str(&key), &err), -EIO);
    assert_int_equal(
        https_server_set_certificate(f->server, buf_str(&certificate), buf_str(&key), &err), 0);
    struct https_exchange e = to(f, "/a");
    https_exchange(f->loop, &e);
    if (slow.status) /* the loop was stopped by the other one */
        assert_int_equal(loop_run(f->loop, NULL), 0);
    assert_int_equal(e.status, 0);
    https_exchange_done(&e);
    e = to(f, "/a");
    e.ca = buf_str(&certificate);
    https_exchange(f->loop, &e);
    assert_int_equal(e.status, 200);
    https_exchange_done(&e);
    while (!slow.status)
        assert_int_equal(loop_run(f->loop, NULL), 0);
    https_exchange_end(flight);
    assert_int_equal(slow.status, 200);
    assert_string_equal(buf_str(&slow.answer), "later");
    https_exchange_done(&slow);
}

/* Nobody answers, and the server goes first. */
static void test_freed_while_one_waits(void **state)
{
    struct fixture *f = *state;
    struct https_exchange e = to(f, "/later");
    struct https_flight *flight = https_exchange_begin(f->loop, &e);
    for (int i = 0; i < 100 && !f->waiting; i++) {
        struct https_exchange other = to(f, "/a");
        https_exchange(f->loop, &other);
        https_exchange_done(&other);
    }
    assert_non_null(f->waiting);
    https_server_free(TAKE_PTR(f->server));
    assert_int_equal(loop_run(f->loop, NULL), 0);
    https_exchange_end(flight);
    assert_int_equal(e.status, 0);
    https_exchange_done(&e);
}

static void skip_time(void *arg)
{
    struct fixture *f = arg;
    assert_int_not_equal(fcntl(f->file_fd, F_GETFD), -1);
    skipped_ns = 121ull * 1000000000;
}

static void look_at_file(void *arg)
{
    struct fixture *f = arg;
    f->file_closed = fcntl(f->file_fd, F_GETFD) == -1;
}

/* It reads, slowly, and is cut off when its time is over: long before it would be for silence. */
static void test_a_slow_reader(void **state)
{
    struct fixture *f = *state;
    struct loop_timer *timer = NULL;
    struct loop_timer *look = NULL;
    struct https_exchange e = to(f, "/file");
    e.bytes_per_second = 10 << 10;
    e.timeout_s = 5;
    assert_int_equal(loop_timer_new(f->loop, skip_time, f, &timer), 0);
    assert_int_equal(loop_timer_arm(timer, 300), 0);
    assert_int_equal(loop_timer_new(f->loop, look_at_file, f, &look), 0);
    assert_int_equal(loop_timer_arm(look, 3000), 0);
    https_exchange(f->loop, &e);
    assert_true(e.answer.len < FILE_BYTES);
    assert_true(e.failure[0]);
    https_exchange_done(&e);
    loop_timer_free(timer);
    loop_timer_free(look);
    assert_true(f->file_closed);
    /* Others are served as before. */
    e = to(f, "/a");
    https_exchange(f->loop, &e);
    assert_int_equal(e.status, 200);
    https_exchange_done(&e);
}

static void stop(void *arg)
{
    loop_stop(arg);
}

/* Connections that say nothing: no more than a few from one address are taken. */
static void test_many_connections(void **state)
{
    struct fixture *f = *state;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)https_server_port(f->server)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct loop_timer *timer = NULL;
    int fds[30];
    unsigned int open = 0;
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(fds[i], (const struct sockaddr *)&address, sizeof(address)), 0);
    }
    assert_int_equal(loop_timer_new(f->loop, stop, f->loop, &timer), 0);
    assert_int_equal(loop_timer_arm(timer, 300), 0);
    assert_int_equal(loop_run(f->loop, NULL), 0);
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
        char byte;
        open += recv(fds[i], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
    }
    assert_in_range(open, 1, 16);
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        (void)fd_close(fds[i]);
    /* Their places are free again once the server has seen it; in a second new ones may come. */
    assert_int_equal(loop_timer_arm(timer, 300), 0);
    assert_int_equal(loop_run(f->loop, NULL), 0);
    skipped_ns = 1000000000;
    struct https_exchange e = to(f, "/a");
    https_exchange(f->loop, &e);
    assert_int_equal(e.status, 200);
    https_exchange_done(&e);
    loop_timer_free(timer);
}

static void test_what_can_t_be_started(void **state)
{
    struct fixture *f = *state;
    struct https_server *server = NULL;
    struct error err = {0};
    struct https_options options = {
        .address = "127.0.0.1:0", .certificate = "x", .key = buf_str(&f->key), .fn = on_request};
    assert_int_equal(https_server_new(f->loop, &options, &server, &err), -EIO);
    assert_non_null(strstr(err.text, "certificate"));
    options.address = "localhost";
    assert_int_equal(https_server_new(f->loop, &options, &server, &err), -EINVAL);
    assert_non_null(strstr(err.text, "localhost"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_answers),
        TEST(test_by_name_and_not_by_another_certificate),
        TEST(test_a_file),
        TEST(test_an_answer_that_comes_later),
        TEST(test_bodies_and_long_targets),
        TEST(test_another_certificate),
        TEST(test_freed_while_one_waits),
        TEST(test_a_slow_reader),
        TEST(test_many_connections),
        TEST(test_what_can_t_be_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
