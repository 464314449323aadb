/* SPDX-License-Identifier: Apache-2.0 */
#include "common/yaml_scalar.h"

#include "common/cleanup.h"
#include "common/parse.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { MAX_YAML_NUMBER = 127 };

struct yaml_word {
    const char *text;
    struct yaml_scalar scalar;
};

static const struct yaml_word yaml_words[] = {
    {"", {YAML_SCALAR_NULL, 0}},
    {"~", {YAML_SCALAR_NULL, 0}},
    {"null", {YAML_SCALAR_NULL, 0}},
    {"Null", {YAML_SCALAR_NULL, 0}},
    {"NULL", {YAML_SCALAR_NULL, 0}},
    {"true", {YAML_SCALAR_BOOL, 1}},
    {"True", {YAML_SCALAR_BOOL, 1}},
    {"TRUE", {YAML_SCALAR_BOOL, 1}},
    {"false", {YAML_SCALAR_BOOL, 0}},
    {"False", {YAML_SCALAR_BOOL, 0}},
    {"FALSE", {YAML_SCALAR_BOOL, 0}},
    {".inf", {YAML_SCALAR_NOT_FINITE, 0}},
    {".Inf", {YAML_SCALAR_NOT_FINITE, 0}},
    {".INF", {YAML_SCALAR_NOT_FINITE, 0}},
    {"+.inf", {YAML_SCALAR_NOT_FINITE, 0}},
    {"+.Inf", {YAML_SCALAR_NOT_FINITE, 0}},
    {"+.INF", {YAML_SCALAR_NOT_FINITE, 0}},
    {"-.inf", {YAML_SCALAR_NOT_FINITE, 0}},
    {"-.Inf", {YAML_SCALAR_NOT_FINITE, 0}},
    {"-.INF", {YAML_SCALAR_NOT_FINITE, 0}},
    {".nan", {YAML_SCALAR_NOT_FINITE, 0}},
    {".NaN", {YAML_SCALAR_NOT_FINITE, 0}},
    {".NAN", {YAML_SCALAR_NOT_FINITE, 0}},
};

static int yaml_digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Digits of one base up to the end of the text. Go reads 64 bits here; longer ones, such as
 * hashes, stay strings. */
static bool yaml_resolve_digits(const char *digits, unsigned int base, double *ret_value)
{
    uint64_t value = 0;
    if (*digits == '\0')
        return false;
    for (; *digits; digits++) {
        int digit = yaml_digit_value(*digits);
        if (digit < 0 || (unsigned int)digit >= base ||
            __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, (unsigned int)digit, &value))
            return false;
    }
    *ret_value = (double)value;
    return true;
}

/* 0x, 0o and 0b, and the octal numbers of YAML 1.1 with a leading zero: mode: 0644. */
static bool yaml_resolve_based(const char *text, double *ret_value)
{
    static const struct {
        const char *prefix;
        unsigned int base;
    } bases[] = {{"0x", 16}, {"0X", 16}, {"0o", 8}, {"0O", 8}, {"0b", 2}, {"0B", 2}, {"0", 8}};

    double sign = *text == '-' ? -1 : 1;
    if (*text == '-' || *text == '+')
        text++;
    for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
        size_t len = strlen(bases[i].prefix);
        if (strncmp(text, bases[i].prefix, len) != 0)
            continue;
        double value = 0;
        if (!yaml_resolve_digits(text + len, bases[i].base, &value))
            continue;
        *ret_value = sign * value;
        return true;
    }
    return false;
}

/* [-+]? digits, point and exponent; at least one digit, before or behind the point. */
static bool yaml_is_decimal(const char *text)
{
    const char *p = text + (*text == '-' || *text == '+');
    size_t whole = strspn(p, "0123456789"), fraction = 0;
    p += whole;
    if (*p == '.') {
        fraction = strspn(p + 1, "0123456789");
        p += 1 + fraction;
    }
    if (whole + fraction == 0)
        return false;
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '-' || *p == '+';
        size_t exponent = strspn(p, "0123456789");
        if (exponent == 0)
            return false;
        p += exponent;
    }
    return *p == '\0';
}

/* Underscores part digits: 1_000. */
static bool yaml_strip_underscores(const char *text, char ret_text[static MAX_YAML_NUMBER + 1])
{
    size_t len = 0;
    for (; *text; text++) {
        if (*text == '_')
            continue;
        if (len == MAX_YAML_NUMBER)
            return false;
        ret_text[len++] = *text;
    }
    ret_text[len] = '\0';
    return true;
}

struct yaml_scalar yaml_scalar_resolve(const char *text)
{
    static const struct yaml_scalar string = {YAML_SCALAR_STRING, 0};
    for (size_t i = 0; i < ARRAY_SIZE(yaml_words); i++) {
        if (strcmp(text, yaml_words[i].text) == 0)
            return yaml_words[i].scalar;
    }
    char digits[MAX_YAML_NUMBER + 1];
    if (!strchr("+-.0123456789", text[0]) || !yaml_strip_underscores(text, digits))
        return string;
    struct yaml_scalar number = {YAML_SCALAR_NUMBER, 0};
    if (yaml_resolve_based(digits, &number.number))
        return number;
    if (!yaml_is_decimal(digits))
        return string;
    if (parse_double(digits, &number.number) < 0)
        number.type = YAML_SCALAR_NOT_FINITE;
    return number;
}

/* Dates and numbers of base 60, which other readers of YAML 1.1 know. */
static bool yaml_is_time(const char *text)
{
    size_t len = strlen(text);
    return len >= 4 && strchr("+-0123456789", text[0]) &&
           strspn(text, "0123456789+-.: TtZz") == len && (strchr(text, ':') || text[4] == '-');
}

bool yaml_scalar_needs_quotes(const char *text)
{
    static const char *const words[] = {"y", "n", "yes", "no", "on", "off", "<<", "="};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (strcasecmp(text, words[i]) == 0)
            return true;
    }
    return yaml_is_time(text) || yaml_scalar_resolve(text).type != YAML_SCALAR_STRING;
}
