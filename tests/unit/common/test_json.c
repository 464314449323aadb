/* SPDX-License-Identifier: Apache-2.0 */
#include "common/clock.h"
#include "common/json.h"
#include "failing_malloc.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void expect_refused(const char *text, size_t len, const char *message)
{
    struct error err = {0};
    cJSON *tree = NULL;
    int r = json_parse(text, len, &tree, &err);
    if (r != -EINVAL || tree || strcmp(err.text, message) != 0)
        fail_msg("%s: %d, \"%s\", not \"%s\"", text, r, err.text, message);
}

static const struct {
    const char *text, *message;
} refusals[] = {
    {"", "line 1, column 1: a value is missing"},
    {" \n ", "line 2, column 2: a value is missing"},
    {"{} x", "line 1, column 4: something follows the value"},
    {"1 2", "line 1, column 3: something follows the value"},
    {"{}{}", "line 1, column 3: something follows the value"},
    {"NaN", "line 1, column 1: not a JSON value"},
    {"Infinity", "line 1, column 1: not a JSON value"},
    {"-Infinity", "line 1, column 2: not a number of JSON's form"},
    {"nul", "line 1, column 1: not a JSON value"},
    {"True", "line 1, column 1: not a JSON value"},
    {"'a'", "line 1, column 1: not a JSON value"},
    {"+1", "line 1, column 1: not a JSON value"},
    {"-", "line 1, column 2: not a number of JSON's form"},
    {"1.", "line 1, column 3: not a number of JSON's form"},
    {".5", "line 1, column 1: not a JSON value"},
    {"1e", "line 1, column 3: not a number of JSON's form"},
    {"1e+", "line 1, column 4: not a number of JSON's form"},
    {"01", "line 1, column 2: something follows the value"},
    {"-01", "line 1, column 3: something follows the value"},
    {"0x10", "line 1, column 2: something follows the value"},
    {"1e999", "line 1, column 1: a number that is too large"},
    {"[1,-1e999]", "line 1, column 4: a number that is too large"},
    {"[1,]", "line 1, column 4: not a JSON value"},
    {"[1 2]", "line 1, column 4: ',' or ']' is missing in an array"},
    {"[1", "line 1, column 3: ',' or ']' is missing in an array"},
    {"[", "line 1, column 2: a value is missing"},
    {"{", "line 1, column 2: a quoted member name is missing"},
    {"{a:1}", "line 1, column 2: a quoted member name is missing"},
    {"{\"a\" 1}", "line 1, column 6: ':' is missing behind a member name"},
    {"{\"a\":}", "line 1, column 6: not a JSON value"},
    {"{\"a\":1,}", "line 1, column 8: a quoted member name is missing"},
    {"{\"a\":1 \"b\":2}", "line 1, column 8: ',' or '}' is missing in an object"},
    {"{\n  \"a\": x\n}", "line 2, column 8: not a JSON value"},
    {"\"a", "line 1, column 3: a string without its closing quote"},
    {"\"a\nb\"", "line 1, column 3: a control character in a string (to be escaped)"},
    {"\"\\x41\"", "line 1, column 3: an unknown escape in a string"},
    {"\"\\", "line 1, column 3: an unknown escape in a string"},
    {"\"\\u12\"", "line 1, column 6: \\u without four hexadecimal digits"},
    {"\"\\u0000\"", "line 1, column 8: a NUL character (\\u0000) in a string"},
    {"{\"\\u0000\":1}", "line 1, column 9: a NUL character (\\u0000) in a string"},
    {"\"\\ud800\"", "line 1, column 8: half of a surrogate pair"},
    {"\"\\udc00\"", "line 1, column 8: half of a surrogate pair"},
    {"\"\\ud800\\u0041\"", "line 1, column 14: half of a surrogate pair"},
    {"\"\\ud800\\n\"", "line 1, column 9: half of a surrogate pair"},
    {"\"\xFF\"", "line 1, column 2: bytes that are not UTF-8"},
    {"\"\xC3", "line 1, column 2: bytes that are not UTF-8"},
    {"\xEF\xBB\xBF{}", "line 1, column 1: not a JSON value"},
    {"{\"a\":1,\"a\":2}", "duplicate key \"a\""},
    {"{\"a\":1,\"\\u0061\":2}", "duplicate key \"a\""},
    {"[0,{\"x\":{\"\":1,\"b\":2,\"\":1}}]", "duplicate key \"\""},
    {"/* c */ 1", "line 1, column 1: not a JSON value"},
    {"\f1", "line 1, column 1: not a JSON value"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
        expect_refused(refusals[i].text, strlen(refusals[i].text), refusals[i].message);
    expect_refused("1\0", 2, "line 1, column 2: something follows the value");
    expect_refused("\"a\0b\"", 5,
                   "line 1, column 3: a control character in a string (to be escaped)");
}

static void test_long_numbers(void **state)
{
    (void)state;
    char text[80];
    cJSON *tree = NULL;
    memset(text, '1', sizeof(text));
    assert_int_equal(json_parse(text, 63, &tree, NULL), 0);
    assert_true(tree->valuedouble > 1e62);
    json_free(tree);
    expect_refused(text, 64, "line 1, column 1: a number of more than 63 characters");
}

/* The given number of arrays within each other. */
static int parse_depth(unsigned int depth, struct error *err)
{
    cleanup_buf struct buf buf = BUF_INIT(1000000);
    cJSON *tree = NULL;
    for (unsigned int i = 0; i < depth; i++)
        assert_int_equal(buf_append_str(&buf, i % 2 ? "{\"a\":" : "["), 0);
    assert_int_equal(buf_append_char(&buf, '0'), 0);
    for (unsigned int i = depth; i > 0; i--)
        assert_int_equal(buf_append_char(&buf, (i - 1) % 2 ? '}' : ']'), 0);
    int r = json_parse(buf.data, buf.len, &tree, err);
    json_free(r == 0 ? tree : NULL);
    return r;
}

static void test_depth(void **state)
{
    (void)state;
    struct error err = {0};
    assert_int_equal(parse_depth(MAX_JSON_DEPTH, &err), 0);
    assert_int_equal(parse_depth(MAX_JSON_DEPTH + 1, &err), -EINVAL);
    assert_non_null(strstr(err.text, "nested too deeply"));
    assert_int_equal(parse_depth(100000, &err), -EINVAL);
}

static void test_smaller_depth(void **state)
{
    (void)state;
    cJSON *tree = NULL;
    assert_int_equal(json_parse_depth("[[[]]]", 6, 2, &tree, NULL), -EINVAL);
    assert_int_equal(json_parse_depth("[[],[],[]]", 10, 2, &tree, NULL), 0);
    json_free(tree);
}

static void test_values(void **state)
{
    (void)state;
    static const char text[] =
        " {\"s\":\"\\u00e4\\ud83d\\udc0d\\n\\/\",\"i\":9007199254740991,\"j\":-9007199254740991,"
        "\"big\":9007199254740993,\"f\":1.5,\"whole\":2.0,\"exp\":1e2,\"t\":true,\"n\":null,"
        "\"o\":{\"p\":{\"q\":\"deep\"}},\"a.b\":1,\"S\":\"upper\",\"\":\"empty\"} \r\n\t";
    cleanup_json cJSON *tree = NULL;
    assert_int_equal(json_parse(text, sizeof(text) - 1, &tree, NULL), 0);
    assert_string_equal(json_get_string(tree, "s"), "\xC3\xA4\xF0\x9F\x90\x8D\n/");
    assert_string_equal(json_get_string(tree, "S"), "upper");
    assert_string_equal(json_get_string(tree, ""), "empty");
    assert_string_equal(json_get_string(tree, "o.p.q"), "deep");
    assert_null(json_get_string(tree, "o.p"));
    assert_null(json_get_string(tree, "o.p.q.r"));
    assert_null(json_get_string(tree, "o..q"));
    assert_null(json_get_string(tree, "a.b"));
    assert_non_null(json_get(tree, "a.b"));
    assert_null(json_get(tree, "n"));
    assert_null(json_get(tree, "absent"));
    assert_null(json_get(NULL, "s"));
    assert_null(json_get(json_get(tree, "s"), "s"));
}

static void test_copies(void **state)
{
    (void)state;
    static const char text[] = "{\"s\":\"abc\",\"e\":\"\",\"i\":1,\"o\":{\"p\":\"q\"}}";
    cleanup_json cJSON *tree = NULL;
    char copy[4] = "old";
    assert_int_equal(json_parse(text, sizeof(text) - 1, &tree, NULL), 0);
    assert_int_equal(json_copy_string(tree, "absent", copy, sizeof(copy)), -ENOENT);
    assert_int_equal(json_copy_string(tree, "e", copy, sizeof(copy)), -ENOENT);
    assert_int_equal(json_copy_string(tree, "i", copy, sizeof(copy)), -ENOENT);
    assert_int_equal(json_copy_string(tree, "s", copy, sizeof(copy) - 1), -EMSGSIZE);
    assert_string_equal(copy, "old");
    assert_int_equal(json_copy_string(tree, "s", copy, sizeof(copy)), 0);
    assert_string_equal(copy, "abc");
    assert_int_equal(json_copy_string(tree, "o.p", copy, sizeof(copy)), 0);
    assert_string_equal(copy, "q");
}

static void test_numbers_and_booleans(void **state)
{
    (void)state;
    static const char text[] = "{\"i\":9007199254740991,\"j\":-9007199254740991,"
                               "\"k\":9007199254740992,\"big\":9007199254740993,\"f\":1.5,"
                               "\"whole\":2.0,\"exp\":1e2,\"s\":\"1\",\"t\":true,\"u\":false,"
                               "\"n\":null,\"huge\":1e300}";
    static const struct {
        const char *key;
        int result;
        int64_t value;
    } cases[] = {
        {"i", 0, INT64_C(9007199254740991)},
        {"j", 0, INT64_C(-9007199254740991)},
        {"k", -EINVAL, 7}, /* 2^53 + 1 reads as this one too */
        {"big", -EINVAL, 7},
        {"huge", -EINVAL, 7},
        {"f", -EINVAL, 7},
        {"whole", 0, 2},
        {"exp", 0, 100},
        {"s", -EINVAL, 7},
        {"t", -EINVAL, 7},
        {"n", -ENOENT, 7},
        {"absent", -ENOENT, 7},
    };
    cleanup_json cJSON *tree = NULL;
    assert_int_equal(json_parse(text, sizeof(text) - 1, &tree, NULL), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t value = 7;
        assert_int_equal(json_get_i64(tree, cases[i].key, &value), cases[i].result);
        assert_int_equal(value, cases[i].value);
    }
    bool flag = false;
    assert_int_equal(json_get_bool(tree, "t", &flag), 0);
    assert_true(flag);
    assert_int_equal(json_get_bool(tree, "s", &flag), -EINVAL);
    assert_int_equal(json_get_bool(tree, "n", &flag), -ENOENT);
    assert_true(flag);
    assert_int_equal(json_get_bool(tree, "u", &flag), 0);
    assert_false(flag);
}

/* An object of a hundred thousand members is read in the time of sorting them. */
static void test_large_object_is_not_quadratic(void **state)
{
    (void)state;
    cleanup_buf struct buf buf = BUF_INIT(4 << 20);
    assert_int_equal(buf_append_str(&buf, "{\"last\":0"), 0);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(buf_printf(&buf, ",\"some-common-prefix-%d\":0", i), 0);
    assert_int_equal(buf_append_char(&buf, '}'), 0);
    cJSON *tree = NULL;
    uint64_t start_ns = clock_monotonic_ns();
    assert_int_equal(json_parse(buf.data, buf.len, &tree, NULL), 0);
    assert_true(clock_monotonic_ns() - start_ns < UINT64_C(5000000000));
    json_free(tree);

    buf_truncate(&buf, buf.len - 1);
    assert_int_equal(buf_append_str(&buf, ",\"last\":1}"), 0);
    expect_refused(buf.data, buf.len, "duplicate key \"last\"");
}

/* Every single allocation fails once. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\":[1,\"two\",{\"b\":null,\"c\":true}],\"d\":{\"e\":1,\"f\":2}}";
    cJSON_Hooks hooks = {.malloc_fn = failing_malloc, .free_fn = free};
    cJSON_InitHooks(&hooks);
    int fails = 0, r = -ENOMEM;
    for (; r == -ENOMEM; fails++) {
        struct error err = {0};
        cJSON *tree = NULL;
        failing_malloc_after(fails);
        r = json_parse(text, sizeof(text) - 1, &tree, &err);
        failing_malloc_after(-1);
        assert_true((r == 0) == (tree != NULL));
        assert_int_equal(err.code, -r);
        json_free(tree);
    }
    cJSON_InitHooks(NULL);
    assert_int_equal(r, 0);
    assert_true(fails > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_long_numbers),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_smaller_depth),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_numbers_and_booleans),
        cmocka_unit_test(test_large_object_is_not_quadratic),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
