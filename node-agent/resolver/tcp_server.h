/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/resolver/resolver.h"

#include <stddef.h>

/*
 * Queries by TCP (RFC 7766): a length of two bytes and a message, one after the other: the next is
 * read when the reply to the one before is written. Bounded in number, idle time, life and queries.
 */
struct tcp_server;
struct tcp_connection;

/* Listens at the port (0: any; ret_port says which) on every address of the machine. */
int tcp_server_new(struct resolver *resolver, unsigned int port, struct tcp_server **ret_server,
                   unsigned int *ret_port, struct error *err);
void tcp_server_free(struct tcp_server *server);

/* Ends the connections of a slot, or all (-1). */
void tcp_server_end_slot(struct tcp_server *server, int slot);

/* The reply to the query that the connection waits with; the connection may be gone after. */
void tcp_connection_reply(struct tcp_connection *connection, const void *bytes, size_t len);
