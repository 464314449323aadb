/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"

#include <stddef.h>

/*
 * Makes bytes of a program that nobody has read safe to show on a terminal: control bytes other
 * than newline, tab and carriage return become ^X as with `cat -v`, C1 controls <U+009B>, and
 * what is not UTF-8 becomes U+FFFD. So no escape sequence reaches the terminal.
 */
struct terminal_filter {
    char held[4]; /* a character that the last bytes began and did not finish */
    size_t held_len;
};

/* Appends the safe form of bytes to out. A character cut at the end waits for its rest. */
int terminal_filter_append(struct terminal_filter *filter, const char *bytes, size_t len,
                           struct buf *out);

/* The program is over: what waits is appended as U+FFFD. */
int terminal_filter_finish(struct terminal_filter *filter, struct buf *out);

/* Appends text as one safe line without its newline: what would break or move the line becomes a
 * space. For messages of ours, which quote what others wrote. */
int terminal_append_line(const char *text, struct buf *out);

/* What len bytes can become at most, with what was held before them. */
#define TERMINAL_FILTER_MAX(len) ((len)*4 + 16)
