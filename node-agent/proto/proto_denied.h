/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/proto_egress.h"

#include <stdint.h>

/* What a run was refused; of each kind as many as are told apart. */
#define PROTO_MAX_DENIED         16 /* system calls */
#define PROTO_MAX_DENIED_NETWORK 24 /* addresses with their ports */
#define PROTO_MAX_DENIED_NAMES   8  /* DNS names */

/* A system call by its number, and how often it was refused. */
struct proto_denied {
    int32_t number;
    uint32_t count;
};

/* A target that was refused, and how often. */
struct proto_denied_network {
    uint8_t family;
    uint8_t protocol; /* IPPROTO_* */
    uint16_t port;    /* 0 where the protocol has none */
    uint32_t count;
    uint8_t bytes[16];
};

/* A name that the resolver refused, in printable ASCII. */
struct proto_denied_name {
    uint32_t count;
    char name[PROTO_NAME_SIZE];
};
