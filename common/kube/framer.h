/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Cuts the body of a watch into its lines, in whatever pieces it comes. A line beyond the cap is
 * handed over once, as its first bytes, and skipped to its end.
 */

/* line is not NUL-terminated and lives until the function returns; `oversized`: only the first
 * bytes of it. A negative value ends the feeding. */
typedef int (*framer_fn)(const char *line, size_t len, bool oversized, void *arg);

struct framer {
    struct buf rest; /* the line that has begun */
    size_t max;
    bool skipping;
    framer_fn fn;
    void *arg;
};

void framer_init(struct framer *framer, size_t max_line, framer_fn fn, void *arg);
void framer_done(struct framer *framer);

/* Forgets a line that has begun. */
void framer_reset(struct framer *framer);

/* 0, or what fn returned if negative. A line that there is no memory for counts as oversized. */
int framer_feed(struct framer *framer, const char *bytes, size_t len);
