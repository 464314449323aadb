/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"
#include "common/loop.h"

#include <stdbool.h>

/*
 * A small HTTP/1.1 server on the loop (libmicrohttpd, driven through its epoll descriptor): GET
 * and HEAD only (else 405), no request bodies, at most 64 connections, 10 s idle time-out.
 */
struct http_server;

/* Fills body (bounded) for an exact path and returns the HTTP status. content_type may be set. */
typedef int (*http_server_fn)(struct buf *body, const char **ret_content_type, void *arg);

struct http_route {
    const char *path;
    http_server_fn fn;
};

/* Listens on "1.2.3.4:PORT", "[::1]:PORT" or ":PORT" (all addresses); names are not looked up.
 * routes end with path NULL and outlive the server. It must not be freed from within a route. */
int http_server_new(struct loop *loop, const char *address, const struct http_route *routes,
                    void *arg, struct http_server **ret_server, struct error *err);
void http_server_free(struct http_server *server);

/* The port listened on, for ":0". */
unsigned int http_server_port(const struct http_server *server);
