/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/api/limits.h"
#include "common/cleanup.h"
#include "common/json.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/status_patch.h"

#include <stdlib.h>
#include <string.h>

static void fill(struct run_status *status, char *text, size_t len)
{
    memset(text, '<', len);
    *status = (struct run_status){
        .phase = RUN_PHASE_FAILED,
        .reason = RUN_REASON_ERROR,
        .message = "exited with code 3",
        .sandbox_id = "11111111-2222-4333-8444-555555555555",
        .node_name = "node-a",
        .agent_instance = "instance",
        .scheduled_us = 1700000000000000,
        .start_us = 1700000001000000,
        .completion_us = 1700000002000000,
        .has_exit_code = true,
        .exit_code = 3,
        .stdout_text = text,
        .stdout_len = len,
        .stdout_bytes = len,
        .stderr_text = text,
        .stderr_len = len,
        .stderr_bytes = len,
    };
}

static cJSON *make(const struct run_status *status, enum status_amount amount, size_t room,
                   size_t *ret_len)
{
    cleanup_buf struct buf body = BUF_INIT(4u << 20);
    struct error err = {0};
    cJSON *tree = NULL;

    if (status_patch_status("42", status, amount, room, &body, &err) < 0 ||
        json_parse(body.data, body.len, &tree, &err) < 0)
        fail_msg("%s", err.text);
    *ret_len = body.len;
    return tree;
}

static void test_amounts(void **state)
{
    (void)state;
    static char text[MAX_STATUS_STREAM];
    static const struct {
        enum status_amount amount;
        size_t min;
        size_t max;
        bool has_streams;
    } cases[] = {
        {STATUS_WHOLE, 12 * sizeof(text), 12 * sizeof(text) + 4096, true},
        {STATUS_SMALL, MAX_STATUS_SMALL_STREAM, 2 * MAX_STATUS_SMALL_STREAM + 4096, true},
        {STATUS_NO_STREAMS, 500, 2048, true},
        {STATUS_BARE, 300, 1024, false},
    };
    struct run_status status;

    fill(&status, text, sizeof(text));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t len;
        cleanup_json cJSON *tree = make(&status, cases[i].amount, MAX_OBJECT_BYTES, &len);
        assert_in_range(len, cases[i].min, cases[i].max);
        assert_string_equal(json_get_string(tree, "metadata.resourceVersion"), "42");
        assert_string_equal(json_get_string(tree, "status.phase"), "Failed");
        assert_string_equal(json_get_string(tree, "status.reason"), "Error");
        const cJSON *code = json_get_path(tree, "status.exitCode");
        assert_true(cJSON_IsNumber(code) && (int)cJSON_GetNumberValue(code) == 3);
        const char *out = json_get_string(tree, "status.stdout");
        assert_int_equal(out != NULL, cases[i].has_streams);
        if (cases[i].amount == STATUS_NO_STREAMS)
            assert_string_equal(out, "");
        bool truncated = false;
        (void)json_get_bool(tree, "status.stdoutTruncated", &truncated);
        assert_int_equal(truncated,
                         cases[i].amount == STATUS_SMALL || cases[i].amount == STATUS_NO_STREAMS);
    }
}

static void test_room(void **state)
{
    (void)state;
    static char text[MAX_STATUS_STREAM];
    struct run_status status;
    size_t len;

    fill(&status, text, sizeof(text));
    cleanup_json cJSON *tree = make(&status, STATUS_WHOLE, 100000, &len);
    assert_in_range(len, 90000, 100100);
    assert_string_equal(json_get_string(tree, "status.reason"), "Error");
}

/* The object with a status of that size stays below the limit, as the API server encodes it. */
static void test_room_of_an_object(void **state)
{
    (void)state;
    static const struct {
        const char *unit;
        size_t count;
        size_t encoded;
    } cases[] = {{"x", 1u << 20, 1u << 20}, {"<", 100000, 600000}, {"\\n", 200000, 400000}};

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_buf struct buf text = BUF_INIT(8u << 20);
        cleanup_json cJSON *tree = NULL;
        assert_int_equal(
            buf_append_str(&text, "{\"status\":{\"stdout\":\"old\"},\"spec\":{\"code\":\""), 0);
        for (size_t n = 0; n < cases[i].count; n++)
            assert_int_equal(buf_append_str(&text, cases[i].unit), 0);
        assert_int_equal(buf_append_str(&text, "\"}}"), 0);
        assert_int_equal(json_parse(text.data, text.len, &tree, NULL), 0);
        size_t room = status_patch_room(tree);
        assert_in_range(room + cases[i].encoded, MAX_OBJECT_BYTES - STATUS_HEADROOM_BYTES - 1024,
                        MAX_OBJECT_BYTES);
    }
    cleanup_json cJSON *nothing = cJSON_CreateObject();
    assert_int_equal(status_patch_room(nothing), MAX_OBJECT_BYTES - STATUS_HEADROOM_BYTES);
}

static void test_room_is_never_nothing(void **state)
{
    (void)state;
    size_t len = 3u << 20;
    char *text = malloc(len + 1);

    memset(text, 'x', len);
    text[len] = '\0';
    cleanup_json cJSON *tree = cJSON_CreateObject();
    assert_non_null(cJSON_AddStringToObject(tree, "spec", text));
    assert_int_equal(status_patch_room(tree), MIN_STATUS_BYTES);
    free(text);
}

static void test_give_back(void **state)
{
    (void)state;
    cleanup_buf struct buf body = BUF_INIT(4096);
    cleanup_json cJSON *tree = NULL;
    static const char *const cleared[] = {"nodeName", "agentInstance", "sandboxID",
                                          "scheduledTime"};

    assert_int_equal(status_patch_give_back("7\"", 2, &body, NULL), 0);
    assert_int_equal(json_parse(body.data, body.len, &tree, NULL), 0);
    assert_string_equal(json_get_string(tree, "metadata.resourceVersion"), "7\"");
    assert_string_equal(json_get_string(tree, "status.phase"), "Pending");
    const cJSON *status = json_get(tree, "status");
    for (size_t i = 0; i < ARRAY_SIZE(cleared); i++)
        assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(status, cleared[i])));
    const cJSON *condition = cJSON_GetArrayItem(json_get(status, "conditions"), 0);
    assert_string_equal(json_get_string(condition, "type"), "Finished");
    assert_string_equal(json_get_string(condition, "status"), "False");
    assert_int_equal(cJSON_GetArraySize(json_get(status, "conditions")), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amounts),           cmocka_unit_test(test_room),
        cmocka_unit_test(test_room_of_an_object), cmocka_unit_test(test_room_is_never_nothing),
        cmocka_unit_test(test_give_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
