/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The jailer's loop: epoll(7) and nothing else. A source lives inside what it serves and must stay
 * in memory until the end of the turn in which it is removed.
 */
typedef void (*event_fn)(uint32_t events, void *arg);

struct event_source {
    int fd; /* -1: not watched */
    event_fn fn;
    void *arg;
};

#define EVENT_SOURCE_INIT ((struct event_source){.fd = -1})

struct events {
    int epoll_fd;
};

int events_init(struct events *events, struct error *err);
void events_done(struct events *events);

/* Watches fd (EPOLLIN, EPOLLPRI, EPOLLOUT; EPOLLHUP and EPOLLERR always come). */
int events_add(struct events *events, struct event_source *source, int fd, uint32_t mask,
               event_fn fn, void *arg);
int events_modify(struct events *events, struct event_source *source, uint32_t mask);

/* Stops watching; the descriptor stays open and is returned, -1 if there was none. */
int events_remove(struct events *events, struct event_source *source);

/* Waits and serves one batch. */
int events_turn(struct events *events, struct error *err);
