/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"
#include "common/kube/scan.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Cuts the body of a List into its "metadata" and the elements of its "items", in whatever pieces
 * it comes, without ever holding the page: one element at a time is kept, up to the cap. Members
 * may come in any order (the server sorts "items" before "metadata").
 */

/* item is not NUL-terminated and lives until the function returns; `oversized`: only the first
 * bytes of it. A negative value ends the splitting. */
typedef int (*splitter_fn)(const char *item, size_t len, bool oversized, void *arg);

enum splitter_state {
    SPLITTER_START,
    SPLITTER_KEY,      /* a key, or the end of an empty object */
    SPLITTER_KEY_TEXT, /* inside a key */
    SPLITTER_COLON,
    SPLITTER_VALUE,       /* a member that is skipped, or metadata */
    SPLITTER_VALUE_END,   /* a comma or the end of the object */
    SPLITTER_ITEMS,       /* the bracket that opens items, or null */
    SPLITTER_ITEM_OR_END, /* the first element, or the end of an empty list */
    SPLITTER_ITEM,
    SPLITTER_ITEM_END, /* a comma or the end of items */
    SPLITTER_END,
};

#define SPLITTER_KEY_SIZE 16

struct splitter {
    enum splitter_state state;
    struct scan scan;
    char key[SPLITTER_KEY_SIZE]; /* with its quotes; longer ones are none of ours */
    size_t key_len;
    bool seen_items;
    bool seen_metadata;
    bool in_metadata;
    struct buf metadata;
    struct buf item;
    size_t max_item;
    bool item_skipped; /* the rest of an oversized one */
    unsigned long count;
    splitter_fn fn;
    void *arg;
};

void splitter_init(struct splitter *splitter, size_t max_item, splitter_fn fn, void *arg);
void splitter_done(struct splitter *splitter);

/* Ready for another page. */
void splitter_reset(struct splitter *splitter);

/* 0; -EBADMSG if this is no list; -EMSGSIZE for absurd metadata; or what fn returned. */
int splitter_feed(struct splitter *splitter, const char *bytes, size_t len, struct error *err);

/* The body has ended: the text of its metadata; -EBADMSG if it was cut off. */
int splitter_end(const struct splitter *splitter, const struct buf **ret_metadata,
                 struct error *err);
