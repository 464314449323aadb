/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/wakeups.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROOM 64

static void put(struct wakeups *wakeups, size_t index, struct wakeup *wakeup)
{
    wakeups->heap[index] = wakeup;
    wakeup->place = index + 1;
}

static void sift_up(struct wakeups *wakeups, size_t index)
{
    struct wakeup *wakeup = wakeups->heap[index];
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (wakeups->heap[parent]->at_us <= wakeup->at_us)
            break;
        put(wakeups, index, wakeups->heap[parent]);
        index = parent;
    }
    put(wakeups, index, wakeup);
}

static void sift_down(struct wakeups *wakeups, size_t index)
{
    struct wakeup *wakeup = wakeups->heap[index];
    for (;;) {
        size_t child = 2 * index + 1;
        if (child >= wakeups->count)
            break;
        if (child + 1 < wakeups->count &&
            wakeups->heap[child + 1]->at_us < wakeups->heap[child]->at_us)
            child++;
        if (wakeups->heap[child]->at_us >= wakeup->at_us)
            break;
        put(wakeups, index, wakeups->heap[child]);
        index = child;
    }
    put(wakeups, index, wakeup);
}

int wakeups_reserve(struct wakeups *wakeups, size_t count)
{
    size_t room = wakeups->room > 0 ? wakeups->room : FIRST_ROOM;
    while (room < count)
        room *= 2;
    if (room == wakeups->room)
        return 0;
    struct wakeup **heap = reallocarray(wakeups->heap, room, sizeof(struct wakeup *));
    if (!heap)
        return -ENOMEM;
    wakeups->heap = heap;
    wakeups->room = room;
    return 0;
}

void wakeups_set(struct wakeups *wakeups, struct wakeup *wakeup, int64_t at_us)
{
    if (wakeup->place == 0)
        put(wakeups, wakeups->count++, wakeup);
    wakeup->at_us = at_us;
    sift_up(wakeups, wakeup->place - 1);
    sift_down(wakeups, wakeup->place - 1);
}

void wakeups_remove(struct wakeups *wakeups, struct wakeup *wakeup)
{
    if (wakeup->place == 0)
        return;
    size_t index = wakeup->place - 1;
    struct wakeup *last = wakeups->heap[--wakeups->count];
    wakeup->place = 0;
    if (last == wakeup)
        return;
    put(wakeups, index, last);
    sift_up(wakeups, index);
    sift_down(wakeups, last->place - 1);
}

struct wakeup *wakeups_first(const struct wakeups *wakeups)
{
    return wakeups->count > 0 ? wakeups->heap[0] : NULL;
}

void wakeups_done(struct wakeups *wakeups)
{
    free(wakeups->heap);
    *wakeups = (struct wakeups){0};
}
