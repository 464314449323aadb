/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"

#include <stdint.h>

/* One Event of events.k8s.io/v1 about an object, as it is created. */
enum event_type { EVENT_NORMAL, EVENT_WARNING };

struct event {
    const char *api_version; /* of the object that it is about */
    const char *kind;
    const char *name_space;
    const char *name;
    const char *uid;
    enum event_type type;
    const char *reason; /* "EgressDenied" */
    const char *action; /* what was being done: "Connect" */
    const char *note;   /* for people; cut at MAX_EVENT_NOTE */
};

/* Who tells of it: "sandboxrun.dev/node-agent", "node-a". Of instance the API takes 128 bytes. */
struct event_reporter {
    const char *controller;
    const char *instance;
};

/* Appends path and body of its creation; names are those of the API, so checked. -ENOMEM,
 * -EMSGSIZE. */
int event_encode(const struct event *event, const struct event_reporter *reporter, int64_t time_us,
                 struct buf *path, struct buf *body, struct error *err);

/* The name that it is created by at time_us. */
#define EVENT_NAME_SIZE 254
void event_make_name(const struct event *event, int64_t time_us,
                     char ret_name[static EVENT_NAME_SIZE]);

/* Appends path and merge patch of an Event that was told of count times (2 at least), last at
 * time_us. -ENOMEM, -EMSGSIZE. */
int event_encode_series(const char *name_space, const char *name, uint32_t count, int64_t time_us,
                        struct buf *path, struct buf *body, struct error *err);
