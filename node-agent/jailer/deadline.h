/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/events.h"
#include "node-agent/jailer/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Timers of the jailer: a binary heap behind one timerfd on CLOCK_BOOTTIME, which also counts
 * while the machine sleeps. Independent of any pipe and of anything a program does.
 */
typedef void (*deadline_fn)(void *arg);

struct deadline {
    uint64_t at_ns;
    size_t place; /* in the heap, from 1; 0: not armed */
    deadline_fn fn;
    void *arg;
};

struct deadlines {
    struct event_source source;
    struct events *events;
    size_t count;
    struct deadline *heap[MAX_DEADLINES + 1]; /* from 1 */
};

int deadlines_init(struct deadlines *deadlines, struct events *events, struct error *err);
void deadlines_done(struct deadlines *deadlines);

/* Calls fn once at at_ns (clock_boottime_ns()); moves an armed one. The caller keeps deadline in
 * memory until it fired or was disarmed. */
void deadline_arm(struct deadlines *deadlines, struct deadline *deadline, uint64_t at_ns,
                  deadline_fn fn, void *arg);
void deadline_disarm(struct deadlines *deadlines, struct deadline *deadline);

static inline bool deadline_is_armed(const struct deadline *deadline)
{
    return deadline->place > 0;
}
