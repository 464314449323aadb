/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/http_driver.h"
#include "common/https_server.h"

#include <microhttpd.h>
#include <stdbool.h>

/* What https_server.c (connections) and https_request.c (one request and its answer) share. */
struct https_request {
    struct https_request *prev;
    struct https_request *next;
    struct https_request **waiting; /* the list that it is in while it is suspended */
    struct http_driver *driver;     /* of its daemon */
    struct MHD_Connection *connection;
    char target[MAX_HTTPS_TARGET_BYTES + 1];
    bool too_long;
    bool complete;  /* all of it is there */
    bool asked;     /* the server's user knows of it */
    bool suspended; /* libmicrohttpd leaves it alone until there is an answer */
    bool failed;    /* there will be no answer */
    unsigned int status;
    struct {
        const char *name;
        char value[160];
    } headers[2];
    unsigned int header_count;
    struct MHD_Response *response;
};

/* As libmicrohttpd's MHD_OPTION_URI_LOG_CALLBACK and MHD_OPTION_NOTIFY_COMPLETED. */
struct https_request *https_request_new(const char *target);
void https_request_free(struct https_request *request);

/* Tells libmicrohttpd of the answer, which must be there or have failed. */
enum MHD_Result https_request_queue(struct https_request *request);

/* Sets it aside until it is answered. */
void https_request_suspend(struct https_request *request, struct https_request **waiting,
                           struct http_driver *driver);

/* Gives it back to libmicrohttpd, answered or not. */
void https_request_resume(struct https_request *request);
