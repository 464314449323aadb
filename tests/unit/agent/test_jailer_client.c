/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/jailer_client.h"
#include "tests/unit/agent/fake_jailer.h"
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/agent/agent_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define ID_A "00000000-0000-4000-8000-00000000000a"
#define ID_B "00000000-0000-4000-8000-00000000000b"

/* Delays are cut to what a test can wait for. */
int real_loop_timer_arm(struct loop_timer *timer,
                        uint64_t delay_ms) __asm__("__real_loop_timer_arm");
int wrap_loop_timer_arm(struct loop_timer *timer,
                        uint64_t delay_ms) __asm__("__wrap_loop_timer_arm");

static uint64_t longest_delay_ms;

int wrap_loop_timer_arm(struct loop_timer *timer, uint64_t delay_ms)
{
    return real_loop_timer_arm(timer, delay_ms < longest_delay_ms ? delay_ms : longest_delay_ms);
}

struct owner_log {
    struct test *test;
    int created;
    int refused;
    int finished;
    int lost;
    int fds[PROTO_CREATED_FDS];
    bool free_client; /* in the next word about it */
};

struct test {
    struct loop *loop;
    struct fake_jailer fake;
    struct jailer_client *client;
    int ready;
    int not_ready;
    int lost;
    struct error err;
    struct owner_log a, b;
    struct loop_timer *timer;
    bool timed_out;
    bool (*done)(struct test *test);
};

static void on_timer(void *arg)
{
    struct test *test = arg;
    if (!test->done(test) && !test->timed_out) {
        (void)real_loop_timer_arm(test->timer, 1);
        return;
    }
    loop_stop(test->loop);
}

/* Turns the loop until done says so; how far that is from now is bounded by ctest's time-out. */
static void run_until(struct test *test, bool (*done)(struct test *test))
{
    test->done = done;
    assert_int_equal(real_loop_timer_arm(test->timer, 0), 0);
    assert_int_equal(loop_run(test->loop, NULL), 0);
}

static void on_ready(const struct proto_hello *hello, const struct error *err, void *arg)
{
    struct test *test = arg;
    if (hello) {
        test->ready++;
        assert_null(err);
        assert_string_equal(hello->runtimes[0].name, "python3.12");
    } else {
        test->not_ready++;
        test->err = *err;
    }
}

static void on_lost(const struct error *err, void *arg)
{
    struct test *test = arg;
    test->lost++;
    test->err = *err;
}

static void maybe_free(struct owner_log *log)
{
    if (!log->free_client)
        return;
    jailer_client_free(log->test->client);
    log->test->client = NULL;
}

static void on_message(const struct proto_message *message, const int *fds, void *arg)
{
    struct owner_log *log = arg;
    if (message->type == PROTO_CREATED) {
        log->created++;
        memcpy(log->fds, fds, sizeof(log->fds));
    } else if (message->type == PROTO_REFUSED) {
        log->refused++;
    } else {
        log->finished++;
    }
    maybe_free(log);
}

static void on_owner_lost(const struct error *err, void *arg)
{
    struct owner_log *log = arg;
    assert_true(err->code > 0);
    log->lost++;
    maybe_free(log);
}

static int setup(void **state)
{
    struct test *test = calloc(1, sizeof(*test));
    longest_delay_ms = UINT64_MAX;
    assert_int_equal(loop_new(&test->loop, NULL), 0);
    fake_jailer_open(&test->fake, test->loop);
    assert_int_equal(loop_timer_new(test->loop, on_timer, test, &test->timer), 0);
    test->a.test = test->b.test = test;
    for (size_t i = 0; i < PROTO_CREATED_FDS; i++)
        test->a.fds[i] = test->b.fds[i] = -1;
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    struct test *test = *state;
    jailer_client_free(test->client);
    fake_jailer_close(&test->fake);
    for (size_t i = 0; i < PROTO_CREATED_FDS; i++) {
        (void)fd_close(test->a.fds[i]);
        (void)fd_close(test->b.fds[i]);
    }
    loop_timer_free(test->timer);
    loop_free(test->loop);
    free(test);
    return 0;
}

static void connect_client(struct test *test)
{
    assert_int_equal(jailer_client_new(test->loop, test->fake.client_sock, on_ready, on_lost, test,
                                       &test->client, NULL),
                     0);
}

static bool is_ready(struct test *test)
{
    return test->ready > 0;
}

static bool is_over(struct test *test)
{
    return test->lost + test->not_ready > 0;
}

static void connect_and_greet(struct test *test)
{
    connect_client(test);
    fake_jailer_hello(&test->fake);
    run_until(test, is_ready);
}

static int create(struct test *test, const char *id, struct owner_log *log, struct error *err)
{
    static const struct jailer_handlers handlers = {.message = on_message, .lost = on_owner_lost};
    struct proto_create create = {.cpu_milli = 1000, .memory_bytes = 512u << 20};
    memcpy(create.id, id, strlen(id));
    memcpy(create.runtime, "python3.12", 10);
    return jailer_client_create(test->client, &create, &handlers, log, err);
}

static bool all_requests(struct test *test)
{
    return test->fake.request_count >= 3;
}

static bool a_created(struct test *test)
{
    return test->a.created > 0;
}

static bool a_over(struct test *test)
{
    return test->a.finished + test->a.refused > 0;
}

static bool b_over(struct test *test)
{
    return test->b.finished + test->b.refused > 0;
}

static bool peer_gone(struct test *test)
{
    return test->fake.io == NULL;
}

static void test_whole_life(void **state)
{
    struct test *test = *state;
    connect_and_greet(test);
    assert_non_null(jailer_client_hello(test->client));
    assert_int_equal(create(test, ID_A, &test->a, NULL), 0);
    assert_int_equal(jailer_client_start(test->client, ID_A, 20000, 0, NULL), 0);
    assert_int_equal(jailer_client_kill(test->client, ID_A, NULL), 0);
    run_until(test, all_requests);
    assert_int_equal(test->fake.requests[0].type, PROTO_CREATE);
    assert_string_equal(test->fake.requests[0].create.id, ID_A);
    assert_int_equal(test->fake.requests[1].type, PROTO_START);
    assert_int_equal(test->fake.requests[1].start.timeout_ms, 20000);
    assert_int_equal(test->fake.requests[2].type, PROTO_KILL);

    fake_jailer_created(&test->fake, ID_A);
    run_until(test, a_created);
    for (size_t i = 0; i < PROTO_CREATED_FDS; i++)
        assert_true(fcntl(test->a.fds[i], F_GETFD) & FD_CLOEXEC);
    fake_jailer_finished(&test->fake, ID_A, PROTO_END_EXITED, 0);
    run_until(test, a_over);
    assert_int_equal(test->a.finished, 1);

    /* The registration is over with that: nothing more is told, and the id is free again. */
    fake_jailer_die(&test->fake);
    run_until(test, is_over);
    assert_int_equal(test->a.lost, 0);
    assert_int_equal(test->lost, 1);
    assert_string_equal(test->err.text, "the jailer is gone");
    assert_null(jailer_client_hello(test->client));
}

static void test_answers_go_to_their_owner(void **state)
{
    struct test *test = *state;
    connect_and_greet(test);
    assert_int_equal(create(test, ID_A, &test->a, NULL), 0);
    assert_int_equal(create(test, ID_B, &test->b, NULL), 0);
    struct error err;
    assert_int_equal(create(test, ID_B, &test->a, &err), -EEXIST);
    fake_jailer_refused(&test->fake, ID_B, ENOENT, "request", "no runtime");
    run_until(test, b_over);
    assert_int_equal(test->b.refused, 1);
    assert_int_equal(test->a.refused, 0);
    fake_jailer_finished(&test->fake, ID_A, PROTO_END_OOM, 0);
    run_until(test, a_over);
    assert_int_equal(test->a.finished, 1);
    assert_int_equal(test->b.finished, 0);
}

static void test_loss_tells_every_owner_once(void **state)
{
    struct test *test = *state;
    connect_and_greet(test);
    assert_int_equal(create(test, ID_A, &test->a, NULL), 0);
    assert_int_equal(create(test, ID_B, &test->b, NULL), 0);
    fake_jailer_die(&test->fake);
    run_until(test, is_over);
    assert_int_equal(test->a.lost, 1);
    assert_int_equal(test->b.lost, 1);
    assert_int_equal(test->lost, 1);
    struct error err;
    assert_int_equal(create(test, ID_A, &test->a, &err), -ENOTCONN);
    assert_int_equal(jailer_client_kill(test->client, ID_A, &err), -ENOTCONN);
}

/* What the jailer said before it went is heard. */
static void test_last_words_come_before_the_loss(void **state)
{
    struct test *test = *state;
    connect_and_greet(test);
    assert_int_equal(create(test, ID_A, &test->a, NULL), 0);
    fake_jailer_finished(&test->fake, ID_A, PROTO_END_SHUTDOWN, 0);
    fake_jailer_die(&test->fake);
    /* This request fails, and must not take the words that still wait with it. */
    (void)jailer_client_kill(test->client, ID_A, NULL);
    run_until(test, is_over);
    assert_int_equal(test->a.finished, 1);
    assert_int_equal(test->a.lost, 0);
}

/* Whoever had a request refused must be able to tell a jailer that is gone from another reason. */
static void test_a_failed_request_tells_of_the_loss(void **state)
{
    struct test *test = *state;
    struct error err;
    connect_and_greet(test);
    assert_non_null(jailer_client_hello(test->client));
    fake_jailer_die(&test->fake);
    assert_int_equal(create(test, ID_A, &test->a, &err), -EPIPE);
    assert_null(jailer_client_hello(test->client));
    assert_int_equal(test->lost, 0);
    run_until(test, is_over);
    assert_int_equal(test->lost, 1);
    assert_int_equal(test->a.lost, 0);
}

static void test_nothing_before_hello(void **state)
{
    struct test *test = *state;
    connect_client(test);
    struct error err;
    assert_null(jailer_client_hello(test->client));
    assert_int_equal(create(test, ID_A, &test->a, &err), -ENOTCONN);
}

static bool has_turned(struct test *test)
{
    (void)test;
    return true;
}

/* More of them than the socket has room for. */
static void say_checks(struct test *test, unsigned int count)
{
    for (unsigned int i = 0; i < count; i++) {
        struct proto_message message = {
            .type = PROTO_CHECK, .check = {.level = PROTO_REQUIRED, .outcome = PROTO_OUTCOME_OK}};
        (void)snprintf(message.check.name, sizeof(message.check.name), "check-%u", i);
        while (proto_send(test->fake.sock, &message, NULL, 0) == -EAGAIN)
            run_until(test, has_turned);
    }
}

static void test_checks_come_before_hello(void **state)
{
    struct test *test = *state;
    size_t count = 1;
    connect_client(test);
    say_checks(test, PROTO_MAX_CHECKS);
    fake_jailer_hello(&test->fake);
    run_until(test, is_ready);
    const struct proto_check *checks = jailer_client_checks(test->client, &count);
    assert_int_equal(count, PROTO_MAX_CHECKS);
    assert_string_equal(checks[PROTO_MAX_CHECKS - 1].name, "check-95");
    say_checks(test, 1);
    run_until(test, is_over);
    assert_int_equal(test->err.code, EPROTO);
}

static void test_no_checks(void **state)
{
    struct test *test = *state;
    size_t count = 1;
    connect_and_greet(test);
    assert_null(jailer_client_checks(test->client, &count));
    assert_int_equal(count, 0);
}

static void test_too_many_checks(void **state)
{
    struct test *test = *state;
    connect_client(test);
    say_checks(test, PROTO_MAX_CHECKS + 1);
    run_until(test, is_over);
    assert_int_equal(test->not_ready, 1);
    assert_int_equal(test->err.code, EPROTO);
}

static void test_jailer_gone_before_hello(void **state)
{
    struct test *test = *state;
    connect_client(test);
    fake_jailer_die(&test->fake);
    run_until(test, is_over);
    assert_int_equal(test->not_ready, 1);
    assert_int_equal(test->lost, 0);
}

static void test_no_hello_in_time(void **state)
{
    struct test *test = *state;
    longest_delay_ms = 5;
    connect_client(test);
    run_until(test, is_over);
    assert_int_equal(test->not_ready, 1);
    assert_string_equal(test->err.text, "the jailer did not say hello within 10 s");
}

static void test_other_version(void **state)
{
    struct test *test = *state;
    connect_client(test);
    struct proto_message message = {.type = PROTO_HELLO,
                                    .hello = {.version = PROTO_VERSION + 1, .cgroup_version = 2}};
    fake_jailer_say(&test->fake, &message);
    run_until(test, is_over);
    assert_int_equal(test->not_ready, 1);
    assert_int_equal(test->ready, 0);
}

/* Each of these breaks the protocol, and ends the connection with a reason. */
static void test_breaches(void **state)
{
    struct test *test = *state;
    static const struct {
        const char *name;
        bool greet;
        struct proto_message first;
    } cases[] = {
        {"finished before hello",
         false,
         {.type = PROTO_FINISHED, .finished = {.id = ID_A, .end = 1}}},
        {"second hello", true, {.type = PROTO_HELLO, .hello = {.version = 1, .cgroup_version = 2}}},
        {"a request", true, {.type = PROTO_START, .start = {.id = ID_A, .timeout_ms = 1}}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        print_message("%s\n", cases[i].name);
        if (i > 0)
            fake_jailer_open(&test->fake, test->loop);
        test->ready = test->not_ready = test->lost = 0;
        connect_client(test);
        if (cases[i].greet) {
            fake_jailer_hello(&test->fake);
            run_until(test, is_ready);
        }
        fake_jailer_say(&test->fake, &cases[i].first);
        run_until(test, is_over);
        run_until(test, peer_gone);
        assert_int_equal(test->lost, cases[i].greet);
        jailer_client_free(test->client);
        test->client = NULL;
        fake_jailer_close(&test->fake);
    }
}

static void test_created_twice(void **state)
{
    struct test *test = *state;
    connect_and_greet(test);
    assert_int_equal(create(test, ID_A, &test->a, NULL), 0);
    fake_jailer_created(&test->fake, ID_A);
    fake_jailer_created(&test->fake, ID_A);
    run_until(test, is_over);
    assert_int_equal(test->a.created, 1);
    assert_int_equal(test->a.lost, 1);
    assert_string_equal(test->err.text, "the jailer reported a new sandbox twice");
}

/* Words about a forgotten sandbox are dropped, its descriptors closed. */
static void test_forget(void **state)
{
    struct test *test = *state;
    connect_and_greet(test);
    assert_int_equal(create(test, ID_A, &test->a, NULL), 0);
    assert_int_equal(create(test, ID_B, &test->b, NULL), 0);
    jailer_client_forget(test->client, ID_A);
    jailer_client_forget(test->client, ID_A);
    fake_jailer_created(&test->fake, ID_A);
    fake_jailer_finished(&test->fake, ID_A, PROTO_END_KILLED, 0);
    fake_jailer_finished(&test->fake, ID_B, PROTO_END_KILLED, 0);
    run_until(test, b_over);
    assert_int_equal(test->a.created + test->a.finished + test->a.lost, 0);
    char byte;
    assert_int_equal(read(test->fake.request_fd, &byte, 1), 0);
}

/* A jailer that doesn't read fills the socket, then the queue; then requests are refused. What
 * was queued comes in order once it reads again. */
static void test_queue(void **state)
{
    struct test *test = *state;
    connect_and_greet(test);
    fake_jailer_deafen(&test->fake);
    struct error err;
    uint32_t sent = 0;
    int r;
    while ((r = jailer_client_start(test->client, ID_A, ++sent, 0, &err)) == 0)
        assert_true(sent < MAX_JAILER_QUEUE + 10000);
    assert_int_equal(r, -ENOBUFS);
    assert_true(sent > MAX_JAILER_QUEUE);

    uint32_t seen = 0;
    assert_int_equal(create(test, ID_B, &test->b, &err), -ENOBUFS);
    while (seen + 1 < sent) {
        struct proto_message message;
        r = proto_receive(test->fake.sock, &message, NULL, NULL, NULL);
        if (r == -EAGAIN) {
            assert_int_equal(real_loop_timer_arm(test->timer, 0), 0);
            test->timed_out = true;
            test->done = is_over;
            assert_int_equal(loop_run(test->loop, NULL), 0);
            continue;
        }
        assert_int_equal(r, 1);
        assert_int_equal(message.start.timeout_ms, ++seen);
    }
    assert_int_equal(jailer_client_start(test->client, ID_A, 1, 0, &err), 0);
}

static void test_free_inside_a_handler(void **state)
{
    struct test *test = *state;
    connect_and_greet(test);
    test->a.free_client = true;
    assert_int_equal(create(test, ID_A, &test->a, NULL), 0);
    assert_int_equal(create(test, ID_B, &test->b, NULL), 0);
    fake_jailer_finished(&test->fake, ID_A, PROTO_END_EXITED, 0);
    fake_jailer_finished(&test->fake, ID_B, PROTO_END_EXITED, 0);
    run_until(test, a_over);
    run_until(test, peer_gone);
    assert_null(test->client);
    assert_int_equal(test->b.finished + test->b.lost + test->lost, 0);
}

static void test_free_inside_lost(void **state)
{
    struct test *test = *state;
    connect_and_greet(test);
    test->a.free_client = true;
    assert_int_equal(create(test, ID_A, &test->a, NULL), 0);
    assert_int_equal(create(test, ID_B, &test->b, NULL), 0);
    fake_jailer_die(&test->fake);
    test->timed_out = true;
    while (test->a.lost == 0)
        run_until(test, is_over);
    assert_null(test->client);
    assert_int_equal(test->lost, 0);
}

static void test_connect(void **state)
{
    (void)state;
    struct error err;
    char path[300];
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(jailer_client_connect(path, &err), -ENAMETOOLONG);
    assert_int_equal(jailer_client_connect("/nonexistent/jailer.sock", &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nonexistent/jailer.sock"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_whole_life),
        TEST(test_answers_go_to_their_owner),
        TEST(test_loss_tells_every_owner_once),
        TEST(test_last_words_come_before_the_loss),
        TEST(test_a_failed_request_tells_of_the_loss),
        TEST(test_nothing_before_hello),
        TEST(test_checks_come_before_hello),
        TEST(test_no_checks),
        TEST(test_too_many_checks),
        TEST(test_jailer_gone_before_hello),
        TEST(test_no_hello_in_time),
        TEST(test_other_version),
        TEST(test_breaches),
        TEST(test_created_twice),
        TEST(test_forget),
        TEST(test_queue),
        TEST(test_free_inside_a_handler),
        TEST(test_free_inside_lost),
        cmocka_unit_test(test_connect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
