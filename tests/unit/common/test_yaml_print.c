/* SPDX-License-Identifier: Apache-2.0 */
#include "common/random.h"
#include "common/yaml.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static void expect_print(const char *json, const char *yaml)
{
    cleanup_json cJSON *tree = NULL;
    cleanup_buf struct buf buf = BUF_INIT(1 << 20);
    assert_int_equal(json_parse(json, strlen(json), &tree, NULL), 0);
    assert_int_equal(yaml_print(tree, &buf), 0);
    assert_string_equal(buf_str(&buf), yaml);
}

static void test_form(void **state)
{
    (void)state;
    expect_print("{\"apiVersion\":\"v1\",\"spec\":{\"args\":[\"a\",1,{\"b\":2,\"c\":[]}],"
                 "\"env\":{},\"ok\":true,\"none\":null}}",
                 "apiVersion: v1\n"
                 "spec:\n"
                 "  args:\n"
                 "  - a\n"
                 "  - 1\n"
                 "  - b: 2\n"
                 "    c: []\n"
                 "  env: {}\n"
                 "  ok: true\n"
                 "  none: null\n");
}

static void test_literal_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *json, *yaml;
    } cases[] = {
        {"{\"a\":\"x\\ny\"}", "a: |-\n  x\n  y\n"},
        {"{\"a\":\"x\\ny\\n\"}", "a: |\n  x\n  y\n"},
        {"{\"a\":\"x\\n\\n\"}", "a: |+\n  x\n\n"},
        {"{\"a\":\"if 1:\\n    b\\n\\n\\tc\\n\"}", "a: |\n  if 1:\n      b\n\n  \tc\n"},
        {"{\"a\":\"  x\\ny\\n\"}", "a: |2\n    x\n  y\n"},
        {"{\"a\":\"\\u00e4\\n\\ud83d\\udc0d\\n\"}", "a: |\n  \xC3\xA4\n  \xF0\x9F\x90\x8D\n"},
        {"{\"a\":\"# x\\n- y: z\\n\"}", "a: |\n  # x\n  - y: z\n"},
        {"{\"a\":\"\\tx\\ny\"}", "a: |2-\n  \tx\n  y\n"},
        {"{\"a\":\"\\n\"}", "a: |2+\n\n"},
        {"[[\" x\\ny\\n\"]]", "- - |2\n     x\n    y\n"},
        {"\"x\\ny\\n\"", "|\n  x\n  y\n"},
        /* not exact as a block */
        {"{\"a\":\"x\\n \"}", "a: \"x\\n \"\n"},
        {"{\"a\":\"x\\r\\ny\"}", "a: \"x\\r\\ny\"\n"},
        {"{\"a\":\"x\\u2028\\ny\"}", "a: \"x\\u2028\\ny\"\n"},
        {"{\"a\":\"x\\u001b[0m\\ny\"}", "a: \"x\\e[0m\\ny\"\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_print(cases[i].json, cases[i].yaml);
}

static void test_strings_that_look_like_something_else(void **state)
{
    (void)state;
    expect_print("[\"\",\"1\",\"true\",\"~\",\"yes\",\"2026-11-29T22:17:14Z\",\"0x10\",\"1.5\"]",
                 "- \"\"\n"
                 "- \"1\"\n"
                 "- \"true\"\n"
                 "- \"~\"\n"
                 "- \"yes\"\n"
                 "- \"2026-11-29T22:17:14Z\"\n"
                 "- \"0x10\"\n"
                 "- \"1.5\"\n");
    expect_print("{\"1\":1,\"null\":2,\"<<\":3,\"a\\nb\":4}",
                 "\"1\": 1\n\"null\": 2\n\"<<\": 3\n\"a\\nb\": 4\n");
}

static void test_failures_leave_the_buffer(void **state)
{
    (void)state;
    cleanup_json cJSON *tree = cJSON_CreateArray();
    cleanup_buf struct buf buf = BUF_INIT(100);
    assert_true(cJSON_AddItemToArray(tree, cJSON_CreateString("text of some length")));
    assert_int_equal(yaml_print(tree, &buf), 0);
    size_t len = buf.len;
    buf.max = 2 * len - 1;
    assert_int_equal(yaml_print(tree, &buf), -EMSGSIZE);
    assert_int_equal(buf.len, len);
    buf.max = 1000;
    assert_true(cJSON_AddItemToArray(tree, cJSON_CreateNumber((double)NAN)));
    assert_int_equal(yaml_print(tree, &buf), -EINVAL);
    assert_int_equal(buf.len, len);
}

static void test_bytes_that_are_not_utf8(void **state)
{
    (void)state;
    cleanup_json cJSON *tree = cJSON_CreateString("a\xFF\xE2\x82");
    cleanup_buf struct buf buf = BUF_INIT(100);
    assert_int_equal(yaml_print(tree, &buf), 0);
    assert_string_equal(buf_str(&buf), "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\n");
}

/* Pieces that are special to some part of YAML, drawn by the bytes of a random string. */
static void make_text(const unsigned char *seed, size_t count, struct buf *buf)
{
    static const char *const pieces[] = {
        "a",
        "\n",
        " ",
        "\n\n",
        "  ",
        "\t",
        ":",
        ": ",
        "#",
        " #",
        "-",
        "- ",
        "'",
        "\"",
        "\\",
        "{",
        "}",
        "[",
        ",",
        "&",
        "*",
        "!",
        "|",
        ">",
        "%",
        "@",
        "`",
        "?",
        "\r",
        "\xC2\x85",
        "\xE2\x80\xA8",
        "\xEF\xBB\xBF",
        "\x01",
        "\x7F",
        "~",
        "null",
        "1",
        "\xC3\xA4",
        "\xF0\x9F\x90\x8D",
        "---",
        "...",
        "\n---\n",
        "\xEF\xBF\xBE",
        "=",
        "<<",
        "\n\t",
    };
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            buf_append_str(buf, pieces[seed[i] % (sizeof(pieces) / sizeof(pieces[0]))]), 0);
}

static void expect_round_trip(const cJSON *tree)
{
    cleanup_buf struct buf yaml = BUF_INIT(1 << 20), wanted = BUF_INIT(1 << 20),
                           got = BUF_INIT(1 << 20);
    cleanup_yaml_documents struct yaml_documents documents = {0};
    struct error err = {0};
    assert_int_equal(yaml_print(tree, &yaml), 0);
    int r = yaml_parse(yaml.data, yaml.len, &documents, &err);
    assert_int_equal(json_print(tree, false, &wanted), 0);
    if (r < 0 || documents.count != 1)
        fail_msg("%s\nas\n%s\n%s", buf_str(&wanted), buf_str(&yaml), err.text);
    assert_int_equal(json_print(documents.trees[0], false, &got), 0);
    if (strcmp(buf_str(&got), buf_str(&wanted)) != 0)
        fail_msg("%s\nas\n%s\ncame back as %s", buf_str(&wanted), buf_str(&yaml), buf_str(&got));
}

static void test_any_text_comes_back(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; round++) {
        unsigned char seed[12];
        cleanup_buf struct buf text = BUF_INIT(1000);
        assert_int_equal(random_bytes(seed, sizeof(seed)), 0);
        make_text(seed, seed[0] % sizeof(seed), &text);
        cleanup_json cJSON *tree = cJSON_CreateObject();
        assert_non_null(cJSON_AddStringToObject(tree, "first", buf_str(&text)));
        cJSON *list = cJSON_AddArrayToObject(tree, buf_str(&text));
        assert_true(cJSON_AddItemToArray(list, cJSON_CreateString(buf_str(&text))));
        assert_true(cJSON_AddItemToArray(list, cJSON_CreateArray()));
        assert_non_null(cJSON_AddStringToObject(tree, "last one", buf_str(&text)));
        expect_round_trip(tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_literal_blocks),
        cmocka_unit_test(test_strings_that_look_like_something_else),
        cmocka_unit_test(test_failures_leave_the_buffer),
        cmocka_unit_test(test_bytes_that_are_not_utf8),
        cmocka_unit_test(test_any_text_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
