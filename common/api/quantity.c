/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_QUANTITY_TEXT 64
#define MAX_EXPONENT      999
/* The largest that apimachinery keeps exact, and the largest power of ten below 2^63. */
#define MAX_VALUE     ((uint64_t)INT64_MAX)
#define MANTISSA_FULL 1000000000000000000ull

/* value = mantissa * 10^exp10 * 2^shift, plus a little if inexact */
struct decimal {
    uint64_t mantissa;
    int exp10;
    int shift;
    bool inexact;
    bool negative;
};

struct suffix {
    const char *text;
    int exp10;
    int shift;
};

static const struct suffix suffixes[] = {
    {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

/* Nineteen digits are kept; what is behind them can only say "a little more". */
static void decimal_add_digit(struct decimal *value, unsigned int digit, bool fraction)
{
    if (value->mantissa < MANTISSA_FULL) {
        value->mantissa = value->mantissa * 10 + digit;
        value->exp10 -= fraction ? 1 : 0;
    } else {
        value->inexact |= digit != 0;
        value->exp10 += fraction ? 0 : 1;
    }
}

static int parse_digits(const char **text, struct decimal *value)
{
    const char *p = *text;
    bool fraction = false;
    bool any = false;
    for (;; p++) {
        if (*p == '.' && !fraction) {
            fraction = true;
        } else if (isdigit((unsigned char)*p)) {
            decimal_add_digit(value, (unsigned int)(*p - '0'), fraction);
            any = true;
        } else {
            break;
        }
    }
    *text = p;
    return any ? 0 : -EINVAL;
}

static int parse_exponent(const char *text, struct decimal *value)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    if (!*text)
        return -EINVAL;
    int exponent = 0;
    for (; *text; text++) {
        if (!isdigit((unsigned char)*text))
            return -EINVAL;
        if (exponent <= MAX_EXPONENT)
            exponent = exponent * 10 + (*text - '0');
    }
    if (exponent > MAX_EXPONENT)
        return -ERANGE;
    value->exp10 += negative ? -exponent : exponent;
    return 0;
}

static int parse_suffix(const char *text, struct decimal *value)
{
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (strcmp(text, suffixes[i].text) == 0) {
            value->exp10 += suffixes[i].exp10;
            value->shift = suffixes[i].shift;
            return 0;
        }
    }
    if (*text == 'e' || *text == 'E')
        return parse_exponent(text + 1, value);
    return -EINVAL;
}

/* Rounds up to a whole number. */
static int decimal_to_u64(const struct decimal *value, uint64_t *ret_value)
{
    /* mantissa < 10^19 < 2^64 and shift <= 60: fits. */
    unsigned __int128 v = (unsigned __int128)value->mantissa << value->shift;
    bool more = value->inexact;
    int exp10 = value->exp10;
    for (; exp10 > 0 && v > 0; exp10--) {
        if (v > MAX_VALUE)
            return -ERANGE;
        v *= 10;
    }
    for (; exp10 < 0 && v > 0; exp10++) {
        more |= v % 10 != 0;
        v /= 10;
    }
    v += more ? 1 : 0;
    if (v > MAX_VALUE)
        return -ERANGE;
    if (value->negative && v > 0)
        return -ERANGE;
    *ret_value = (uint64_t)v;
    return 0;
}

static int quantity_parse(const char *text, int unit_exp10, uint64_t *ret_value)
{
    if (strnlen(text, MAX_QUANTITY_TEXT + 1) > MAX_QUANTITY_TEXT)
        return -EINVAL;
    struct decimal value = {.exp10 = unit_exp10, .negative = *text == '-'};
    if (*text == '-' || *text == '+')
        text++;
    int r = parse_digits(&text, &value);
    if (r < 0)
        return r;
    r = parse_suffix(text, &value);
    if (r < 0)
        return r;
    return decimal_to_u64(&value, ret_value);
}

int quantity_parse_bytes(const char *text, uint64_t *ret_bytes)
{
    return quantity_parse(text, 0, ret_bytes);
}

int quantity_parse_milli(const char *text, uint64_t *ret_milli)
{
    return quantity_parse(text, 3, ret_milli);
}

void quantity_format_bytes(uint64_t bytes, char ret_text[static QUANTITY_TEXT_SIZE])
{
    static const struct {
        const char *text;
        uint64_t unit;
    } units[] = {
        {"Ei", 1ull << 60},
        {"Pi", 1ull << 50},
        {"Ti", 1ull << 40},
        {"Gi", 1ull << 30},
        {"Mi", 1ull << 20},
        {"Ki", 1ull << 10},
        {"E", 1000000000000000000ull},
        {"P", 1000000000000000ull},
        {"T", 1000000000000ull},
        {"G", 1000000000ull},
        {"M", 1000000ull},
        {"k", 1000ull},
    };
    (void)snprintf(ret_text, QUANTITY_TEXT_SIZE, "%" PRIu64, bytes);
    if (bytes == 0)
        return;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (bytes % units[i].unit != 0)
            continue;
        char text[QUANTITY_TEXT_SIZE];
        (void)snprintf(text, sizeof(text), "%" PRIu64 "%s", bytes / units[i].unit, units[i].text);
        if (strlen(text) < strlen(ret_text))
            memcpy(ret_text, text, sizeof(text));
    }
}

void quantity_format_milli(uint64_t milli, char ret_text[static QUANTITY_TEXT_SIZE])
{
    if (milli % 1000 == 0)
        (void)snprintf(ret_text, QUANTITY_TEXT_SIZE, "%" PRIu64, milli / 1000);
    else
        (void)snprintf(ret_text, QUANTITY_TEXT_SIZE, "%" PRIu64 "m", milli);
}
