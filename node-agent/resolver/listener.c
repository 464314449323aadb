/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/listener.h"

#include "common/cleanup.h"

#include <stdbool.h>
#include <sys/socket.h>

#define BACKLOG 128

static int set_option(int sock, int level, int name, struct error *err)
{
    const int on = 1;
    if (setsockopt(sock, level, name, &on, sizeof(on)) < 0)
        return error_set_errno(err, errno, "set option %d of a socket for DNS", name);
    return 0;
}

static int bind_to(int sock, const union socket_address *address, struct error *err)
{
    /* The port lies at the same place in both. */
    if (bind(sock, &address->any, socket_address_len(address)) < 0)
        return error_set_errno(err, errno, "serve DNS at port %u of %s",
                               ntohs(address->in.sin_port),
                               address->any.sa_family == AF_INET ? "IPv4" : "IPv6");
    return 0;
}

int listener_open_tcp(int family, unsigned int port, struct error *err)
{
    union socket_address address = {.any.sa_family = (sa_family_t)family};
    address.in.sin_port = htons((uint16_t)port);
    cleanup_close int sock = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sock < 0)
        return error_set_errno(err, errno, "socket for DNS");
    int r = set_option(sock, SOL_SOCKET, SO_REUSEADDR, err);
    if (r == 0 && family == AF_INET6)
        r = set_option(sock, IPPROTO_IPV6, IPV6_V6ONLY, err);
    if (r == 0)
        r = bind_to(sock, &address, err);
    if (r == 0 && listen(sock, BACKLOG) < 0)
        r = error_set_errno(err, errno, "listen at port %u", port);
    return r < 0 ? r : TAKE_FD(sock);
}

int listener_open_udp(const union socket_address *address, struct error *err)
{
    bool six = address->any.sa_family == AF_INET6;
    cleanup_close int sock =
        socket(address->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sock < 0)
        return error_set_errno(err, errno, "socket for DNS");
    int r = six ? set_option(sock, IPPROTO_IPV6, IPV6_FREEBIND, err)
                : set_option(sock, IPPROTO_IP, IP_FREEBIND, err);
    if (r == 0)
        r = bind_to(sock, address, err);
    return r < 0 ? r : TAKE_FD(sock);
}

int listener_port(int sock, unsigned int *ret_port, struct error *err)
{
    union socket_address address = {0};
    socklen_t len = sizeof(address);
    if (getsockname(sock, &address.any, &len) < 0)
        return error_set_errno(err, errno, "port of a socket for DNS");
    *ret_port = ntohs(address.in.sin_port);
    return 0;
}
