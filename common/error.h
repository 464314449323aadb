/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdarg.h>

/*
 * What went wrong, in words fit for a user: what failed, on what, the limit and the figure, what
 * to do. A caller-owned value without allocation: it also crosses the jail's report pipe.
 */
#define MAX_ERROR_TEXT 512

struct error {
    int code; /* positive errno, 0 while nothing failed */
    char text[MAX_ERROR_TEXT];
};

/* Sets err (may be NULL) and returns -errnum. Text beyond the buffer is cut. For causes that the
 * message itself names. */
int error_set(struct error *err, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* As error_set(), with ": " and the text of errnum behind the message. */
int error_set_errno(struct error *err, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts a prefix and ": " before the text that err holds; returns -err->code. */
int error_wrap(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
