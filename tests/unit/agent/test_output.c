/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/output.h"
#include "tests/unit/common/cmocka_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD MAX_STATUS_STREAM_HEAD
#define TAIL MAX_STATUS_STREAM_TAIL

/* Byte n of the test's stream; a prime period, so that no shift of a buffer's size goes unseen. */
static char byte_at(size_t n)
{
    return (char)('!' + n % 89);
}

static void fill(struct output *output, size_t total, size_t chunk)
{
    char *bytes = malloc(total + 1);
    for (size_t i = 0; i < total; i++)
        bytes[i] = byte_at(i);
    for (size_t at = 0; at < total; at += chunk)
        output_append(output, bytes + at, total - at < chunk ? total - at : chunk);
    free(bytes);
}

static void check(size_t total, size_t chunk)
{
    struct output *output = calloc(1, sizeof(*output));
    fill(output, total, chunk);
    assert_int_equal(output->total, total);
    char *text;
    size_t len;
    assert_int_equal(output_join(output, &text, &len), 0);
    assert_int_equal(text[len], '\0');
    if (total <= HEAD + TAIL) {
        assert_false(output_truncated(output));
        assert_int_equal(len, total);
        for (size_t i = 0; i < total; i++)
            assert_int_equal(text[i], byte_at(i));
    } else {
        char marker[64];
        int marker_len = snprintf(marker, sizeof(marker), "\n[... %zu bytes left out ...]\n",
                                  total - HEAD - TAIL);
        assert_true(output_truncated(output));
        assert_int_equal(len, HEAD + TAIL + marker_len);
        assert_memory_equal(text + HEAD, marker, (size_t)marker_len);
        for (size_t i = 0; i < HEAD; i++)
            assert_int_equal(text[i], byte_at(i));
        for (size_t i = 0; i < TAIL; i++)
            assert_int_equal(text[HEAD + (size_t)marker_len + i], byte_at(total - TAIL + i));
    }
    free(text);
    free(output);
}

static void test_lengths_and_chunks(void **state)
{
    (void)state;
    static const size_t totals[] = {
        0,
        1,
        HEAD - 1,
        HEAD,
        HEAD + 1,
        HEAD + TAIL - 1,
        HEAD + TAIL,
        HEAD + TAIL + 1,
        HEAD + 2u * TAIL,
        3u * HEAD + 7,
        1000003,
    };
    static const size_t chunks[] = {1, 7, 4096, TAIL, TAIL + 1, HEAD, 64u << 10, 1u << 20};
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
        for (size_t j = 0; j < sizeof(chunks) / sizeof(chunks[0]); j++)
            check(totals[i], chunks[j]);
}

/* A character that lies across the end of the head, or the start of the tail, is left out whole
 * and counted. */
static void test_characters_are_not_cut(void **state)
{
    (void)state;
    struct output *output = calloc(1, sizeof(*output));
    char *bytes = malloc(HEAD + TAIL + 16);
    size_t total = HEAD + TAIL + 10;
    memset(bytes, 'x', total);
    memcpy(bytes + HEAD - 1, "\xe2\x82\xac", 3);             /* one byte in the head */
    memcpy(bytes + total - TAIL - 1, "\xf0\x9f\x98\x80", 4); /* three bytes in the tail */
    output_append(output, bytes, total);
    char *text;
    size_t len;
    assert_int_equal(output_join(output, &text, &len), 0);
    char marker[64];
    size_t marker_len =
        (size_t)snprintf(marker, sizeof(marker), "x\n[... %d bytes left out ...]\nx", 10 + 1 + 3);
    assert_memory_equal(text + HEAD - 2, marker, marker_len);
    assert_int_equal(len, HEAD - 1 + marker_len - 2 + TAIL - 3);
    free(text);

    /* Whole characters that end and begin exactly there stay, and so does what is no UTF-8. */
    memset(output, 0, sizeof(*output));
    memset(bytes, 'x', total);
    memcpy(bytes + HEAD - 3, "\xe2\x82\xac", 3);
    memcpy(bytes + total - TAIL, "\xe2\x82\xac", 3);
    output_append(output, bytes, total);
    assert_int_equal(output_join(output, &text, &len), 0);
    assert_memory_equal(text + HEAD - 3, "\xe2\x82\xac\n[... 10 bytes left out ...]\n\xe2\x82\xac",
                        3 + 29 + 3);
    free(text);

    memset(output, 0, sizeof(*output));
    memset(bytes, 0x80, total);
    output_append(output, bytes, total);
    assert_int_equal(output_join(output, &text, &len), 0);
    assert_true(len > HEAD + TAIL);
    free(text);
    free(bytes);
    free(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths_and_chunks),
        cmocka_unit_test(test_characters_are_not_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
