/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The event loop of agent, controller and cli: libevent behind the four things that are used of
 * it. One thread; callbacks may free any watch, also their own.
 */
struct loop;
struct loop_io;
struct loop_timer;
struct loop_signal;

enum { LOOP_READ = 1u << 0, LOOP_WRITE = 1u << 1 };

typedef void (*loop_io_fn)(int fd, unsigned int events, void *arg);
typedef void (*loop_timer_fn)(void *arg);
typedef void (*loop_signal_fn)(int signum, void *arg);

int loop_new(struct loop **ret_loop, struct error *err);
/* All watches must be freed before. */
void loop_free(struct loop *loop);

/* Runs until loop_stop(), also one that came before the run. */
int loop_run(struct loop *loop, struct error *err);
void loop_stop(struct loop *loop);

/* Watches fd for events (level-triggered; 0: none for now); the fd stays the caller's and
 * must be open until the watch is freed. -EPERM for regular files, which are always ready. */
int loop_io_new(struct loop *loop, int fd, unsigned int events, loop_io_fn fn, void *arg,
                struct loop_io **ret_io);
int loop_io_set(struct loop_io *io, unsigned int events);
void loop_io_free(struct loop_io *io);

/* A one-shot timer, disarmed at first; arming it again moves it. */
int loop_timer_new(struct loop *loop, loop_timer_fn fn, void *arg, struct loop_timer **ret_timer);
int loop_timer_arm(struct loop_timer *timer, uint64_t delay_ms);
void loop_timer_disarm(struct loop_timer *timer);
void loop_timer_free(struct loop_timer *timer);

int loop_signal_new(struct loop *loop, int signum, loop_signal_fn fn, void *arg,
                    struct loop_signal **ret_signal);
void loop_signal_free(struct loop_signal *sig);

/* The libevent base, for libmicrohttpd and curl glue inside common only. */
struct event_base *loop_base(struct loop *loop);
