/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/kube/framer.h"

#include <errno.h>
#include <string.h>

/* Writes what it is given as "<line>" or, oversized, as "!line!". */
static int collect(const char *line, size_t len, bool oversized, void *arg)
{
    struct buf *out = arg;

    assert_int_equal(buf_append_char(out, oversized ? '!' : '<'), 0);
    assert_int_equal(buf_append(out, line, len), 0);
    assert_int_equal(buf_append_char(out, oversized ? '!' : '>'), 0);
    return 0;
}

struct framer_case {
    const char *in;
    size_t max;
    const char *out;
};

static const struct framer_case cases[] = {
    {"", 8, ""},
    {"one\ntwo\n", 8, "<one><two>"},
    {"one\r\ntwo\r\n", 8, "<one><two>"},
    {"\n\n\r\none\n\n", 8, "<one>"},
    {"one\nhalf", 8, "<one>"},
    {"12345678\nx\n", 8, "<12345678><x>"},
    {"123456789\nx\n", 8, "!12345678!<x>"},
    {"1234567890123456789012345\nx\n1234567890\n", 8, "!12345678!<x>!12345678!"},
    {"123456789", 8, "!12345678!"},
    {"h\xc3\xa4lf\n", 8, "<h\xc3\xa4lf>"},
    {"a\nb\nc\nd\ne\nf\n", 1, "<a><b><c><d><e><f>"},
};

/* Every line must come out the same whatever the pieces it came in. */
static void test_every_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t len = strlen(cases[i].in);
        for (size_t first = 0; first <= len; first++) {
            for (size_t second = first; second <= len; second++) {
                cleanup_buf struct buf out = BUF_INIT(1024);
                struct framer framer;
                framer_init(&framer, cases[i].max, collect, &out);
                assert_int_equal(framer_feed(&framer, cases[i].in, first), 0);
                assert_int_equal(framer_feed(&framer, cases[i].in + first, second - first), 0);
                assert_int_equal(framer_feed(&framer, cases[i].in + second, len - second), 0);
                assert_string_equal(buf_str(&out), cases[i].out);
                framer_done(&framer);
            }
        }
    }
}

static int refuse(const char *line, size_t len, bool oversized, void *arg)
{
    unsigned int *count = arg;

    (void)line;
    (void)len;
    (void)oversized;
    ++*count;
    return -ECANCELED;
}

static void test_a_refusal_ends_the_feeding(void **state)
{
    (void)state;
    unsigned int count = 0;
    struct framer framer;

    framer_init(&framer, 4, refuse, &count);
    assert_int_equal(framer_feed(&framer, "a\nb\n", 4), -ECANCELED);
    assert_int_equal(count, 1);
    assert_int_equal(framer_feed(&framer, "oversized", 9), -ECANCELED);
    assert_int_equal(count, 2);
    framer_done(&framer);
}

static void test_reset_forgets_the_half_line(void **state)
{
    (void)state;
    cleanup_buf struct buf out = BUF_INIT(1024);
    struct framer framer;

    framer_init(&framer, 8, collect, &out);
    assert_int_equal(framer_feed(&framer, "half", 4), 0);
    framer_reset(&framer);
    assert_int_equal(framer_feed(&framer, "one\n", 4), 0);
    assert_int_equal(framer_feed(&framer, "far too long", 12), 0);
    framer_reset(&framer);
    assert_int_equal(framer_feed(&framer, "two\n", 4), 0);
    assert_string_equal(buf_str(&out), "<one>!far too !<two>");
    framer_done(&framer);
}

static void test_a_large_line_gives_its_memory_back(void **state)
{
    (void)state;
    static char large[100 * 1024];
    cleanup_buf struct buf out = BUF_INIT(1024 * 1024);
    struct framer framer;

    memset(large, 'x', sizeof(large));
    framer_init(&framer, 1024 * 1024, collect, &out);
    assert_int_equal(framer_feed(&framer, large, sizeof(large)), 0);
    assert_true(framer.rest.cap >= sizeof(large));
    assert_int_equal(framer_feed(&framer, "\n", 1), 0);
    assert_int_equal(out.len, sizeof(large) + 2);
    assert_null(framer.rest.data);
    framer_done(&framer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_split),
        cmocka_unit_test(test_a_refusal_ends_the_feeding),
        cmocka_unit_test(test_reset_forgets_the_half_line),
        cmocka_unit_test(test_a_large_line_gives_its_memory_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
