/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/resolver/dns_query.h"

#include <stddef.h>
#include <stdint.h>

/* DNS messages byte by byte, without the code under test. */
struct packet {
    size_t len;
    uint8_t bytes[70000];
};

void packet_header(struct packet *packet, uint16_t id, uint16_t flags, uint16_t qd, uint16_t an,
                   uint16_t ns, uint16_t ar);
void packet_bytes(struct packet *packet, const void *bytes, size_t len);
void packet_u16(struct packet *packet, unsigned int value);
void packet_u32(struct packet *packet, uint32_t value);

/* "a.b": its labels and the root's byte. */
void packet_name(struct packet *packet, const char *text);
void packet_question(struct packet *packet, const char *text, uint16_t type);

/* A record whose owner is text; data as it is. */
void packet_record(struct packet *packet, const char *owner, uint16_t type, uint32_t ttl,
                   const void *data, size_t len);
void packet_cname(struct packet *packet, const char *owner, uint32_t ttl, const char *target);
void packet_a(struct packet *packet, const char *owner, uint32_t ttl, uint8_t last);

/* The parsed query for a name; fails the test if it is none. */
struct dns_query query_of(const char *text, uint16_t type);
struct dns_name name_of(const char *text);
