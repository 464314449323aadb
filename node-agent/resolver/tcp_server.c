/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/tcp_server.h"

#include "common/cleanup.h"
#include "node-agent/resolver/listener.h"
#include "node-agent/resolver/lookup.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#define FAMILIES     2
#define LENGTH_SIZE  2u
#define ACCEPT_BATCH 16

/* It reads, then waits for the reply, then writes it: only one of these at a time. */
struct tcp_connection {
    struct tcp_server *server;
    struct tcp_connection *prev, *next;
    int slot;
    int sock;
    struct loop_io *io;
    struct loop_timer *timer;
    uint64_t ends_ms;
    unsigned int queries;
    bool ending; /* the timer closes it */
    size_t in_len;
    uint8_t in[LENGTH_SIZE + MAX_QUERY_BYTES];
    size_t out_len, out_sent;
    uint8_t *out;
};

struct tcp_server {
    struct resolver *resolver;
    int socks[FAMILIES];
    struct loop_io *ios[FAMILIES];
    struct tcp_connection *connections;
};

static void connection_free(struct tcp_connection *connection)
{
    struct resolver *resolver = connection->server->resolver;
    lookup_cancel_connection(resolver, connection);
    DL_DELETE(connection->server->connections, connection);
    resolver->slots->entries[connection->slot].tcp_connections--;
    resolver->tcp_count--;
    loop_io_free(connection->io);
    loop_timer_free(connection->timer);
    (void)fd_close(connection->sock);
    free(connection->out);
    free(connection);
}

static void on_timer(void *arg)
{
    connection_free(arg);
}

static void end_soon(struct tcp_connection *connection)
{
    connection->ending = true;
    (void)loop_io_set(connection->io, 0);
    (void)loop_timer_arm(connection->timer, 0);
}

/* For a whole query or reply: single bytes win no time. */
static void arm(struct tcp_connection *connection)
{
    uint64_t now = resolver_now_ms();
    uint64_t left = connection->ends_ms > now ? connection->ends_ms - now : 0;
    (void)loop_timer_arm(connection->timer, left < TCP_IDLE_MS ? left : TCP_IDLE_MS);
}

/* If a whole query is there. */
static void take_query(struct tcp_connection *connection)
{
    uint8_t bytes[MAX_QUERY_BYTES];
    if (connection->in_len < LENGTH_SIZE)
        return;
    size_t len = dns_get16(connection->in);
    if (len > MAX_QUERY_BYTES) {
        end_soon(connection);
        return;
    }
    if (connection->in_len < LENGTH_SIZE + len)
        return;
    memcpy(bytes, connection->in + LENGTH_SIZE, len);
    connection->in_len -= LENGTH_SIZE + len;
    memmove(connection->in, connection->in + LENGTH_SIZE + len, connection->in_len);
    connection->queries++;
    (void)loop_io_set(connection->io, 0);
    loop_timer_disarm(connection->timer);
    struct client client = {.tcp = connection, .sock = connection->sock};
    socklen_t peer_len = sizeof(client.peer);
    (void)getpeername(connection->sock, &client.peer.any, &peer_len);
    lookup_begin(connection->server->resolver, &client, bytes, len);
}

static void receive(struct tcp_connection *connection)
{
    ssize_t n = recv(connection->sock, connection->in + connection->in_len,
                     sizeof(connection->in) - connection->in_len, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        connection_free(connection);
        return;
    }
    connection->in_len += (size_t)n;
    take_query(connection);
}

static void transmit(struct tcp_connection *connection)
{
    ssize_t n = send(connection->sock, connection->out + connection->out_sent,
                     connection->out_len - connection->out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) {
        connection_free(connection);
        return;
    }
    connection->out_sent += (size_t)n;
    if (connection->out_sent < connection->out_len)
        return;
    free(TAKE_PTR(connection->out));
    if (connection->queries == MAX_TCP_QUERIES) {
        connection_free(connection);
        return;
    }
    (void)loop_io_set(connection->io, LOOP_READ);
    arm(connection);
    take_query(connection);
}

static void on_socket(int fd, unsigned int events, void *arg)
{
    (void)fd;
    struct tcp_connection *connection = arg;
    if (connection->ending)
        return;
    if (connection->out)
        transmit(connection);
    else if (events & LOOP_READ)
        receive(connection);
}

void tcp_connection_reply(struct tcp_connection *connection, const void *bytes, size_t len)
{
    connection->out = len > 0 ? malloc(LENGTH_SIZE + len) : NULL;
    if (!connection->out) {
        end_soon(connection);
        return;
    }
    dns_put16(connection->out, (uint16_t)len);
    memcpy(connection->out + LENGTH_SIZE, bytes, len);
    connection->out_len = LENGTH_SIZE + len;
    connection->out_sent = 0;
    (void)loop_io_set(connection->io, LOOP_WRITE);
    arm(connection);
}

static int connection_new(struct tcp_server *server, int sock, int slot)
{
    struct resolver *resolver = server->resolver;
    struct tcp_connection *connection = calloc(1, sizeof(*connection));
    if (!connection)
        return -ENOMEM;
    *connection = (struct tcp_connection){
        .server = server, .slot = slot, .sock = -1, .ends_ms = resolver_now_ms() + TCP_LIFE_MS};
    DL_PREPEND(server->connections, connection);
    resolver->slots->entries[slot].tcp_connections++;
    resolver->tcp_count++;
    int r = loop_timer_new(resolver->loop, on_timer, connection, &connection->timer);
    if (r >= 0)
        r = loop_io_new(resolver->loop, sock, LOOP_READ, on_socket, connection, &connection->io);
    if (r < 0) {
        connection_free(connection);
        return r;
    }
    connection->sock = sock;
    arm(connection);
    return 0;
}

static bool may_connect(const struct resolver *resolver, int slot)
{
    if (slot < 0 || resolver->tcp_count == MAX_TCP_CONNECTIONS)
        return false;
    const struct slot *entry = &resolver->slots->entries[slot];
    return entry->is_open && entry->tcp_connections < MAX_SLOT_TCP_CONNECTIONS;
}

static void on_listener(int fd, unsigned int events, void *arg)
{
    (void)events;
    struct tcp_server *server = arg;
    for (unsigned int i = 0; i < ACCEPT_BATCH; i++) {
        union socket_address peer = {0};
        socklen_t len = sizeof(peer);
        cleanup_close int sock = accept4(fd, &peer.any, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (sock < 0)
            return;
        int slot = slots_find(server->resolver->slots, &peer.any);
        if (may_connect(server->resolver, slot) && connection_new(server, sock, slot) >= 0)
            (void)TAKE_FD(sock);
    }
}

int tcp_server_new(struct resolver *resolver, unsigned int port, struct tcp_server **ret_server,
                   unsigned int *ret_port, struct error *err)
{
    static const int families[FAMILIES] = {AF_INET, AF_INET6};
    struct tcp_server *server = calloc(1, sizeof(*server));
    if (!server)
        return error_set_errno(err, ENOMEM, "serve DNS by TCP");
    *server = (struct tcp_server){.resolver = resolver, .socks = {-1, -1}};
    int r = 0;
    for (size_t i = 0; i < FAMILIES && r >= 0; i++) {
        r = listener_open_tcp(families[i], port, err);
        if (r == -EAFNOSUPPORT && i > 0) {
            r = 0;
            break;
        }
        if (r < 0)
            break;
        server->socks[i] = r;
        r = listener_port(r, &port, err);
        if (r < 0)
            break;
        r = loop_io_new(resolver->loop, server->socks[i], LOOP_READ, on_listener, server,
                        &server->ios[i]);
        if (r < 0)
            (void)error_set_errno(err, -r, "serve DNS by TCP");
    }
    if (r < 0) {
        tcp_server_free(server);
        return r;
    }
    *ret_server = server;
    *ret_port = port;
    return 0;
}

void tcp_server_end_slot(struct tcp_server *server, int slot)
{
    struct tcp_connection *connection = server->connections;
    while (connection) {
        struct tcp_connection *next = connection->next;
        if (slot < 0 || connection->slot == slot)
            connection_free(connection);
        connection = next;
    }
}

void tcp_server_free(struct tcp_server *server)
{
    if (!server)
        return;
    tcp_server_end_slot(server, -1);
    for (size_t i = 0; i < FAMILIES; i++) {
        loop_io_free(server->ios[i]);
        (void)fd_close(server->socks[i]);
    }
    free(server);
}
