/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/proto/proto_egress.h"
#include "node-agent/proto/proto_messages.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What jailer and resolver say to each other: fixed-size little-endian messages over a
 * SOCK_SEQPACKET socket, one message a datagram, never with descriptors. Words of the jailer are
 * odd, those of the resolver even.
 *
 *   jailer                      resolver
 *   RESOLVER_HELLO   ----------->    once, first
 *                    <-----------    RESOLVER_READY: once, the answer to it; it serves from now on
 *   RESOLVER_OPEN    ----------->    a slot is taken by a sandbox. After READY; after a new
 *                                    connection again for each slot that is taken
 *   RESOLVER_CLOSE   ----------->    it is not any more; lookups that are under way end
 *                    <-----------    RESOLVER_ALLOW: an address that a name's rule allows
 *   RESOLVER_OPENED  ----------->    the answer to each; only then the sandbox learns the address
 *                    <-----------    RESOLVER_DENIED: a name that was refused, each time
 *
 * A generation tells the sandboxes of a slot apart: it is not 0, and grows with each. ALLOW and
 * DENIED may cross a CLOSE: what bears an old generation is refused (errnum ESTALE) or ignored.
 * Anything out of turn, OPEN of a slot that is open included, ends the connection.
 *
 * Which names: egress of OPEN is the run's. With names in it, only those; with rules and neither
 * names nor prefixes, none; else any. ALLOW is sent for the slots with names in their rules.
 *
 * Slot N of the jailer is reached at range + 2N (the gateway, where the resolver is asked) and
 * asks from range + 2N + 1, in IPv4 and in IPv6.
 */
#define RESOLVER_PROTO_VERSION 1u
#define RESOLVER_MAX_MESSAGE   4096
#define RESOLVER_MAX_SLOTS     128
#define RESOLVER_MAX_FORBIDDEN 64
#define RESOLVER_MAX_TTL       604800u /* RFC 8767 section 4: a week */

enum resolver_type {
    RESOLVER_HELLO = 1,
    RESOLVER_READY = 2,
    RESOLVER_OPEN = 3,
    RESOLVER_ALLOW = 4,
    RESOLVER_CLOSE = 5,
    RESOLVER_DENIED = 6,
    RESOLVER_OPENED = 7,
};

struct resolver_prefix {
    uint8_t family; /* 4 or 6 */
    uint8_t length;
    uint8_t bytes[16]; /* network byte order; zero behind length */
};

/* Both ranges begin at an even address; the slots of range6 differ in its last 16 bits alone.
 * forbidden: what the node and the cluster add to common/net/forbidden.h. */
struct resolver_hello {
    uint32_t version;
    uint8_t range4[4];
    uint8_t range6[16];
    uint32_t slot_count;
    uint32_t forbidden_count;
    struct resolver_prefix forbidden[RESOLVER_MAX_FORBIDDEN];
};

struct resolver_ready {
    uint32_t version;
    uint32_t port; /* UDP and TCP, IPv4 and IPv6 */
};

struct resolver_open {
    uint32_t slot;
    uint64_t generation;
    char id[PROTO_ID_SIZE];     /* of the sandbox, for the log */
    struct proto_egress egress; /* of the run: see above */
};

struct resolver_close {
    uint32_t slot;
    uint64_t generation;
};

struct resolver_allow {
    uint64_t sequence; /* of the resolver's own, from 1 on */
    uint32_t slot;
    uint64_t generation;
    uint32_t ports;  /* bits of proto_egress.h */
    uint32_t family; /* 4 or 6 */
    uint8_t address[16];
    uint32_t ttl_seconds; /* as the answer had it */
};

/* errnum 0: it can be connected to. EACCES: forbidden; ENOSPC: a cap; ESTALE: the slot is not that
 * sandbox's any more; others: it could not be done. */
struct resolver_opened {
    uint64_t sequence;
    uint32_t errnum;
};

struct resolver_denied {
    uint32_t slot;
    uint64_t generation;
    char name[PROTO_NAME_SIZE]; /* printable ASCII, NUL-padded */
};

struct resolver_message {
    enum resolver_type type;
    union {
        struct resolver_hello hello;
        struct resolver_ready ready;
        struct resolver_open open;
        struct resolver_close close;
        struct resolver_allow allow;
        struct resolver_opened opened;
        struct resolver_denied denied;
    };
};

/* Writes message into bytes; its length, or -EINVAL for what resolver_proto_decode() refuses. */
int resolver_proto_encode(const struct resolver_message *message,
                          uint8_t bytes[static RESOLVER_MAX_MESSAGE]);

/* Reads one whole message: known type, its exact length, every field in range. -EPROTO names the
 * field. */
int resolver_proto_decode(const uint8_t *bytes, size_t len, struct resolver_message *ret_message,
                          struct error *err);

/* One message as one datagram; -EAGAIN on a full socket. MSG_NOSIGNAL. */
int resolver_proto_send(int sock, const struct resolver_message *message);

/* 1: got one, 0: the peer is gone, -EAGAIN, -EPROTO (oversized, malformed, or with descriptors,
 * which are never installed). */
int resolver_proto_receive(int sock, struct resolver_message *ret_message, struct error *err);
