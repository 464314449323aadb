/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Which run has to be looked at next, as a binary heap: earliest first. The entry is a member of
 * the run, so that it can be moved and taken out again.
 */
struct wakeup {
    int64_t at_us;
    size_t place; /* 1-based, 0 while it is in no heap */
};

struct wakeups {
    struct wakeup **heap;
    size_t count;
    size_t room;
};

/* Makes room for count entries in all; -ENOMEM. */
int wakeups_reserve(struct wakeups *wakeups, size_t count);

/* Puts wakeup in, or moves it; there must be room. */
void wakeups_set(struct wakeups *wakeups, struct wakeup *wakeup, int64_t at_us);
void wakeups_remove(struct wakeups *wakeups, struct wakeup *wakeup);

/* The earliest; NULL if there is none. */
struct wakeup *wakeups_first(const struct wakeups *wakeups);

void wakeups_done(struct wakeups *wakeups);
