/* SPDX-License-Identifier: Apache-2.0 */
#include "common/json.h"
#include "failing_malloc.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static void test_compact_text_comes_back(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "null",
        "true",
        "false",
        "0",
        "-1.5",
        "1000000000000000",
        "9007199254740991",
        "1e+21",
        "\"\"",
        "\"a\\n\\u003c\\u2028\xC3\xA4\"",
        "[]",
        "{}",
        "[[],{},[1,2]]",
        "{\"a\":{\"\":[null]},\"\\\"\":\"x\"}",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cleanup_json cJSON *tree = NULL;
        cleanup_buf struct buf buf = BUF_INIT(1000);
        assert_int_equal(json_parse(cases[i], strlen(cases[i]), &tree, NULL), 0);
        assert_int_equal(json_print(tree, false, &buf), 0);
        assert_string_equal(buf_str(&buf), cases[i]);
    }
}

static void test_pretty(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1,{\"b\":[],\"c\":{}}],\"d\":\"x\"}";
    cleanup_json cJSON *tree = NULL;
    cleanup_buf struct buf buf = BUF_INIT(1000);
    assert_int_equal(json_parse(text, sizeof(text) - 1, &tree, NULL), 0);
    assert_int_equal(json_print(tree, true, &buf), 0);
    assert_string_equal(buf_str(&buf), "{\n"
                                       "  \"a\": [\n"
                                       "    1,\n"
                                       "    {\n"
                                       "      \"b\": [],\n"
                                       "      \"c\": {}\n"
                                       "    }\n"
                                       "  ],\n"
                                       "  \"d\": \"x\"\n"
                                       "}");
}

static void expect_not_printable(cJSON *tree)
{
    cleanup_buf struct buf buf = BUF_INIT(1000);
    assert_int_equal(buf_append_str(&buf, "kept"), 0);
    assert_int_equal(json_print(tree, false, &buf), -EINVAL);
    assert_string_equal(buf_str(&buf), "kept");
    json_free(tree);
}

static void test_what_is_no_json(void **state)
{
    (void)state;
    expect_not_printable(cJSON_CreateNumber((double)NAN));
    expect_not_printable(cJSON_CreateNumber(HUGE_VAL));
    expect_not_printable(cJSON_CreateRaw("garbage"));
    cJSON *array = cJSON_CreateArray();
    assert_true(cJSON_AddItemToArray(array, cJSON_CreateNumber(-HUGE_VAL)));
    expect_not_printable(array);
    cJSON *deep = cJSON_CreateArray();
    for (unsigned int i = 0; i < MAX_JSON_DEPTH; i++) {
        cJSON *outer = cJSON_CreateArray();
        assert_true(cJSON_AddItemToArray(outer, deep));
        deep = outer;
    }
    expect_not_printable(deep);
}

/* Any maximum below what is needed: refused, and the buffer is as it was. */
static void test_print_beyond_the_maximum(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1,true,null,\"s\"],\"b\":{}}";
    cleanup_json cJSON *tree = NULL;
    assert_int_equal(json_parse(text, sizeof(text) - 1, &tree, NULL), 0);
    for (size_t max = 0; max < sizeof(text) + 2; max++) {
        cleanup_buf struct buf buf = BUF_INIT(max);
        int r = json_print(tree, false, &buf);
        assert_int_equal(r, max < sizeof(text) - 1 ? -EMSGSIZE : 0);
        assert_string_equal(buf_str(&buf), r == 0 ? text : "");
    }
    cleanup_buf struct buf buf = BUF_INIT(1000);
    failing_malloc_after(0);
    int r = json_print(tree, true, &buf);
    failing_malloc_after(-1);
    assert_int_equal(r, -ENOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compact_text_comes_back),
        cmocka_unit_test(test_pretty),
        cmocka_unit_test(test_what_is_no_json),
        cmocka_unit_test(test_print_beyond_the_maximum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
