/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/proto/proto_fields.h"
#include "node-agent/proto/wire.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define ADDRESS_SIZE 16u
#define NETWORK_WIRE (8u + ADDRESS_SIZE)
#define NAME_WIRE    (4u + PROTO_NAME_SIZE)

static_assert(PROTO_MAX_DENIED_NETWORK * NETWORK_WIRE == PROTO_DENIED_NETWORK_WIRE,
              "the length on the wire is that of its entries");
static_assert(PROTO_MAX_DENIED_NAMES * NAME_WIRE == PROTO_DENIED_NAMES_WIRE,
              "the length on the wire is that of its entries");

static bool is_address(const struct proto_denied_network *denied)
{
    static const uint8_t zero[12];
    return denied->family == 6 ||
           (denied->family == 4 && memcmp(denied->bytes + 4, zero, sizeof(zero)) == 0);
}

static bool is_same_target(const struct proto_denied_network *a,
                           const struct proto_denied_network *b)
{
    return a->family == b->family && a->protocol == b->protocol && a->port == b->port &&
           memcmp(a->bytes, b->bytes, ADDRESS_SIZE) == 0;
}

const char *proto_denied_network_fault(const struct proto_finished *finished)
{
    static const struct proto_denied_network nothing;
    for (size_t i = 0; i < PROTO_MAX_DENIED_NETWORK; i++) {
        const struct proto_denied_network *denied = &finished->denied_network[i];
        if (i >= finished->denied_network_count) {
            if (!is_same_target(denied, &nothing) || denied->count != 0)
                return "has entries beyond denied_network_count";
            continue;
        }
        if (!is_address(denied))
            return "has an address that is none";
        if (denied->count == 0)
            return "has a target that was never refused";
        for (size_t j = 0; j < i; j++) {
            if (is_same_target(&finished->denied_network[j], denied))
                return "has a target twice";
        }
    }
    return NULL;
}

void proto_denied_network_put(uint8_t *bytes, const struct proto_finished *finished)
{
    for (size_t i = 0; i < PROTO_MAX_DENIED_NETWORK; i++, bytes += NETWORK_WIRE) {
        const struct proto_denied_network *denied = &finished->denied_network[i];
        bytes[0] = denied->family;
        bytes[1] = denied->protocol;
        wire_put_le(bytes + 2, denied->port, 2);
        wire_put_le(bytes + 4, denied->count, 4);
        memcpy(bytes + 8, denied->bytes, ADDRESS_SIZE);
    }
}

void proto_denied_network_get(const uint8_t *bytes, struct proto_finished *finished)
{
    for (size_t i = 0; i < PROTO_MAX_DENIED_NETWORK; i++, bytes += NETWORK_WIRE) {
        struct proto_denied_network *denied = &finished->denied_network[i];
        denied->family = bytes[0];
        denied->protocol = bytes[1];
        denied->port = (uint16_t)wire_get_le(bytes + 2, 2);
        denied->count = (uint32_t)wire_get_le(bytes + 4, 4);
        memcpy(denied->bytes, bytes + 8, ADDRESS_SIZE);
    }
}

/* A program may ask for any name; one ends in a status, on terminals and in logs. */
static const char *name_fault(const char *name)
{
    size_t len = strnlen(name, PROTO_NAME_SIZE);
    if (len == PROTO_NAME_SIZE)
        return "has a name that is not terminated";
    if (len == 0)
        return "has an empty name";
    for (size_t i = 0; i < len; i++) {
        if (name[i] <= 0x20 || name[i] >= 0x7f)
            return "has a name that is not in printable ASCII";
    }
    return NULL;
}

const char *proto_denied_names_fault(const struct proto_finished *finished)
{
    for (size_t i = 0; i < PROTO_MAX_DENIED_NAMES; i++) {
        const struct proto_denied_name *denied = &finished->denied_names[i];
        if (i >= finished->denied_name_count) {
            if (denied->count != 0 || denied->name[0] != '\0')
                return "has entries beyond denied_name_count";
            continue;
        }
        const char *fault = name_fault(denied->name);
        if (!fault && denied->count == 0)
            fault = "has a name that was never refused";
        for (size_t j = 0; !fault && j < i; j++) {
            if (strcmp(finished->denied_names[j].name, denied->name) == 0)
                fault = "has a name twice";
        }
        if (fault)
            return fault;
    }
    return NULL;
}

void proto_denied_names_put(uint8_t *bytes, const struct proto_finished *finished)
{
    for (size_t i = 0; i < PROTO_MAX_DENIED_NAMES; i++, bytes += NAME_WIRE) {
        const struct proto_denied_name *denied = &finished->denied_names[i];
        size_t len = strnlen(denied->name, PROTO_NAME_SIZE);
        wire_put_le(bytes, denied->count, 4);
        memcpy(bytes + 4, denied->name, len);
        memset(bytes + 4 + len, 0, PROTO_NAME_SIZE - len);
    }
}

void proto_denied_names_get(const uint8_t *bytes, struct proto_finished *finished)
{
    for (size_t i = 0; i < PROTO_MAX_DENIED_NAMES; i++, bytes += NAME_WIRE) {
        finished->denied_names[i].count = (uint32_t)wire_get_le(bytes, 4);
        memcpy(finished->denied_names[i].name, bytes + 4, PROTO_NAME_SIZE);
    }
}
