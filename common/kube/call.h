/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/kube/auth.h"
#include "common/kube/server_clock.h"
#include "common/kube/stream.h"

#include <curl/curl.h>
#include <stdbool.h>

/*
 * One request and what has come of it. client.c decides when it is tried; call.c knows how an
 * attempt is put to libcurl and what it answers.
 */
enum call_state {
    CALL_WAITING, /* for a place among those in flight */
    CALL_ACTIVE,  /* in a transport */
    CALL_ASLEEP,  /* until its next attempt */
    CALL_DOOMED,  /* cancelled while libcurl was on the stack */
    CALL_STATE_COUNT
};

struct kube_call {
    struct kube_call *prev;
    struct kube_call *next;
    struct kube_client *client;
    enum call_state state;

    char *method;
    char *url;
    char *content_type;
    char *accept;
    char *body;
    size_t body_len;
    uint64_t timeout_ms;
    uint64_t give_up_ns;   /* CLOCK_MONOTONIC; 0: one attempt only */
    uint64_t not_after_ns; /* CLOCK_BOOTTIME; 0: always */
    unsigned int failures;
    bool urgent;
    bool token_retried; /* a 401 is worth one more attempt with a token read afresh */
    struct loop_timer *timer;
    struct error start_error; /* why the last attempt couldn't even begin */

    kube_response_fn fn;
    bool streaming;
    struct kube_stream_handlers stream;
    void *arg;

    /* Of the attempt under way. */
    struct transport *transport;
    CURL *easy;
    struct server_clock *clock; /* the client's */
    struct curl_slist *headers;
    struct curl_slist *connect_to;
    int status; /* 0 until the headers have come */
    struct buf response;
    bool too_large;
    char curl_error[CURL_ERROR_SIZE];
};

/* How an attempt went. */
struct call_outcome {
    struct kube_response response;
    bool final; /* another attempt would end the same way */
};

#define KUBE_LATE "not sent, as the time for it has passed"

/* The time of the request has passed: no attempt of it may go out any more. */
bool call_is_late(const struct kube_call *call);

/* Copies request; NULL when out of memory. */
struct kube_call *call_new(const char *server, const struct kube_request *request);
void call_free(struct kube_call *call);

/* Makes the easy handle of a further attempt. */
int call_prepare(struct kube_call *call, const struct kube_config *config, const struct auth *auth,
                 const char *user_agent, struct error *err);

/* Reads the outcome off an attempt that has ended; the body stays the call's. */
void call_outcome(struct kube_call *call, CURLcode result, struct call_outcome *ret_outcome);

/* Lets go of the attempt: the easy handle must be out of its transport. */
void call_reset(struct kube_call *call);
