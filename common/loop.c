/* SPDX-License-Identifier: Apache-2.0 */
#include "common/loop.h"

#include "common/cleanup.h"
#include "common/log.h"

#include <event2/event.h>
#include <stdlib.h>

/* libevent adds the delay to the time of now: a cap keeps the sum far from overflow. */
#define MAX_LOOP_DELAY_MS (UINT64_C(10) * 365 * 24 * 3600 * 1000)

struct loop {
    struct event_base *base;
    bool stopped;
};

struct loop_io {
    struct loop *loop;
    struct event *event;
    int fd;
    unsigned int events;
    loop_io_fn fn;
    void *arg;
};

struct loop_timer {
    struct event *event;
    loop_timer_fn fn;
    void *arg;
};

struct loop_signal {
    struct event *event;
    loop_signal_fn fn;
    void *arg;
};

/* libevent would write to stderr, among our JSON lines. */
static void loop_log(int severity, const char *message)
{
    (void)severity;
    log_event(LOG_LEVEL_DEBUG, "libevent", LOG_TEXT("detail", message));
}

static void loop_base_free_cleanup(struct event_base **base)
{
    if (*base)
        event_base_free(*base);
}

static void loop_config_free_cleanup(struct event_config **config)
{
    if (*config)
        event_config_free(*config);
}

/* Precise timers and no cached time: a deadline armed in a long callback counts from that moment
 * and not from the start of the turn. */
static struct event_base *loop_make_base(void)
{
    cleanup_with(loop_config_free_cleanup) struct event_config *config = event_config_new();
    if (!config)
        return NULL;
    int flags = EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV |
                EVENT_BASE_FLAG_NO_CACHE_TIME | EVENT_BASE_FLAG_PRECISE_TIMER;
    if (event_config_set_flag(config, flags) < 0 ||
        event_config_avoid_method(config, "select") < 0 ||
        event_config_avoid_method(config, "poll") < 0)
        return NULL;
    return event_base_new_with_config(config);
}

int loop_new(struct loop **ret_loop, struct error *err)
{
    event_set_log_callback(loop_log);
    cleanup_with(loop_base_free_cleanup) struct event_base *base = loop_make_base();
    struct loop *loop = base ? calloc(1, sizeof(*loop)) : NULL;
    if (!loop)
        return error_set(err, ENOMEM, "cannot create the event loop: out of memory or descriptors");
    loop->base = TAKE_PTR(base);
    *ret_loop = loop;
    return 0;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    event_base_free(loop->base);
    free(loop);
}

int loop_run(struct loop *loop, struct error *err)
{
    int r = 0;
    /* libevent forgets a loopbreak that came before it ran: the flag is ours. */
    while (!loop->stopped && r >= 0)
        r = event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
    loop->stopped = false;
    return r < 0 ? error_set(err, EIO, "the event loop failed while waiting for events") : 0;
}

void loop_stop(struct loop *loop)
{
    loop->stopped = true;
    (void)event_base_loopbreak(loop->base);
}

/* The callback comes last in each of these: it may have freed the watch. */
static void loop_io_fire(evutil_socket_t fd, short what, void *arg)
{
    struct loop_io *io = arg;
    unsigned int events = (what & EV_READ ? LOOP_READ : 0u) | (what & EV_WRITE ? LOOP_WRITE : 0u);
    io->fn(fd, events, io->arg);
}

static void loop_timer_fire(evutil_socket_t fd, short what, void *arg)
{
    struct loop_timer *timer = arg;
    (void)fd;
    (void)what;
    timer->fn(timer->arg);
}

static void loop_signal_fire(evutil_socket_t signum, short what, void *arg)
{
    struct loop_signal *sig = arg;
    (void)what;
    sig->fn(signum, sig->arg);
}

/* libevent leaves the cause in errno, mostly. */
static int loop_add(struct event *event, const struct timeval *delay)
{
    errno = 0;
    if (event_add(event, delay) == 0)
        return 0;
    return errno > 0 ? -errno : -EIO;
}

int loop_io_new(struct loop *loop, int fd, unsigned int events, loop_io_fn fn, void *arg,
                struct loop_io **ret_io)
{
    struct loop_io *io = calloc(1, sizeof(*io));
    if (!io)
        return -ENOMEM;
    *io = (struct loop_io){.loop = loop, .fd = fd, .fn = fn, .arg = arg};
    io->event = event_new(loop->base, fd, EV_PERSIST, loop_io_fire, io);
    int r = io->event ? loop_io_set(io, events) : -ENOMEM;
    if (r < 0) {
        loop_io_free(io);
        return r;
    }
    *ret_io = io;
    return 0;
}

int loop_io_set(struct loop_io *io, unsigned int events)
{
    if (events == io->events)
        return 0;
    short what = (short)(EV_PERSIST | (events & LOOP_READ ? EV_READ : 0) |
                         (events & LOOP_WRITE ? EV_WRITE : 0));
    if (event_del(io->event) < 0)
        return -EIO;
    io->events = 0;
    if (event_assign(io->event, io->loop->base, io->fd, what, loop_io_fire, io) < 0)
        return -EINVAL;
    if (events == 0)
        return 0;
    int r = loop_add(io->event, NULL);
    if (r == 0)
        io->events = events;
    return r;
}

void loop_io_free(struct loop_io *io)
{
    if (!io)
        return;
    if (io->event)
        event_free(io->event);
    free(io);
}

int loop_timer_new(struct loop *loop, loop_timer_fn fn, void *arg, struct loop_timer **ret_timer)
{
    struct loop_timer *timer = calloc(1, sizeof(*timer));
    if (!timer)
        return -ENOMEM;
    *timer = (struct loop_timer){.fn = fn, .arg = arg};
    timer->event = evtimer_new(loop->base, loop_timer_fire, timer);
    if (!timer->event) {
        free(timer);
        return -ENOMEM;
    }
    *ret_timer = timer;
    return 0;
}

int loop_timer_arm(struct loop_timer *timer, uint64_t delay_ms)
{
    if (delay_ms > MAX_LOOP_DELAY_MS)
        delay_ms = MAX_LOOP_DELAY_MS;
    struct timeval delay = {
        .tv_sec = (time_t)(delay_ms / 1000),
        .tv_usec = (suseconds_t)(delay_ms % 1000 * 1000),
    };
    return loop_add(timer->event, &delay);
}

void loop_timer_disarm(struct loop_timer *timer)
{
    (void)event_del(timer->event);
}

void loop_timer_free(struct loop_timer *timer)
{
    if (!timer)
        return;
    event_free(timer->event);
    free(timer);
}

int loop_signal_new(struct loop *loop, int signum, loop_signal_fn fn, void *arg,
                    struct loop_signal **ret_signal)
{
    struct loop_signal *sig = calloc(1, sizeof(*sig));
    if (!sig)
        return -ENOMEM;
    *sig = (struct loop_signal){.fn = fn, .arg = arg};
    sig->event = evsignal_new(loop->base, signum, loop_signal_fire, sig);
    int r = sig->event ? loop_add(sig->event, NULL) : -ENOMEM;
    if (r < 0) {
        loop_signal_free(sig);
        return r;
    }
    *ret_signal = sig;
    return 0;
}

void loop_signal_free(struct loop_signal *sig)
{
    if (!sig)
        return;
    if (sig->event)
        event_free(sig->event);
    free(sig);
}

struct event_base *loop_base(struct loop *loop)
{
    return loop->base;
}
