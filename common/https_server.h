/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"
#include "common/loop.h"

#include <stdint.h>

/*
 * An HTTP/1.1 server over TLS 1.2 and 1.3 on the loop (libmicrohttpd and GnuTLS), whose answers may
 * come later: what has to be asked elsewhere first is asked meanwhile. GET and HEAD only (else
 * 405), no request bodies. A few connections, fewer from one address; each is over after two
 * minutes whatever happens on it, or after 10 s of silence. How fast new ones are taken is limited,
 * since a handshake costs more than what asks for it.
 */
struct https_server;
struct https_request;

#define MAX_HTTPS_TARGET_BYTES 1024 /* of what is asked for; beyond it 414 */

/* A request whose headers are there. It is answered by exactly one call of https_answer() or
 * https_answer_file(), from within this call or later. */
typedef void (*https_request_fn)(struct https_request *request, void *arg);

struct https_options {
    const char *address;     /* as http_listen() takes it */
    const char *certificate; /* PEM, a chain may follow; with its key. Copied. */
    const char *key;
    https_request_fn fn;
    void *arg;
};

int https_server_new(struct loop *loop, const struct https_options *options,
                     struct https_server **ret_server, struct error *err);

/* Cuts all connections. Requests that wait are gone: nobody may answer them any more. Not to be
 * called from within an https_request_fn. NULL is fine. */
void https_server_free(struct https_server *server);

/* New connections get this certificate; the others end as they would have. On failure all is as
 * before. */
int https_server_set_certificate(struct https_server *server, const char *certificate,
                                 const char *key, struct error *err);

/* The port listened on, for ":0". */
unsigned int https_server_port(const struct https_server *server);

/* Path and query as they were sent, nothing decoded. */
const char *https_request_target(const struct https_request *request);

/* The value of a header field; NULL if there is none. -EEXIST if there are several. It lives until
 * the request is answered. */
int https_request_header(const struct https_request *request, const char *name,
                         const char **ret_value);

/* Adds a field to the coming answer. Without memory for it the answer is lost and the connection
 * ends. */
void https_request_add_header(struct https_request *request, const char *name, const char *value);

/* Takes body's bytes. HEAD gets the same header without them. */
void https_answer(struct https_request *request, unsigned int status, const char *content_type,
                  struct buf *body);

/* The first size bytes of a regular file, read as the client takes them; fd is the server's. */
void https_answer_file(struct https_request *request, const char *content_type, int fd,
                       uint64_t size);
