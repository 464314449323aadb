/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The form that all protocols here have. One table says for every field where it lies in the
 * struct, how wide it is and which values it may take; encoder and decoder walk the same table, so
 * that what one writes the other reads.
 *
 * On the wire: u32 type, u32 length of the whole message, then the fields in the order of the
 * table, packed, little-endian. Bytes that carry nothing are zero: each message has one encoding.
 */
#define WIRE_HEADER_SIZE 8u
#define WIRE_MAX_ERRNO   4095u

/* What a number is; other kinds begin with WIRE_OWN and are their codec's own. */
enum wire_kind { WIRE_U32, WIRE_I32, WIRE_U64, WIRE_OWN };

struct wire_field {
    const char *name;
    int kind;
    size_t offset; /* in the message's struct */
    size_t size;   /* on the wire */
    uint64_t min, max;
};

struct wire_format {
    const char *name;
    const struct wire_field *fields;
    size_t count;
};

#define WIRE_FORMAT(name, fields)                                                                  \
    {                                                                                              \
        name, fields, ARRAY_SIZE(fields)                                                           \
    }

/* A protocol: its messages by type, and what it does with its own kinds of fields. Faults are NULL
 * if there is none, and continue "FIELD ..." or "MESSAGE: ...". */
struct wire_codec {
    const struct wire_format *formats;
    size_t count;
    const char *(*field_fault)(const struct wire_field *field, const void *message);
    const char *(*message_fault)(const void *message); /* what no single field can tell */
    void (*put)(uint8_t *bytes, const struct wire_field *field, const void *message);
    /* Reads without a check but for bytes behind an end, which only it sees. */
    const char *(*get)(const uint8_t *bytes, const struct wire_field *field, void *message);
};

/* Writes a message of that type; its length, or -EINVAL for what wire_read() refuses. bytes has
 * room for the longest. */
int wire_encode(const struct wire_codec *codec, uint32_t type, const void *message, uint8_t *bytes);

/* Reads the header: the type, if it is known and has exactly this length. -EPROTO. */
int wire_open(const struct wire_codec *codec, const uint8_t *bytes, size_t len, uint32_t *ret_type,
              struct error *err);

/* And then the fields, into a message that is zero but for its type. -EPROTO names the field. */
int wire_read(const struct wire_codec *codec, uint32_t type, const uint8_t *bytes, void *message,
              struct error *err);

/* size bytes, the least significant one first. */
void wire_put_le(uint8_t *bytes, uint64_t value, size_t size);
uint64_t wire_get_le(const uint8_t *bytes, size_t size);

bool wire_is_zero(const void *bytes, size_t len);

/* Whether the string of len bytes is a UUID of lower-case hexadecimal digits, 8-4-4-4-12. */
bool wire_is_uuid(const char *text, size_t len);
