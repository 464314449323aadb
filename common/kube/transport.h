/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/loop.h"

#include <curl/curl.h>
#include <stdbool.h>

/*
 * One curl multi handle on the loop: as a rule one HTTP/2 connection. libcurl goes on using a
 * connection whose peer has fallen silent, so whoever suspects it opens another transport and lets
 * this one run empty.
 */
struct transport;

struct transport_hooks {
    /* Around everything that the loop calls in here. After leave the transport may be gone. */
    void (*enter)(void *arg);
    void (*leave)(void *arg);
    /* A transfer has ended and has been removed; outside of libcurl, anything may be called. */
    void (*done)(CURL *easy, CURLcode result, void *arg);
    /* libcurl has been left: calls that were put off can be made. False: stop, all is ending. */
    bool (*settle)(void *arg);
};

int transport_new(struct loop *loop, const struct transport_hooks *hooks, void *arg,
                  struct transport **ret_transport, struct error *err);

/* Not from inside libcurl; transfers must have been removed. */
void transport_free(struct transport *transport);

/* True while libcurl is on the stack: then neither of the next two may be called. */
bool transport_is_busy(const struct transport *transport);
int transport_add(struct transport *transport, CURL *easy, struct error *err);
void transport_remove(struct transport *transport, CURL *easy);

/* Transfers in it. */
unsigned int transport_users(const struct transport *transport);
