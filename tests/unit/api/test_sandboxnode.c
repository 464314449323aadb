/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/sandboxnode.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"

static int decode(const char *json, struct sandboxnode *node, struct error *err)
{
    cleanup_json cJSON *tree = NULL;
    assert_int_equal(json_parse(json, strlen(json), &tree, err), 0);
    return sandboxnode_decode(tree, node, err);
}

static void test_round_trip(void **state)
{
    (void)state;
    const struct sandboxnode node = {
        .name = "node-a",
        .uid = "u",
        .instance = "i-1",
        .capacity = {.runs = 100, .memory_bytes = 8ull << 30, .cpu_milli = 7500},
        .allocated = {.runs = 1, .memory_bytes = 512 << 20, .cpu_milli = 1000},
        .warm = 3,
        .runtimes = {{.name = "python3.12", .version = "3.12.1"}, {.name = "other"}},
        .runtime_count = 2,
        .cgroup_version = 2,
        .kernel = "6.1.0-<x>",
        .profiles = {[PROFILE_SNIPPET] = true},
        .ready = true,
        .ready_reason = "Ready",
        .ready_message = "It \"runs\".",
        .ready_since_us = 1795990634000001,
    };
    static const char status[] =
        "{\"instance\":\"i-1\",\"capacity\":{\"runs\":100,\"memory\":\"8Gi\",\"cpu\":\"7500m\"},"
        "\"allocated\":{\"runs\":1,\"memory\":\"512Mi\",\"cpu\":\"1\"},\"warm\":3,\"runtimes\":["
        "{\"name\":\"python3.12\",\"version\":\"3.12.1\"},{\"name\":\"other\"}],"
        "\"cgroupVersion\":\"v2\",\"kernel\":\"6.1.0-\\u003cx\\u003e\",\"profiles\":[\"Snippet\"],"
        "\"output\":null,\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Ready\",\"message\":"
        "\"It \\\"runs\\\".\",\"lastTransitionTime\":\"2026-11-29T22:17:14.000001Z\"}]}";
    cleanup_buf struct buf json = BUF_INIT(4096);
    struct error err = {0};
    struct sandboxnode back;
    assert_int_equal(sandboxnode_status_encode(&node, &json), 0);
    assert_string_equal(buf_str(&json), status);

    cleanup_buf struct buf object = BUF_INIT(4096);
    assert_int_equal(buf_printf(&object,
                                "{\"metadata\":{\"name\":\"node-a\",\"uid\":\"u\"},\"status\":%s}",
                                buf_str(&json)),
                     0);
    assert_int_equal(decode(buf_str(&object), &back, &err), 0);
    assert_string_equal(back.name, "node-a");
    assert_string_equal(back.uid, "u");
    buf_reset(&json);
    assert_int_equal(sandboxnode_status_encode(&back, &json), 0);
    assert_string_equal(buf_str(&json), status);
}

static void test_output(void **state)
{
    (void)state;
    static const struct {
        struct node_output output;
        const char *text;
    } cases[] = {
        {{.address = "10.0.0.7"}, "\"output\":null,"},
        {{.port = 8443, .certificate = "A\nB"},
         "\"output\":{\"port\":8443,\"address\":null,\"certificate\":\"A\\nB\"},"},
        {{.address = "fd00::7", .port = 1, .certificate = "C"},
         "\"output\":{\"port\":1,\"address\":\"fd00::7\",\"certificate\":\"C\"},"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct sandboxnode node = {.instance = "i", .output = cases[i].output};
        cleanup_buf struct buf json = BUF_INIT(4096);
        assert_int_equal(sandboxnode_status_encode(&node, &json), 0);
        assert_non_null(strstr(buf_str(&json), cases[i].text));
    }
}

#define OBJECT(status) "{\"metadata\":{\"name\":\"n\"},\"status\":{" status "}}"
#define READY                                                                                      \
    "\"instance\":\"i\",\"conditions\":[{\"type\":\"Other\",\"status\":\"False\"},"                \
    "{\"type\":\"Ready\",\"status\":\"True\"}]"

static void test_absurd_values(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *message; /* NULL: ready */
    } cases[] = {
        {OBJECT(READY), NULL},
        {OBJECT(READY ",\"capacity\":{\"runs\":null},\"profiles\":[\"Later\",7],\"unknown\":1"),
         NULL},
        {"{\"metadata\":{\"name\":\"n\"}}", "the agent hasn't said that it is ready"},
        {OBJECT(""), "the agent hasn't said that it is ready"},
        {OBJECT("\"conditions\":{}"), "the agent hasn't said that it is ready"},
        {OBJECT("\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"message\":\"m\"}]"),
         "m"},
        {OBJECT("\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]"),
         "status.instance: must have 1 to 39 bytes"},
        {OBJECT("\"instance\":\"0123456789012345678901234567890123456789\""),
         "status.instance: must have 1 to 39 bytes"},
        {OBJECT(READY ",\"capacity\":{\"runs\":-1}"),
         "status.capacity.runs: must be a whole number from 0 to 100000"},
        {OBJECT(READY ",\"capacity\":{\"runs\":100001}"),
         "status.capacity.runs: must be a whole number from 0 to 100000"},
        {OBJECT(READY ",\"capacity\":{\"runs\":\"1\"}"),
         "status.capacity.runs: must be a whole number from 0 to 100000"},
        {OBJECT(READY ",\"capacity\":{\"memory\":\"-1\"}"),
         "status.capacity.memory: must be a quantity within reason"},
        {OBJECT(READY ",\"capacity\":{\"memory\":\"7Ei\"}"),
         "status.capacity.memory: must be a quantity within reason"},
        {OBJECT(READY ",\"capacity\":{\"cpu\":{}}"),
         "status.capacity.cpu: must be a quantity within reason"},
        {OBJECT(READY ",\"warm\":1e300"), "status.warm: must be a whole number from 0 to 100000"},
        {OBJECT(READY ",\"runtimes\":[{\"name\":\"a\"},{}]"),
         "status.runtimes[1]: no usable name and version"},
        {OBJECT(READY ",\"runtimes\":[{\"name\":\"a\",\"version\":1}]"),
         "status.runtimes[0]: no usable name and version"},
        {OBJECT(
             "\"instance\":\"i\",\"warm\":-1,\"capacity\":{\"runs\":-1},\"conditions\":[{\"type\":"
             "\"Ready\",\"status\":\"True\",\"reason\":\"InvalidStatus\",\"message\":\"x\"}]"),
         "x"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct sandboxnode node;
        struct error err = {0};
        assert_int_equal(decode(cases[i].json, &node, &err), 0);
        assert_string_equal(node.name, "n");
        assert_int_equal(node.ready, cases[i].message == NULL);
        assert_string_equal(node.ready_message, cases[i].message ? cases[i].message : "");
    }
}

static void test_too_many_runtimes(void **state)
{
    (void)state;
    cleanup_buf struct buf json = BUF_INIT(4096);
    struct sandboxnode node;
    struct error err = {0};
    assert_int_equal(buf_append_str(&json, "{\"metadata\":{\"name\":\"n\"},\"status\":{" READY
                                           ",\"runtimes\":[{\"name\":\"a\"}"),
                     0);
    for (unsigned int i = 0; i < MAX_NODE_RUNTIMES; i++)
        assert_int_equal(buf_append_str(&json, ",{\"name\":\"a\"}"), 0);
    assert_int_equal(buf_append_str(&json, "]}}"), 0);
    assert_int_equal(decode(buf_str(&json), &node, &err), 0);
    assert_int_equal(node.runtime_count, MAX_NODE_RUNTIMES);
    assert_false(node.ready);
    assert_string_equal(node.ready_message, "status.runtimes: more than 16");
}

static void test_no_name(void **state)
{
    (void)state;
    static const char *const cases[] = {"{}", "[]", "{\"metadata\":{\"name\":1}}",
                                        "{\"metadata\":{\"name\":\"\"}}",
                                        "{\"metadata\":{\"name\":\"a/b\"}}"};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct sandboxnode node = {.warm = 77};
        struct error err = {0};
        assert_int_equal(decode(cases[i], &node, &err), -EINVAL);
        assert_int_equal(node.warm, 77);
        assert_true(err.text[0] != '\0');
    }
}

static void test_full_buffer(void **state)
{
    (void)state;
    const struct sandboxnode node = {.name = "n", .instance = "i", .runtime_count = 3};
    for (size_t max = 0; max < 100; max++) {
        cleanup_buf struct buf json = BUF_INIT(max);
        assert_int_equal(sandboxnode_status_encode(&node, &json), -EMSGSIZE);
        assert_int_equal(json.len, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_output),
        cmocka_unit_test(test_absurd_values), cmocka_unit_test(test_too_many_runtimes),
        cmocka_unit_test(test_no_name),       cmocka_unit_test(test_full_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
