/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/deadline.h"

#include "common/cleanup.h"
#include "common/clock.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

static void heap_put(struct deadlines *deadlines, size_t place, struct deadline *deadline)
{
    deadlines->heap[place] = deadline;
    deadline->place = place;
}

static void heap_up(struct deadlines *deadlines, size_t place)
{
    struct deadline *deadline = deadlines->heap[place];
    while (place > 1 && deadlines->heap[place / 2]->at_ns > deadline->at_ns) {
        heap_put(deadlines, place, deadlines->heap[place / 2]);
        place /= 2;
    }
    heap_put(deadlines, place, deadline);
}

static void heap_down(struct deadlines *deadlines, size_t place)
{
    struct deadline *deadline = deadlines->heap[place];
    for (;;) {
        size_t child = place * 2;
        if (child > deadlines->count)
            break;
        if (child < deadlines->count &&
            deadlines->heap[child + 1]->at_ns < deadlines->heap[child]->at_ns)
            child++;
        if (deadlines->heap[child]->at_ns >= deadline->at_ns)
            break;
        heap_put(deadlines, place, deadlines->heap[child]);
        place = child;
    }
    heap_put(deadlines, place, deadline);
}

static void heap_remove(struct deadlines *deadlines, struct deadline *deadline)
{
    size_t place = deadline->place;
    struct deadline *last = deadlines->heap[deadlines->count];
    deadlines->heap[deadlines->count--] = NULL;
    deadline->place = 0;
    if (last == deadline)
        return;
    heap_put(deadlines, place, last);
    heap_up(deadlines, place);
    heap_down(deadlines, last->place);
}

/* The descriptor follows the earliest one; at 0 it is off, which no armed deadline has. */
static void timer_follow(struct deadlines *deadlines)
{
    uint64_t at_ns = deadlines->count > 0 ? deadlines->heap[1]->at_ns : 0;
    if (deadlines->count > 0 && at_ns == 0)
        at_ns = 1;
    (void)clock_set_timer(deadlines->source.fd, at_ns);
}

static void on_timer(uint32_t events, void *arg)
{
    (void)events;
    struct deadlines *deadlines = arg;
    uint64_t expirations = 0;
    (void)!read(deadlines->source.fd, &expirations, sizeof(expirations));
    uint64_t now_ns = clock_boottime_ns();
    while (deadlines->count > 0 && deadlines->heap[1]->at_ns <= now_ns) {
        struct deadline *deadline = deadlines->heap[1];
        heap_remove(deadlines, deadline);
        deadline->fn(deadline->arg);
    }
    timer_follow(deadlines);
}

int deadlines_init(struct deadlines *deadlines, struct events *events, struct error *err)
{
    *deadlines = (struct deadlines){.source = EVENT_SOURCE_INIT, .events = events};
    cleanup_close int fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0)
        return error_set_errno(err, errno, "create a timer descriptor");
    int r = events_add(events, &deadlines->source, fd, EPOLLIN, on_timer, deadlines);
    if (r < 0)
        return error_set_errno(err, -r, "watch the timer");
    (void)TAKE_FD(fd);
    return 0;
}

void deadlines_done(struct deadlines *deadlines)
{
    if (deadlines->events)
        (void)fd_close(events_remove(deadlines->events, &deadlines->source));
}

void deadline_arm(struct deadlines *deadlines, struct deadline *deadline, uint64_t at_ns,
                  deadline_fn fn, void *arg)
{
    deadline_disarm(deadlines, deadline);
    deadline->at_ns = at_ns;
    deadline->fn = fn;
    deadline->arg = arg;
    deadlines->heap[++deadlines->count] = deadline;
    heap_up(deadlines, deadlines->count);
    if (deadlines->heap[1] == deadline)
        timer_follow(deadlines);
}

void deadline_disarm(struct deadlines *deadlines, struct deadline *deadline)
{
    if (!deadline_is_armed(deadline))
        return;
    heap_remove(deadlines, deadline);
    /* The descriptor may fire once too early for it, and then looks again. */
}
