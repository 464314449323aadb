/* SPDX-License-Identifier: Apache-2.0 */
#include "common/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>

/*
 * Calendar arithmetic is our own: gmtime_r() and timegm() read the time zone files of whatever
 * file system the process is in.
 */
#define NS_PER_SECOND   UINT64_C(1000000000)
#define US_PER_SECOND   INT64_C(1000000)
#define SECONDS_PER_DAY INT64_C(86400)

/* 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z: what four digits can say. */
#define MIN_TEXT_US (INT64_C(-62167219200) * US_PER_SECOND)
#define MAX_TEXT_US (INT64_C(253402300800) * US_PER_SECOND - 1)

struct clock_date {
    int64_t year;
    unsigned int month, day;
};

static uint64_t clock_read_ns(clockid_t id)
{
    struct timespec now = {0};
    (void)clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t clock_boottime_ns(void)
{
    return clock_read_ns(CLOCK_BOOTTIME);
}

uint64_t clock_monotonic_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

int64_t clock_realtime_us(void)
{
    return (int64_t)(clock_read_ns(CLOCK_REALTIME) / 1000u);
}

int clock_set_timer(int timer_fd, uint64_t boottime_ns)
{
    const struct itimerspec spec = {
        .it_value = {.tv_sec = (time_t)(boottime_ns / NS_PER_SECOND),
                     .tv_nsec = (long)(boottime_ns % NS_PER_SECOND)},
    };
    return timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &spec, NULL) < 0 ? -errno : 0;
}

/*
 * Days since 1970-01-01 in the proleptic Gregorian calendar. Years begin in March here, so that
 * the leap day is the last of its year, and repeat every 400 years of 146097 days.
 */
static int64_t clock_days_from_date(struct clock_date date)
{
    int64_t year = date.year - (date.month <= 2 ? 1 : 0);
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t month = (date.month + 9) % 12;
    int64_t day_of_year = (153 * month + 2) / 5 + (int64_t)date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static struct clock_date clock_date_from_days(int64_t days)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    struct clock_date date = {
        .year = year_of_era + era * 400 + (month >= 10 ? 1 : 0),
        .month = (unsigned int)(month < 10 ? month + 3 : month - 9),
        .day = (unsigned int)(day_of_year - (153 * month + 2) / 5 + 1),
    };
    return date;
}

void clock_format_micro(int64_t unix_us, char ret_text[static CLOCK_TEXT_SIZE])
{
    if (unix_us < MIN_TEXT_US)
        unix_us = MIN_TEXT_US;
    if (unix_us > MAX_TEXT_US)
        unix_us = MAX_TEXT_US;
    int64_t since_year_zero = unix_us - MIN_TEXT_US;
    int64_t seconds = since_year_zero / US_PER_SECOND;
    int64_t second_of_day = seconds % SECONDS_PER_DAY;
    struct clock_date date = clock_date_from_days(seconds / SECONDS_PER_DAY +
                                                  MIN_TEXT_US / US_PER_SECOND / SECONDS_PER_DAY);
    (void)snprintf(ret_text, CLOCK_TEXT_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%06uZ",
                   (unsigned int)date.year, date.month, date.day,
                   (unsigned int)(second_of_day / 3600), (unsigned int)(second_of_day / 60 % 60),
                   (unsigned int)(second_of_day % 60),
                   (unsigned int)(since_year_zero % US_PER_SECOND));
}

/* Exactly count digits at *text, then the byte `after` unless that is NUL. */
static bool clock_take_number(const char **text, unsigned int count, char after,
                              unsigned int *ret_value)
{
    const char *p = *text;
    unsigned int value = 0;
    for (unsigned int i = 0; i < count; i++, p++) {
        if (*p < '0' || *p > '9')
            return false;
        value = value * 10 + (unsigned int)(*p - '0');
    }
    if (after) {
        bool letter = after == 'T' && *p == 't';
        if (*p != after && !letter)
            return false;
        p++;
    }
    *ret_value = value;
    *text = p;
    return true;
}

/* ".digits", cut behind the microseconds; absent is zero. */
static bool clock_take_fraction(const char **text, unsigned int *ret_us)
{
    const char *p = *text;
    *ret_us = 0;
    if (*p != '.')
        return true;
    p++;
    if (*p < '0' || *p > '9')
        return false;
    unsigned int weight = 100000;
    for (; *p >= '0' && *p <= '9'; p++, weight /= 10)
        *ret_us += weight * (unsigned int)(*p - '0');
    *text = p;
    return true;
}

/* "Z" or "+hh:mm" or "-hh:mm" up to the end of the text. */
static bool clock_take_zone(const char *text, int64_t *ret_offset_seconds)
{
    if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0) {
        *ret_offset_seconds = 0;
        return true;
    }
    if (*text != '+' && *text != '-')
        return false;
    int64_t sign = *text == '-' ? -1 : 1;
    unsigned int hours = 0, minutes = 0;
    text++;
    if (!clock_take_number(&text, 2, ':', &hours) || !clock_take_number(&text, 2, '\0', &minutes))
        return false;
    if (*text != '\0' || hours > 23 || minutes > 59)
        return false;
    *ret_offset_seconds = sign * (int64_t)(hours * 3600 + minutes * 60);
    return true;
}

static bool clock_date_is_valid(struct clock_date date)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (date.month < 1 || date.month > 12 || date.day < 1)
        return false;
    bool leap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0);
    unsigned int last = days[date.month - 1] + (date.month == 2 && leap ? 1u : 0u);
    return date.day <= last;
}

int clock_parse(const char *text, int64_t *ret_unix_us)
{
    unsigned int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, us = 0;
    int64_t offset_seconds = 0;
    bool complete =
        clock_take_number(&text, 4, '-', &year) && clock_take_number(&text, 2, '-', &month) &&
        clock_take_number(&text, 2, 'T', &day) && clock_take_number(&text, 2, ':', &hour) &&
        clock_take_number(&text, 2, ':', &minute) && clock_take_number(&text, 2, '\0', &second) &&
        clock_take_fraction(&text, &us) && clock_take_zone(text, &offset_seconds);
    struct clock_date date = {.year = year, .month = month, .day = day};
    if (!complete || !clock_date_is_valid(date) || hour > 23 || minute > 59 || second > 59)
        return -EINVAL;
    int64_t seconds = clock_days_from_date(date) * SECONDS_PER_DAY +
                      (int64_t)(hour * 3600 + minute * 60 + second) - offset_seconds;
    *ret_unix_us = seconds * US_PER_SECOND + us;
    return 0;
}
