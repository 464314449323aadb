/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/https_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct https_request *https_request_new(const char *target)
{
    struct https_request *request = calloc(1, sizeof(*request));
    if (!request)
        return NULL;
    size_t len = strnlen(target, sizeof(request->target));
    request->too_long = len == sizeof(request->target);
    if (!request->too_long)
        memcpy(request->target, target, len);
    return request;
}

void https_request_free(struct https_request *request)
{
    if (!request)
        return;
    if (request->waiting)
        DL_DELETE(*request->waiting, request);
    if (request->response)
        MHD_destroy_response(request->response);
    free(request);
}

void https_request_suspend(struct https_request *request, struct https_request **waiting,
                           struct http_driver *driver)
{
    request->driver = driver;
    request->suspended = true;
    request->waiting = waiting;
    DL_APPEND(*waiting, request);
    MHD_suspend_connection(request->connection);
}

void https_request_resume(struct https_request *request)
{
    if (!request->suspended)
        return;
    request->suspended = false;
    DL_DELETE(*request->waiting, request);
    request->waiting = NULL;
    MHD_resume_connection(request->connection);
    http_driver_wake(request->driver);
}

enum MHD_Result https_request_queue(struct https_request *request)
{
    enum MHD_Result r = request->failed ? MHD_NO : MHD_YES;
    for (unsigned int i = 0; r == MHD_YES && i < request->header_count; i++)
        r = MHD_add_response_header(request->response, request->headers[i].name,
                                    request->headers[i].value);
    if (r == MHD_YES)
        r = MHD_queue_response(request->connection, request->status, request->response);
    return r;
}

const char *https_request_target(const struct https_request *request)
{
    return request->target;
}

struct header_search {
    const char *name;
    const char *value;
    unsigned int count;
};

static enum MHD_Result look_at_header(void *arg, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    struct header_search *search = arg;
    (void)kind;
    if (strcasecmp(name, search->name) == 0) {
        search->value = value ? value : "";
        search->count++;
    }
    return MHD_YES;
}

int https_request_header(const struct https_request *request, const char *name,
                         const char **ret_value)
{
    struct header_search search = {.name = name};
    (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, look_at_header, &search);
    if (search.count > 1)
        return -EEXIST;
    *ret_value = search.value;
    return 0;
}

void https_request_add_header(struct https_request *request, const char *name, const char *value)
{
    if (request->header_count == ARRAY_SIZE(request->headers) ||
        strlen(value) >= sizeof(request->headers[0].value)) {
        request->failed = true;
        return;
    }
    request->headers[request->header_count].name = name;
    (void)snprintf(request->headers[request->header_count].value, sizeof(request->headers[0].value),
                   "%s", value);
    request->header_count++;
}

static void answer(struct https_request *request, unsigned int status, const char *content_type,
                   struct MHD_Response *response)
{
    request->status = status;
    request->response = response;
    if (!response ||
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type) != MHD_YES)
        request->failed = true;
    https_request_resume(request);
}

void https_answer(struct https_request *request, unsigned int status, const char *content_type,
                  struct buf *body)
{
    size_t len = body->len;
    char *bytes = buf_take(body);
    struct MHD_Response *response =
        bytes ? MHD_create_response_from_buffer(len, bytes, MHD_RESPMEM_MUST_FREE) : NULL;
    if (!response)
        free(bytes);
    answer(request, status, content_type, response);
}

void https_answer_file(struct https_request *request, const char *content_type, int fd,
                       uint64_t size)
{
    struct MHD_Response *response = MHD_create_response_from_fd64(size, fd);
    if (!response)
        (void)fd_close(fd);
    answer(request, MHD_HTTP_OK, content_type, response);
}
