/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/kube/config.h"
#include "common/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * HTTP/2 client of one API server: libcurl multi on the loop, one multiplexed connection, TLS
 * verified, no redirects, bodies capped, bearer token and CA re-read on rotation.
 */
struct kube_client;
struct kube_call;

#define MAX_KUBE_RESPONSE (8u << 20)

/* As accept: the answer is the object's metadata, however large the object is. A write whose
 * outcome alone matters asks for it. */
#define KUBE_METADATA_ONLY "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

struct kube_request {
    const char *method;       /* "GET", "POST", "PUT", "PATCH", "DELETE" */
    const char *path;         /* absolute with query, already percent-encoded; copied */
    const char *content_type; /* with a body; NULL: application/json */
    const char *accept;       /* NULL: application/json */
    const char *body;         /* copied */
    size_t body_len;
    uint64_t timeout_ms;   /* of one attempt; 0: 30 s */
    uint64_t retry_for_ms; /* > 0: transport errors, 429 and 5xx, and 401 of a token file, are tried
                              again with Retry-After or jittered exponential back-off until so much
                              time has passed */
    uint64_t not_after_ns; /* CLOCK_BOOTTIME; no attempt goes out later, also not after the process
                              was stopped: the call fails instead; 0: always */
    bool urgent;           /* a heartbeat: goes out at once, however many calls wait for answers */
};

struct kube_response {
    int status;       /* HTTP status; 0 if the transport failed: see error */
    const char *body; /* NUL-terminated, gone after the callback */
    size_t body_len;
    char reason[64];         /* of a Status object: "Conflict", "Expired", ... or "" */
    struct error error;      /* set where status is not 2xx: the server's own message */
    uint64_t retry_after_ms; /* the server's Retry-After; 0: not said */
};

typedef void (*kube_response_fn)(const struct kube_response *response, void *arg);

int kube_client_new(struct loop *loop, const struct kube_config *config, const char *user_agent,
                    struct kube_client **ret_client, struct error *err);

/* Cancels what is under way without calling back. */
void kube_client_free(struct kube_client *client);

/* Sends; fn is called exactly once from the loop, never from inside this call, unless the call is
 * cancelled. ret_call may be NULL; it is invalid once fn has been called. */
int kube_client_send(struct kube_client *client, const struct kube_request *request,
                     kube_response_fn fn, void *arg, struct kube_call **ret_call,
                     struct error *err);
void kube_call_cancel(struct kube_call *call);

/* What the API server's own clock shows (server_clock.h), microseconds since 1970; 0 before its
 * first answer. */
int64_t kube_client_server_time_us(const struct kube_client *client);

/* The client's loop, for timers beside its calls. */
struct loop *kube_client_loop(struct kube_client *client);

/* Appends text percent-encoded as a query value or path segment. */
struct buf;
int kube_append_escaped(struct buf *buf, const char *text);
