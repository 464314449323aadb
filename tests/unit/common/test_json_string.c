/* SPDX-License-Identifier: Apache-2.0 */
#include "common/json_string.h"
#include "common/parse.h"
#include "common/random.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *text;
    const char *json;
} cases[] = {
    {"", "\"\""},
    {"abc", "\"abc\""},
    {"\"\\/", "\"\\\"\\\\/\""},
    {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
    {"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\""},
    {"<&>", "\"\\u003c\\u0026\\u003e\""},
    {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\x8D", "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\x8D\""},
    {"\xE2\x80\xA8\xE2\x80\xA9", "\"\\u2028\\u2029\""},
    {"a\xFFz", "\"a\xEF\xBF\xBDz\""},
    {"\xE2\x82", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {"\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
};

static void test_append_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cleanup_buf struct buf buf = BUF_INIT(100);
        size_t len = strlen(cases[i].text);
        assert_int_equal(json_append_string(&buf, cases[i].text, len), 0);
        assert_string_equal(buf_str(&buf), cases[i].json);
        assert_int_equal(json_string_size(cases[i].text, len), strlen(cases[i].json) - 2);
    }
    cleanup_buf struct buf buf = BUF_INIT(100);
    assert_int_equal(json_append_string(&buf, "a\0b", 3), 0);
    assert_string_equal(buf_str(&buf), "\"a\\u0000b\"");
}

static void test_append_beyond_the_maximum(void **state)
{
    (void)state;
    char storage[8] = "";
    struct buf buf = BUF_FIXED(storage);
    assert_int_equal(buf_append_str(&buf, "ab"), 0);
    assert_int_equal(json_append_string(&buf, "1234", 4), -EMSGSIZE);
    assert_string_equal(storage, "ab");
    assert_int_equal(json_append_string(&buf, "123", 3), 0);
    assert_string_equal(storage, "ab\"123\"");
}

static void test_append_members(void **state)
{
    (void)state;
    char storage[40] = "";
    struct buf buf = BUF_FIXED(storage);
    assert_int_equal(buf_append_char(&buf, '{'), 0);
    assert_int_equal(json_append_member(&buf, "a", "1\"{"), 0);
    assert_int_equal(json_append_member(&buf, "b", "{"), 0);
    assert_int_equal(buf_append_str(&buf, ",\"c\":{"), 0);
    assert_int_equal(json_append_member(&buf, "d", ""), 0);
    assert_string_equal(storage, "{\"a\":\"1\\\"{\",\"b\":\"{\",\"c\":{\"d\":\"\"");
    /* The key has room, the text hasn't. */
    assert_int_equal(json_append_member(&buf, "e", "12345678"), -EMSGSIZE);
    assert_string_equal(storage, "{\"a\":\"1\\\"{\",\"b\":\"{\",\"c\":{\"d\":\"\"");
}

/* For random bytes: the size is what append writes, the result is UTF-8, and a prefix that fits
 * is the longest that does. */
static void test_properties_on_random_bytes(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        unsigned char seed[2];
        char bytes[3000];
        assert_int_equal(random_bytes(seed, sizeof(seed)), 0);
        size_t len = ((size_t)seed[0] << 8 | seed[1]) % (sizeof(bytes) + 1);
        assert_int_equal(random_bytes(bytes, len), 0);
        for (size_t i = 0; round % 2 && i < len; i++)
            bytes[i] = bytes[i] & 0x10 ? 'a' : bytes[i];

        cleanup_buf struct buf buf = BUF_INIT(SIZE_MAX);
        assert_int_equal(json_append_string(&buf, bytes, len), 0);
        size_t size = json_string_size(bytes, len);
        assert_int_equal(buf.len, size + 2);
        assert_true(parse_is_utf8(buf.data, buf.len));
        assert_int_equal(json_string_fit(bytes, len, size), len);

        size_t half = json_string_fit(bytes, len, size / 2);
        assert_true(json_string_size(bytes, half) <= size / 2);
        assert_true(half == len || json_string_size(bytes, half) + 6 > size / 2);
    }
}

static void test_fit_keeps_characters_whole(void **state)
{
    (void)state;
    static const char text[] = "a\xE2\x82\xAC<b";
    static const size_t fits[] = {0, 1, 1, 1, 4, 4, 4, 4, 4, 4, 5, 6, 6};
    for (size_t size = 0; size < sizeof(fits) / sizeof(fits[0]); size++)
        assert_int_equal(json_string_fit(text, 6, size), fits[size]);
}

static void test_quote_for_messages(void **state)
{
    (void)state;
    char quoted[JSON_QUOTE_SIZE], text[200];
    json_quote("a\x1b\"b", quoted);
    assert_string_equal(quoted, "\"a\\u001b\\\"b\"");
    json_quote("", quoted);
    assert_string_equal(quoted, "\"\"");
    memset(text, 1, sizeof(text));
    text[sizeof(text) - 1] = '\0';
    json_quote(text, quoted);
    assert_true(strlen(quoted) < JSON_QUOTE_SIZE && strlen(quoted) > 60);
    assert_string_equal(quoted + strlen(quoted) - 4, "\"...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append_table),
        cmocka_unit_test(test_append_beyond_the_maximum),
        cmocka_unit_test(test_append_members),
        cmocka_unit_test(test_properties_on_random_bytes),
        cmocka_unit_test(test_fit_keeps_characters_whole),
        cmocka_unit_test(test_quote_for_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
