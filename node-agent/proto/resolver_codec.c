/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/net/ip_prefix.h"
#include "node-agent/proto/proto_fields.h"
#include "node-agent/proto/resolver_proto.h"
#include "node-agent/proto/wire.h"

#include <assert.h>
#include <string.h>

enum field_kind {
    FIELD_ID = WIRE_OWN, /* a UUID in lower case */
    FIELD_NAME,          /* printable ASCII, not empty */
    FIELD_BYTES,         /* as they are */
    FIELD_PREFIXES,
    FIELD_EGRESS,
};

#define ALL_PORTS     (PROTO_PORT_HTTP | PROTO_PORT_HTTPS)
#define PREFIX_WIRE   18u
#define PREFIXES_WIRE (RESOLVER_MAX_FORBIDDEN * PREFIX_WIRE)
#define ADDRESS_SIZE  16u

#define WIDE(member, field, kind, wire, low, high)                                                 \
    {                                                                                              \
#field, kind, offsetof(struct resolver_message, member.field), (wire), (low), (high)       \
    }
#define NUMBER(member, field, kind, low, high)                                                     \
    WIDE(member, field, kind, sizeof(((struct resolver_message *)0)->member.field), low, high)
#define PLAIN(member, field, kind) NUMBER(member, field, kind, 0, 0)
#define SLOT(member)               NUMBER(member, slot, WIRE_U32, 0, RESOLVER_MAX_SLOTS - 1)
#define GENERATION(member)         NUMBER(member, generation, WIRE_U64, 1, UINT64_MAX)

static const struct wire_field hello_fields[] = {
    NUMBER(hello, version, WIRE_U32, 1, UINT32_MAX),
    PLAIN(hello, range4, FIELD_BYTES),
    PLAIN(hello, range6, FIELD_BYTES),
    NUMBER(hello, slot_count, WIRE_U32, 1, RESOLVER_MAX_SLOTS),
    NUMBER(hello, forbidden_count, WIRE_U32, 0, RESOLVER_MAX_FORBIDDEN),
    WIDE(hello, forbidden, FIELD_PREFIXES, PREFIXES_WIRE, 0, 0),
};

static const struct wire_field ready_fields[] = {
    NUMBER(ready, version, WIRE_U32, 1, UINT32_MAX),
    NUMBER(ready, port, WIRE_U32, 1, UINT16_MAX),
};

static const struct wire_field open_fields[] = {
    SLOT(open),
    GENERATION(open),
    PLAIN(open, id, FIELD_ID),
    WIDE(open, egress, FIELD_EGRESS, PROTO_EGRESS_WIRE, 0, 0),
};

static const struct wire_field close_fields[] = {
    SLOT(close),
    GENERATION(close),
};

static const struct wire_field allow_fields[] = {
    NUMBER(allow, sequence, WIRE_U64, 1, UINT64_MAX),
    SLOT(allow),
    GENERATION(allow),
    NUMBER(allow, ports, WIRE_U32, 1, ALL_PORTS),
    NUMBER(allow, family, WIRE_U32, IP_FAMILY_4, IP_FAMILY_6),
    PLAIN(allow, address, FIELD_BYTES),
    NUMBER(allow, ttl_seconds, WIRE_U32, 0, RESOLVER_MAX_TTL),
};

static const struct wire_field opened_fields[] = {
    NUMBER(opened, sequence, WIRE_U64, 1, UINT64_MAX),
    NUMBER(opened, errnum, WIRE_U32, 0, WIRE_MAX_ERRNO),
};

static const struct wire_field denied_fields[] = {
    SLOT(denied),
    GENERATION(denied),
    PLAIN(denied, name, FIELD_NAME),
};

static const struct wire_format formats[] = {
    [RESOLVER_HELLO] = WIRE_FORMAT("HELLO", hello_fields),
    [RESOLVER_READY] = WIRE_FORMAT("READY", ready_fields),
    [RESOLVER_OPEN] = WIRE_FORMAT("OPEN", open_fields),
    [RESOLVER_ALLOW] = WIRE_FORMAT("ALLOW", allow_fields),
    [RESOLVER_CLOSE] = WIRE_FORMAT("CLOSE", close_fields),
    [RESOLVER_DENIED] = WIRE_FORMAT("DENIED", denied_fields),
    [RESOLVER_OPENED] = WIRE_FORMAT("OPENED", opened_fields),
};

static_assert(WIRE_HEADER_SIZE + 4 + 8 + PROTO_ID_SIZE + PROTO_EGRESS_WIRE <= RESOLVER_MAX_MESSAGE,
              "the longest message fits");
static_assert(WIRE_HEADER_SIZE + 32 + PREFIXES_WIRE <= RESOLVER_MAX_MESSAGE, "the hello fits");

static const char *id_fault(const char *text)
{
    size_t len = strnlen(text, PROTO_ID_SIZE);
    if (!wire_is_uuid(text, len))
        return "is not a UUID in lower case";
    return wire_is_zero(text + len, PROTO_ID_SIZE - len) ? NULL : "has bytes behind its end";
}

static const char *name_fault(const char *text)
{
    size_t len = strnlen(text, PROTO_NAME_SIZE);
    if (len == 0 || len == PROTO_NAME_SIZE)
        return "is empty or not terminated";
    for (size_t i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~')
            return "is not printable ASCII";
    }
    return wire_is_zero(text + len, PROTO_NAME_SIZE - len) ? NULL : "has bytes behind its end";
}

static const char *prefixes_fault(const struct resolver_hello *hello)
{
    for (size_t i = 0; i < RESOLVER_MAX_FORBIDDEN; i++) {
        const struct resolver_prefix *entry = &hello->forbidden[i];
        struct ip_prefix prefix = {.address.family = (enum ip_family)entry->family,
                                   .length = entry->length};
        memcpy(prefix.address.bytes, entry->bytes, sizeof(entry->bytes));
        if (i >= hello->forbidden_count && !wire_is_zero(entry, sizeof(*entry)))
            return "has entries beyond forbidden_count";
        if (i < hello->forbidden_count && !ip_prefix_is_valid(&prefix))
            return "has a prefix that is none";
    }
    return NULL;
}

static const char *field_fault(const struct wire_field *field, const void *of)
{
    const struct resolver_message *message = of;
    const char *at = (const char *)of + field->offset;
    switch (field->kind) {
    case FIELD_ID:
        return id_fault(at);
    case FIELD_NAME:
        return name_fault(at);
    case FIELD_PREFIXES:
        return prefixes_fault(&message->hello);
    case FIELD_EGRESS:
        return proto_egress_fault(&message->open.egress);
    default:
        return NULL;
    }
}

static const char *hello_fault(const struct resolver_hello *hello)
{
    uint32_t span = 2 * hello->slot_count;
    uint32_t base4 = (uint32_t)hello->range4[0] << 24 | (uint32_t)hello->range4[1] << 16 |
                     (uint32_t)hello->range4[2] << 8 | hello->range4[3];
    uint32_t base6 = (uint32_t)hello->range6[14] << 8 | hello->range6[15];
    if (base4 % 2 != 0 || base4 > UINT32_MAX - (span - 1))
        return "range4 is odd, or has no room for its slots";
    if (base6 % 2 != 0 || base6 + span > 0x10000)
        return "range6 is odd, or has no room for its slots";
    return NULL;
}

static const char *message_fault(const void *of)
{
    const struct resolver_message *message = of;
    if (message->type == RESOLVER_HELLO)
        return hello_fault(&message->hello);
    if (message->type == RESOLVER_ALLOW && message->allow.family != IP_FAMILY_4 &&
        message->allow.family != IP_FAMILY_6)
        return "family is neither 4 nor 6";
    if (message->type == RESOLVER_ALLOW && message->allow.family == IP_FAMILY_4 &&
        !wire_is_zero(message->allow.address + 4, ADDRESS_SIZE - 4))
        return "address has bytes behind its end";
    return NULL;
}

static void put_field(uint8_t *bytes, const struct wire_field *field, const void *of)
{
    const struct resolver_message *message = of;
    if (field->kind == FIELD_EGRESS) {
        proto_egress_put(bytes, &message->open.egress);
    } else if (field->kind == FIELD_PREFIXES) {
        for (size_t i = 0; i < RESOLVER_MAX_FORBIDDEN; i++, bytes += PREFIX_WIRE) {
            bytes[0] = message->hello.forbidden[i].family;
            bytes[1] = message->hello.forbidden[i].length;
            memcpy(bytes + 2, message->hello.forbidden[i].bytes, ADDRESS_SIZE);
        }
    } else {
        memcpy(bytes, (const char *)of + field->offset, field->size);
    }
}

static const char *get_field(const uint8_t *bytes, const struct wire_field *field, void *of)
{
    struct resolver_message *message = of;
    if (field->kind == FIELD_EGRESS) {
        proto_egress_get(bytes, &message->open.egress);
    } else if (field->kind == FIELD_PREFIXES) {
        for (size_t i = 0; i < RESOLVER_MAX_FORBIDDEN; i++, bytes += PREFIX_WIRE) {
            message->hello.forbidden[i].family = bytes[0];
            message->hello.forbidden[i].length = bytes[1];
            memcpy(message->hello.forbidden[i].bytes, bytes + 2, ADDRESS_SIZE);
        }
    } else {
        memcpy((char *)of + field->offset, bytes, field->size);
    }
    return NULL;
}

static const struct wire_codec codec = {
    .formats = formats,
    .count = ARRAY_SIZE(formats),
    .field_fault = field_fault,
    .message_fault = message_fault,
    .put = put_field,
    .get = get_field,
};

int resolver_proto_encode(const struct resolver_message *message,
                          uint8_t bytes[static RESOLVER_MAX_MESSAGE])
{
    return wire_encode(&codec, message->type, message, bytes);
}

int resolver_proto_decode(const uint8_t *bytes, size_t len, struct resolver_message *ret_message,
                          struct error *err)
{
    uint32_t type;
    int r = wire_open(&codec, bytes, len, &type, err);
    if (r < 0)
        return r;
    struct resolver_message message;
    memset(&message, 0, sizeof(message));
    message.type = (enum resolver_type)type;
    r = wire_read(&codec, type, bytes, &message, err);
    if (r >= 0)
        *ret_message = message;
    return r;
}
