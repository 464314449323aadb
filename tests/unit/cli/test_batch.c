/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/batch.h"
#include "tests/unit/agent/fake_jailer.h"
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MAX_RUNS 32

/* A jailer that makes every sandbox at once and lets them end when the test says so. */
struct test {
    struct loop *loop;
    struct fake_jailer fake;
    struct jailer_client *client;
    struct document_list documents;
    struct batch *batch;
    bool ready;
    size_t started[MAX_RUNS];
    size_t started_count;
    size_t finished_count;
    struct run_status statuses[MAX_RUNS];
    int done;
    bool auto_end;           /* each run ends as soon as it is started */
    size_t cancel_at_finish; /* cancel from inside the finished callback of this one, 1-based */
    char live[MAX_RUNS][PROTO_ID_SIZE];
    size_t live_count;
    size_t most_live;
    struct loop_timer *timer;
    bool (*until)(struct test *test);
};

static void on_timer(void *arg)
{
    struct test *test = arg;
    if (test->until(test))
        loop_stop(test->loop);
    else
        (void)loop_timer_arm(test->timer, 1);
}

static void run_until(struct test *test, bool (*until)(struct test *test))
{
    test->until = until;
    assert_int_equal(loop_timer_arm(test->timer, 0), 0);
    assert_int_equal(loop_run(test->loop, NULL), 0);
}

static void end_one(struct test *test, enum proto_end end)
{
    assert_true(test->live_count > 0);
    fake_jailer_finished(&test->fake, test->live[--test->live_count], end, 0);
}

static void on_request(struct fake_jailer *fake, const struct proto_message *message, void *arg)
{
    struct test *test = arg;
    if (message->type == PROTO_CREATE) {
        memcpy(test->live[test->live_count++], message->create.id, PROTO_ID_SIZE);
        if (test->live_count > test->most_live)
            test->most_live = test->live_count;
        fake_jailer_created(fake, message->create.id);
    }
    if (message->type == PROTO_START && test->auto_end)
        end_one(test, PROTO_END_EXITED);
    if (message->type == PROTO_KILL)
        end_one(test, PROTO_END_KILLED);
}

static void on_ready(const struct proto_hello *hello, const struct error *err, void *arg)
{
    (void)err;
    struct test *test = arg;
    test->ready = hello != NULL;
}

static void on_lost(const struct error *err, void *arg)
{
    (void)err;
    (void)arg;
}

static void on_started(size_t index, void *arg)
{
    struct test *test = arg;
    test->started[test->started_count++] = index;
}

static void on_running(size_t index, void *arg)
{
    (void)index;
    (void)arg;
}

static void on_output(size_t index, enum run_stream stream, const char *bytes, size_t len,
                      void *arg)
{
    (void)index;
    (void)stream;
    (void)bytes;
    (void)len;
    (void)arg;
}

static void on_finished(size_t index, const struct run_status *status, void *arg)
{
    struct test *test = arg;
    assert_int_equal(test->statuses[index].reason, RUN_REASON_NONE);
    test->statuses[index] = *status;
    test->finished_count++;
    if (test->finished_count == test->cancel_at_finish)
        batch_cancel(test->batch, RUN_REASON_CANCELLED, "output failed");
}

static void on_done(void *arg)
{
    struct test *test = arg;
    test->done++;
}

static bool is_ready(struct test *test)
{
    return test->ready;
}

static bool is_done(struct test *test)
{
    return test->done > 0;
}

static bool two_are_live(struct test *test)
{
    return test->live_count == 2 && fake_jailer_count(&test->fake, PROTO_START) >= 2;
}

static int setup(void **state)
{
    struct test *test = calloc(1, sizeof(*test));
    assert_int_equal(sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL), 0);
    assert_int_equal(loop_new(&test->loop, NULL), 0);
    fake_jailer_open(&test->fake, test->loop);
    test->fake.on_request = on_request;
    test->fake.arg = test;
    assert_int_equal(loop_timer_new(test->loop, on_timer, test, &test->timer), 0);
    assert_int_equal(jailer_client_new(test->loop, test->fake.client_sock, on_ready, on_lost, test,
                                       &test->client, NULL),
                     0);
    fake_jailer_hello(&test->fake);
    run_until(test, is_ready);
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    struct test *test = *state;
    batch_free(test->batch);
    documents_done(&test->documents);
    jailer_client_free(test->client);
    fake_jailer_close(&test->fake);
    loop_timer_free(test->timer);
    loop_free(test->loop);
    free(test);
    return 0;
}

static void make_batch(struct test *test, size_t count, const char *spec, uint32_t parallel)
{
    static const struct batch_callbacks callbacks = {
        .started = on_started,
        .running = on_running,
        .output = on_output,
        .finished = on_finished,
        .done = on_done,
    };
    char yaml[512];
    int len = snprintf(yaml, sizeof(yaml),
                       "apiVersion: sandboxrun.dev/v1alpha1\nkind: SandboxRun\nspec: %s\n", spec);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(documents_add(&test->documents, "t.yaml", yaml, (size_t)len, NULL), 0);
    assert_int_equal(batch_new(test->loop, test->client, &test->documents, parallel, &callbacks,
                               test, &test->batch, NULL),
                     0);
}

#define SMALL "{code: x, resources: {limits: {memory: 32Mi, cpu: 10m}}}"

static void test_order_and_parallel(void **state)
{
    struct test *test = *state;
    test->auto_end = true;
    make_batch(test, 20, SMALL, 2);
    assert_int_equal(batch_start(test->batch, NULL), 0);
    run_until(test, is_done);
    assert_int_equal(test->finished_count, 20);
    assert_int_equal(test->most_live, 2);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(test->started[i], i);
        assert_int_equal(test->statuses[i].reason, RUN_REASON_COMPLETED);
    }
    assert_int_equal(test->done, 1);
}

/* The status has what a controller would have written. */
static void test_status_fields(void **state)
{
    struct test *test = *state;
    test->auto_end = true;
    make_batch(test, 2, SMALL, 1);
    assert_int_equal(batch_start(test->batch, NULL), 0);
    run_until(test, is_done);
    const struct run_status *status = test->statuses;
    assert_true(status[0].node_name[0] != '\0');
    assert_int_equal(strlen(status[0].agent_instance), 36);
    assert_string_equal(status[0].agent_instance, status[1].agent_instance);
    assert_string_not_equal(status[0].sandbox_id, status[1].sandbox_id);
    assert_true(status[0].scheduled_us > 0 && status[0].scheduled_us <= status[0].start_us);
}

/* The jailer's room holds whatever --parallel says: 4 runs, 1Gi, 2 CPUs. */
static void test_room(void **state)
{
    struct test *test = *state;
    test->auto_end = true;
    make_batch(test, 10, "{code: x}", 32);
    assert_int_equal(batch_start(test->batch, NULL), 0);
    run_until(test, is_done);
    assert_int_equal(test->most_live, 2);
}

static void test_max_runs(void **state)
{
    struct test *test = *state;
    test->auto_end = true;
    make_batch(test, 10, SMALL, 32);
    assert_int_equal(batch_start(test->batch, NULL), 0);
    run_until(test, is_done);
    assert_int_equal(test->most_live, 4);
}

/* Nothing is started if one document of many can't be run here. */
static void test_unoffered(void **state)
{
    struct test *test = *state;
    make_batch(test, 1, SMALL, 2);
    batch_free(test->batch);
    make_batch(test, 1, "{code: x, profile: ToolCall}", 2);
    struct error err = {0};
    assert_int_equal(batch_start(test->batch, &err), -EINVAL);
    assert_non_null(strstr(err.text, "t: spec.profile: ToolCall is not offered"));
    assert_int_equal(test->started_count, 0);
    assert_int_equal(fake_jailer_count(&test->fake, PROTO_CREATE), 0);
}

static void test_cancel(void **state)
{
    struct test *test = *state;
    make_batch(test, 5, SMALL, 2);
    assert_int_equal(batch_start(test->batch, NULL), 0);
    run_until(test, two_are_live);
    batch_cancel(test->batch, RUN_REASON_CANCELLED, "cancelled by SIGINT");
    batch_cancel(test->batch, RUN_REASON_INTERNAL_ERROR, "again");
    assert_int_equal(test->finished_count, 3);
    assert_int_equal(test->done, 0);
    run_until(test, is_done);
    assert_int_equal(test->done, 1);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(test->statuses[i].reason, RUN_REASON_CANCELLED);
        assert_string_equal(test->statuses[i].message, "cancelled by SIGINT");
        assert_int_equal(test->statuses[i].exit_code, -1);
        assert_int_equal(test->statuses[i].start_us > 0, i < 2);
    }
    assert_int_equal(test->started_count, 2);
}

static void test_cancel_from_a_callback(void **state)
{
    struct test *test = *state;
    test->auto_end = true;
    test->cancel_at_finish = 2;
    make_batch(test, 6, SMALL, 1);
    assert_int_equal(batch_start(test->batch, NULL), 0);
    run_until(test, is_done);
    assert_int_equal(test->finished_count, 6);
    assert_int_equal(test->started_count, 2);
    assert_int_equal(test->done, 1);
    /* And again when it is all over. */
    batch_cancel(test->batch, RUN_REASON_CANCELLED, "late");
    assert_int_equal(test->done, 1);
}

static void test_jailer_lost(void **state)
{
    struct test *test = *state;
    make_batch(test, 5, SMALL, 2);
    assert_int_equal(batch_start(test->batch, NULL), 0);
    run_until(test, two_are_live);
    fake_jailer_die(&test->fake);
    run_until(test, is_done);
    assert_int_equal(test->finished_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(test->statuses[i].reason, RUN_REASON_JAILER_LOST);
    assert_string_equal(test->statuses[4].message, "not started: the jailer is gone");
    struct error err;
    assert_int_equal(batch_start(test->batch, &err), -ENOTCONN);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_order_and_parallel),
        TEST(test_status_fields),
        TEST(test_room),
        TEST(test_max_runs),
        TEST(test_unoffered),
        TEST(test_cancel),
        TEST(test_cancel_from_a_callback),
        TEST(test_jailer_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
