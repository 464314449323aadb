/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/kube/client.h"
#include "common/kube/event.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Events are told once and not again: no run waits for one. A token bucket keeps a process from
 * flooding the API server with them.
 */
struct event_bucket {
    uint64_t full_ns; /* when it has all of its tokens again */
};

/* Takes a token of EVENT_BURST, of which one comes back every EVENT_SPACE_NS; false if there is
 * none. now_ns is of CLOCK_MONOTONIC. */
bool event_bucket_take(struct event_bucket *bucket, uint64_t now_ns);

struct event_recorder {
    struct kube_client *client;
    struct event_reporter reporter; /* borrowed */
    struct event_bucket bucket;
};

/* Sends it, one attempt. -EBUSY: too many, it is left out. An answer that is no 2xx is logged. */
int event_recorder_tell(struct event_recorder *recorder, const struct event *event,
                        struct error *err);
