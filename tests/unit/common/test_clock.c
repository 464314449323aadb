/* SPDX-License-Identifier: Apache-2.0 */
#include "common/clock.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static void test_parse_table(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t us;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:00.000001Z", 1},
        {"1969-12-31T23:59:59.999999Z", -1},
        {"2026-11-29T22:17:14.123456Z", INT64_C(1795990634123456)},
        {"2026-11-29T22:17:14Z", INT64_C(1795990634000000)},
        {"2026-11-29t22:17:14z", INT64_C(1795990634000000)},
        {"2026-11-29T22:17:14.1Z", INT64_C(1795990634100000)},
        {"2026-11-29T22:17:14.1234567899Z", INT64_C(1795990634123456)},
        {"2026-11-30T00:17:14+02:00", INT64_C(1795990634000000)},
        {"2026-11-29T12:47:14-09:30", INT64_C(1795990634000000)},
        {"2000-02-29T00:00:00Z", INT64_C(951782400000000)},
        {"2100-03-01T00:00:00Z", INT64_C(4107542400000000)},
        {"0000-01-01T00:00:00Z", INT64_C(-62167219200000000)},
        {"9999-12-31T23:59:59.999999Z", INT64_C(253402300799999999)},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t us = 42;
        assert_int_equal(clock_parse(cases[i].text, &us), 0);
        if (us != cases[i].us)
            fail_msg("%s: %lld, not %lld", cases[i].text, (long long)us, (long long)cases[i].us);
    }
}

static void test_parse_refuses(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "2026",
        "2026-11-29",
        "2026-11-29T22:17:14",
        "2026-11-29 22:17:14Z",
        "2026-11-29T22:17Z",
        "2026-11-29T22:17:14.Z",
        "2026-11-29T22:17:14,5Z",
        "2026-11-29T22:17:14ZZ",
        "2026-11-29T22:17:14Z ",
        " 2026-11-29T22:17:14Z",
        "2026-11-29T22:17:14+0200",
        "2026-11-29T22:17:14+2:00",
        "2026-11-29T22:17:14+24:00",
        "2026-11-29T22:17:14+00:60",
        "2026-11-29T22:17:14+00:00x",
        "2026-11-29T24:00:00Z",
        "2026-11-29T23:60:00Z",
        "2026-11-29T23:59:60Z",
        "2026-00-10T00:00:00Z",
        "2026-13-10T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "-026-01-01T00:00:00Z",
        "+2026-01-01T00:00:00Z",
        "20260-1-01T00:00:00Z",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t us = 42;
        if (clock_parse(cases[i], &us) != -EINVAL || us != 42)
            fail_msg("taken: %s", cases[i]);
    }
}

static void test_format(void **state)
{
    (void)state;
    static const struct {
        int64_t us;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {INT64_C(1795990634123456), "2026-11-29T22:17:14.123456Z"},
        {INT64_MIN, "0000-01-01T00:00:00.000000Z"},
        {INT64_MAX, "9999-12-31T23:59:59.999999Z"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[CLOCK_TEXT_SIZE];
        clock_format_micro(cases[i].us, text);
        assert_string_equal(text, cases[i].text);
    }
}

/* Every day of ten thousand years: parse undoes format, and days follow each other. */
static void test_round_trip_of_every_day(void **state)
{
    (void)state;
    const int64_t day_us = INT64_C(86400) * 1000000;
    char previous[CLOCK_TEXT_SIZE] = "";
    for (int64_t us = INT64_C(-62167219200) * 1000000; us < INT64_C(253402300800) * 1000000;
         us += day_us) {
        char text[CLOCK_TEXT_SIZE];
        int64_t back = -1;
        clock_format_micro(us + 1234567, text);
        assert_int_equal(clock_parse(text, &back), 0);
        assert_true(back == us + 1234567);
        assert_true(strcmp(previous, text) < 0);
        memcpy(previous, text, sizeof(text));
    }
}

static void test_format_agrees_with_libc(void **state)
{
    (void)state;
    for (int64_t us = INT64_C(-3000000000000000); us < INT64_C(5000000000000000);
         us += INT64_C(7777777777777)) {
        char text[CLOCK_TEXT_SIZE], whole[CLOCK_TEXT_SIZE];
        time_t seconds = (time_t)(us / 1000000 - (us % 1000000 < 0));
        struct tm tm;
        assert_non_null(gmtime_r(&seconds, &tm));
        assert_true(strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", &tm) > 0);
        clock_format_micro(us, text);
        assert_memory_equal(text, whole, strlen(whole));
    }
}

static void test_clocks_run(void **state)
{
    (void)state;
    uint64_t before = clock_monotonic_ns(), boot = clock_boottime_ns();
    assert_true(before > 0 && boot > 0);
    struct timespec pause = {.tv_nsec = 2000000};
    (void)nanosleep(&pause, NULL);
    assert_true(clock_monotonic_ns() >= before + 2000000);
    assert_true(clock_boottime_ns() >= boot + 2000000);
    int64_t now_us = clock_realtime_us();
    assert_true(now_us / 1000000 - (int64_t)time(NULL) <= 1);
    assert_true((int64_t)time(NULL) - now_us / 1000000 <= 1);
}

static void test_a_timer_is_set_to_a_time(void **state)
{
    (void)state;
    int fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    struct itimerspec left;
    uint64_t expirations = 0;
    assert_int_equal(clock_set_timer(fd, clock_boottime_ns() + UINT64_C(3600000000000)), 0);
    assert_int_equal(timerfd_gettime(fd, &left), 0);
    assert_true(left.it_value.tv_sec > 3000 && left.it_value.tv_sec <= 3600);
    assert_int_equal(clock_set_timer(fd, 0), 0);
    assert_int_equal(timerfd_gettime(fd, &left), 0);
    assert_int_equal(left.it_value.tv_sec + left.it_value.tv_nsec, 0);
    assert_int_equal(clock_set_timer(fd, clock_boottime_ns()), 0);
    assert_int_equal(read(fd, &expirations, sizeof(expirations)), sizeof(expirations));
    assert_int_equal(expirations, 1);
    (void)close(fd);
    assert_int_equal(clock_set_timer(fd, 1), -EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_table),
        cmocka_unit_test(test_parse_refuses),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_round_trip_of_every_day),
        cmocka_unit_test(test_format_agrees_with_libc),
        cmocka_unit_test(test_clocks_run),
        cmocka_unit_test(test_a_timer_is_set_to_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
