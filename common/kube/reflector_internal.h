/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/kube/cache.h"
#include "common/kube/framer.h"
#include "common/kube/reflector.h"
#include "common/kube/reflector_plan.h"
#include "common/kube/splitter.h"
#include "common/kube/stream.h"

/* What reflector.c (requests and their order) and reflector_objects.c (objects and the cache)
 * share. */
struct lookup;

struct reflector {
    struct kube_client *client;
    char *name;
    char *path;
    char *field_selector;
    char *label_selector;
    uint64_t silence_ms;
    struct reflector_handlers handlers;
    void *arg;

    struct reflector_plan plan;
    struct kube_cache *cache;
    struct framer framer;
    struct splitter splitter;
    struct lookup *lookups;
    unsigned int lookup_count;
    bool partial; /* this list had an item that could not even be named: nothing is swept */

    struct kube_call *call;   /* the request under way, or */
    struct loop_timer *timer; /* the wait before it; also looks after a silent one */
    struct reflector_outcome outcome;
    uint64_t started_ns;
    uint64_t heard_ns; /* last byte of a list or watch, CLOCK_MONOTONIC */

    struct reflector_stats stats;
    unsigned int depth; /* entries from client or loop on the stack: freeing waits for them */
    bool dying;
};

void reflector_enter(struct reflector *reflector);
void reflector_leave(struct reflector *reflector);

/* An item of a list, or a line of a watch. -ECANCELED: go no further, either because the
 * reflector is dying or because outcome says why this request is over. */
int reflector_take_item(const char *item, size_t len, bool oversized, void *arg);
int reflector_take_line(const char *line, size_t len, bool oversized, void *arg);

/* The list is complete: tells the consumer of what it did not show. */
void reflector_sweep(struct reflector *reflector);

void reflector_drop_lookups(struct reflector *reflector);
