/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/hash.h"
#include "controller/facts.h"
#include "controller/finished.h"
#include "controller/nodes.h"
#include "controller/tenants.h"
#include "controller/wakeups.h"

/* A run as the controller holds it: the facts of its newest version, and where it is filed. */
struct run_digest {
    struct run_facts facts;
    char *key;           /* "namespace/name" */
    size_t bytes;        /* of the object, as the API server writes it */
    uint64_t sequence;   /* order of first sight */
    int64_t seen_us;     /* first sight; of what is older, its creation */
    int64_t queued_us;   /* since when it waits */
    int64_t finished_us; /* when its TTL starts; 0 while it isn't terminal */
    /* By the lease clock; 0: not yet looked at. */
    int64_t since_us;    /* first looked at in this phase, assigned so */
    int64_t orphaned_us; /* since when its agent is known to be gone; 0: it isn't */

    bool awaited;          /* its end, which was not there at first sight, is not told yet */
    bool writing;          /* a write is under way */
    bool settled;          /* this version was acted upon: wait for the next */
    unsigned int failures; /* of writes on this version */
    int64_t not_before_us; /* back-off after the last of them */

    struct tenant *tenant; /* its namespace */
    struct node *node;     /* on which it is accounted */
    struct lane *lane;     /* in which it waits */
    uint64_t tried;        /* the nodes' generation up to which none has a place for it; 0: none */
    enum wait_reason waits_for; /* as of then */
    bool dirty;                 /* to be looked at by the next plan */
    bool unexplained;           /* it may have to be told why it waits */
    struct wakeup wakeup;       /* to be looked at at that time */
    struct wakeup kept;         /* among finished runs, in all */
    struct wakeup kept_here;    /* and of its namespace */
    struct run_digest *node_prev, *node_next;
    struct run_digest *queue_prev, *queue_next;
    struct run_digest *dirty_prev, *dirty_next;
    struct run_digest *unexplained_prev, *unexplained_next;
    UT_hash_handle hh;
};

struct runs {
    struct nodes *nodes;
    struct run_digest *by_key;
    struct tenants tenants;
    struct finished finished;
    struct run_digest *dirty;
    struct run_digest *unexplained;
    struct wakeups wakeups;
    bool listed;     /* all that were there before this controller are known */
    uint64_t looked; /* the nodes' generation that the last plan knew */
    uint64_t next_sequence;
    unsigned int counts[RUN_PHASE_COUNT];
    unsigned int waiting; /* in queues */
};

void runs_init(struct runs *runs, struct nodes *nodes);
void runs_done(struct runs *runs);

/* Takes over an object as the API server has it, written in so many bytes. ret_run (may be NULL) is
 * its digest. -EINVAL for an object without identity; -ENOMEM. */
int runs_upsert(struct runs *runs, const cJSON *object, size_t bytes, int64_t now_us,
                struct run_digest **ret_run, struct error *err);
void runs_remove(struct runs *runs, const char *name_space, const char *name, const char *uid);
struct run_digest *runs_find(const struct runs *runs, const char *name_space, const char *name);

/* The time from the run's first sight until now, when its end is seen: once, and only where the end
 * was waited for; -1 otherwise. */
int64_t run_take_total_us(struct run_digest *run, int64_t now_us);

/* The agent of node has changed or is gone: its runs are to be looked at. */
void runs_touch_node(struct runs *runs, struct node *node);
void runs_touch(struct runs *runs, struct run_digest *run);

/* Takes the next run to be looked at, dirty or due; NULL if there is none. */
struct run_digest *runs_next(struct runs *runs, int64_t now_us);

/* A run that waits is to be tried, or to be told why it waits. */
void runs_retry(struct runs *runs, struct run_digest *run);
void runs_mark_unexplained(struct runs *runs, struct run_digest *run);
/* Takes one of the latter; NULL if there is none. */
struct run_digest *runs_next_unexplained(struct runs *runs);

/* Plans a further look; INT64_MAX for none before the next change. */
void runs_wake_at(struct runs *runs, struct run_digest *run, int64_t at_us);

/* A write about run begins; node (may be NULL) is accounted for it until its end. */
void runs_begin_write(struct runs *runs, struct run_digest *run, struct node *node);

/* The write that begins ends the run, or deletes it: it waits no more and isn't kept. */
void runs_set_aside(struct runs *runs, struct run_digest *run);

enum write_result {
    WRITE_SETTLED, /* done, or refused for a version that the watch is going to tell of */
    WRITE_FAILED   /* to be tried again later */
};

/* The write that was decided on version has ended. What came of it, the watch tells. */
void runs_end_write(struct runs *runs, struct run_digest *run, const char *version,
                    enum write_result result, int64_t now_us);
