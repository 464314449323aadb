/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/splitter.h"

#include "common/kube/limits.h"

#include <errno.h>
#include <string.h>

/* A buffer beyond this is given back after its element. */
#define KEEP_BYTES (16u << 10)

void splitter_init(struct splitter *splitter, size_t max_item, splitter_fn fn, void *arg)
{
    *splitter = (struct splitter){.max_item = max_item, .fn = fn, .arg = arg};
    buf_init(&splitter->metadata, MAX_KUBE_LIST_META);
    buf_init(&splitter->item, max_item);
}

void splitter_done(struct splitter *splitter)
{
    buf_done(&splitter->metadata);
    buf_done(&splitter->item);
}

void splitter_reset(struct splitter *splitter)
{
    size_t max_item = splitter->max_item;
    splitter_fn fn = splitter->fn;
    void *arg = splitter->arg;

    splitter_done(splitter);
    splitter_init(splitter, max_item, fn, arg);
}

static int not_a_list(struct error *err)
{
    return error_set(err, EBADMSG, "the API server's answer is not a JSON list");
}

/* The two members that matter may each come once. */
static int begin_value(struct splitter *splitter, struct error *err)
{
    const struct {
        const char *key;
        bool *seen;
    } known[] = {{"\"items\"", &splitter->seen_items}, {"\"metadata\"", &splitter->seen_metadata}};

    scan_init(&splitter->scan);
    splitter->in_metadata = false;
    splitter->state = SPLITTER_VALUE;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (splitter->key_len != strlen(known[i].key) ||
            memcmp(splitter->key, known[i].key, splitter->key_len) != 0)
            continue;
        if (*known[i].seen)
            return error_set(err, EBADMSG, "the API server's list has %s twice", known[i].key);
        *known[i].seen = true;
        if (i == 0)
            splitter->state = SPLITTER_ITEMS;
        else
            splitter->in_metadata = true;
    }
    return 0;
}

/* States that are left by one byte. */
static int step(struct splitter *splitter, char c, struct error *err)
{
    switch (splitter->state) {
    case SPLITTER_START:
        splitter->state = SPLITTER_KEY;
        return c == '{' ? 0 : not_a_list(err);
    case SPLITTER_COLON:
        return c == ':' ? begin_value(splitter, err) : not_a_list(err);
    case SPLITTER_VALUE_END:
        splitter->state = c == ',' ? SPLITTER_KEY : SPLITTER_END;
        return c == ',' || c == '}' ? 0 : not_a_list(err);
    case SPLITTER_ITEM_END:
        splitter->state = c == ',' ? SPLITTER_ITEM : SPLITTER_VALUE_END;
        scan_init(&splitter->scan);
        return c == ',' || c == ']' ? 0 : not_a_list(err);
    case SPLITTER_KEY:
    case SPLITTER_KEY_TEXT:
    case SPLITTER_VALUE:
    case SPLITTER_ITEMS:
    case SPLITTER_ITEM_OR_END:
    case SPLITTER_ITEM:
    case SPLITTER_END:
        break;
    }
    return not_a_list(err);
}

/* States that look at a byte before they know what comes. True: the byte is used up. */
static bool peek(struct splitter *splitter, char c)
{
    if (splitter->state == SPLITTER_KEY) {
        if (c == '}') {
            splitter->state = SPLITTER_END;
            return true;
        }
        splitter->state = SPLITTER_KEY_TEXT;
        splitter->key_len = 0;
    } else if (splitter->state == SPLITTER_ITEMS) {
        /* Anything but a list or null would read as an empty list, and empty the cache. */
        if (c == '[')
            splitter->state = SPLITTER_ITEM_OR_END;
        else if (c == 'n')
            splitter->state = SPLITTER_VALUE;
        return c == '[';
    } else if (splitter->state == SPLITTER_ITEM_OR_END) {
        if (c == ']') {
            splitter->state = SPLITTER_VALUE_END;
            return true;
        }
        splitter->state = SPLITTER_ITEM;
    } else {
        return false;
    }
    scan_init(&splitter->scan);
    return false;
}

static void keep_key(struct splitter *splitter, const char *bytes, size_t len)
{
    size_t room = sizeof(splitter->key) - splitter->key_len;

    if (len > room)
        len = room;
    memcpy(splitter->key + splitter->key_len, bytes, len);
    splitter->key_len += len;
}

static int give_item(struct splitter *splitter, const char *bytes, size_t len, bool oversized)
{
    splitter->count++;
    return splitter->fn(bytes, len, oversized, splitter->arg);
}

static void drop_item(struct splitter *splitter)
{
    if (splitter->item.cap > KEEP_BYTES)
        buf_done(&splitter->item);
    else
        buf_reset(&splitter->item);
}

static int overflow_item(struct splitter *splitter, const char *bytes, size_t len)
{
    size_t room = splitter->max_item - splitter->item.len;
    int r;

    splitter->item_skipped = true;
    if (len > room)
        len = room;
    if (splitter->item.len == 0)
        return give_item(splitter, bytes, len, true);
    /* Without memory for the rest, what is there names the object well enough. */
    (void)buf_append(&splitter->item, bytes, len);
    r = give_item(splitter, splitter->item.data, splitter->item.len, true);
    drop_item(splitter);
    return r;
}

/* A piece of an element; most elements are whole in one piece and are not copied. */
static int take_item(struct splitter *splitter, const char *bytes, size_t len, bool done)
{
    int r;

    if (splitter->item_skipped) {
        splitter->item_skipped = !done;
        return 0;
    }
    if (len > splitter->max_item - splitter->item.len) {
        r = overflow_item(splitter, bytes, len);
        splitter->item_skipped = !done;
        return r;
    }
    if (done && splitter->item.len == 0)
        return give_item(splitter, bytes, len, false);
    if (buf_append(&splitter->item, bytes, len) < 0) {
        r = overflow_item(splitter, bytes, 0);
        splitter->item_skipped = !done;
        return r;
    }
    if (!done)
        return 0;
    r = give_item(splitter, splitter->item.data, splitter->item.len, false);
    drop_item(splitter);
    return r;
}

/* States that hold a value: takes what belongs to it. */
static ssize_t take_piece(struct splitter *splitter, const char *bytes, size_t len,
                          struct error *err)
{
    bool done;
    ssize_t n = scan_feed(&splitter->scan, bytes, len, &done);

    if (n < 0)
        return not_a_list(err);
    if (splitter->state == SPLITTER_KEY_TEXT) {
        if (splitter->key_len == 0 && bytes[0] != '"')
            return not_a_list(err);
        keep_key(splitter, bytes, (size_t)n);
        if (done)
            splitter->state = SPLITTER_COLON;
    } else if (splitter->state == SPLITTER_ITEM) {
        int r = take_item(splitter, bytes, (size_t)n, done);
        if (r < 0)
            return r;
        if (done)
            splitter->state = SPLITTER_ITEM_END;
    } else {
        if (splitter->in_metadata && buf_append(&splitter->metadata, bytes, (size_t)n) < 0)
            return error_set(err, EMSGSIZE,
                             "the metadata of the API server's list exceeds %u bytes",
                             MAX_KUBE_LIST_META);
        if (done)
            splitter->state = SPLITTER_VALUE_END;
    }
    return n;
}

static bool holds_value(enum splitter_state state)
{
    return state == SPLITTER_KEY_TEXT || state == SPLITTER_VALUE || state == SPLITTER_ITEM;
}

int splitter_feed(struct splitter *splitter, const char *bytes, size_t len, struct error *err)
{
    size_t i = 0;

    while (i < len) {
        char c = bytes[i];
        bool between = !holds_value(splitter->state) || !splitter->scan.started;
        if (between && scan_is_space(c)) {
            i++;
            continue;
        }
        if (!holds_value(splitter->state)) {
            if (peek(splitter, c)) {
                i++;
                continue;
            }
            if (!holds_value(splitter->state)) {
                int r = step(splitter, c, err);
                if (r < 0)
                    return r;
                i++;
                continue;
            }
        }
        ssize_t n = take_piece(splitter, bytes + i, len - i, err);
        if (n < 0)
            return (int)n;
        i += (size_t)n;
    }
    return 0;
}

int splitter_end(const struct splitter *splitter, const struct buf **ret_metadata,
                 struct error *err)
{
    if (splitter->state != SPLITTER_END)
        return error_set(err, EBADMSG, "the API server's list was cut off after %lu items",
                         splitter->count);
    if (!splitter->seen_items || !splitter->seen_metadata)
        return not_a_list(err);
    *ret_metadata = &splitter->metadata;
    return 0;
}
