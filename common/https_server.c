/* SPDX-License-Identifier: Apache-2.0 */
#include "common/https_server.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/http_driver.h"
#include "common/http_listen.h"
#include "common/https_internal.h"
#include "common/token_bucket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#define NS_PER_MS     1000000u
#define NS_PER_SECOND 1000000000u

enum {
    MAX_HTTPS_CONNECTIONS = 32,
    MAX_HTTPS_PEER_CONNECTIONS = 16, /* all that comes by port-forward comes from one address */
    MAX_HTTPS_IDLE_SECONDS = 10,
    MAX_HTTPS_CONNECTION_MS = 120 * 1000, /* 8 MiB at 70 KiB/s */
    MAX_HTTPS_REQUEST_BYTES = 32 * 1024,  /* request line, header fields, answer's block */
    MAX_HTTPS_ACCEPTS = 100,              /* a second, and at once; more are reset */
    HTTPS_LOOK_MS = 1000,                 /* for connections whose time is over */
};

/* The first that GnuTLS knows of the newest two versions; the rest is its own default. */
#define HTTPS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct https_connection {
    struct https_connection *prev;
    struct https_connection *next;
    int fd;
    uint64_t since_ns;
};

/* One certificate, and what was connected under it. */
struct https_daemon {
    struct https_server *server;
    struct MHD_Daemon *daemon;
    struct http_driver *driver;
    struct https_connection *connections; /* the oldest first */
    struct https_request *waiting;
};

struct https_server {
    struct loop *loop;
    https_request_fn fn;
    void *arg;
    struct https_daemon *current;
    struct https_daemon *retired; /* takes no connections any more */
    struct loop_timer *timer;
    unsigned int port;
    struct token_bucket accepts;
};

static enum MHD_Result on_accept(void *arg, const struct sockaddr *address, socklen_t len)
{
    struct https_daemon *daemon = arg;
    (void)address;
    (void)len;
    return token_bucket_take(&daemon->server->accepts, clock_monotonic_ns(), MAX_HTTPS_ACCEPTS,
                             NS_PER_SECOND / MAX_HTTPS_ACCEPTS)
               ? MHD_YES
               : MHD_NO;
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct https_daemon *daemon = arg;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        struct https_connection *closed = *context;
        if (closed)
            DL_DELETE(daemon->connections, closed);
        free(closed);
        *context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct https_connection *opened = info ? calloc(1, sizeof(*opened)) : NULL;
    /* What can't be watched over isn't served. */
    if (!opened) {
        if (info)
            (void)shutdown(info->connect_fd, SHUT_RDWR);
        return;
    }
    opened->fd = info->connect_fd;
    opened->since_ns = clock_monotonic_ns();
    DL_APPEND(daemon->connections, opened);
    *context = opened;
    (void)loop_timer_arm(daemon->server->timer, HTTPS_LOOK_MS);
}

static void *on_target(void *arg, const char *target, struct MHD_Connection *connection)
{
    (void)arg;
    (void)connection;
    return https_request_new(target);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
    (void)arg;
    (void)connection;
    (void)code;
    https_request_free(*context);
    *context = NULL;
}

static enum MHD_Result answer_text(struct https_request *request, unsigned int status,
                                   const char *text)
{
    struct buf body = BUF_INIT(256);
    if (buf_append_str(&body, text) < 0)
        return MHD_NO;
    https_answer(request, status, "text/plain; charset=utf-8", &body);
    return https_request_queue(request);
}

/* Called when the header is there, for each part of a body, at the end of the request, and again
 * when one that was set aside is resumed. A wrong method is answered at the first call, so that no
 * body is ever read, and ends the connection. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **context)
{
    struct https_daemon *daemon = arg;
    struct https_request *request = *context;
    (void)url;
    (void)version;
    (void)upload;
    if (!request || *upload_size > 0)
        return MHD_NO;
    request->connection = connection;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
        https_request_add_header(request, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
        return answer_text(request, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed\n");
    }
    if (!request->complete) {
        request->complete = true;
        return MHD_YES;
    }
    if (request->too_long)
        return answer_text(request, MHD_HTTP_URI_TOO_LONG, "the path is too long\n");
    if (!request->asked) {
        request->asked = true;
        daemon->server->fn(request, daemon->server->arg);
        if (!request->response && !request->failed) {
            https_request_suspend(request, &daemon->waiting, daemon->driver);
            return MHD_YES;
        }
    }
    return https_request_queue(request);
}

static void daemon_free(struct https_daemon *daemon)
{
    if (!daemon)
        return;
    /* libmicrohttpd won't stop with connections set aside. */
    while (daemon->waiting) {
        daemon->waiting->failed = true;
        https_request_resume(daemon->waiting);
    }
    http_driver_free(daemon->driver);
    if (daemon->daemon)
        MHD_stop_daemon(daemon->daemon);
    free(daemon);
}

/* Owns listen_fd from the start on, also when it fails. */
static int daemon_start(struct https_daemon *daemon, int listen_fd, const char *certificate,
                        const char *key)
{
    daemon->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_TLS | MHD_ALLOW_SUSPEND_RESUME, 0, on_accept, daemon, on_request,
        daemon, MHD_OPTION_LISTEN_SOCKET, listen_fd, MHD_OPTION_HTTPS_MEM_CERT, certificate,
        MHD_OPTION_HTTPS_MEM_KEY, key, MHD_OPTION_HTTPS_PRIORITIES, HTTPS_PRIORITIES,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned int)MAX_HTTPS_CONNECTIONS,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned int)MAX_HTTPS_PEER_CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)MAX_HTTPS_IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MAX_HTTPS_REQUEST_BYTES,
        MHD_OPTION_URI_LOG_CALLBACK, on_target, daemon, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
        daemon, MHD_OPTION_NOTIFY_CONNECTION, on_connection, daemon, MHD_OPTION_END);
    if (daemon->daemon)
        return 0;
    (void)fd_close(listen_fd);
    return -EIO;
}

static int daemon_new(struct https_server *server, int listen_fd, const char *certificate,
                      const char *key, struct https_daemon **ret_daemon, struct error *err)
{
    struct https_daemon *daemon = calloc(1, sizeof(*daemon));
    int r;
    if (daemon) {
        daemon->server = server;
        r = daemon_start(daemon, listen_fd, certificate, key);
        if (r == 0)
            r = http_driver_new(server->loop, daemon->daemon, &daemon->driver);
    } else {
        (void)fd_close(listen_fd);
        r = -ENOMEM;
    }
    if (r < 0) {
        daemon_free(daemon);
        return error_set(err, -r,
                         "cannot start the HTTPS server: an unusable certificate, or out of memory "
                         "or descriptors");
    }
    *ret_daemon = daemon;
    return 0;
}

static void end_overdue(const struct https_daemon *daemon, uint64_t now_ns)
{
    const struct https_connection *connection;
    DL_FOREACH (daemon->connections, connection) {
        if (now_ns - connection->since_ns < (uint64_t)MAX_HTTPS_CONNECTION_MS * NS_PER_MS)
            break;
        /* libmicrohttpd sees its end, and closes it. */
        (void)shutdown(connection->fd, SHUT_RDWR);
    }
}

static void on_look(void *arg)
{
    struct https_server *server = arg;
    uint64_t now_ns = clock_monotonic_ns();
    end_overdue(server->current, now_ns);
    if (server->retired) {
        end_overdue(server->retired, now_ns);
        if (!server->retired->connections)
            daemon_free(TAKE_PTR(server->retired));
    }
    if (server->current->connections || server->retired)
        (void)loop_timer_arm(server->timer, HTTPS_LOOK_MS);
}

int https_server_set_certificate(struct https_server *server, const char *certificate,
                                 const char *key, struct error *err)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->current->daemon, MHD_DAEMON_INFO_LISTEN_FD);
    struct https_daemon *next = NULL;
    /* The same socket by another number, so that no connection is refused in between. */
    int fd = info ? fcntl(info->listen_fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (fd < 0)
        return error_set(err, EIO, "cannot change the certificate: out of descriptors");
    int r = daemon_new(server, fd, certificate, key, &next, err);
    if (r < 0)
        return r;
    (void)fd_close(MHD_quiesce_daemon(server->current->daemon));
    daemon_free(server->retired);
    server->retired = server->current;
    server->current = next;
    (void)loop_timer_arm(server->timer, HTTPS_LOOK_MS);
    return 0;
}

int https_server_new(struct loop *loop, const struct https_options *options,
                     struct https_server **ret_server, struct error *err)
{
    struct https_server *server = calloc(1, sizeof(*server));
    if (!server)
        return error_set(err, ENOMEM, "cannot start the HTTPS server: out of memory");
    server->loop = loop;
    server->fn = options->fn;
    server->arg = options->arg;
    int r = loop_timer_new(loop, on_look, server, &server->timer);
    if (r < 0)
        r = error_set_errno(err, -r, "cannot start the HTTPS server");
    else
        r = http_listen(options->address, MAX_HTTPS_CONNECTIONS, err);
    if (r >= 0) {
        server->port = http_listen_port(r);
        r = daemon_new(server, r, options->certificate, options->key, &server->current, err);
    }
    if (r < 0) {
        https_server_free(server);
        return r;
    }
    *ret_server = server;
    return 0;
}

void https_server_free(struct https_server *server)
{
    if (!server)
        return;
    daemon_free(server->retired);
    daemon_free(server->current);
    loop_timer_free(server->timer);
    free(server);
}

unsigned int https_server_port(const struct https_server *server)
{
    return server->port;
}
