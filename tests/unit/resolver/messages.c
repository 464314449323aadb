/* SPDX-License-Identifier: Apache-2.0 */
#include "messages.h"

#include "tests/unit/common/cmocka_setup.h"

#include <string.h>

void packet_bytes(struct packet *packet, const void *bytes, size_t len)
{
    assert_true(packet->len + len <= sizeof(packet->bytes));
    if (len > 0)
        memcpy(packet->bytes + packet->len, bytes, len);
    packet->len += len;
}

void packet_u16(struct packet *packet, unsigned int value)
{
    packet_bytes(packet, (uint8_t[]){(uint8_t)(value >> 8), (uint8_t)value}, 2);
}

void packet_u32(struct packet *packet, uint32_t value)
{
    packet_u16(packet, value >> 16);
    packet_u16(packet, value & 0xffff);
}

void packet_header(struct packet *packet, uint16_t id, uint16_t flags, uint16_t qd, uint16_t an,
                   uint16_t ns, uint16_t ar)
{
    packet->len = 0;
    const uint16_t words[] = {id, flags, qd, an, ns, ar};
    for (size_t i = 0; i < 6; i++)
        packet_u16(packet, words[i]);
}

void packet_name(struct packet *packet, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, ".");
        uint8_t head = (uint8_t)len;
        packet_bytes(packet, &head, 1);
        packet_bytes(packet, text, len);
        text += len + (text[len] == '.');
    }
    packet_bytes(packet, "", 1);
}

void packet_question(struct packet *packet, const char *text, uint16_t type)
{
    packet_name(packet, text);
    packet_u16(packet, type);
    packet_u16(packet, DNS_CLASS_IN);
}

void packet_record(struct packet *packet, const char *owner, uint16_t type, uint32_t ttl,
                   const void *data, size_t len)
{
    packet_question(packet, owner, type);
    packet_u32(packet, ttl);
    packet_u16(packet, (unsigned int)len);
    packet_bytes(packet, data, len);
}

void packet_cname(struct packet *packet, const char *owner, uint32_t ttl, const char *target)
{
    static struct packet name;
    name.len = 0;
    packet_name(&name, target);
    packet_record(packet, owner, DNS_TYPE_CNAME, ttl, name.bytes, name.len);
}

void packet_a(struct packet *packet, const char *owner, uint32_t ttl, uint8_t last)
{
    packet_record(packet, owner, DNS_TYPE_A, ttl, (uint8_t[]){93, 184, 216, last}, 4);
}

struct dns_query query_of(const char *text, uint16_t type)
{
    static struct packet packet;
    struct dns_query query;
    packet_header(&packet, 0x1234, DNS_FLAG_RECURSION, 1, 0, 0, 0);
    packet_question(&packet, text, type);
    assert_int_equal(dns_query_parse(packet.bytes, packet.len, &query), DNS_QUERY_OK);
    return query;
}

struct dns_name name_of(const char *text)
{
    static struct packet packet;
    struct dns_name name;
    size_t at = 0;
    packet.len = 0;
    packet_name(&packet, text);
    assert_int_equal(dns_name_read(packet.bytes, packet.len, &at, false, &name), 0);
    return name;
}
