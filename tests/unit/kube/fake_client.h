/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/kube/client.h"

/* In place of client.c: a client that keeps what it is given to send, and what becomes of that is
 * said by the tests. */

#define MAX_FAKE_CALLS 2048

struct kube_call {
    char method[8];
    char path[512];
    char *body;
    uint64_t not_after_ns;
    kube_response_fn fn; /* NULL: answered or cancelled */
    void *arg;
};

struct kube_client {
    struct loop *loop;                      /* of whoever needs one */
    struct kube_call calls[MAX_FAKE_CALLS]; /* all that were ever sent */
    unsigned int count;
    int send_error; /* with which sending fails; 0: it doesn't */
};

/* The call that was sent last. */
struct kube_call *fake_client_last(struct kube_client *client);

/* Frees what was sent. Fails the test if a call is still under way. */
void fake_client_done(struct kube_client *client);

/* What comes of a call; answer() says nothing but {}. */
void answer_with(struct kube_call *call, int status, const char *body);
void answer(struct kube_call *call, int status);
