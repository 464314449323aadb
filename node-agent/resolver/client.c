/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/client.h"

#include <errno.h>
#include <string.h>

ssize_t client_receive(int sock, void *bytes, size_t size, struct client *ret_client)
{
    struct client client = {.sock = sock};
    socklen_t len = sizeof(client.peer);
    ssize_t n = recvfrom(sock, bytes, size, MSG_DONTWAIT | MSG_TRUNC, &client.peer.any, &len);
    if (n < 0)
        return errno == EINTR ? -EAGAIN : -errno;
    *ret_client = client;
    return (size_t)n > size ? -EMSGSIZE : n;
}

void client_send_udp(const struct client *client, const void *bytes, size_t len)
{
    (void)sendto(client->sock, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT, &client->peer.any,
                 socket_address_len(&client->peer));
}

bool client_is_same(const struct client *a, const struct client *b)
{
    if (a->tcp || b->tcp)
        return a->tcp == b->tcp;
    if (a->peer.any.sa_family != b->peer.any.sa_family)
        return false;
    return memcmp(&a->peer, &b->peer, socket_address_len(&a->peer)) == 0;
}
