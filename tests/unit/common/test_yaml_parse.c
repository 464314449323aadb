/* SPDX-License-Identifier: Apache-2.0 */
#include "common/clock.h"
#include "common/yaml.h"
#include "failing_malloc.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The documents of text as compact JSON, joined by newlines; the message where it is refused. */
static void expect_parse(const char *text, size_t len, const char *wanted)
{
    cleanup_yaml_documents struct yaml_documents documents = {0};
    cleanup_buf struct buf buf = BUF_INIT(1 << 20);
    struct error err = {0};
    int r = yaml_parse(text, len, &documents, &err);
    assert_true(r <= 0 && r == -err.code);
    for (size_t i = 0; i < documents.count; i++) {
        assert_int_equal(buf_append_str(&buf, i > 0 ? "\n" : ""), 0);
        assert_int_equal(json_print(documents.trees[i], false, &buf), 0);
    }
    const char *got = r == 0 ? buf_str(&buf) : err.text;
    if (strcmp(got, wanted) != 0)
        fail_msg("%s\n  gives %s\n  not %s", text, got, wanted);
}

struct text_case {
    const char *text, *wanted;
};

static void expect_table(const struct text_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect_parse(cases[i].text, strlen(cases[i].text), cases[i].wanted);
}

static void test_documents(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        {"", ""},
        {"   \n# comment\n", ""},
        {"---\n---\n...\n", ""},
        {"~\n---\nnull\n---\n''\n", "\"\""},
        {"a: 1\nb: [x, 'y', \"z\"]\n", "{\"a\":1,\"b\":[\"x\",\"y\",\"z\"]}"},
        {"---\na: 1\n---\n# nothing\n---\nb: 2\n", "{\"a\":1}\n{\"b\":2}"},
        {"- 1\n- 2\n", "[1,2]"},
        {"x", "\"x\""},
        {"a: {b: c, d: }\n", "{\"a\":{\"b\":\"c\",\"d\":null}}"},
        {"%YAML 1.1\n---\na: 1\n", "{\"a\":1}"},
        {"\xEF\xBB\xBF"
         "a: 1\n",
         "{\"a\":1}"},
        {"a: 1\r\nb: 2\r\n", "{\"a\":1,\"b\":2}"},
    };
    expect_table(cases, sizeof(cases) / sizeof(cases[0]));
}

static void test_scalars(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        {"[null, ~, 'null', \"~\"]", "[null,null,\"null\",\"~\"]"},
        {"[true, 'true', yes, no, on, off]", "[true,\"true\",\"yes\",\"no\",\"on\",\"off\"]"},
        {"[1, '1', 0x10, 010, 0o10, 1.5, 1e3]", "[1,\"1\",16,8,8,1.5,1000]"},
        {"a: |\n  one\n   two\n\n  three\n", "{\"a\":\"one\\n two\\n\\nthree\\n\"}"},
        {"a: |-\n  one\n", "{\"a\":\"one\"}"},
        {"a: |+\n  one\n\n", "{\"a\":\"one\\n\\n\"}"},
        {"a: |\n  12\n", "{\"a\":\"12\\n\"}"},
        {"a: >\n  one\n  two\n", "{\"a\":\"one two\\n\"}"},
        {"a: \"\\u00e4\\x41\\n\"", "{\"a\":\"\xC3\xA4"
                                   "A\\n\"}"},
        {"1: a\ntrue: b\n0x10: c\n", "{\"1\":\"a\",\"true\":\"b\",\"0x10\":\"c\"}"},
        {"a: 2026-11-29\nb: 12:30\n", "{\"a\":\"2026-11-29\",\"b\":\"12:30\"}"},
        {"'<<': 1\n'': 2\n'~': 3\n", "{\"\\u003c\\u003c\":1,\"\":2,\"~\":3}"},
    };
    expect_table(cases, sizeof(cases) / sizeof(cases[0]));
}

static void test_json_is_yaml(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        {"{\"a\": \"\\ud83d\\udc0d\", \"b\": 1}\n", "{\"a\":\"\xF0\x9F\x90\x8D\",\"b\":1}"},
        {" \n{\n\t\"a\":\t[1,\n\t2]}", "{\"a\":[1,2]}"},
        {"{\"a\": 1,}", "{\"a\":1}"},
        {"{a: 1}\n---\n{b: 2}\n", "{\"a\":1}\n{\"b\":2}"},
        {"{\"a\":1}\n---\n{\"b\":2}\n", "{\"a\":1}\n{\"b\":2}"},
        {"{\"a\":1,\n \"a\":2}", "line 2, column 2: duplicate key \"a\""},
        {"{\"a\":\"\\u0000\"}", "line 1, column 6: a NUL character in a string"},
    };
    expect_table(cases, sizeof(cases) / sizeof(cases[0]));
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        {"a: &x 1\n", "line 1, column 4: anchors and aliases are not supported"},
        {"a: 1\nb: *x\n", "line 2, column 4: anchors and aliases are not supported"},
        {"a: &x\n  b: 1\n", "line 1, column 4: anchors and aliases are not supported"},
        {"&x a: 1\n", "line 1, column 1: anchors and aliases are not supported"},
        {"- &x [1]\n", "line 1, column 3: anchors and aliases are not supported"},
        {"a: !!str 1\n", "line 1, column 4: tags are not supported"},
        {"a: ! 1\n", "line 1, column 4: tags are not supported"},
        {"a: !!map {b: 1}\n", "line 1, column 4: tags are not supported"},
        {"a: !x [1]\n", "line 1, column 4: tags are not supported"},
        {"a: 1\nb: 2\na: 3\n", "line 3, column 1: duplicate key \"a\""},
        {"a: 1\n\"a\": 3\n", "line 2, column 1: duplicate key \"a\""},
        {"x:\n- a: 1\n  a: 2\n", "line 3, column 3: duplicate key \"a\""},
        {"? [a]\n: 1\n", "line 1, column 3: a key must be a scalar"},
        {"{a: 1}: 2\n", "line 1, column 1: a key must be a scalar"},
        {"<<: {a: 1}\n", "line 1, column 1: merge keys (<<) are not supported"},
        {"~: 1\n", "line 1, column 1: a key must not be null"},
        {"? \n: 1\n", "line 1, column 2: a key must not be null"},
        {"a: \x01\n", "line 1, column 4: a control character (to be escaped in double quotes)"},
        {"a: b\nc: \x7F\n",
         "line 2, column 4: a control character (to be escaped in double quotes)"},
        {"# \xC2\x84\n", "line 1, column 3: a control character (to be escaped in double quotes)"},
        {"a: \"\\0\"\n", "line 1, column 4: a NUL character in a string"},
        {"\"\\0\": 1\n", "line 1, column 1: a NUL character in a string"},
        {"a: .inf\n", "line 1, column 4: a number that is infinite or none"},
        {"- 1\n- .NaN\n", "line 2, column 3: a number that is infinite or none"},
        {"a: 1e999\n", "line 1, column 4: a number that is infinite or none"},
        {"a: b\n\xFF\n", "line 2, column 1: bytes that are not UTF-8"},
        {"a: \xED\xA0\x80\n", "line 1, column 4: bytes that are not UTF-8"},
        {"\xFF\xFE"
         "a\n",
         "line 1, column 1: bytes that are not UTF-8"},
    };
    expect_table(cases, sizeof(cases) / sizeof(cases[0]));
    expect_parse("a: b\0c\n", 7, "line 1, column 5: a NUL character");
    expect_parse("\xFE\xFF\0a", 4, "line 1, column 1: bytes that are not UTF-8");
}

/* The words are libyaml's here; what matters is that the place is named. */
static void test_syntax_errors_name_the_place(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        {"a: [1, 2\n", "line 2, column 1: "},    {"a: b: c\n", "line 1, column 5: "},
        {"a: 1\n b: 2\n", "line 2, column 3: "}, {"\ta: 1\n", "line 1, column 1: "},
        {"a: \"x\n", "line 2, column 1: "},      {"a: @x\n", "line 1, column 4: "},
        {"a: 1\n- b\n", "line 2, column 1: "},   {"%YAML 3.0\n---\na\n", "line 1, column 1: "},
        {"a: \x01\n", "line 1, column 4: "},     {"ab: c\nd: \x7F\n", "line 2, column 4: "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct yaml_documents documents = {0};
        struct error err = {0};
        assert_int_equal(yaml_parse(cases[i].text, strlen(cases[i].text), &documents, &err),
                         -EINVAL);
        if (strncmp(err.text, cases[i].wanted, strlen(cases[i].wanted)) != 0)
            fail_msg("%s: %s", cases[i].text, err.text);
        assert_int_equal(documents.count, 0);
    }
}

static int parse_nested(const char *open, unsigned int depth, const char *close)
{
    cleanup_buf struct buf buf = BUF_INIT(1 << 20);
    cleanup_yaml_documents struct yaml_documents documents = {0};
    for (unsigned int i = 0; i < depth; i++)
        assert_int_equal(buf_append_str(&buf, open), 0);
    for (unsigned int i = 0; i < depth; i++)
        assert_int_equal(buf_append_str(&buf, close), 0);
    return yaml_parse(buf.data, buf.len, &documents, NULL);
}

static void test_depth(void **state)
{
    (void)state;
    assert_int_equal(parse_nested("[", MAX_YAML_DEPTH, "]"), 0);
    assert_int_equal(parse_nested("[", MAX_YAML_DEPTH + 1, "]"), -EINVAL);
    assert_int_equal(parse_nested("{\"a\":[", MAX_YAML_DEPTH / 2, "]}"), 0);
    assert_int_equal(parse_nested("{\"a\":[", MAX_YAML_DEPTH / 2 + 1, "]}"), -EINVAL);
    uint64_t start_ns = clock_monotonic_ns();
    assert_int_equal(parse_nested("[", 400000, ""), -EINVAL);
    assert_int_equal(parse_nested("{", 400000, ""), -EINVAL);
    assert_int_equal(parse_nested("- ", 200000, "a"), -EINVAL);
    assert_int_equal(parse_nested("? ", 200000, "a"), -EINVAL);
    assert_true(clock_monotonic_ns() - start_ns < UINT64_C(5000000000));
}

static void test_document_count(void **state)
{
    (void)state;
    cleanup_buf struct buf buf = BUF_INIT(1 << 20);
    for (unsigned int i = 0; i < MAX_YAML_DOCUMENTS; i++)
        assert_int_equal(buf_append_str(&buf, "---\na\n---\n"), 0); /* empty ones don't count */
    cleanup_yaml_documents struct yaml_documents documents = {0};
    assert_int_equal(yaml_parse(buf.data, buf.len, &documents, NULL), 0);
    assert_int_equal(documents.count, MAX_YAML_DOCUMENTS);
    assert_int_equal(buf_append_str(&buf, "a\n"), 0);
    struct error err = {0};
    struct yaml_documents none = {0};
    assert_int_equal(yaml_parse(buf.data, buf.len, &none, &err), -EINVAL);
    assert_non_null(strstr(err.text, "more than 256 documents"));
}

static void test_size(void **state)
{
    (void)state;
    size_t len = MAX_YAML_BYTES + 1;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, 'a', len);
    cleanup_yaml_documents struct yaml_documents documents = {0};
    struct error err = {0};
    assert_int_equal(yaml_parse(text, len, &documents, &err), -EFBIG);
    assert_string_equal(err.text, "4194305 bytes of YAML, more than the limit of 4194304");
    assert_int_equal(yaml_parse(text, len - 1, &documents, &err), 0);
    assert_int_equal(strlen(documents.trees[0]->valuestring), len - 1);
    free(text);
}

static void test_large_mapping_is_not_quadratic(void **state)
{
    (void)state;
    cleanup_buf struct buf buf = BUF_INIT(4 << 20);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(buf_printf(&buf, "some-common-prefix-%d: 0\n", i), 0);
    cleanup_yaml_documents struct yaml_documents documents = {0};
    uint64_t start_ns = clock_monotonic_ns();
    assert_int_equal(yaml_parse(buf.data, buf.len, &documents, NULL), 0);
    assert_true(clock_monotonic_ns() - start_ns < UINT64_C(10000000000));
    assert_int_equal(buf_append_str(&buf, "some-common-prefix-500: 1\n"), 0);
    struct yaml_documents none = {0};
    struct error err = {0};
    assert_int_equal(yaml_parse(buf.data, buf.len, &none, &err), -EINVAL);
    assert_string_equal(err.text,
                        "line 100001, column 1: duplicate key \"some-common-prefix-500\"");
}

/* Our own allocations and cJSON's fail one after the other. */
static void test_no_memory(void **state)
{
    (void)state;
    static const char *const texts[] = {"a: [1, two, {b: ~}]\nc: true\n---\nd: 1\n",
                                        "{\"a\":1,\"b\":[]}"};
    cJSON_Hooks hooks = {.malloc_fn = failing_malloc, .free_fn = free};
    cJSON_InitHooks(&hooks);
    for (size_t i = 0; i < 2; i++) {
        int fails = 0, r = -ENOMEM;
        for (; r == -ENOMEM; fails++) {
            struct yaml_documents documents = {0};
            failing_malloc_after(fails);
            r = yaml_parse(texts[i], strlen(texts[i]), &documents, NULL);
            failing_malloc_after(-1);
            assert_true(r == 0 || documents.count == 0);
            yaml_documents_done(&documents);
        }
        assert_int_equal(r, 0);
        assert_true(fails > 5);
    }
    cJSON_InitHooks(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_json_is_yaml),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_syntax_errors_name_the_place),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_document_count),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_large_mapping_is_not_quadratic),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
