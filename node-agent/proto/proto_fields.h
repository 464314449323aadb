/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/proto_messages.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The fields that are more than a number or a text: each has a length on the wire, what is wrong
 * with its value (NULL if nothing; continues "field ..."), and how it is written and read. Reading
 * checks nothing; bytes behind a string's end are the reader's to look at.
 */
#define PROTO_EGRESS_WIRE                                                                          \
    (4u + 4u + PROTO_MAX_PREFIXES * 19u + 4u + PROTO_MAX_NAMES * 3u + 4u + PROTO_NAMES_SIZE)
#define PROTO_DENIED_NETWORK_WIRE (PROTO_MAX_DENIED_NETWORK * 24u)
#define PROTO_DENIED_NAMES_WIRE   (PROTO_MAX_DENIED_NAMES * (4u + PROTO_NAME_SIZE))

const char *proto_egress_fault(const struct proto_egress *egress);
void proto_egress_put(uint8_t *bytes, const struct proto_egress *egress);
void proto_egress_get(const uint8_t *bytes, struct proto_egress *egress);

const char *proto_denied_network_fault(const struct proto_finished *finished);
void proto_denied_network_put(uint8_t *bytes, const struct proto_finished *finished);
void proto_denied_network_get(const uint8_t *bytes, struct proto_finished *finished);

const char *proto_denied_names_fault(const struct proto_finished *finished);
void proto_denied_names_put(uint8_t *bytes, const struct proto_finished *finished);
void proto_denied_names_get(const uint8_t *bytes, struct proto_finished *finished);
