/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/kube/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a reflector does next, decided from what its last request came to. Pure: no clock, no
 * randomness, no I/O. A resourceVersion is an opaque text that is only handed back.
 *
 * A list asks for the most recent state (no resourceVersion) and never for "any": so no new list
 * is older than what was seen before, whichever server answers.
 */
enum reflector_step { REFLECTOR_LIST, REFLECTOR_WATCH };

#define MAX_REFLECTOR_CONTINUE (8u << 10)

struct reflector_plan {
    enum reflector_step step;
    bool synced;                    /* a list has been complete */
    char version[MAX_KUBE_VERSION]; /* to watch from; "" before the first list */
    char *continue_token;           /* of the next page; NULL: the first page */
    unsigned int page_size;         /* wanted */
    unsigned int limit;             /* of the next page; 0: no limit */
    unsigned int expired_pages;     /* lists in a row that died of 410 between pages */
    unsigned int relists;           /* lists in a row that no event has justified since */
    unsigned int failures;          /* requests in a row that got nowhere */
    unsigned int short_watches;     /* watches in a row that brought events and ended at once */
};

/* How a request ended. */
struct reflector_outcome {
    int status;              /* HTTP; 0: no answer, or one that broke off */
    bool opened;             /* a 200 came, whatever followed */
    bool gone;               /* 410, as a status or as an error event: the version is too old */
    bool error_event;        /* another error object in the stream */
    bool lost;               /* something was said that could not be understood */
    unsigned long events;    /* of a watch: events and bookmarks */
    uint64_t bytes;          /* of the body */
    uint64_t lifetime_ms;    /* since it was sent */
    uint64_t retry_after_ms; /* 0: not said */
};

void reflector_plan_init(struct reflector_plan *plan, unsigned int page_size);
void reflector_plan_done(struct reflector_plan *plan);

/* A page has been read whole: its resourceVersion and continue token (NULL or "": the last). True
 * if the list is complete. -EBADMSG, -ENOMEM: treat it as a page that failed. */
int reflector_plan_page(struct reflector_plan *plan, const char *version, const char *token,
                        const struct reflector_outcome *outcome, bool *ret_complete);

/* A page failed, or a watch ended: the next step and how long to wait before it. */
uint64_t reflector_plan_failed_page(struct reflector_plan *plan,
                                    const struct reflector_outcome *outcome, uint32_t random);
uint64_t reflector_plan_watch_ended(struct reflector_plan *plan,
                                    const struct reflector_outcome *outcome, uint32_t random);

/* Whatever it was about, a new list is made from its first page. */
void reflector_plan_relist(struct reflector_plan *plan);

/* An event or bookmark has been taken in; a version that can't be kept ("" or too long) leaves
 * the last one, from which the server will repeat. */
void reflector_plan_event(struct reflector_plan *plan, const char *version);
