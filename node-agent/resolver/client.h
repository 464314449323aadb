/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/resolver/upstreams.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Whom a reply goes to. By UDP it leaves through the socket that was asked, which has the address
 * that was asked. */
struct tcp_connection;

struct client {
    struct tcp_connection *tcp; /* NULL: UDP */
    int sock;
    union socket_address peer;
};

/* Receives one datagram and whom it is from; its length, or -EAGAIN, -EMSGSIZE (cut), -errno. */
ssize_t client_receive(int sock, void *bytes, size_t size, struct client *ret_client);

/* What can't be sent at once is lost, as UDP may lose it. */
void client_send_udp(const struct client *client, const void *bytes, size_t len);

bool client_is_same(const struct client *a, const struct client *b);
