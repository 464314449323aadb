/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/udp_server.h"

#include "common/cleanup.h"
#include "node-agent/resolver/listener.h"
#include "node-agent/resolver/lookup.h"

#include <string.h>
#include <sys/socket.h>

#define FAMILIES 2

struct gateway {
    struct udp_server *server;
    int sock;
    struct loop_io *io;
};

struct udp_server {
    struct resolver *resolver;
    struct resolver_hello hello; /* whose ranges are served; slot_count 0: none */
    struct gateway gateways[RESOLVER_MAX_SLOTS][FAMILIES];
};

static void on_socket(int fd, unsigned int events, void *arg)
{
    (void)events;
    struct gateway *gateway = arg;
    for (unsigned int i = 0; i < MAX_UDP_BATCH; i++) {
        uint8_t bytes[MAX_QUERY_BYTES];
        struct client client;
        ssize_t n = client_receive(fd, bytes, sizeof(bytes), &client);
        if (n == -EAGAIN)
            return;
        /* What is cut is longer than any query, and an error is one of a reply of before. */
        if (n >= 0)
            lookup_begin(gateway->server->resolver, &client, bytes, (size_t)n);
    }
}

/* RESOLVER_HELLO has it that neither addition goes beyond what it adds to. */
static union socket_address gateway_address(const struct resolver_hello *hello, unsigned int slot,
                                            bool six, unsigned int port)
{
    union socket_address address = {.any.sa_family = six ? AF_INET6 : AF_INET};
    address.in.sin_port = htons((uint16_t)port);
    if (six) {
        uint8_t *bytes = address.in6.sin6_addr.s6_addr;
        memcpy(bytes, hello->range6, sizeof(hello->range6));
        dns_put16(bytes + 14, (uint16_t)(dns_get16(bytes + 14) + 2 * slot));
    } else {
        address.in.sin_addr.s_addr = htonl(dns_get32(hello->range4) + 2 * slot);
    }
    return address;
}

static int open_gateway(struct udp_server *server, const struct resolver_hello *hello,
                        unsigned int slot, bool six, unsigned int port, struct error *err)
{
    struct gateway *gateway = &server->gateways[slot][six];
    const union socket_address address = gateway_address(hello, slot, six, port);
    int r = listener_open_udp(&address, err);
    /* A machine without IPv6 has sandboxes without it. */
    if (r == -EAFNOSUPPORT && six)
        return 0;
    if (r < 0)
        return r;
    gateway->sock = r;
    r = loop_io_new(server->resolver->loop, gateway->sock, LOOP_READ, on_socket, gateway,
                    &gateway->io);
    return r < 0 ? error_set_errno(err, -r, "watch a socket for DNS") : 0;
}

static void close_gateways(struct udp_server *server)
{
    for (size_t i = 0; i < RESOLVER_MAX_SLOTS; i++) {
        for (size_t j = 0; j < FAMILIES; j++) {
            struct gateway *gateway = &server->gateways[i][j];
            loop_io_free(TAKE_PTR(gateway->io));
            gateway->sock = fd_close(gateway->sock);
        }
    }
    server->hello.slot_count = 0;
}

int udp_server_serve(struct udp_server *server, const struct resolver_hello *hello,
                     unsigned int port, struct error *err)
{
    if (server->hello.slot_count == hello->slot_count &&
        memcmp(server->hello.range4, hello->range4, sizeof(hello->range4)) == 0 &&
        memcmp(server->hello.range6, hello->range6, sizeof(hello->range6)) == 0)
        return 0;
    close_gateways(server);
    int r = 0;
    for (unsigned int slot = 0; slot < hello->slot_count && r >= 0; slot++) {
        r = open_gateway(server, hello, slot, false, port, err);
        if (r >= 0)
            r = open_gateway(server, hello, slot, true, port, err);
    }
    if (r < 0) {
        close_gateways(server);
        return r;
    }
    server->hello = *hello;
    return 0;
}

int udp_server_new(struct resolver *resolver, struct udp_server **ret_server, struct error *err)
{
    struct udp_server *server = calloc(1, sizeof(*server));
    if (!server)
        return error_set_errno(err, ENOMEM, "serve DNS");
    server->resolver = resolver;
    for (size_t i = 0; i < RESOLVER_MAX_SLOTS; i++) {
        for (size_t j = 0; j < FAMILIES; j++)
            server->gateways[i][j] = (struct gateway){.server = server, .sock = -1};
    }
    *ret_server = server;
    return 0;
}

void udp_server_free(struct udp_server *server)
{
    if (!server)
        return;
    close_gateways(server);
    free(server);
}
