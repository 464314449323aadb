/* SPDX-License-Identifier: Apache-2.0 */
#include "common/http_server.h"

#include "common/cleanup.h"
#include "common/parse.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

enum {
    MAX_HTTP_CONNECTIONS = 64,
    MAX_HTTP_IDLE_SECONDS = 10,
    MAX_HTTP_REQUEST_BYTES = 16 * 1024, /* request line and header fields, per connection */
    MAX_HTTP_BODY_BYTES = 4 * 1024 * 1024,
};

struct http_server {
    struct MHD_Daemon *daemon;
    struct loop_io *io;
    struct loop_timer *timer;
    const struct http_route *routes;
    void *arg;
    unsigned int port;
};

struct http_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to;
    socklen_t len;
};

/* "1.2.3.4" or "[::1]" or "" (all addresses, of both families). */
static bool http_address_set_host(struct http_address *address, const char *host, uint16_t port)
{
    size_t len = strlen(host);
    *address = (struct http_address){.len = sizeof(address->to.v6)};
    address->to.v6.sin6_family = AF_INET6;
    address->to.v6.sin6_port = htons(port);
    if (len == 0)
        return true;
    if (host[0] == '[' && host[len - 1] == ']') {
        char inner[INET6_ADDRSTRLEN];
        if (len - 2 >= sizeof(inner))
            return false;
        memcpy(inner, host + 1, len - 2);
        inner[len - 2] = '\0';
        return inet_pton(AF_INET6, inner, &address->to.v6.sin6_addr) == 1;
    }
    *address = (struct http_address){.len = sizeof(address->to.v4)};
    address->to.v4.sin_family = AF_INET;
    address->to.v4.sin_port = htons(port);
    return inet_pton(AF_INET, host, &address->to.v4.sin_addr) == 1;
}

static int http_address_parse(const char *text, struct http_address *ret_address, struct error *err)
{
    char host[INET6_ADDRSTRLEN + 2];
    uint64_t port = 0;
    const char *colon = strrchr(text, ':');
    size_t len = colon ? (size_t)(colon - text) : 0;
    bool valid = colon && len < sizeof(host) && parse_u64(colon + 1, 0, UINT16_MAX, &port) == 0;
    if (valid) {
        memcpy(host, text, len);
        host[len] = '\0';
        valid = http_address_set_host(ret_address, host, (uint16_t)port);
    }
    if (!valid)
        return error_set(err, EINVAL,
                         "cannot listen on \"%s\": not an address such as \":8081\", "
                         "\"127.0.0.1:8081\" or \"[::1]:8081\"",
                         text);
    return 0;
}

static int http_socket(const struct http_address *address, bool both_families)
{
    static const int on = 1, off = 0;
    int family = address->to.any.sa_family;
    cleanup_close int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    const int *v6only = both_families ? &off : &on;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        (family == AF_INET6 &&
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, v6only, sizeof(*v6only)) < 0) ||
        bind(fd, &address->to.any, address->len) < 0 || listen(fd, MAX_HTTP_CONNECTIONS) < 0)
        return -errno;
    return TAKE_FD(fd);
}

static int http_listen(const char *text, struct error *err)
{
    struct http_address address = {0};
    int r = http_address_parse(text, &address, err);
    if (r < 0)
        return r;
    bool everywhere = text[0] == ':';
    int fd = http_socket(&address, everywhere);
    if (fd == -EAFNOSUPPORT && everywhere) { /* a kernel without IPv6 */
        uint16_t port = ntohs(address.to.v6.sin6_port);
        if (http_address_set_host(&address, "0.0.0.0", port))
            fd = http_socket(&address, false);
    }
    return fd < 0 ? error_set_errno(err, -fd, "cannot listen on \"%s\"", text) : fd;
}

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

static unsigned int http_connection_count(const struct http_server *server)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? info->num_connections : 0;
}

/* One turn of libmicrohttpd, then its next time-out into the timer. At the connection cap it
 * stops to watch its listening socket, and begins again only in the turn after one has ended. */
static void http_turn(struct http_server *server)
{
    MHD_UNSIGNED_LONG_LONG timeout_ms = 0;
    unsigned int before = 0;
    do {
        before = http_connection_count(server);
        (void)MHD_run(server->daemon);
    } while (http_connection_count(server) < before);
    if (MHD_get_timeout(server->daemon, &timeout_ms) == MHD_YES)
        (void)loop_timer_arm(server->timer, timeout_ms);
    else
        loop_timer_disarm(server->timer);
}

static void http_on_ready(int fd, unsigned int events, void *arg)
{
    (void)fd;
    (void)events;
    http_turn(arg);
}

static void http_on_timeout(void *arg)
{
    http_turn(arg);
}

static unsigned int http_socket_port(int fd)
{
    struct http_address address = {.len = sizeof(address.to)};
    if (getsockname(fd, &address.to.any, &address.len) < 0)
        return 0;
    return ntohs(address.to.any.sa_family == AF_INET6 ? address.to.v6.sin6_port
                                                      : address.to.v4.sin_port);
}

/* The daemon owns the listening socket once it has started. */
static int http_start(struct http_server *server, int listen_fd, struct error *err)
{
    server->port = http_socket_port(listen_fd);
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

static int http_watch(struct http_server *server, struct loop *loop)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info)
        return -EIO;
    int r = loop_timer_new(loop, http_on_timeout, server, &server->timer);
    if (r == 0)
        r = loop_io_new(loop, info->epoll_fd, LOOP_READ, http_on_ready, server, &server->io);
    return r;
}

int http_server_new(struct loop *loop, const char *address, const struct http_route *routes,
                    void *arg, struct http_server **ret_server, struct error *err)
{
    struct http_server *server = calloc(1, sizeof(*server));
    if (!server)
        return error_set(err, ENOMEM, "cannot start the HTTP server: out of memory");
    *server = (struct http_server){.routes = routes, .arg = arg};
    int r = http_listen(address, err);
    if (r >= 0)
        r = http_start(server, r, err);
    if (r == 0) {
        r = http_watch(server, loop);
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
    loop_io_free(server->io);
    loop_timer_free(server->timer);
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    free(server);
}

unsigned int http_server_port(const struct http_server *server)
{
    return server->port;
}
