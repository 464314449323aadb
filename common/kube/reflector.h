/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/json.h"
#include "common/kube/client.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Keeps a consumer equal to one collection of the API server: list in pages, then watch with
 * bookmarks; 410 Gone and error objects lead to a new list, broken and silent streams to a new
 * watch from the last resourceVersion, with back-off. (Kubernetes API concepts, "Efficient
 * detection of changes".) Items and lines are decoded one at a time out of the byte stream; one
 * larger than MAX_KUBE_ITEM is skipped to its end, counted, and reported by a metadata-only GET.
 */
#define MAX_KUBE_ITEM (4u << 20)

struct reflector;

struct reflector_handlers {
    /* An object is new or changed. The tree lives until the handler returns. A metadata-only tree
     * (oversized object) has no "spec" and no "status". bytes is how long the object is as the
     * server writes it, give or take the few that a watch event has around it; MAX_KUBE_ITEM
     * stands for any larger one. */
    void (*upsert)(const cJSON *object, size_t bytes, void *arg);
    /* An object is gone (deleted, no longer selected, or missing from a new list). name_space is
     * "" for cluster-scoped kinds. */
    void (*remove)(const char *name_space, const char *name, const char *uid, void *arg);
    /* A list has been delivered whole: the consumer is now as new as the server was. May be NULL.
     * Called again after every later list. */
    void (*synced)(void *arg);
};

struct reflector_options {
    const char *path;           /* e.g. "/apis/sandboxrun.dev/v1alpha1/sandboxruns" */
    const char *field_selector; /* NULL: all */
    const char *label_selector; /* NULL: all */
    unsigned int page_size;     /* 0: 100 */
    unsigned int silence_ms;    /* a watch without a byte for so long is made anew; 0: 150 s, as
                                   bookmarks come about every 60 s */
    const char *name;           /* for log lines: "sandboxruns" */
};

/* Starts at once. Strings are copied; handlers are copied, arg is the consumer's. Handlers are
 * called from the loop only, and may free the reflector. It must go before its client does. */
int reflector_new(struct kube_client *client, const struct reflector_options *options,
                  const struct reflector_handlers *handlers, void *arg,
                  struct reflector **ret_reflector, struct error *err);
void reflector_free(struct reflector *reflector);

/* For a consumer that has reason to take what it was told for old: nothing of the request under way
 * is delivered any more, and a new list is made at once. synced follows, as after any list. */
void reflector_relist(struct reflector *reflector);

/* True while a first list is complete, the last request got somewhere, and the stream has been
 * heard of within its limit. */
bool reflector_is_healthy(const struct reflector *reflector);

struct reflector_stats {
    unsigned long lists, watches, events, bookmarks, errors, oversized, left_out;
};
struct reflector_stats reflector_stats(const struct reflector *reflector);
