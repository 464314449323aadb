/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/proto/proto_messages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The codec of the messages in proto_messages.h: every length and value is checked both ways. */

/* Writes message into bytes; its length, or -EINVAL for what proto_decode() would refuse. */
int proto_encode(const struct proto_message *message, uint8_t bytes[static PROTO_MAX_MESSAGE]);

/* Reads one whole message: known type, its exact length, enumerations in range, strings without
 * control characters and NUL-padded, ids in UUID form. -EPROTO names the field. */
int proto_decode(const uint8_t *bytes, size_t len, struct proto_message *ret_message,
                 struct error *err);

/* One message as one datagram, with count descriptors; -EAGAIN on a full socket. MSG_NOSIGNAL. */
int proto_send(int sock, const struct proto_message *message, const int *fds, size_t count);

/* Receives one message. 1: got one, 0: the peer is gone, -EAGAIN, -EPROTO (oversized, malformed,
 * or descriptors where ret_fds is NULL; those are never installed). With ret_fds (room for
 * PROTO_CREATED_FDS, CLOEXEC from birth) *ret_count tells how many came; the caller owns them. */
int proto_receive(int sock, struct proto_message *ret_message, int *ret_fds, size_t *ret_count,
                  struct error *err);
