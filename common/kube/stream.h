/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/kube/client.h"

#include <stddef.h>

/*
 * A call whose body is handed over as it comes: lists and watches, inside common/kube only. It is
 * not queued, not retried and has no time limit but the request's timeout_ms (0: none): whoever
 * opens one keeps an eye on it. Handlers may call anything, also cancel the call or free the
 * client.
 */
struct kube_stream_handlers {
    /* The status line and headers of a 200 have come. */
    void (*opened)(void *arg);
    /* Bytes of the body of a 200. */
    void (*data)(const char *bytes, size_t len, void *arg);
    /* Last, unless cancelled. A 200 that ended as it should has status 200 and no error; one that
     * broke off has status 0; another status has its body. */
    void (*ended)(const struct kube_response *response, void *arg);
};

int kube_client_stream(struct kube_client *client, const struct kube_request *request,
                       const struct kube_stream_handlers *handlers, void *arg,
                       struct kube_call **ret_call, struct error *err);

/* Cancels, and has later requests use another connection: the call's own has fallen silent. */
void kube_call_abandon(struct kube_call *call);
