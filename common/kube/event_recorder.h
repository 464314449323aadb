/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/kube/client.h"
#include "common/kube/event.h"
#include "common/token_bucket.h"

/*
 * Events are told once and not again: no run waits for one. Of EVENT_BURST tokens one comes back
 * every EVENT_SPACE_NS, which keeps a process from flooding the API server with them.
 */
struct event_recorder {
    struct kube_client *client;
    struct event_reporter reporter; /* borrowed */
    struct token_bucket bucket;
};

/* Sends it, one attempt. -EBUSY: too many, it is left out. An answer that is no 2xx is logged. */
int event_recorder_tell(struct event_recorder *recorder, const struct event *event,
                        struct error *err);
