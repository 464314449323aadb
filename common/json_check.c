/* SPDX-License-Identifier: Apache-2.0 */
#include "common/json_check.h"

#include "common/cleanup.h"
#include "common/json_string.h"
#include "common/parse.h"
#include "common/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MAX_JSON_NUMBER = 63 };

struct json_scan {
    const char *start;
    const char *p;
    const char *end;
    unsigned int depth;
    unsigned int max_depth;
    struct error *err;
};

static int json_scan_value(struct json_scan *scan);

static int json_scan_fail(const struct json_scan *scan, const char *problem)
{
    size_t line = 1, column = 1;
    for (const char *p = scan->start; p < scan->p; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    return error_set(scan->err, EINVAL, "line %zu, column %zu: %s", line, column, problem);
}

/* The byte at the cursor, -1 at the end. */
static int json_scan_peek(const struct json_scan *scan)
{
    return scan->p < scan->end ? (unsigned char)*scan->p : -1;
}

static bool json_scan_take(struct json_scan *scan, char wanted)
{
    if (scan->p == scan->end || *scan->p != wanted)
        return false;
    scan->p++;
    return true;
}

static void json_scan_space(struct json_scan *scan)
{
    while (scan->p < scan->end && memchr(" \t\r\n", *scan->p, 4))
        scan->p++;
}

static bool json_scan_digits(struct json_scan *scan)
{
    const char *before = scan->p;
    while (scan->p < scan->end && *scan->p >= '0' && *scan->p <= '9')
        scan->p++;
    return scan->p > before;
}

static bool json_scan_number_grammar(struct json_scan *scan)
{
    (void)json_scan_take(scan, '-');
    if (!json_scan_take(scan, '0') && !json_scan_digits(scan))
        return false;
    if (json_scan_take(scan, '.') && !json_scan_digits(scan))
        return false;
    if (json_scan_take(scan, 'e') || json_scan_take(scan, 'E')) {
        if (!json_scan_take(scan, '-'))
            (void)json_scan_take(scan, '+');
        return json_scan_digits(scan);
    }
    return true;
}

static int json_scan_number(struct json_scan *scan)
{
    const char *first = scan->p;
    if (!json_scan_number_grammar(scan))
        return json_scan_fail(scan, "not a number of JSON's form");
    char text[MAX_JSON_NUMBER + 1];
    size_t len = (size_t)(scan->p - first);
    scan->p = first;
    if (len > MAX_JSON_NUMBER)
        return json_scan_fail(scan, "a number of more than 63 characters");
    memcpy(text, first, len);
    text[len] = '\0';
    double value = 0;
    if (parse_double(text, &value) < 0)
        return json_scan_fail(scan, "a number that is too large");
    scan->p = first + len;
    return 0;
}

/* Four hexadecimal digits. */
static bool json_scan_hex(struct json_scan *scan, uint32_t *ret_value)
{
    uint32_t value = 0;
    for (unsigned int i = 0; i < 4; i++, scan->p++) {
        int c = json_scan_peek(scan);
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            value = value << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return false;
    }
    *ret_value = value;
    return true;
}

/* Behind "\u". */
static int json_scan_unicode_escape(struct json_scan *scan)
{
    uint32_t high = 0, low = 0;
    if (!json_scan_hex(scan, &high))
        return json_scan_fail(scan, "\\u without four hexadecimal digits");
    if (high == 0)
        return json_scan_fail(scan, "a NUL character (\\u0000) in a string");
    if (high < 0xD800 || high > 0xDFFF)
        return 0;
    bool pair = high < 0xDC00 && json_scan_take(scan, '\\') && json_scan_take(scan, 'u') &&
                json_scan_hex(scan, &low) && low >= 0xDC00 && low <= 0xDFFF;
    return pair ? 0 : json_scan_fail(scan, "half of a surrogate pair");
}

static int json_scan_escape(struct json_scan *scan)
{
    int c = json_scan_peek(scan);
    if (c == 'u') {
        scan->p++;
        return json_scan_unicode_escape(scan);
    }
    if (c <= 0 || !strchr("\"\\/bfnrt", c))
        return json_scan_fail(scan, "an unknown escape in a string");
    scan->p++;
    return 0;
}

/* Behind the opening quote. */
static int json_scan_string(struct json_scan *scan)
{
    for (;;) {
        int c = json_scan_peek(scan);
        if (c < 0)
            return json_scan_fail(scan, "a string without its closing quote");
        if (c < 0x20)
            return json_scan_fail(scan, "a control character in a string (to be escaped)");
        size_t step = c < 0x80 ? 1 : utf8_decode(scan->p, (size_t)(scan->end - scan->p), NULL);
        if (step == 0)
            return json_scan_fail(scan, "bytes that are not UTF-8");
        scan->p += step;
        if (c == '"')
            return 0;
        if (c == '\\') {
            int r = json_scan_escape(scan);
            if (r < 0)
                return r;
        }
    }
}

static int json_scan_member(struct json_scan *scan)
{
    json_scan_space(scan);
    if (!json_scan_take(scan, '"'))
        return json_scan_fail(scan, "a quoted member name is missing");
    int r = json_scan_string(scan);
    if (r < 0)
        return r;
    json_scan_space(scan);
    if (!json_scan_take(scan, ':'))
        return json_scan_fail(scan, "':' is missing behind a member name");
    return json_scan_value(scan);
}

/* Behind the opening bracket, up to and with `close`. */
static int json_scan_container(struct json_scan *scan, char close)
{
    if (scan->depth == scan->max_depth)
        return json_scan_fail(scan, "nested too deeply");
    scan->depth++;
    json_scan_space(scan);
    bool done = json_scan_take(scan, close);
    while (!done) {
        int r = close == '}' ? json_scan_member(scan) : json_scan_value(scan);
        if (r < 0)
            return r;
        json_scan_space(scan);
        done = json_scan_take(scan, close);
        if (!done && !json_scan_take(scan, ','))
            return json_scan_fail(scan, close == '}' ? "',' or '}' is missing in an object"
                                                     : "',' or ']' is missing in an array");
    }
    scan->depth--;
    return 0;
}

static int json_scan_word(struct json_scan *scan)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        size_t len = strlen(words[i]);
        if ((size_t)(scan->end - scan->p) >= len && memcmp(scan->p, words[i], len) == 0) {
            scan->p += len;
            return 0;
        }
    }
    return json_scan_fail(scan, scan->p == scan->end ? "a value is missing" : "not a JSON value");
}

/* Recursion is bounded by max_depth. */
static int json_scan_value(struct json_scan *scan)
{
    json_scan_space(scan);
    int c = json_scan_peek(scan);
    if (c == '-' || (c >= '0' && c <= '9'))
        return json_scan_number(scan);
    if (json_scan_take(scan, '"'))
        return json_scan_string(scan);
    if (json_scan_take(scan, '{'))
        return json_scan_container(scan, '}');
    if (json_scan_take(scan, '['))
        return json_scan_container(scan, ']');
    return json_scan_word(scan);
}

int json_check_text(const char *bytes, size_t len, unsigned int max_depth, struct error *err)
{
    if (len == 0)
        return error_set(err, EINVAL, "line 1, column 1: a value is missing");
    struct json_scan scan = {
        .start = bytes, .p = bytes, .end = bytes + len, .max_depth = max_depth, .err = err};
    int r = json_scan_value(&scan);
    if (r < 0)
        return r;
    json_scan_space(&scan);
    return scan.p == scan.end ? 0 : json_scan_fail(&scan, "something follows the value");
}

static int json_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, so that an object of a million members costs n log n. */
static int json_check_members(const cJSON *object, struct error *err)
{
    size_t count = 0;
    for (const cJSON *member = object->child; member; member = member->next)
        count++;
    if (count < 2)
        return 0;
    cleanup_free const char **names = calloc(count, sizeof(*names));
    if (!names)
        return error_set(err, ENOMEM, "out of memory");
    size_t i = 0;
    for (const cJSON *member = object->child; member; member = member->next)
        names[i++] = member->string;
    qsort(names, count, sizeof(*names), json_compare_names);
    for (i = 1; i < count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0) {
            char quoted[JSON_QUOTE_SIZE];
            json_quote(names[i], quoted);
            return error_set(err, EINVAL, "duplicate key %s", quoted);
        }
    }
    return 0;
}

/* Recursion is bounded by the depth that the text was checked for. */
int json_check_duplicates(const cJSON *tree, struct error *err)
{
    if (cJSON_IsObject(tree)) {
        int r = json_check_members(tree, err);
        if (r < 0)
            return r;
    }
    for (const cJSON *child = tree->child; child; child = child->next) {
        int r = json_check_duplicates(child, err);
        if (r < 0)
            return r;
    }
    return 0;
}
