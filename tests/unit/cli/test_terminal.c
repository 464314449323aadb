/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/terminal.h"
#include "tests/unit/common/cmocka_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAD "\xEF\xBF\xBD"

static const struct {
    const char *bytes;
    size_t len;
    const char *shown;
} cases[] = {
#define CASE(bytes, shown)                                                                         \
    {                                                                                              \
        bytes, sizeof(bytes) - 1, shown                                                            \
    }
    CASE("plain text\n\ttab\rreturn", "plain text\n\ttab\rreturn"),
    CASE("\x1b[31mred\x1b[0m", "^[[31mred^[[0m"),
    CASE("\x1b]0;title\x07", "^[]0;title^G"),
    CASE("a\0b", "a^@b"),
    CASE("\x08\x7f", "^H^?"),
    CASE("\xc2\x9b"
         "2J",
         "<U+009B>2J"),
    CASE("\xc2\x80\xc2\x9f", "<U+0080><U+009F>"),
    CASE("\xc2\xa0", "\xc2\xa0"),
    CASE("\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80"),
    CASE("\x9b"
         "2J",
         BAD "2J"),
    CASE("\xff\xfe", BAD BAD),
    CASE("\xe2\x82", BAD),
    CASE("\xe2\x82x", BAD BAD "x"),
    CASE("\xe2\x1b[2J", BAD "^[[2J"),
    CASE("\xc0\xaf", BAD BAD),
    CASE("\xed\xa0\x80", BAD BAD BAD),
    CASE("\xf4\x90\x80\x80", BAD BAD BAD BAD),
};

/* However the bytes are cut into chunks, the same is shown. */
static void test_cases_in_chunks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t chunk = 1; chunk <= cases[i].len; chunk++) {
            struct terminal_filter filter = {0};
            cleanup_buf struct buf out = BUF_INIT(TERMINAL_FILTER_MAX(cases[i].len));
            for (size_t at = 0; at < cases[i].len; at += chunk) {
                size_t len = cases[i].len - at < chunk ? cases[i].len - at : chunk;
                assert_int_equal(terminal_filter_append(&filter, cases[i].bytes + at, len, &out),
                                 0);
            }
            assert_int_equal(terminal_filter_finish(&filter, &out), 0);
            if (strcmp(buf_str(&out), cases[i].shown) == 0)
                continue;
            fail_msg("case %zu in chunks of %zu: \"%s\"", i, chunk, buf_str(&out));
        }
    }
}

/* Whatever the bytes: no control byte but the three gets out, what gets out is UTF-8, and it is
 * no longer than promised. */
static void test_nothing_gets_through(void **state)
{
    (void)state;
    unsigned int seed = 12345;
    for (int round = 0; round < 20000; round++) {
        char bytes[24];
        for (size_t i = 0; i < sizeof(bytes); i++) {
            seed = seed * 1103515245u + 12345u;
            unsigned char random = (unsigned char)(seed >> 16);
            static const unsigned char picks[] = {0xc2, 0x9b, 0xe2, 0xf0, 0x1b, 0x80, 0xed};
            bytes[i] = (char)(random < 128 ? picks[random % 7] : random);
        }
        struct terminal_filter filter = {0};
        cleanup_buf struct buf out = BUF_INIT(TERMINAL_FILTER_MAX(sizeof(bytes)));
        assert_int_equal(terminal_filter_append(&filter, bytes, sizeof(bytes), &out), 0);
        assert_int_equal(terminal_filter_finish(&filter, &out), 0);
        for (size_t i = 0; i < out.len; i++) {
            unsigned char c = (unsigned char)out.data[i];
            assert_true(c >= 0x20 || c == '\n' || c == '\t' || c == '\r');
            assert_int_not_equal(c, 0x7f);
            if (c == 0xc2)
                assert_true((unsigned char)out.data[i + 1] >= 0xa0);
        }
    }
}

static void test_line(void **state)
{
    (void)state;
    cleanup_buf struct buf out = BUF_INIT(256);
    assert_int_equal(buf_append_str(&out, "x: "), 0);
    assert_int_equal(terminal_append_line("two\nlines\r\tand \x1b[1m", &out), 0);
    assert_string_equal(buf_str(&out), "x: two lines  and ^[[1m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases_in_chunks),
        cmocka_unit_test(test_nothing_gets_through),
        cmocka_unit_test(test_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
