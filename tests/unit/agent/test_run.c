/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/run.h"
#include "tests/unit/agent/fake_jailer.h"
#include "tests/unit/common/cmocka_setup.h"
#include "tests/unit/common/failing_malloc.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/agent/agent_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#define ID "00000000-0000-4000-8000-00000000000a"

int real_loop_timer_arm(struct loop_timer *timer,
                        uint64_t delay_ms) __asm__("__real_loop_timer_arm");
int wrap_loop_timer_arm(struct loop_timer *timer,
                        uint64_t delay_ms) __asm__("__wrap_loop_timer_arm");

static uint64_t longest_delay_ms, last_delay_ms;

int wrap_loop_timer_arm(struct loop_timer *timer, uint64_t delay_ms)
{
    last_delay_ms = delay_ms;
    return real_loop_timer_arm(timer, delay_ms < longest_delay_ms ? delay_ms : longest_delay_ms);
}

struct test {
    struct loop *loop;
    struct fake_jailer fake;
    struct jailer_client *client;
    bool ready;
    struct sandboxrun object;
    struct run *run;
    /* what the callbacks saw */
    int before_start, before_start_result;
    enum run_reason kill_before_start;
    int running, finished;
    size_t output_bytes[RUN_STREAM_COUNT];
    struct run_status status; /* streams copied */
    char *stdout_text;
    bool answers_create;    /* the fake jailer does */
    enum proto_end on_kill; /* 0: doesn't answer */
    struct loop_timer *timer;
    bool (*done)(struct test *test);
};

static void on_timer(void *arg)
{
    struct test *test = arg;
    if (test->done(test))
        loop_stop(test->loop);
    else
        (void)real_loop_timer_arm(test->timer, 1);
}

static void run_until(struct test *test, bool (*done)(struct test *test))
{
    test->done = done;
    assert_int_equal(real_loop_timer_arm(test->timer, 0), 0);
    assert_int_equal(loop_run(test->loop, NULL), 0);
}

static int on_before_start(struct run *run, struct error *err, void *arg)
{
    struct test *test = arg;
    test->before_start++;
    /* Nothing of the request is written yet, and the program not started. */
    char byte;
    assert_int_equal(read(test->fake.request_fd, &byte, 1), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(fake_jailer_count(&test->fake, PROTO_START), 0);
    if (test->kill_before_start != RUN_REASON_NONE)
        run_kill(run, test->kill_before_start, "gone meanwhile");
    if (test->before_start_result < 0)
        return error_set(err, -test->before_start_result, "the mark could not be set");
    return 0;
}

static void on_running(struct run *run, void *arg)
{
    (void)run;
    struct test *test = arg;
    test->running++;
}

static void on_output(struct run *run, enum run_stream stream, const char *bytes, size_t len,
                      void *arg)
{
    (void)run;
    (void)bytes;
    struct test *test = arg;
    test->output_bytes[stream] += len;
}

static void on_finished(struct run *run, const struct run_status *status, void *arg)
{
    struct test *test = arg;
    test->finished++;
    test->status = *status;
    test->stdout_text = status->stdout_text ? strdup(status->stdout_text) : NULL;
    run_free(run);
    test->run = NULL;
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

static void on_request(struct fake_jailer *fake, const struct proto_message *message, void *arg)
{
    struct test *test = arg;
    if (message->type == PROTO_CREATE && test->answers_create)
        fake_jailer_created(fake, ID);
    if (message->type == PROTO_START)
        assert_true(fake_jailer_backstop_ms(fake) > message->start.timeout_ms);
    if (message->type == PROTO_KILL && test->on_kill)
        fake_jailer_finished(fake, ID, test->on_kill, 0);
}

static bool is_ready(struct test *test)
{
    return test->ready;
}

static int setup(void **state)
{
    struct test *test = calloc(1, sizeof(*test));
    longest_delay_ms = UINT64_MAX;
    assert_int_equal(sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL), 0);
    assert_int_equal(loop_new(&test->loop, NULL), 0);
    fake_jailer_open(&test->fake, test->loop);
    test->fake.on_request = on_request;
    test->fake.arg = test;
    test->answers_create = true;
    test->on_kill = PROTO_END_KILLED;
    assert_int_equal(loop_timer_new(test->loop, on_timer, test, &test->timer), 0);
    assert_int_equal(jailer_client_new(test->loop, test->fake.client_sock, on_ready, on_lost, test,
                                       &test->client, NULL),
                     0);
    fake_jailer_hello(&test->fake);
    run_until(test, is_ready);
    assert_int_equal(sandboxrun_init(&test->object, "test", PROFILE_SNIPPET, "print(1)"), 0);
    memcpy(test->object.status.sandbox_id, ID, sizeof(ID));
    memcpy(test->object.status.node_name, "node-a", 7);
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    struct test *test = *state;
    run_free(test->run);
    sandboxrun_done(&test->object);
    free(test->stdout_text);
    jailer_client_free(test->client);
    fake_jailer_close(&test->fake);
    loop_timer_free(test->timer);
    loop_free(test->loop);
    free(test);
    return 0;
}

static int start_run(struct test *test, struct error *err)
{
    static const struct run_callbacks callbacks = {
        .before_start = on_before_start,
        .running = on_running,
        .output = on_output,
        .finished = on_finished,
    };
    return run_new(test->loop, test->client, &test->object, &callbacks, test, &test->run, err);
}

static void begin(struct test *test)
{
    assert_true(start_run(test, NULL) == 0 && test->finished == 0);
}

static bool is_finished(struct test *test)
{
    return test->finished > 0;
}

static bool is_started(struct test *test)
{
    return fake_jailer_count(&test->fake, PROTO_START) > 0;
}

static bool is_running(struct test *test)
{
    return test->running > 0;
}

static bool is_kill_asked(struct test *test)
{
    return fake_jailer_count(&test->fake, PROTO_KILL) > 0;
}

/* Reads the request's pipe to its end, turning the loop in between. */
static size_t read_request(struct test *test, char *bytes, size_t size)
{
    size_t len = 0;
    for (;;) {
        ssize_t n = read(test->fake.request_fd, bytes + len, size - len);
        if (n == 0)
            return len;
        if (n > 0)
            len += (size_t)n;
        else
            run_until(test, is_started);
    }
}

static void test_success(void **state)
{
    struct test *test = *state;
    test->object.spec.profile = PROFILE_TOOL_CALL;
    test->object.spec.egress = calloc(1, sizeof(*test->object.spec.egress));
    begin(test);
    run_until(test, is_started);
    assert_int_equal(test->before_start, 1);
    assert_int_equal(test->fake.requests[0].create.memory_bytes, 512u << 20);
    assert_int_equal(test->fake.requests[0].create.egress.has_rules, 1);
    assert_int_equal(test->fake.requests[1].start.timeout_ms, 20000);
    char request[1024];
    size_t len = read_request(test, request, sizeof(request));
    assert_true(len > 28 + 8);
    assert_memory_equal(request + 28, "print(1)", 8);

    assert_int_equal(fd_write_full(test->fake.stdout_fd, "1\n", 2), 0);
    assert_int_equal(fd_write_full(test->fake.stderr_fd, "warn", 4), 0);
    fake_jailer_finished(&test->fake, ID, PROTO_END_EXITED, 0);
    run_until(test, is_finished);
    const struct run_status *status = &test->status;
    assert_int_equal(status->phase, RUN_PHASE_SUCCEEDED);
    assert_int_equal(status->reason, RUN_REASON_COMPLETED);
    assert_true(status->has_exit_code);
    assert_int_equal(status->exit_code, 0);
    assert_string_equal(test->stdout_text, "1\n");
    assert_true(status->stdout_bytes == 2 && status->stderr_bytes == 4);
    assert_true(test->output_bytes[RUN_STDOUT] == 2 && test->output_bytes[RUN_STDERR] == 4);
    assert_false(status->stdout_truncated);
    assert_true(status->start_us > 0 && status->completion_us >= status->start_us);
    assert_true(status->has_usage);
    assert_int_equal(status->usage.wall_ms, 1234);
    assert_int_equal(status->denied[0].count, 2);
    assert_int_equal(status->usage.cpu_ms, 45);
    assert_int_equal(status->usage.peak_memory_bytes, 9u << 20);
    assert_string_equal(status->sandbox_id, ID);
    assert_string_equal(status->node_name, "node-a");
    assert_true(status->has_effective);
    assert_string_equal(status->effective_runtime_version, "3.12.1");
    assert_int_equal(status->effective_timeout_seconds, 20);
    assert_int_equal(test->running, 0);
}

static void test_running_after_100_ms(void **state)
{
    struct test *test = *state;
    begin(test);
    run_until(test, is_running);
    fake_jailer_finished(&test->fake, ID, PROTO_END_EXITED, 3 << 8);
    run_until(test, is_finished);
    assert_int_equal(test->running, 1);
    assert_int_equal(test->status.exit_code, 3);
}

/* The pipe holds 64 KiB: the rest of a large request follows as the reader reads. */
static void test_large_request(void **state)
{
    struct test *test = *state;
    size_t size = 900000;
    free(test->object.spec.code);
    test->object.spec.code = malloc(size + 1);
    memset(test->object.spec.code, '#', size);
    test->object.spec.code[size] = '\0';
    begin(test);
    run_until(test, is_started);
    char *bytes = malloc(size + 1000);
    assert_true(read_request(test, bytes, size + 1000) > 28 + size);
    free(bytes);
    fake_jailer_finished(&test->fake, ID, PROTO_END_EXITED, 0);
    run_until(test, is_finished);
}

/* A program that is gone before it has read its request is no error of ours. */
static void test_reader_gone(void **state)
{
    struct test *test = *state;
    size_t size = 900000;
    free(test->object.spec.code);
    test->object.spec.code = malloc(size + 1);
    memset(test->object.spec.code, '#', size);
    test->object.spec.code[size] = '\0';
    begin(test);
    run_until(test, is_started);
    test->fake.request_fd = fd_close(test->fake.request_fd);
    fake_jailer_finished(&test->fake, ID, PROTO_END_EXITED, SIGSEGV);
    run_until(test, is_finished);
    assert_int_equal(test->status.reason, RUN_REASON_SIGNALED);
    assert_int_equal(test->status.exit_code, 139);
}

/* The end of a run is the jailer's word, not the end of a pipe: the writing ends stay open. */
static void test_end_does_not_wait_for_pipes(void **state)
{
    struct test *test = *state;
    begin(test);
    run_until(test, is_started);
    assert_int_equal(fd_write_full(test->fake.stdout_fd, "partial", 7), 0);
    fake_jailer_finished(&test->fake, ID, PROTO_END_DEADLINE, 0);
    run_until(test, is_finished);
    assert_int_equal(test->status.reason, RUN_REASON_DEADLINE_EXCEEDED);
    assert_int_equal(test->status.exit_code, -1);
    assert_string_equal(test->stdout_text, "partial");
}

/* What lies in the pipes at the end is all read, however much it is. */
static void test_rest_is_read_at_the_end(void **state)
{
    struct test *test = *state;
    begin(test);
    run_until(test, is_started);
    static char bytes[600000];
    assert_true(fcntl(test->fake.stdout_fd, F_SETPIPE_SZ, 1 << 20) >= (int)sizeof(bytes));
    assert_int_equal(fd_write_full(test->fake.stdout_fd, bytes, sizeof(bytes)), 0);
    fake_jailer_finished(&test->fake, ID, PROTO_END_EXITED, 0);
    run_until(test, is_finished);
    assert_int_equal(test->status.stdout_bytes, sizeof(bytes));
    assert_int_equal(test->output_bytes[RUN_STDOUT], sizeof(bytes));
}

/* And the end of both pipes is not the end of a run. */
static void test_closed_pipes_do_not_end(void **state)
{
    struct test *test = *state;
    begin(test);
    run_until(test, is_started);
    test->fake.stdout_fd = fd_close(test->fake.stdout_fd);
    test->fake.stderr_fd = fd_close(test->fake.stderr_fd);
    run_until(test, is_running);
    assert_int_equal(test->finished, 0);
    fake_jailer_finished(&test->fake, ID, PROTO_END_EXITED, 0);
    run_until(test, is_finished);
    assert_int_equal(test->status.stdout_bytes, 0);
}

static bool has_read_all(struct test *test)
{
    return test->output_bytes[RUN_STDOUT] == 200000;
}

static void test_truncation(void **state)
{
    struct test *test = *state;
    begin(test);
    run_until(test, is_started);
    assert_int_equal(fd_set_nonblock(test->fake.stdout_fd, true), 0);
    char bytes[1000];
    memset(bytes, 'o', sizeof(bytes));
    for (int i = 0; i < 200; i++) {
        while (write(test->fake.stdout_fd, bytes, sizeof(bytes)) < 0)
            run_until(test, is_started);
    }
    run_until(test, has_read_all);
    fake_jailer_finished(&test->fake, ID, PROTO_END_EXITED, 0);
    run_until(test, is_finished);
    assert_true(test->status.stdout_truncated);
    assert_int_equal(test->status.stdout_bytes, 200000);
    assert_non_null(strstr(test->stdout_text, "\n[... 134464 bytes left out ...]\n"));
    assert_int_equal(test->status.reason, RUN_REASON_COMPLETED);
}

/* A pipe may be full, or its reader may have had enough. */
static void flood(int fd)
{
    static char bytes[32768];

    memset(bytes, 'f', sizeof(bytes));
    assert_true(write(fd, bytes, sizeof(bytes)) > 0 || errno == EAGAIN || errno == EPIPE);
}

static void test_flood(void **state)
{
    struct test *test = *state;
    begin(test);
    run_until(test, is_started);
    assert_int_equal(fd_set_nonblock(test->fake.stdout_fd, true), 0);
    assert_int_equal(fd_set_nonblock(test->fake.stderr_fd, true), 0);
    for (int turn = 0; !is_kill_asked(test) && turn < 100000; turn++) {
        flood(test->fake.stdout_fd);
        flood(test->fake.stderr_fd);
        run_until(test, is_started);
    }
    run_until(test, is_finished);
    assert_int_equal(test->status.reason, RUN_REASON_OUTPUT_LIMIT_EXCEEDED);
    assert_int_equal(test->status.exit_code, -1);
    uint64_t total = test->status.stdout_bytes + test->status.stderr_bytes;
    assert_true(total > MAX_OUTPUT_BYTES && total < MAX_OUTPUT_BYTES + (1u << 20));
    assert_true(test->status.stdout_len < MAX_STATUS_STREAM + 128);
}

static void test_refused(void **state)
{
    struct test *test = *state;
    test->answers_create = false;
    begin(test);
    fake_jailer_refused(&test->fake, ID, EPERM, "seccomp", "load: Invalid argument");
    run_until(test, is_finished);
    assert_int_equal(test->status.reason, RUN_REASON_SANDBOX_SETUP_FAILED);
    assert_string_equal(test->status.message,
                        "lock seccomp could not be set: load: Invalid argument");
    assert_int_equal(test->status.start_us, 0);
    assert_false(test->status.has_usage);
    assert_null(test->stdout_text);
}

static void test_before_start_fails(void **state)
{
    struct test *test = *state;
    test->before_start_result = -EIO;
    begin(test);
    run_until(test, is_finished);
    assert_int_equal(test->status.reason, RUN_REASON_INTERNAL_ERROR);
    assert_string_equal(test->status.message, "the mark could not be set");
    assert_int_equal(fake_jailer_count(&test->fake, PROTO_START), 0);
    assert_int_equal(test->status.start_us, 0);
}

static void test_killed_in_before_start(void **state)
{
    struct test *test = *state;
    test->kill_before_start = RUN_REASON_CANCELLED;
    begin(test);
    run_until(test, is_finished);
    assert_int_equal(test->status.reason, RUN_REASON_CANCELLED);
    assert_int_equal(fake_jailer_count(&test->fake, PROTO_START), 0);
}

/* A run that is killed while its jail is being made is never started, and ends when the jail is
 * gone and not before. */
static void test_killed_while_creating(void **state)
{
    struct test *test = *state;
    test->on_kill = 0;
    begin(test);
    run_kill(test->run, RUN_REASON_CANCELLED, "deleted");
    run_until(test, is_kill_asked);
    assert_int_equal(test->finished, 0);
    fake_jailer_finished(&test->fake, ID, PROTO_END_KILLED, 0);
    run_until(test, is_finished);
    assert_int_equal(test->status.reason, RUN_REASON_CANCELLED);
    assert_string_equal(test->status.message, "deleted");
    assert_int_equal(fake_jailer_count(&test->fake, PROTO_START), 0);
    char byte;
    assert_int_equal(read(test->fake.request_fd, &byte, 1), 0);
}

static void test_kill_is_asked_once(void **state)
{
    struct test *test = *state;
    begin(test);
    run_until(test, is_started);
    last_delay_ms = 0; /* no wait is shortened: a silent jailer may not kill it */
    run_kill(test->run, RUN_REASON_CANCELLED, "first");
    assert_int_equal(last_delay_ms, 0);
    run_kill(test->run, RUN_REASON_AGENT_RESTARTED, "second");
    run_until(test, is_finished);
    assert_int_equal(test->status.reason, RUN_REASON_CANCELLED);
    assert_int_equal(fake_jailer_count(&test->fake, PROTO_KILL), 1);
}

static void test_jailer_lost(void **state)
{
    struct test *test = *state;
    begin(test);
    run_until(test, is_started);
    assert_int_equal(fd_write_full(test->fake.stdout_fd, "kept", 4), 0);
    fake_jailer_die(&test->fake);
    run_until(test, is_finished);
    assert_int_equal(test->status.reason, RUN_REASON_JAILER_LOST);
    assert_int_equal(test->status.exit_code, -1);
    assert_string_equal(test->stdout_text, "kept");
    assert_int_equal(start_run(test, NULL), -ENOTCONN);
}

/* A jailer that says nothing: every wait has an end. */
static void test_silence_while_creating(void **state)
{
    struct test *test = *state;
    test->answers_create = false;
    longest_delay_ms = 5;
    begin(test);
    run_until(test, is_finished);
    assert_int_equal(test->status.reason, RUN_REASON_JAILER_LOST);
    assert_string_equal(test->status.message, "the jailer did not make the sandbox within 30 s");
    run_until(test, is_kill_asked);
}

static void test_silence_at_the_end(void **state)
{
    struct test *test = *state;
    test->on_kill = 0;
    longest_delay_ms = 5;
    begin(test);
    run_until(test, is_finished);
    assert_int_equal(test->status.reason, RUN_REASON_JAILER_LOST);
    assert_true(test->status.start_us > 0);
    run_until(test, is_kill_asked);
    /* Its late word finds nobody. */
    fake_jailer_finished(&test->fake, ID, PROTO_END_DEADLINE, 0);
    run_until(test, is_kill_asked);
    assert_int_equal(test->finished, 1);
}

static void test_free_kills(void **state)
{
    struct test *test = *state;
    begin(test);
    run_until(test, is_started);
    run_free(test->run);
    test->run = NULL;
    run_until(test, is_kill_asked);
    assert_int_equal(test->finished, 0);
    run_free(NULL);
}

static void test_new_id(void **state)
{
    struct test *test = *state;
    test->answers_create = false;
    test->object.status.sandbox_id[0] = '\0';
    begin(test);
    assert_int_equal(strlen(run_sandbox_id(test->run)), 36);
}

/* Whichever allocation fails: run_new() says so, or the run ends. */
static void test_out_of_memory(void **state)
{
    struct test *test = *state;
    test->answers_create = false;
    test->on_kill = 0;
    int r = -ENOMEM;
    int failures = 0;
    for (int n = 0; r < 0; n++) {
        struct error err = {0};
        failing_malloc_after(n);
        r = start_run(test, &err);
        failing_malloc_after(-1);
        if (r < 0) {
            failures++;
            assert_int_equal(r, -ENOMEM);
            assert_true(err.text[0] != '\0');
        }
        assert_true(n < 100);
    }
    assert_true(failures > 3);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_success),
        TEST(test_running_after_100_ms),
        TEST(test_large_request),
        TEST(test_reader_gone),
        TEST(test_end_does_not_wait_for_pipes),
        TEST(test_rest_is_read_at_the_end),
        TEST(test_closed_pipes_do_not_end),
        TEST(test_truncation),
        TEST(test_flood),
        TEST(test_refused),
        TEST(test_before_start_fails),
        TEST(test_killed_in_before_start),
        TEST(test_killed_while_creating),
        TEST(test_kill_is_asked_once),
        TEST(test_jailer_lost),
        TEST(test_silence_while_creating),
        TEST(test_silence_at_the_end),
        TEST(test_free_kills),
        TEST(test_new_id),
        TEST(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
