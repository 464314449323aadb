/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/kube/client.h"
#include "common/kube/event.h"

/*
 * Events are told once and not again: no run waits for one. What is told again within
 * EVENT_SERIES_NS, with the same type, reason and action and about the same object, becomes a
 * series of the Event that is there: its count and time are patched, its note stays the first. Of
 * EVENT_BURST tokens one comes back every EVENT_SPACE_NS, which keeps a process from flooding the
 * API server; a count for which there is none is written with the next.
 */
struct event_recorder;

enum event_outcome {
    EVENT_CREATED,
    EVENT_REPEATED, /* of a series; the count is written, or will be */
    EVENT_LEFT_OUT, /* there was no token, or it could not be sent */
    EVENT_OUTCOME_COUNT
};

/* The texts of reporter are borrowed. -ENOMEM. */
int event_recorder_new(struct kube_client *client, const struct event_reporter *reporter,
                       struct event_recorder **ret_recorder, struct error *err);
/* Must go before its client does. What is under way is cancelled. NULL is fine. */
void event_recorder_free(struct event_recorder *recorder);

/* Sends it, one attempt. err tells why it was left out, -EBUSY for too many. An answer that is no
 * 2xx is logged. */
int event_recorder_tell(struct event_recorder *recorder, const struct event *event,
                        struct error *err);

/* How many ended so. */
unsigned long event_recorder_count(const struct event_recorder *recorder,
                                   enum event_outcome outcome);
