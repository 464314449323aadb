/* SPDX-License-Identifier: Apache-2.0 */

/* What a jailer says of itself beside its hello, and when it may. */
#include "node-agent/agent/jailer_client.h"
#include "tests/unit/agent/fake_jailer.h"
#include "tests/unit/common/cmocka_setup.h"

#include "node-agent/agent/agent_limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Delays are cut to what a test can wait for. */
int real_loop_timer_arm(struct loop_timer *timer,
                        uint64_t delay_ms) __asm__("__real_loop_timer_arm");
int wrap_loop_timer_arm(struct loop_timer *timer,
                        uint64_t delay_ms) __asm__("__wrap_loop_timer_arm");

#define HELLO_WITHIN_MS 100

int wrap_loop_timer_arm(struct loop_timer *timer, uint64_t delay_ms)
{
    return real_loop_timer_arm(timer,
                               delay_ms == JAILER_HELLO_WITHIN_MS ? HELLO_WITHIN_MS : delay_ms);
}

struct test {
    struct loop *loop;
    struct loop_timer *timer;
    struct fake_jailer fake;
    struct jailer_client *client;
    unsigned int ready, over, notices[PROTO_NOTICE_STOPPING + 1], pools;
    struct error err;
};

static void on_ready(const struct proto_hello *hello, const struct error *err, void *arg)
{
    struct test *test = arg;
    test->ready += hello != NULL;
    test->over += hello == NULL;
    if (err)
        test->err = *err;
}

static void on_lost(const struct error *err, void *arg)
{
    struct test *test = arg;
    test->over++;
    test->err = *err;
}

static void on_notice(enum proto_notice_kind kind, void *arg)
{
    struct test *test = arg;
    assert_true(kind == PROTO_NOTICE_WAITING || kind == PROTO_NOTICE_STOPPING);
    test->notices[kind]++;
}

static void on_pools(void *arg)
{
    struct test *test = arg;
    test->pools++;
}

static void on_timer(void *arg)
{
    struct test *test = arg;
    loop_stop(test->loop);
}

static int setup(void **state)
{
    struct test *test = calloc(1, sizeof(*test));
    assert_int_equal(loop_new(&test->loop, NULL), 0);
    assert_int_equal(loop_timer_new(test->loop, on_timer, test, &test->timer), 0);
    fake_jailer_open(&test->fake, test->loop);
    assert_int_equal(jailer_client_new(test->loop, test->fake.client_sock, on_ready, on_lost, test,
                                       &test->client, NULL),
                     0);
    jailer_client_set_notice(test->client, on_notice);
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    struct test *test = *state;
    jailer_client_free(test->client);
    fake_jailer_close(&test->fake);
    loop_timer_free(test->timer);
    loop_free(test->loop);
    free(test);
    return 0;
}

static void turn_for(struct test *test, unsigned int ms)
{
    assert_int_equal(real_loop_timer_arm(test->timer, ms), 0);
    assert_int_equal(loop_run(test->loop, NULL), 0);
}

/* How far that is from now is bounded by ctest's time-out. */
static void wait_for(struct test *test, const unsigned int *count)
{
    while (*count == 0)
        turn_for(test, 1);
}

static void say(struct test *test, enum proto_notice_kind kind)
{
    const struct proto_message message = {.type = PROTO_NOTICE, .notice = {.kind = kind}};
    fake_jailer_say(&test->fake, &message);
}

static void test_a_hello_that_is_announced_may_take_its_time(void **state)
{
    struct test *test = *state;
    say(test, PROTO_NOTICE_WAITING);
    wait_for(test, &test->notices[PROTO_NOTICE_WAITING]);
    turn_for(test, 3 * HELLO_WITHIN_MS);
    assert_int_equal(test->over, 0);
    assert_null(jailer_client_hello(test->client));
    fake_jailer_hello(&test->fake);
    wait_for(test, &test->ready);
}

static void test_without_a_word_it_may_not(void **state)
{
    struct test *test = *state;
    wait_for(test, &test->over);
    assert_int_equal(test->err.code, ETIMEDOUT);
}

static void test_stopping(void **state)
{
    struct test *test = *state;
    fake_jailer_hello(&test->fake);
    say(test, PROTO_NOTICE_STOPPING);
    wait_for(test, &test->notices[PROTO_NOTICE_STOPPING]);
    /* What runs goes on, and may still be asked for. */
    assert_non_null(jailer_client_hello(test->client));
    assert_int_equal(test->over, 0);
    /* There is no way back. */
    say(test, PROTO_NOTICE_WAITING);
    wait_for(test, &test->over);
    assert_int_equal(test->err.code, EPROTO);
}

static void test_stopping_before_hello(void **state)
{
    struct test *test = *state;
    say(test, PROTO_NOTICE_STOPPING);
    wait_for(test, &test->over);
    assert_int_equal(test->err.code, EPROTO);
    assert_int_equal(test->ready, 0);
}

static void say_pool(struct test *test, const char *runtime, uint32_t waiting)
{
    struct proto_message message = {.type = PROTO_POOL, .pool.waiting = waiting};
    (void)snprintf(message.pool.runtime, sizeof(message.pool.runtime), "%s", runtime);
    fake_jailer_say(&test->fake, &message);
}

static void test_pools(void **state)
{
    struct test *test = *state;
    size_t count = 0;
    fake_jailer_hello(&test->fake);
    wait_for(test, &test->ready);
    jailer_client_watch_pools(test->client, on_pools);
    assert_int_equal(test->pools, 1);
    say_pool(test, "a", 1);
    say_pool(test, "b", 2);
    say_pool(test, "a", 3);
    while (test->pools < 4)
        turn_for(test, 1);
    const struct proto_pool *pools = jailer_client_pools(test->client, &count);
    assert_int_equal(count, 2);
    assert_string_equal(pools[0].runtime, "a");
    assert_int_equal(pools[0].waiting, 3);
    assert_int_equal(pools[1].waiting, 2);
    /* One more than there are runtimes. */
    for (unsigned int i = 0; i < PROTO_MAX_RUNTIMES - 1; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "more-%u", i);
        say_pool(test, name, 1);
    }
    wait_for(test, &test->over);
    assert_int_equal(test->err.code, EPROTO);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_hello_that_is_announced_may_take_its_time),
        TEST(test_without_a_word_it_may_not),
        TEST(test_stopping),
        TEST(test_stopping_before_hello),
        TEST(test_pools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
