/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/loop.h"

#include <stddef.h>

/* A client of an HTTPS server on the same loop: libcurl in a thread of its own. */
#define MAX_CLIENT_HEADERS 4

struct https_exchange {
    unsigned int port;
    const char *host;   /* NULL: 127.0.0.1; else a name that is looked for there */
    const char *target; /* "/path?query" */
    const char *method; /* NULL: GET */
    const char *body;   /* NULL: none */
    const char *ca;     /* PEM that the server must be known by */
    const char *headers[MAX_CLIENT_HEADERS];
    long bytes_per_second; /* 0: as fast as it goes */
    long timeout_s;        /* 0: 20 */
    /* What came of it. */
    long status;      /* 0: nothing */
    long long length; /* Content-Length; -1: not said */
    char content_type[64];
    char failure[256];
    struct buf header; /* as it was sent */
    struct buf answer;
};

/* Runs the loop until the exchange is over. */
void https_exchange(struct loop *loop, struct https_exchange *exchange);
void https_exchange_done(struct https_exchange *exchange);

/* Begins one; loop_stop() is called when it is over. One at a time for each exchange. */
struct https_flight;
struct https_flight *https_exchange_begin(struct loop *loop, struct https_exchange *exchange);
void https_exchange_end(struct https_flight *flight);
