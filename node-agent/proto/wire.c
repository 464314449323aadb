/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/proto/wire.h"

#include <errno.h>
#include <string.h>

void wire_put_le(uint8_t *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

uint64_t wire_get_le(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

bool wire_is_zero(const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < len; i++) {
        if (at[i] != 0)
            return false;
    }
    return true;
}

bool wire_is_uuid(const char *text, size_t len)
{
    static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (len != sizeof(shape) - 1)
        return false;
    for (size_t i = 0; i < len; i++) {
        bool digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
        if (shape[i] == 'x' ? !digit : text[i] != '-')
            return false;
    }
    return true;
}

static uint64_t number_load(const struct wire_field *field, const void *at)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    if (field->kind == WIRE_U64)
        memcpy(&wide, at, sizeof(wide));
    else
        memcpy(&narrow, at, sizeof(narrow));
    /* A negative number becomes one beyond every 32-bit maximum that a signed field has. */
    return field->kind == WIRE_U64 ? wide : narrow;
}

static void number_store(const struct wire_field *field, void *at, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    if (field->kind == WIRE_U64)
        memcpy(at, &value, sizeof(value));
    else
        memcpy(at, &narrow, sizeof(narrow));
}

static const char *field_fault(const struct wire_codec *codec, const struct wire_field *field,
                               const void *message)
{
    if (field->kind >= WIRE_OWN)
        return codec->field_fault(field, message);
    uint64_t value = number_load(field, (const char *)message + field->offset);
    return value < field->min || value > field->max ? "is out of range" : NULL;
}

static void put(const struct wire_codec *codec, const struct wire_field *field, const void *message,
                uint8_t *bytes)
{
    if (field->kind >= WIRE_OWN)
        codec->put(bytes, field, message);
    else
        wire_put_le(bytes, number_load(field, (const char *)message + field->offset), field->size);
}

/* Of two faults the value's is told. */
static const char *get(const struct wire_codec *codec, const struct wire_field *field,
                       const uint8_t *bytes, void *message)
{
    const char *rest = NULL;
    if (field->kind >= WIRE_OWN)
        rest = codec->get(bytes, field, message);
    else
        number_store(field, (char *)message + field->offset, wire_get_le(bytes, field->size));
    const char *fault = field_fault(codec, field, message);
    return fault ? fault : rest;
}

static size_t format_size(const struct wire_format *format)
{
    size_t size = WIRE_HEADER_SIZE;
    for (size_t i = 0; i < format->count; i++)
        size += format->fields[i].size;
    return size;
}

static const struct wire_format *format_of(const struct wire_codec *codec, uint32_t type)
{
    return type < codec->count && codec->formats[type].name ? &codec->formats[type] : NULL;
}

int wire_encode(const struct wire_codec *codec, uint32_t type, const void *message, uint8_t *bytes)
{
    const struct wire_format *format = format_of(codec, type);
    if (!format)
        return -EINVAL;
    for (size_t i = 0; i < format->count; i++) {
        if (field_fault(codec, &format->fields[i], message))
            return -EINVAL;
    }
    if (codec->message_fault(message))
        return -EINVAL;

    size_t size = format_size(format);
    wire_put_le(bytes, type, 4);
    wire_put_le(bytes + 4, size, 4);
    uint8_t *at = bytes + WIRE_HEADER_SIZE;
    for (size_t i = 0; i < format->count; i++) {
        put(codec, &format->fields[i], message, at);
        at += format->fields[i].size;
    }
    return (int)size;
}

int wire_open(const struct wire_codec *codec, const uint8_t *bytes, size_t len, uint32_t *ret_type,
              struct error *err)
{
    if (len < WIRE_HEADER_SIZE)
        return error_set(err, EPROTO, "message of %zu bytes: a header has %u", len,
                         WIRE_HEADER_SIZE);
    uint32_t type = (uint32_t)wire_get_le(bytes, 4);
    const struct wire_format *format = format_of(codec, type);
    if (!format)
        return error_set(err, EPROTO, "unknown message type %u", type);
    size_t size = format_size(format);
    uint32_t told = (uint32_t)wire_get_le(bytes + 4, 4);
    if (len != size || told != size)
        return error_set(err, EPROTO, "%s of %zu bytes that says %u: its length is %zu",
                         format->name, len, told, size);
    *ret_type = type;
    return 0;
}

int wire_read(const struct wire_codec *codec, uint32_t type, const uint8_t *bytes, void *message,
              struct error *err)
{
    const struct wire_format *format = format_of(codec, type);
    const uint8_t *at = bytes + WIRE_HEADER_SIZE;
    for (size_t i = 0; i < format->count; i++) {
        const struct wire_field *field = &format->fields[i];
        const char *fault = get(codec, field, at, message);
        if (fault)
            return error_set(err, EPROTO, "%s: %s %s", format->name, field->name, fault);
        at += field->size;
    }
    const char *fault = codec->message_fault(message);
    return fault ? error_set(err, EPROTO, "%s: %s", format->name, fault) : 0;
}
