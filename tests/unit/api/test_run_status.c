/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/run_status.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/api/run_status_decode.h"
#include "common/api/sandboxrun.h"
#include "common/cleanup.h"

/* 2026-11-29T22:17:14Z */
#define THEN 1795990634000000

static void encode(const struct run_status *status, size_t max_bytes, struct buf *json)
{
    struct error err = {0};
    if (run_status_encode(status, max_bytes, json, &err) < 0)
        fail_msg("%s", err.text);
}

static char valid[] = "caf\xc3\xa9\n";
static char invalid[] = {'a', '\xff', 'b', '\x01', '<', '\0'};

static const struct {
    struct run_status status;
    const char *json;
} whole_texts[] = {
    {{0},
     "{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"Finished\",\"status\":\"False\","
     "\"reason\":\"Pending\",\"message\":\"The run has not finished.\","
     "\"lastTransitionTime\":\"1970-01-01T00:00:00.000000Z\"}]}"},
    {{.phase = RUN_PHASE_SCHEDULED,
      .sandbox_id = "s",
      .node_name = "n",
      .agent_instance = "i",
      .scheduled_us = THEN + 1,
      .observed_generation = 1},
     "{\"phase\":\"Scheduled\",\"sandboxID\":\"s\",\"nodeName\":\"n\",\"agentInstance\":\"i\","
     "\"scheduledTime\":\"2026-11-29T22:17:14.000001Z\",\"conditions\":[{\"type\":"
     "\"Scheduled\",\"status\":\"True\",\"reason\":\"Assigned\",\"message\":\"Assigned to node "
     "n.\",\"lastTransitionTime\":\"2026-11-29T22:17:14.000001Z\"},{\"type\":\"Finished\","
     "\"status\":\"False\",\"reason\":\"Scheduled\",\"message\":\"The run has not "
     "finished.\",\"lastTransitionTime\":\"1970-01-01T00:00:00.000000Z\"}],"
     "\"observedGeneration\":1}"},
    {{.phase = RUN_PHASE_FAILED,
      .reason = RUN_REASON_QUEUE_TIMEOUT,
      .message = "no node for 60 s",
      .completion_us = THEN,
      .has_exit_code = true,
      .exit_code = -1},
     "{\"phase\":\"Failed\",\"reason\":\"QueueTimeout\",\"message\":\"no node for 60 s\","
     "\"completionTime\":\"2026-11-29T22:17:14.000000Z\",\"exitCode\":-1,\"conditions\":["
     "{\"type\":\"Scheduled\",\"status\":\"False\",\"reason\":\"QueueTimeout\",\"message\":"
     "\"The run ended without a node.\",\"lastTransitionTime\":"
     "\"2026-11-29T22:17:14.000000Z\"},{\"type\":\"Finished\",\"status\":\"True\","
     "\"reason\":\"QueueTimeout\",\"message\":\"no node for 60 s\",\"lastTransitionTime\":"
     "\"2026-11-29T22:17:14.000000Z\"}]}"},
    {{.phase = RUN_PHASE_SUCCEEDED,
      .reason = RUN_REASON_COMPLETED,
      .sandbox_id = "s",
      .node_name = "n",
      .agent_instance = "i",
      .scheduled_us = THEN,
      .start_us = THEN,
      .completion_us = THEN,
      .has_exit_code = true,
      .stdout_text = valid,
      .stdout_len = sizeof(valid) - 1,
      .stdout_bytes = sizeof(valid) - 1,
      .has_usage = true,
      .usage = {.cpu_ms = 12, .wall_ms = 34},
      .has_effective = true,
      .effective_timeout_seconds = 20,
      .effective_cpu_milli = 1500,
      .effective_memory_bytes = 512 << 20,
      .effective_runtime_version = "3.12.1",
      .denied_count = 2,
      .denied = {{RUN_DENIED_SYSCALL, "io_uring_setup", 3}, {RUN_DENIED_SYSCALL, "ptrace", 1}}},
     "{\"phase\":\"Succeeded\",\"reason\":\"Completed\",\"sandboxID\":\"s\",\"nodeName\":\"n\","
     "\"agentInstance\":\"i\",\"scheduledTime\":\"2026-11-29T22:17:14.000000Z\","
     "\"startTime\":\"2026-11-29T22:17:14.000000Z\",\"completionTime\":"
     "\"2026-11-29T22:17:14.000000Z\",\"exitCode\":0,\"stdout\":\"caf\xc3\xa9\\n\","
     "\"stdoutBytes\":6,\"stdoutTruncated\":false,\"stderr\":\"\",\"stderrBytes\":0,"
     "\"stderrTruncated\":false,\"usage\":{\"cpuMilliseconds\":12,\"wallMilliseconds\":34},"
     "\"effective\":{\"timeoutSeconds\":20,\"memory\":\"512Mi\",\"cpu\":\"1500m\","
     "\"runtimeVersion\":\"3.12.1\"},\"denied\":[{\"kind\":\"Syscall\",\"target\":"
     "\"io_uring_setup\",\"count\":3},{\"kind\":\"Syscall\",\"target\":\"ptrace\",\"count\":1}],"
     "\"conditions\":[{\"type\":\"Scheduled\",\"status\":"
     "\"True\",\"reason\":\"Assigned\",\"message\":\"Assigned to node n.\","
     "\"lastTransitionTime\":\"2026-11-29T22:17:14.000000Z\"},{\"type\":\"Finished\","
     "\"status\":\"True\",\"reason\":\"Completed\",\"message\":\"\",\"lastTransitionTime\":"
     "\"2026-11-29T22:17:14.000000Z\"}]}"},
    {{.phase = RUN_PHASE_RUNNING,
      .stdout_text = invalid,
      .stdout_len = sizeof(invalid) - 1,
      .stdout_bytes = 100,
      .stdout_truncated = true,
      .has_usage = true,
      .usage = {.peak_memory_bytes = 7}},
     "{\"phase\":\"Running\",\"stdout\":\"a\xef\xbf\xbd"
     "b\\u0001\\u003c\",\"stdoutBytes\":100,"
     "\"stdoutTruncated\":true,\"usage\":{\"cpuMilliseconds\":0,\"peakMemoryBytes\":7,"
     "\"wallMilliseconds\":0},\"conditions\":[{\"type\":\"Finished\",\"status\":\"False\","
     "\"reason\":\"Running\",\"message\":\"The run has not finished.\","
     "\"lastTransitionTime\":\"1970-01-01T00:00:00.000000Z\"}]}"},
};

static void test_whole_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(whole_texts); i++) {
        cleanup_buf struct buf json = BUF_INIT(1 << 20);
        encode(&whole_texts[i].status, 0, &json);
        assert_string_equal(buf_str(&json), whole_texts[i].json);
    }
}

/* A finished run whose streams are filled with the given characters. */
static void make_streams(struct run_status *status, size_t out_len, char out, size_t err_len,
                         char err)
{
    *status = (struct run_status){.phase = RUN_PHASE_SUCCEEDED,
                                  .reason = RUN_REASON_COMPLETED,
                                  .start_us = THEN,
                                  .completion_us = THEN,
                                  .stdout_len = out_len,
                                  .stdout_bytes = out_len,
                                  .stderr_len = err_len,
                                  .stderr_bytes = err_len};
    status->stdout_text = malloc(out_len + 1);
    status->stderr_text = malloc(err_len + 1);
    assert_non_null(status->stdout_text);
    assert_non_null(status->stderr_text);
    memset(status->stdout_text, out, out_len);
    memset(status->stderr_text, err, err_len);
}

static void decode(const struct buf *json, struct run_status *status)
{
    cleanup_json cJSON *tree = NULL;
    struct error err = {0};
    *status = (struct run_status){0};
    if (json_parse(json->data, json->len, &tree, &err) < 0 ||
        run_status_decode(tree, status, &err) < 0)
        fail_msg("%s", err.text);
}

/* Every limit is kept, whatever the bytes cost, and what is left of head and tail adds up. */
static void test_cut(void **state)
{
    (void)state;
    static const struct {
        size_t out_len, err_len;
        char out, err;
    } streams[] = {
        {65536, 65536, 'a', 'b'}, {65536, 10, '<', 'b'},          {65536, 65536, '\x01', '\xff'},
        {10, 65536, 'a', '\n'},   {65536 + 900, 65536, 'a', '<'}, {0, 65536, 'a', 'b'},
    };
    static const size_t limits[] = {1, 600, 1000, 2000, 9000, 50000, 131000, 300000, 700000};
    for (size_t i = 0; i < ARRAY_SIZE(streams); i++) {
        for (size_t j = 0; j < ARRAY_SIZE(limits); j++) {
            struct run_status status, back;
            cleanup_buf struct buf json = BUF_INIT(1 << 20);
            make_streams(&status, streams[i].out_len, streams[i].out, streams[i].err_len,
                         streams[i].err);
            encode(&status, limits[j], &json);
            if (limits[j] >= 1000)
                assert_true(json.len <= limits[j]);
            decode(&json, &back);
            assert_int_equal(back.stdout_bytes, streams[i].out_len);
            assert_true(back.stdout_truncated || back.stdout_len >= streams[i].out_len);
            assert_true(back.stderr_truncated || back.stderr_len >= streams[i].err_len);
            /* Most of the room is used where there is something to show. */
            if (limits[j] >= 9000 && (back.stdout_truncated || back.stderr_truncated))
                assert_true(json.len >= limits[j] / 5 * 3);
            run_status_done(&back);
            run_status_done(&status);
        }
    }
}

/* A quiet stream keeps all it has; the loud one gets the rest. */
static void test_share(void **state)
{
    (void)state;
    struct run_status status, back;
    cleanup_buf struct buf json = BUF_INIT(1 << 20);
    make_streams(&status, 60000, 'a', 3000, 'b');
    encode(&status, 20000, &json);
    decode(&json, &back);
    assert_false(back.stderr_truncated);
    assert_int_equal(back.stderr_len, 3000);
    assert_true(back.stdout_truncated);
    assert_true(back.stdout_len > 15000);
    run_status_done(&back);
    run_status_done(&status);
}

static void test_marker(void **state)
{
    (void)state;
    struct run_status status, back;
    cleanup_buf struct buf json = BUF_INIT(1 << 20);
    make_streams(&status, 60000, 'h', 0, 'b');
    memset(status.stdout_text + 50000, 't', 10000);
    status.stdout_bytes = 1000000;
    encode(&status, 5000, &json);
    decode(&json, &back);
    const char *marker = back.stdout_text ? strchr(back.stdout_text, '\n') : NULL;
    if (!marker) {
        fail_msg("there is no line between head and tail");
        return;
    }
    const char *tail = strchr(marker + 1, '\n') + 1;
    size_t head_len = (size_t)(marker - back.stdout_text);
    size_t tail_len = strlen(tail);
    char expected[RUN_STREAM_MARKER_SIZE];
    run_stream_marker(1000000 - head_len - tail_len, expected);
    assert_memory_equal(marker, expected, strlen(expected));
    assert_int_equal(strspn(back.stdout_text, "h"), head_len);
    assert_int_equal(strspn(tail, "t"), tail_len);
    assert_true(head_len > 2 * tail_len && tail_len > 900);
    run_status_done(&back);
    run_status_done(&status);
}

/* No cut falls inside a character. */
static void test_cut_between_characters(void **state)
{
    (void)state;
    for (size_t limit = 1200; limit < 1300; limit++) {
        struct run_status status, back;
        cleanup_buf struct buf json = BUF_INIT(1 << 20);
        make_streams(&status, 60000, 'x', 0, 'b');
        for (size_t i = 0; i < 60000; i += 3)
            memcpy(status.stdout_text + i, "\xe2\x82\xac", 3);
        encode(&status, limit, &json);
        assert_true(json.len <= limit);
        decode(&json, &back);
        assert_true(back.stdout_truncated);
        assert_null(strstr(back.stdout_text, "\xef\xbf\xbd"));
        assert_int_equal(strcspn(back.stdout_text, "\n") % 3, 0);
        run_status_done(&back);
        run_status_done(&status);
    }
}

static void test_full_buffer(void **state)
{
    (void)state;
    struct run_status status;
    struct error err = {0};
    make_streams(&status, 5000, 'a', 0, 'b');
    cleanup_buf struct buf json = BUF_INIT(1000);
    assert_int_equal(buf_append_str(&json, "before"), 0);
    assert_int_equal(run_status_encode(&status, 0, &json, &err), -EMSGSIZE);
    assert_string_equal(buf_str(&json), "before");
    assert_true(err.text[0] != '\0');
    run_status_done(&status);
}

static void test_names(void **state)
{
    (void)state;
    for (unsigned int i = 0; i < RUN_PHASE_COUNT; i++) {
        enum run_phase phase;
        assert_int_equal(run_phase_parse(run_phase_name((enum run_phase)i), &phase), 0);
        assert_int_equal(phase, i);
        assert_int_equal(run_phase_is_terminal(phase), i >= RUN_PHASE_SUCCEEDED);
    }
    for (unsigned int i = 0; i < RUN_REASON_COUNT; i++) {
        enum run_reason reason;
        assert_int_equal(run_reason_parse(run_reason_name((enum run_reason)i), &reason), 0);
        assert_int_equal(reason, i);
    }
    enum run_phase phase;
    enum run_reason reason;
    assert_int_equal(run_phase_parse("pending", &phase), -EINVAL);
    assert_int_equal(run_phase_parse("", &phase), -EINVAL);
    assert_int_equal(run_reason_parse("completed", &reason), -EINVAL);
}

static void test_with_status(void **state)
{
    (void)state;
    static const char text[] = "{\"kind\":\"SandboxRun\",\"metadata\":{\"name\":\"a\"},"
                               "\"spec\":{\"code\":\"1\"},\"status\":{\"phase\":\"Pending\"}}";
    cleanup_json cJSON *tree = NULL;
    cleanup_json cJSON *object = NULL;
    struct error err = {0};
    struct run_status status;
    make_streams(&status, 3, 'a', 0, 'b');
    assert_int_equal(json_parse(text, strlen(text), &tree, &err), 0);
    assert_int_equal(sandboxrun_with_status(tree, &status, &object, &err), 0);
    assert_string_equal(json_get_string(object, "kind"), "SandboxRun");
    assert_string_equal(json_get_string(object, "spec.code"), "1");
    assert_string_equal(json_get_string(object, "status.phase"), "Succeeded");
    assert_string_equal(json_get_string(object, "status.stdout"), "aaa");
    assert_string_equal(json_get_string(tree, "status.phase"), "Pending");
    run_status_done(&status);
}

/* What no C string carries is shown as what is no UTF-8: our own readers refuse a NUL, and would
 * lose sight of the object. */
static void test_nul_in_a_stream(void **state)
{
    (void)state;
    struct run_status status;
    cleanup_buf struct buf json = BUF_INIT(1 << 20);
    cleanup_buf struct buf cut = BUF_INIT(1 << 20);
    make_streams(&status, 4, 'a', 30000, 'b');
    memcpy(status.stdout_text, "\0a\0\0", 4);
    memset(status.stderr_text, 0, 30000);
    encode(&status, 0, &json);
    assert_non_null(strstr(buf_str(&json), "\"stdout\":\"\xef\xbf\xbd"
                                           "a\xef\xbf\xbd\xef\xbf\xbd\""));
    cleanup_json cJSON *tree = NULL;
    assert_int_equal(json_parse(buf_str(&json), json.len, &tree, NULL), 0);
    assert_int_equal(strlen(json_get_string(tree, "stderr")), 3 * 30000);

    encode(&status, 5000, &cut);
    assert_true(cut.len <= 5000);
    cleanup_json cJSON *cut_tree = NULL;
    assert_int_equal(json_parse(buf_str(&cut), cut.len, &cut_tree, NULL), 0);
    run_status_done(&status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nul_in_a_stream),
        cmocka_unit_test(test_whole_texts),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_marker),
        cmocka_unit_test(test_cut_between_characters),
        cmocka_unit_test(test_full_buffer),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_with_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
