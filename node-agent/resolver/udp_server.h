/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/resolver/resolver.h"

/* Queries by UDP. Each slot's gateway has a socket of its own, and so a queue of its own: a sandbox
 * that floods it loses its own queries and no other's. */
struct udp_server;

int udp_server_new(struct resolver *resolver, struct udp_server **ret_server, struct error *err);
void udp_server_free(struct udp_server *server);

/* Serves the gateways of these ranges at the port from now on; nothing if it does already. */
int udp_server_serve(struct udp_server *server, const struct resolver_hello *hello,
                     unsigned int port, struct error *err);
