/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/kube/server_clock.h"
#include "tests/unit/common/cmocka_setup.h"

#include <string.h>

#define S     INT64_C(1000000)
#define NS(s) ((uint64_t)(s)*UINT64_C(1000000000))

/* 2026-11-29T22:17:14Z */
#define DATE    "date: Sun, 29 Nov 2026 22:17:14 GMT\r\n"
#define DATE_US (INT64_C(1795990634) * S)

static void hear(struct server_clock *clock, const char *line, uint64_t monotonic_ns)
{
    /* Not terminated, as libcurl gives it. */
    char *bytes = malloc(strlen(line) + 1);
    assert_non_null(bytes);
    memcpy(bytes, line, strlen(line));
    server_clock_hear(clock, bytes, strlen(line), monotonic_ns);
    free(bytes);
}

static void test_goes_on_from_the_last_answer(void **state)
{
    (void)state;
    struct server_clock clock = {0};
    assert_int_equal(server_clock_now_us(&clock, NS(5)), 0);
    hear(&clock, DATE, NS(10));
    assert_int_equal(server_clock_now_us(&clock, NS(10)), DATE_US);
    assert_int_equal(server_clock_now_us(&clock, NS(75)), DATE_US + 65 * S);
    hear(&clock, "Date: Sun, 29 Nov 2026 21:17:14 GMT\r\n", NS(80));
    assert_int_equal(server_clock_now_us(&clock, NS(81)), DATE_US - 3599 * S);
}

static void test_other_lines_say_nothing(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "\r\n",
        "d",
        "date",
        "date:",
        "date:\r\n",
        "date: yesterday\r\n",
        "dated: 1\r\n",
        "date: Thu, 01 Jan 1970 00:00:00 GMT\r\n",
        "HTTP/2 200\r\n",
        "last-modified: Sun, 29 Nov 2026 22:17:14 GMT\r\n",
        "date: Sun, 29 Nov 2026 22:17:14 GMT, and whatever may be said beside that, at length\r\n",
    };
    struct server_clock clock = {0};
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        hear(&clock, lines[i], NS(10));
        if (server_clock_now_us(&clock, NS(10)) != 0)
            fail_msg("\"%s\"", lines[i]);
    }
    hear(&clock, DATE, NS(10));
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        hear(&clock, lines[i], NS(20));
    assert_int_equal(server_clock_now_us(&clock, NS(20)), DATE_US + 10 * S);
}

static void test_what_is_dated(void **state)
{
    (void)state;
    static const struct {
        int64_t server_us, wall_us, date_us;
    } cases[] = {
        {DATE_US, DATE_US + S / 3, DATE_US + S / 3},
        {DATE_US, DATE_US - 2 * S, DATE_US - 2 * S},
        {DATE_US, DATE_US + 2 * S, DATE_US + 2 * S},
        {DATE_US, DATE_US + 2 * S + 1, DATE_US},
        {DATE_US, DATE_US - 2 * S - 1, DATE_US},
        {DATE_US, 0, DATE_US},
        {0, DATE_US, DATE_US},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(server_clock_date_us(cases[i].server_us, cases[i].wall_us),
                         cases[i].date_us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_on_from_the_last_answer),
        cmocka_unit_test(test_other_lines_say_nothing),
        cmocka_unit_test(test_what_is_dated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
