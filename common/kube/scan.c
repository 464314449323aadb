/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/scan.h"

#include <errno.h>
#include <string.h>

void scan_init(struct scan *scan)
{
    *scan = (struct scan){0};
}

/* Strings are most of the bytes (code, outputs), so they are crossed by memchr. */
static size_t skip_string(struct scan *scan, const char *bytes, size_t len)
{
    size_t i = 0;

    while (i < len) {
        if (scan->escaped) {
            scan->escaped = false;
            i++;
            continue;
        }
        const char *quote = memchr(bytes + i, '"', len - i);
        size_t end = quote ? (size_t)(quote - bytes) : len;
        const char *backslash = memchr(bytes + i, '\\', end - i);
        if (backslash) {
            scan->escaped = true;
            i = (size_t)(backslash - bytes) + 1;
        } else if (quote) {
            scan->in_string = false;
            return end + 1;
        } else {
            return len;
        }
    }
    return i;
}

static bool is_scalar_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

static int start_value(struct scan *scan, char c)
{
    if (c == '"')
        scan->in_string = true;
    else if (c == '{' || c == '[')
        scan->depth = 1;
    else if (is_scalar_byte(c))
        scan->scalar = true;
    else
        return -EBADMSG;
    scan->started = true;
    return 0;
}

ssize_t scan_feed(struct scan *scan, const char *bytes, size_t len, bool *ret_done)
{
    size_t i = 0;

    *ret_done = false;
    while (i < len) {
        if (scan->in_string) {
            i += skip_string(scan, bytes + i, len - i);
            if (!scan->in_string && scan->depth == 0) {
                *ret_done = true;
                return (ssize_t)i;
            }
            continue;
        }
        char c = bytes[i];
        if (!scan->started) {
            if (!scan_is_space(c) && start_value(scan, c) < 0)
                return -EBADMSG;
            i++;
            continue;
        }
        if (scan->scalar) {
            if (!is_scalar_byte(c)) {
                *ret_done = true;
                return (ssize_t)i;
            }
            i++;
            continue;
        }
        i++;
        if (c == '"')
            scan->in_string = true;
        else if (c == '{' || c == '[')
            scan->depth++;
        else if ((c == '}' || c == ']') && --scan->depth == 0) {
            *ret_done = true;
            return (ssize_t)i;
        }
    }
    return (ssize_t)len;
}

/* The text that is left to look at. */
struct cursor {
    const char *at;
    const char *end;
};

static void skip_space(struct cursor *cursor)
{
    while (cursor->at < cursor->end && scan_is_space(*cursor->at))
        cursor->at++;
}

static bool take(struct cursor *cursor, char c)
{
    skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

/* One value, whole; false where the text ends first. */
static bool take_value(struct cursor *cursor, struct cursor *ret_value)
{
    struct scan scan;
    bool done;

    skip_space(cursor);
    scan_init(&scan);
    ssize_t n = scan_feed(&scan, cursor->at, (size_t)(cursor->end - cursor->at), &done);
    if (n < 0 || !done)
        return false;
    *ret_value = (struct cursor){cursor->at, cursor->at + n};
    cursor->at += n;
    return true;
}

/* Steps to the next member: its key without quotes, the cursor before its value. */
static bool next_member(struct cursor *cursor, bool first, struct cursor *ret_key)
{
    if (!first && !take(cursor, ','))
        return false;
    skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at != '"' || !take_value(cursor, ret_key))
        return false;
    ret_key->at++;
    ret_key->end--;
    return take(cursor, ':');
}

static bool key_is(const struct cursor *key, const char *name)
{
    size_t len = strlen(name);

    return (size_t)(key->end - key->at) == len && memcmp(key->at, name, len) == 0;
}

static void copy_string(const struct cursor *value, char *ret_text, size_t size)
{
    size_t len = (size_t)(value->end - value->at);

    if (len < 2 || value->at[0] != '"' || len - 2 >= size)
        return;
    if (memchr(value->at, '\\', len) || memchr(value->at, '\0', len))
        return;
    memcpy(ret_text, value->at + 1, len - 2);
    ret_text[len - 2] = '\0';
}

static void read_metadata(struct cursor cursor, struct scan_identity *identity)
{
    const struct {
        const char *key;
        char *text;
        size_t size;
    } fields[] = {
        {"name", identity->name, sizeof(identity->name)},
        {"namespace", identity->name_space, sizeof(identity->name_space)},
        {"uid", identity->uid, sizeof(identity->uid)},
        {"resourceVersion", identity->resource_version, sizeof(identity->resource_version)},
    };
    struct cursor key;
    struct cursor value;

    if (!take(&cursor, '{'))
        return;
    for (bool first = true; next_member(&cursor, first, &key); first = false) {
        if (!take_value(&cursor, &value))
            return;
        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
            if (key_is(&key, fields[i].key))
                copy_string(&value, fields[i].text, fields[i].size);
        }
    }
}

static void read_object(struct cursor cursor, struct scan_identity *identity)
{
    struct cursor key;
    struct cursor value;

    if (!take(&cursor, '{'))
        return;
    for (bool first = true; next_member(&cursor, first, &key); first = false) {
        /* metadata may itself be cut off, and is worth reading so far. */
        if (key_is(&key, "metadata"))
            read_metadata(cursor, identity);
        if (!take_value(&cursor, &value))
            return;
    }
}

void scan_identity(const char *bytes, size_t len, bool event, struct scan_identity *ret_identity)
{
    struct cursor cursor = {bytes, bytes + len};
    struct cursor key;
    struct cursor value;

    *ret_identity = (struct scan_identity){0};
    if (!event) {
        read_object(cursor, ret_identity);
        return;
    }
    if (!take(&cursor, '{'))
        return;
    for (bool first = true; next_member(&cursor, first, &key); first = false) {
        if (key_is(&key, "object"))
            read_object(cursor, ret_identity);
        if (!take_value(&cursor, &value))
            return;
        if (key_is(&key, "type"))
            copy_string(&value, ret_identity->type, sizeof(ret_identity->type));
    }
}
