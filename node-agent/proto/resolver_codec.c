/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/net/ip_prefix.h"
#include "node-agent/proto/proto_fields.h"
#include "node-agent/proto/resolver_proto.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/*
 * As proto_codec.c: one table says for every field where it lies in the struct, how wide it is on
 * the wire and which values it may take; encoder and decoder walk the same table. On the wire: u32
 * type, u32 length of the whole message, then the fields, packed, little-endian.
 */
enum field_kind {
    FIELD_U32,
    FIELD_U64,
    FIELD_ID,    /* a UUID in lower case */
    FIELD_NAME,  /* printable ASCII, not empty */
    FIELD_BYTES, /* as they are */
    FIELD_PREFIXES,
    FIELD_EGRESS,
};

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    size_t size; /* on the wire */
    uint64_t min, max;
};

#define HEADER_SIZE   8u
#define MAX_ERRNO     4095u
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
#define SLOT(member)               NUMBER(member, slot, FIELD_U32, 0, RESOLVER_MAX_SLOTS - 1)
#define GENERATION(member)         NUMBER(member, generation, FIELD_U64, 1, UINT64_MAX)

static const struct field hello_fields[] = {
    NUMBER(hello, version, FIELD_U32, 1, UINT32_MAX),
    PLAIN(hello, range4, FIELD_BYTES),
    PLAIN(hello, range6, FIELD_BYTES),
    NUMBER(hello, slot_count, FIELD_U32, 1, RESOLVER_MAX_SLOTS),
    NUMBER(hello, forbidden_count, FIELD_U32, 0, RESOLVER_MAX_FORBIDDEN),
    WIDE(hello, forbidden, FIELD_PREFIXES, PREFIXES_WIRE, 0, 0),
};

static const struct field ready_fields[] = {
    NUMBER(ready, version, FIELD_U32, 1, UINT32_MAX),
    NUMBER(ready, port, FIELD_U32, 1, UINT16_MAX),
};

static const struct field open_fields[] = {
    SLOT(open),
    GENERATION(open),
    PLAIN(open, id, FIELD_ID),
    WIDE(open, egress, FIELD_EGRESS, PROTO_EGRESS_WIRE, 0, 0),
};

static const struct field close_fields[] = {
    SLOT(close),
    GENERATION(close),
};

static const struct field allow_fields[] = {
    NUMBER(allow, sequence, FIELD_U64, 1, UINT64_MAX),
    SLOT(allow),
    GENERATION(allow),
    NUMBER(allow, ports, FIELD_U32, 1, ALL_PORTS),
    NUMBER(allow, family, FIELD_U32, IP_FAMILY_4, IP_FAMILY_6),
    PLAIN(allow, address, FIELD_BYTES),
    NUMBER(allow, ttl_seconds, FIELD_U32, 0, RESOLVER_MAX_TTL),
};

static const struct field opened_fields[] = {
    NUMBER(opened, sequence, FIELD_U64, 1, UINT64_MAX),
    NUMBER(opened, errnum, FIELD_U32, 0, MAX_ERRNO),
};

static const struct field denied_fields[] = {
    SLOT(denied),
    GENERATION(denied),
    PLAIN(denied, name, FIELD_NAME),
};

struct message_format {
    const char *name;
    const struct field *fields;
    size_t count;
};

#define FORMAT(name, fields)                                                                       \
    {                                                                                              \
        name, fields, ARRAY_SIZE(fields)                                                           \
    }

static const struct message_format formats[] = {
    [RESOLVER_HELLO] = FORMAT("HELLO", hello_fields),
    [RESOLVER_READY] = FORMAT("READY", ready_fields),
    [RESOLVER_OPEN] = FORMAT("OPEN", open_fields),
    [RESOLVER_ALLOW] = FORMAT("ALLOW", allow_fields),
    [RESOLVER_CLOSE] = FORMAT("CLOSE", close_fields),
    [RESOLVER_DENIED] = FORMAT("DENIED", denied_fields),
    [RESOLVER_OPENED] = FORMAT("OPENED", opened_fields),
};

static_assert(HEADER_SIZE + 4 + 8 + PROTO_ID_SIZE + PROTO_EGRESS_WIRE <= RESOLVER_MAX_MESSAGE,
              "the longest message fits");
static_assert(HEADER_SIZE + 32 + PREFIXES_WIRE <= RESOLVER_MAX_MESSAGE, "the hello fits");

static const struct message_format *format_of(uint32_t type)
{
    return type < ARRAY_SIZE(formats) && formats[type].name ? &formats[type] : NULL;
}

static size_t format_size(const struct message_format *format)
{
    size_t size = HEADER_SIZE;
    for (size_t i = 0; i < format->count; i++)
        size += format->fields[i].size;
    return size;
}

static bool is_zero(const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < len; i++) {
        if (at[i] != 0)
            return false;
    }
    return true;
}

static const char *id_fault(const char *text)
{
    static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    for (size_t i = 0; i < sizeof(shape) - 1; i++) {
        bool digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
        if (shape[i] == 'x' ? !digit : text[i] != '-')
            return "is not a UUID in lower case";
    }
    return is_zero(text + sizeof(shape) - 1, PROTO_ID_SIZE - sizeof(shape) + 1)
               ? NULL
               : "has bytes behind its end";
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
    return is_zero(text + len, PROTO_NAME_SIZE - len) ? NULL : "has bytes behind its end";
}

static const char *prefixes_fault(const struct resolver_hello *hello)
{
    for (size_t i = 0; i < RESOLVER_MAX_FORBIDDEN; i++) {
        const struct resolver_prefix *entry = &hello->forbidden[i];
        struct ip_prefix prefix = {.address.family = (enum ip_family)entry->family,
                                   .length = entry->length};
        memcpy(prefix.address.bytes, entry->bytes, sizeof(entry->bytes));
        if (i >= hello->forbidden_count && !is_zero(entry, sizeof(*entry)))
            return "has entries beyond forbidden_count";
        if (i < hello->forbidden_count && !ip_prefix_is_valid(&prefix))
            return "has a prefix that is none";
    }
    return NULL;
}

static bool is_number(const struct field *field)
{
    return field->kind == FIELD_U32 || field->kind == FIELD_U64;
}

static uint64_t number_load(const struct field *field, const void *at)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    if (field->kind == FIELD_U64)
        memcpy(&wide, at, sizeof(wide));
    else
        memcpy(&narrow, at, sizeof(narrow));
    return field->kind == FIELD_U64 ? wide : narrow;
}

static void number_store(const struct field *field, void *at, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    if (field->kind == FIELD_U64)
        memcpy(at, &value, sizeof(value));
    else
        memcpy(at, &narrow, sizeof(narrow));
}

static const char *number_fault(const struct field *field, uint64_t value)
{
    return value < field->min || value > field->max ? "is out of range" : NULL;
}

/* What is wrong with the field of a message in memory, NULL if nothing. */
static const char *field_fault(const struct field *field, const struct resolver_message *message)
{
    const char *at = (const char *)message + field->offset;
    switch (field->kind) {
    case FIELD_U32:
    case FIELD_U64:
        return number_fault(field, number_load(field, at));
    case FIELD_ID:
        return id_fault(at);
    case FIELD_NAME:
        return name_fault(at);
    case FIELD_PREFIXES:
        return prefixes_fault(&message->hello);
    case FIELD_EGRESS:
        return proto_egress_fault(&message->open.egress);
    case FIELD_BYTES:
        break;
    }
    return NULL;
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

/* What no single field can tell. */
static const char *message_fault(const struct resolver_message *message)
{
    if (message->type == RESOLVER_HELLO)
        return hello_fault(&message->hello);
    if (message->type == RESOLVER_ALLOW && message->allow.family != IP_FAMILY_4 &&
        message->allow.family != IP_FAMILY_6)
        return "family is neither 4 nor 6";
    if (message->type == RESOLVER_ALLOW && message->allow.family == IP_FAMILY_4 &&
        !is_zero(message->allow.address + 4, ADDRESS_SIZE - 4))
        return "address has bytes behind its end";
    return NULL;
}

static void put_field(uint8_t *bytes, const struct field *field,
                      const struct resolver_message *message)
{
    const char *at = (const char *)message + field->offset;
    if (is_number(field)) {
        proto_put_le(bytes, number_load(field, at), field->size);
    } else if (field->kind == FIELD_EGRESS) {
        proto_egress_put(bytes, &message->open.egress);
    } else if (field->kind == FIELD_PREFIXES) {
        for (size_t i = 0; i < RESOLVER_MAX_FORBIDDEN; i++, bytes += PREFIX_WIRE) {
            bytes[0] = message->hello.forbidden[i].family;
            bytes[1] = message->hello.forbidden[i].length;
            memcpy(bytes + 2, message->hello.forbidden[i].bytes, ADDRESS_SIZE);
        }
    } else {
        memcpy(bytes, at, field->size);
    }
}

static void get_field(const uint8_t *bytes, const struct field *field,
                      struct resolver_message *message)
{
    char *at = (char *)message + field->offset;
    if (is_number(field)) {
        number_store(field, at, proto_get_le(bytes, field->size));
    } else if (field->kind == FIELD_EGRESS) {
        proto_egress_get(bytes, &message->open.egress);
    } else if (field->kind == FIELD_PREFIXES) {
        for (size_t i = 0; i < RESOLVER_MAX_FORBIDDEN; i++, bytes += PREFIX_WIRE) {
            message->hello.forbidden[i].family = bytes[0];
            message->hello.forbidden[i].length = bytes[1];
            memcpy(message->hello.forbidden[i].bytes, bytes + 2, ADDRESS_SIZE);
        }
    } else {
        memcpy(at, bytes, field->size);
    }
}

int resolver_proto_encode(const struct resolver_message *message,
                          uint8_t bytes[static RESOLVER_MAX_MESSAGE])
{
    const struct message_format *format = format_of(message->type);
    if (!format)
        return -EINVAL;
    for (size_t i = 0; i < format->count; i++) {
        if (field_fault(&format->fields[i], message))
            return -EINVAL;
    }
    if (message_fault(message))
        return -EINVAL;

    size_t size = format_size(format);
    proto_put_le(bytes, message->type, 4);
    proto_put_le(bytes + 4, size, 4);
    uint8_t *at = bytes + HEADER_SIZE;
    for (size_t i = 0; i < format->count; i++) {
        put_field(at, &format->fields[i], message);
        at += format->fields[i].size;
    }
    return (int)size;
}

int resolver_proto_decode(const uint8_t *bytes, size_t len, struct resolver_message *ret_message,
                          struct error *err)
{
    if (len < HEADER_SIZE)
        return error_set(err, EPROTO, "message of %zu bytes: a header has %u", len, HEADER_SIZE);
    uint32_t type = (uint32_t)proto_get_le(bytes, 4);
    const struct message_format *format = format_of(type);
    if (!format)
        return error_set(err, EPROTO, "unknown message type %u", type);
    size_t size = format_size(format);
    uint32_t told = (uint32_t)proto_get_le(bytes + 4, 4);
    if (len != size || told != size)
        return error_set(err, EPROTO, "%s of %zu bytes that says %u: its length is %zu",
                         format->name, len, told, size);

    struct resolver_message message;
    memset(&message, 0, sizeof(message));
    message.type = (enum resolver_type)type;
    const uint8_t *at = bytes + HEADER_SIZE;
    for (size_t i = 0; i < format->count; i++) {
        const struct field *field = &format->fields[i];
        get_field(at, field, &message);
        const char *fault = field_fault(field, &message);
        if (fault)
            return error_set(err, EPROTO, "%s: %s %s", format->name, field->name, fault);
        at += field->size;
    }
    const char *fault = message_fault(&message);
    if (fault)
        return error_set(err, EPROTO, "%s: %s", format->name, fault);
    *ret_message = message;
    return 0;
}
