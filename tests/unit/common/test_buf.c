/* SPDX-License-Identifier: Apache-2.0 */
#include "common/buf.h"
#include "failing_malloc.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void test_empty_buffer_is_the_empty_string(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT(10);
    assert_string_equal(buf_str(&buf), "");
    buf_reset(&buf);
    buf_consume(&buf, 5);
    buf_truncate(&buf, 0);
    buf_commit(&buf, 5);
    assert_int_equal(buf.len, 0);
    buf_done(&buf);
    buf_done(NULL);
}

static void test_append_up_to_the_maximum(void **state)
{
    (void)state;
    cleanup_buf struct buf buf = BUF_INIT(5);
    assert_int_equal(buf_append(&buf, "abcde", 5), 0);
    assert_int_equal(buf_append(&buf, "", 0), 0);
    assert_int_equal(buf_append_char(&buf, 'f'), -EMSGSIZE);
    assert_int_equal(buf_append(&buf, "x", SIZE_MAX), -EMSGSIZE);
    assert_int_equal(buf_printf(&buf, "%d", 1), -EMSGSIZE);
    assert_null(buf_reserve(&buf, 1));
    assert_string_equal(buf_str(&buf), "abcde");
    assert_int_equal(buf.len, 5);
    assert_true(buf.cap <= 6);
}

static void test_maximum_of_zero_takes_nothing(void **state)
{
    (void)state;
    cleanup_buf struct buf buf = BUF_INIT(0);
    assert_int_equal(buf_append(&buf, NULL, 0), 0);
    assert_int_equal(buf_append_char(&buf, 'a'), -EMSGSIZE);
    assert_string_equal(buf_str(&buf), "");
}

static void test_unbounded_maximum_does_not_overflow(void **state)
{
    (void)state;
    cleanup_buf struct buf buf = BUF_INIT(SIZE_MAX);
    assert_int_equal(buf_append_str(&buf, "abc"), 0);
    assert_int_equal(buf_append(&buf, "x", SIZE_MAX - 3), -ENOMEM);
    assert_int_equal(buf_append(&buf, "x", SIZE_MAX), -EMSGSIZE);
    assert_string_equal(buf_str(&buf), "abc");
}

static void test_growth_keeps_content_and_nul(void **state)
{
    (void)state;
    cleanup_buf struct buf buf = BUF_INIT(100000);
    for (int i = 0; i < 100000; i++) {
        assert_int_equal(buf_append_char(&buf, (char)('a' + i % 26)), 0);
        assert_int_equal(buf.data[buf.len], '\0');
    }
    assert_int_equal(buf.len, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(buf.data[i], 'a' + i % 26);
    assert_true(buf.cap <= 100001);
}

static void test_printf_formats_into_room_and_beyond(void **state)
{
    (void)state;
    cleanup_buf struct buf buf = BUF_INIT(1000);
    assert_int_equal(buf_printf(&buf, "%s-%d", "a", 7), 0);
    assert_string_equal(buf_str(&buf), "a-7");
    assert_int_equal(buf_printf(&buf, "%0500d", 1), 0);
    assert_int_equal(buf.len, 503);
    assert_int_equal(buf.data[502], '1');
    assert_int_equal(buf_printf(&buf, "%0500d", 1), -EMSGSIZE);
    assert_int_equal(buf.len, 503);
    assert_int_equal(strlen(buf.data), 503);
    assert_int_equal(buf_printf(&buf, "%s", ""), 0);
}

/* Exactly the capacity: the NUL must not be lost. */
static void test_printf_at_the_edge_of_capacity(void **state)
{
    (void)state;
    for (int len = 60; len < 70; len++) {
        cleanup_buf struct buf buf = BUF_INIT(1000);
        assert_int_equal(buf_append_char(&buf, 'x'), 0);
        assert_int_equal(buf_printf(&buf, "%0*d", len, 5), 0);
        assert_int_equal(strlen(buf.data), len + 1);
        assert_int_equal(buf.data[len], '5');
    }
}

static void test_u32le(void **state)
{
    (void)state;
    cleanup_buf struct buf buf = BUF_INIT(7);
    assert_int_equal(buf_append_u32le(&buf, 0x01020304), 0);
    assert_memory_equal(buf.data, "\x04\x03\x02\x01", 4);
    assert_int_equal(buf_append_u32le(&buf, 1), -EMSGSIZE);
    assert_int_equal(buf.len, 4);
}

static void test_reserve_and_commit(void **state)
{
    (void)state;
    cleanup_buf struct buf buf = BUF_INIT(8);
    char *room = buf_reserve(&buf, 8);
    assert_non_null(room);
    memcpy(room, "12345678", 8);
    buf_commit(&buf, 3);
    assert_string_equal(buf_str(&buf), "123");
    buf_commit(&buf, 1000); /* no more than the room there is */
    assert_int_equal(buf.len, 8);
}

static void test_consume_and_truncate(void **state)
{
    (void)state;
    cleanup_buf struct buf buf = BUF_INIT(20);
    assert_int_equal(buf_append_str(&buf, "0123456789"), 0);
    buf_consume(&buf, 0);
    assert_string_equal(buf_str(&buf), "0123456789");
    buf_consume(&buf, 4);
    assert_string_equal(buf_str(&buf), "456789");
    buf_truncate(&buf, 9);
    buf_truncate(&buf, 2);
    assert_string_equal(buf_str(&buf), "45");
    buf_consume(&buf, 3);
    assert_string_equal(buf_str(&buf), "");
    assert_int_equal(buf.len, 0);
}

static void test_take_gives_the_bytes_away(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT(20);
    char *empty = buf_take(&buf);
    assert_string_equal(empty, "");
    free(empty);
    assert_int_equal(buf_append_str(&buf, "abc"), 0);
    char *bytes = buf_take(&buf);
    assert_string_equal(bytes, "abc");
    free(bytes);
    assert_null(buf.data);
    assert_int_equal(buf.max, 20);
    assert_int_equal(buf_append_str(&buf, "d"), 0);
    buf_done(&buf);
    assert_int_equal(buf.max, 20);
}

static void test_fixed_buffer_never_allocates(void **state)
{
    (void)state;
    char storage[8] = "";
    struct buf buf = BUF_FIXED(storage);
    failing_malloc_after(0);
    int full = buf_append_str(&buf, "1234567");
    int beyond = buf_append_char(&buf, '8');
    int count = failing_malloc_count();
    failing_malloc_after(-1);
    assert_int_equal(full, 0);
    assert_int_equal(beyond, -EMSGSIZE);
    assert_int_equal(count, 0);
    assert_string_equal(storage, "1234567");
}

static void test_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    cleanup_buf struct buf buf = BUF_INIT(10000);
    static char many[500];
    assert_int_equal(buf_append_str(&buf, "abc"), 0);
    failing_malloc_after(0);
    int append = buf_append(&buf, many, sizeof(many));
    int print = buf_printf(&buf, "%0500d", 1);
    char *room = buf_reserve(&buf, 500);
    failing_malloc_after(-1);
    assert_int_equal(append, -ENOMEM);
    assert_int_equal(print, -ENOMEM);
    assert_null(room);
    assert_string_equal(buf_str(&buf), "abc");
    assert_int_equal(buf.len, 3);

    struct buf empty = BUF_INIT(10);
    failing_malloc_after(0);
    char *taken = buf_take(&empty);
    failing_malloc_after(-1);
    assert_null(taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_buffer_is_the_empty_string),
        cmocka_unit_test(test_append_up_to_the_maximum),
        cmocka_unit_test(test_maximum_of_zero_takes_nothing),
        cmocka_unit_test(test_unbounded_maximum_does_not_overflow),
        cmocka_unit_test(test_growth_keeps_content_and_nul),
        cmocka_unit_test(test_printf_formats_into_room_and_beyond),
        cmocka_unit_test(test_printf_at_the_edge_of_capacity),
        cmocka_unit_test(test_u32le),
        cmocka_unit_test(test_reserve_and_commit),
        cmocka_unit_test(test_consume_and_truncate),
        cmocka_unit_test(test_take_gives_the_bytes_away),
        cmocka_unit_test(test_fixed_buffer_never_allocates),
        cmocka_unit_test(test_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
