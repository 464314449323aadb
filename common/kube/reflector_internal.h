/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/kube/cache.h"
#include "common/kube/framer.h"
#include "common/kube/reflector.h"
#include "common/kube/reflector_plan.h"
#include "common/kube/splitter.h"
#include "common/kube/stream.h"

/* What reflector.c (requests and their order), reflector_objects.c (objects and the cache) and
 * reflector_lookups.c (objects that can't be read) share. */
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
    struct lookup *lookups;          /* by name, the oldest first */
    struct loop_timer *lookup_timer; /* the wait before the next, where they fail */
    unsigned int lookups_active;
    unsigned int lookup_failures; /* in a row */
    bool lookups_wait;
    bool partial; /* this list had an item that could not even be named: nothing is swept */

    struct kube_call *call;   /* the request under way, or */
    struct loop_timer *timer; /* the wait before it; also looks after a silent one */
    struct reflector_outcome outcome;
    uint64_t started_ns;
    uint64_t heard_ns; /* when a list or watch last made progress, CLOCK_MONOTONIC */
    bool told;         /* an item or line has ended in the bytes at hand */
    size_t untold;     /* bytes since one did, or since so many of them were taken for progress */

    struct reflector_stats stats;
    unsigned int depth; /* entries from client or loop on the stack: freeing waits for them */
    bool dying;
    bool anew; /* a new list is wanted, and nothing else told */
};

void reflector_enter(struct reflector *reflector);
void reflector_leave(struct reflector *reflector);

/* An item of a list, or a line of a watch. -ECANCELED: go no further, either because the
 * reflector is dying or because outcome says why this request is over. */
int reflector_take_item(const char *item, size_t len, bool oversized, void *arg);
int reflector_take_line(const char *line, size_t len, bool oversized, void *arg);

/* The list is complete: tells the consumer of what it did not show. */
void reflector_sweep(struct reflector *reflector);

/* An object of so many bytes as it is now. 0; -EBADMSG if it can't be taken in; -ECANCELED. */
int reflector_upsert(struct reflector *reflector, const cJSON *object, size_t bytes);

/* It is gone. With a uid, the object of that uid: a word about one that had its name before comes
 * from a cache that lags. 0 or -ECANCELED. */
int reflector_forget(struct reflector *reflector, const char *name_space, const char *name,
                     const char *uid);

int reflector_lookups_init(struct reflector *reflector);
void reflector_lookups_done(struct reflector *reflector);

/* Asks for the metadata of an object of so many bytes and tells the consumer of that. -EBUSY,
 * -ENOMEM. */
int reflector_look_up(struct reflector *reflector, const struct scan_identity *identity,
                      size_t bytes);

/* A word about the object that is newer than the GET makes its answer worthless; uid as in
 * reflector_forget(). */
void reflector_drop_lookup(struct reflector *reflector, const char *name_space, const char *name,
                           const char *uid);
void reflector_drop_lookups(struct reflector *reflector);
