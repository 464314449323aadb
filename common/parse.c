/* SPDX-License-Identifier: Apache-2.0 */
#include "common/parse.h"

#include "common/utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DNS_SUBDOMAIN = 253, MAX_DNS_LABEL = 63 };

/* Reads the digits at *text and moves it behind them. */
static int parse_digits(const char **text, uint64_t *ret_value)
{
    const char *p = *text;
    uint64_t value = 0;
    bool overflow = false;
    for (; *p >= '0' && *p <= '9'; p++) {
        overflow |= __builtin_mul_overflow(value, 10u, &value);
        overflow |= __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value);
    }
    if (p == *text)
        return -EINVAL;
    *text = p;
    if (overflow)
        return -ERANGE;
    *ret_value = value;
    return 0;
}

int parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;
    int r = parse_digits(&text, &value);
    if (r == -EINVAL || *text != '\0')
        return -EINVAL;
    if (r < 0 || value < min || value > max)
        return -ERANGE;
    *ret_value = value;
    return 0;
}

int parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret_value)
{
    bool negative = text[0] == '-';
    if (negative)
        text++;
    uint64_t magnitude = 0;
    int r = parse_digits(&text, &magnitude);
    if (r == -EINVAL || *text != '\0')
        return -EINVAL;
    if (r < 0 || magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return -ERANGE;
    int64_t value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    if (value < min || value > max)
        return -ERANGE;
    *ret_value = value;
    return 0;
}

int parse_double(const char *text, double *ret_value)
{
    /* strtod() also takes white space, hexadecimal, "inf" and "nan". */
    if (text[0] == '\0' || strspn(text, "0123456789+-.eE") != strlen(text))
        return -EINVAL;
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || *end != '\0')
        return -EINVAL;
    if (!isfinite(value))
        return -ERANGE;
    *ret_value = value;
    return 0;
}

int parse_duration_ms(const char *text, uint64_t *ret_ms)
{
    static const struct {
        const char *unit;
        uint64_t ms;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}};

    uint64_t value = 0;
    int r = parse_digits(&text, &value);
    if (r == -EINVAL)
        return r;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text, units[i].unit) != 0)
            continue;
        if (r < 0 || __builtin_mul_overflow(value, units[i].ms, &value))
            return -ERANGE;
        *ret_ms = value;
        return 0;
    }
    return -EINVAL;
}

static bool parse_is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Labels joined by dots; each begins and ends with a letter or digit. Kubernetes bounds the
 * length of a subdomain as a whole only. */
static bool parse_is_dns_name(const char *text, size_t max, bool dots)
{
    size_t len = strnlen(text, max + 1);
    if (len == 0 || len > max)
        return false;
    bool at_edge = true; /* the previous byte was a dot, or there is none */
    for (size_t i = 0; i < len; i++) {
        bool alphanumeric = parse_is_alphanumeric(text[i]);
        bool last = i + 1 == len || text[i + 1] == '.';
        if (text[i] == '.' && dots && !at_edge) {
            at_edge = true;
            continue;
        }
        if (!alphanumeric && (text[i] != '-' || at_edge || last))
            return false;
        at_edge = false;
    }
    return !at_edge;
}

bool parse_is_dns_subdomain(const char *text)
{
    return parse_is_dns_name(text, MAX_DNS_SUBDOMAIN, true);
}

bool parse_is_dns_label(const char *text)
{
    return parse_is_dns_name(text, MAX_DNS_LABEL, false);
}

bool parse_is_utf8(const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    while (len > 0) {
        size_t step = p[0] < 0x80 ? 1 : utf8_decode(p, len, NULL);
        if (step == 0)
            return false;
        p += step;
        len -= step;
    }
    return true;
}
