/* SPDX-License-Identifier: Apache-2.0 */
#include "common/http_server.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/http_driver.h"
#include "common/http_listen.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_HTTP_CONNECTIONS = 64,
    MAX_HTTP_IDLE_SECONDS = 10,
    MAX_HTTP_REQUEST_BYTES = 16 * 1024, /* request line and header fields, per connection */
    MAX_HTTP_BODY_BYTES = 4 * 1024 * 1024,
};

struct http_server {
    struct MHD_Daemon *daemon;
    struct http_driver *driver;
    const struct http_route *routes;
    void *arg;
    unsigned int port;
};

static enum MHD_Result http_answer(struct MHD_Connection *connection, unsigned int status,
                                   struct buf *body, const char *content_type)
{
    size_t len = body->len;
    char *bytes = buf_take(body);
    if (!bytes)
        return MHD_NO;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, bytes, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(bytes);
        return MHD_NO;
    }
    enum MHD_Result r =
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    if (r == MHD_YES && status == MHD_HTTP_METHOD_NOT_ALLOWED)
        r = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (r == MHD_YES)
        r = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return r;
}

static enum MHD_Result http_answer_text(struct MHD_Connection *connection, unsigned int status,
                                        const char *text)
{
    cleanup_buf struct buf body = BUF_INIT(MAX_HTTP_BODY_BYTES);
    if (buf_append_str(&body, text) < 0)
        return MHD_NO;
    return http_answer(connection, status, &body, "text/plain; charset=utf-8");
}

static enum MHD_Result http_answer_route(struct MHD_Connection *connection,
                                         const struct http_server *server,
                                         const struct http_route *route)
{
    cleanup_buf struct buf body = BUF_INIT(MAX_HTTP_BODY_BYTES);
    const char *content_type = "text/plain; charset=utf-8";
    int status = route->fn(&body, &content_type, server->arg);
    return http_answer(connection, (unsigned int)status, &body, content_type);
}

/* Called when the header is there, for each part of a body, and at the end of the request. A
 * wrong method is answered at the first call, so that no body is ever read, and ends the
 * connection; the rest at the end, which keeps it open for the next request. */
static enum MHD_Result http_handle(void *arg, struct MHD_Connection *connection, const char *url,
                                   const char *method, const char *version, const char *upload,
                                   size_t *upload_size, void **request)
{
    const struct http_server *server = arg;
    (void)version;
    (void)upload;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return http_answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed\n");
    if (*upload_size > 0)
        return MHD_NO; /* ends the connection: a body belongs to no request that is served */
    if (!*request) {
        *request = arg; /* any mark that it is not the first call */
        return MHD_YES;
    }
    for (const struct http_route *route = server->routes; route->path; route++) {
        if (strcmp(route->path, url) == 0)
            return http_answer_route(connection, server, route);
    }
    return http_answer_text(connection, MHD_HTTP_NOT_FOUND, "not found\n");
}

/* The daemon owns the listening socket once it has started. */
static int http_start(struct http_server *server, int listen_fd, struct error *err)
{
    server->port = http_listen_port(listen_fd);
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, http_handle, server, MHD_OPTION_LISTEN_SOCKET, listen_fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned int)MAX_HTTP_CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)MAX_HTTP_IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MAX_HTTP_REQUEST_BYTES, MHD_OPTION_END);
    if (server->daemon)
        return 0;
    (void)fd_close(listen_fd);
    return error_set(err, EIO, "cannot start the HTTP server: out of memory or descriptors");
}

int http_server_new(struct loop *loop, const char *address, const struct http_route *routes,
                    void *arg, struct http_server **ret_server, struct error *err)
{
    struct http_server *server = calloc(1, sizeof(*server));
    if (!server)
        return error_set(err, ENOMEM, "cannot start the HTTP server: out of memory");
    *server = (struct http_server){.routes = routes, .arg = arg};
    int r = http_listen(address, MAX_HTTP_CONNECTIONS, err);
    if (r >= 0)
        r = http_start(server, r, err);
    if (r == 0) {
        r = http_driver_new(loop, server->daemon, &server->driver);
        if (r < 0)
            (void)error_set_errno(err, -r, "cannot watch the HTTP server");
    }
    if (r < 0) {
        http_server_free(server);
        return r;
    }
    *ret_server = server;
    return 0;
}

void http_server_free(struct http_server *server)
{
    if (!server)
        return;
    http_driver_free(server->driver);
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    free(server);
}

unsigned int http_server_port(const struct http_server *server)
{
    return server->port;
}
