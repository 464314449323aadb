/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Finds where JSON values end in bytes that come in pieces, keeping none of them. It balances
 * brackets and strings only: whoever takes the value out gives it to json_parse(), which checks.
 */
struct scan {
    uint64_t depth;
    bool started;
    bool scalar; /* a number or a literal: ends before the first byte that can't belong */
    bool in_string;
    bool escaped;
};

/* Ready for the first byte of another value. */
void scan_init(struct scan *scan);

/* Takes bytes until the value ends: how many of them belong to it, with *ret_done set at its end.
 * Leading white space counts as belonging. -EBADMSG if no value can start so. */
ssize_t scan_feed(struct scan *scan, const char *bytes, size_t len, bool *ret_done);

/* Who an object is, read from as much of its text as there is. "" where it isn't there. */
struct scan_identity {
    char type[16]; /* of a watch event */
    char name[254];
    char name_space[254];
    char uid[64];
    char resource_version[64];
};

/* Looks for metadata in the first bytes of an object, or with `event` of a watch event around
 * one. Never fails: what is cut off, escaped or too long stays "". */
void scan_identity(const char *bytes, size_t len, bool event, struct scan_identity *ret_identity);

static inline bool scan_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
