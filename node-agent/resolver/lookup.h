/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/resolver/client.h"
#include "node-agent/resolver/resolver.h"
#include "node-agent/resolver/resolver_metrics.h"

#include <stddef.h>
#include <stdint.h>

/*
 * One query's life: judged, answered from the sandbox's own cache or by an upstream, its addresses
 * filtered and, where the run's rules have names, opened by the jailer; then the reply.
 */

/* Takes a message of whoever it is from. What needs no waiting is answered from within. */
void lookup_begin(struct resolver *resolver, const struct client *client, const uint8_t *bytes,
                  size_t len);

/* The jailer's answer to ALLOW; of a lookup that has ended meanwhile it is ignored. */
void lookup_take_opened(struct resolver *resolver, const struct resolver_opened *opened);

/* Sends what the jailer had no room for. */
void lookup_resume(struct resolver *resolver);

/* Without a reply: the connection is gone. */
void lookup_cancel_connection(struct resolver *resolver, const struct tcp_connection *connection);

/* Ends those of a slot, or all (-1): OUTCOME_GONE, without a reply, or OUTCOME_NO_JAILER. */
void lookup_cancel_slot(struct resolver *resolver, int slot, enum outcome outcome);
