/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/parse.h"
#include "node-agent/proto/proto.h"
#include "node-agent/proto/proto_fields.h"
#include "node-agent/proto/wire.h"

#include <assert.h>
#include <string.h>

enum field_kind {
    FIELD_UUID = WIRE_OWN, /* 8-4-4-4-12 lower-case hexadecimal digits */
    FIELD_NAME,            /* a DNS subdomain, see parse.h */
    FIELD_TEXT,            /* UTF-8 without control characters, may be empty */
    FIELD_RUNTIMES,
    FIELD_DENIED,
    FIELD_DENIED_NETWORK,
    FIELD_DENIED_NAMES,
    FIELD_EGRESS,
};

#define NUMBER(member, field, kind, low, high)                                                     \
    {                                                                                              \
#field, kind, offsetof(struct proto_message, member.field),                                \
            sizeof(((struct proto_message *)0)->member.field), (low), (high)                       \
    }
#define STRING(member, field, kind) NUMBER(member, field, kind, 0, 0)
/* Of a length on the wire that isn't the one in memory. */
#define PACKED(member, field, kind, wire)                                                          \
    {                                                                                              \
#field, kind, offsetof(struct proto_message, member.field), (wire), 0, 0                   \
    }

/* Bounds that no machine reaches: they keep sums of two values from wrapping. */
#define MAX_BYTES INT64_MAX
#define MAX_TIME  INT64_MAX
#define MAX_MILLI INT32_MAX
#define MAX_COUNT INT64_MAX

#define PROFILE_WITHOUT_NETWORK 0 /* Snippet */

static const struct wire_field hello_fields[] = {
    NUMBER(hello, version, WIRE_U32, 1, UINT32_MAX),
    NUMBER(hello, cgroup_version, WIRE_U32, 0, 2),
    NUMBER(hello, profiles, WIRE_U32, 0, 3),
    NUMBER(hello, max_runs, WIRE_U32, 0, UINT16_MAX),
    NUMBER(hello, memory_bytes, WIRE_U64, 0, MAX_BYTES),
    NUMBER(hello, cpu_milli, WIRE_U64, 0, MAX_MILLI),
    NUMBER(hello, runtime_count, WIRE_U32, 0, PROTO_MAX_RUNTIMES),
    NUMBER(hello, runtimes, FIELD_RUNTIMES, 0, 0),
    STRING(hello, kernel, FIELD_TEXT),
    NUMBER(hello, landlock_abi, WIRE_U32, 0, UINT8_MAX),
};

static const struct wire_field create_fields[] = {
    STRING(create, id, FIELD_UUID),
    NUMBER(create, profile, WIRE_U32, 0, 1),
    STRING(create, runtime, FIELD_NAME),
    NUMBER(create, cpu_milli, WIRE_U32, 1, MAX_MILLI),
    NUMBER(create, memory_bytes, WIRE_U64, 1, MAX_BYTES),
    PACKED(create, egress, FIELD_EGRESS, PROTO_EGRESS_WIRE),
};

static const struct wire_field created_fields[] = {
    STRING(created, id, FIELD_UUID),
    NUMBER(created, warm, WIRE_U32, 0, PROTO_WARM_FORKED),
};

static const struct wire_field start_fields[] = {
    STRING(start, id, FIELD_UUID),
    NUMBER(start, timeout_ms, WIRE_U32, 1, UINT32_MAX),
    NUMBER(start, not_after_boottime_ns, WIRE_U64, 0, MAX_TIME),
};

static const struct wire_field refused_fields[] = {
    STRING(refused, id, FIELD_UUID),
    NUMBER(refused, errnum, WIRE_U32, 1, WIRE_MAX_ERRNO),
    STRING(refused, lock, FIELD_NAME),
    STRING(refused, text, FIELD_TEXT),
};

static const struct wire_field kill_fields[] = {
    STRING(kill, id, FIELD_UUID),
};

static const struct wire_field finished_fields[] = {
    STRING(finished, id, FIELD_UUID),
    NUMBER(finished, end, WIRE_U32, PROTO_END_EXITED, PROTO_END_FORBIDDEN),
    NUMBER(finished, wait_status, WIRE_I32, 0, UINT16_MAX),
    NUMBER(finished, has_status, WIRE_U32, 0, 1),
    NUMBER(finished, oom_kills, WIRE_U32, 0, UINT32_MAX),
    NUMBER(finished, wall_us, WIRE_U64, 0, MAX_TIME),
    NUMBER(finished, cpu_us, WIRE_U64, 0, MAX_TIME),
    NUMBER(finished, peak_memory_bytes, WIRE_U64, 0, MAX_BYTES),
    NUMBER(finished, timeout_ms, WIRE_U32, 0, UINT32_MAX),
    NUMBER(finished, forbidden_call, WIRE_I32, 0, INT32_MAX),
    NUMBER(finished, denied_more, WIRE_U32, 0, 1),
    NUMBER(finished, denied_count, WIRE_U32, 0, PROTO_MAX_DENIED),
    NUMBER(finished, denied, FIELD_DENIED, 0, 0),
    NUMBER(finished, denied_network_count, WIRE_U32, 0, PROTO_MAX_DENIED_NETWORK),
    PACKED(finished, denied_network, FIELD_DENIED_NETWORK, PROTO_DENIED_NETWORK_WIRE),
    NUMBER(finished, denied_name_count, WIRE_U32, 0, PROTO_MAX_DENIED_NAMES),
    PACKED(finished, denied_names, FIELD_DENIED_NAMES, PROTO_DENIED_NAMES_WIRE),
    NUMBER(finished, denied_network_more, WIRE_U32, 0, 1),
};

static const struct wire_field check_fields[] = {
    NUMBER(check, level, WIRE_U32, PROTO_REQUIRED, PROTO_INFORMATION),
    NUMBER(check, outcome, WIRE_U32, PROTO_OUTCOME_OK, PROTO_OUTCOME_SKIPPED),
    STRING(check, name, FIELD_NAME),
    STRING(check, figure, FIELD_TEXT),
    STRING(check, advice, FIELD_TEXT),
};

static const struct wire_field notice_fields[] = {
    NUMBER(notice, kind, WIRE_U32, PROTO_NOTICE_WAITING, PROTO_NOTICE_STOPPING),
};

static const struct wire_field pool_fields[] = {
    STRING(pool, runtime, FIELD_NAME),
    NUMBER(pool, profile, WIRE_U32, 0, 1),
    NUMBER(pool, waiting, WIRE_U32, 0, UINT16_MAX),
    NUMBER(pool, size, WIRE_U32, 0, UINT16_MAX),
    NUMBER(pool, hits, WIRE_U64, 0, MAX_COUNT),
    NUMBER(pool, misses, WIRE_U64, 0, MAX_COUNT),
    NUMBER(pool, made, WIRE_U64, 0, MAX_COUNT),
    NUMBER(pool, forked, WIRE_U64, 0, MAX_COUNT),
    NUMBER(pool, made_us, WIRE_U64, 0, MAX_TIME),
};

static const struct wire_format formats[] = {
    [PROTO_HELLO] = WIRE_FORMAT("HELLO", hello_fields),
    [PROTO_CREATE] = WIRE_FORMAT("CREATE", create_fields),
    [PROTO_CREATED] = WIRE_FORMAT("CREATED", created_fields),
    [PROTO_START] = WIRE_FORMAT("START", start_fields),
    [PROTO_REFUSED] = WIRE_FORMAT("REFUSED", refused_fields),
    [PROTO_KILL] = WIRE_FORMAT("KILL", kill_fields),
    [PROTO_FINISHED] = WIRE_FORMAT("FINISHED", finished_fields),
    [PROTO_CHECK] = WIRE_FORMAT("CHECK", check_fields),
    [PROTO_NOTICE] = WIRE_FORMAT("NOTICE", notice_fields),
    [PROTO_POOL] = WIRE_FORMAT("POOL", pool_fields),
};

/* What is on the wire is never longer than in memory. */
static_assert(sizeof(struct proto_message) + WIRE_HEADER_SIZE <= PROTO_MAX_MESSAGE,
              "the longest message fits");
static_assert(PROTO_EGRESS_WIRE <= sizeof(struct proto_egress), "names are packed on the wire");
static_assert(sizeof(((struct proto_hello *)0)->runtimes) ==
                  PROTO_MAX_RUNTIMES * (PROTO_RUNTIME_SIZE + PROTO_VERSION_SIZE),
              "runtimes are packed in memory as on the wire");
static_assert(sizeof(((struct proto_finished *)0)->denied) ==
                  PROTO_MAX_DENIED * 2 * sizeof(uint32_t),
              "denied calls are packed in memory as on the wire");

static bool is_plain_text(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    }
    return parse_is_utf8(text, len);
}

/* NULL if a string of `size` bytes, of which `text` are the content, is what kind asks for. */
static const char *string_fault(int kind, const char *text, size_t size)
{
    size_t len = strnlen(text, size);
    if (len == size)
        return "is not terminated";
    if (kind == FIELD_UUID && !wire_is_uuid(text, len))
        return "is not a UUID in lower case";
    if (kind == FIELD_NAME && !parse_is_dns_subdomain(text))
        return "is not a name of lower-case letters, digits, '-' and '.'";
    if (kind == FIELD_TEXT && !is_plain_text(text, len))
        return "is not plain UTF-8 text";
    return NULL;
}

/* Bytes behind a string's end carry nothing, so that each message has one encoding. */
static bool is_zero_padded(const char *text, size_t size)
{
    size_t len = strnlen(text, size);
    return wire_is_zero(text + len, size - len);
}

static const char *runtimes_fault(const struct proto_hello *hello)
{
    for (size_t i = 0; i < PROTO_MAX_RUNTIMES; i++) {
        const char *name = hello->runtimes[i].name, *version = hello->runtimes[i].version;
        const char *fault = NULL;
        if (i >= hello->runtime_count)
            fault = name[0] || version[0] ? "has entries beyond runtime_count" : NULL;
        else
            fault = string_fault(FIELD_NAME, name, PROTO_RUNTIME_SIZE);
        if (!fault)
            fault = string_fault(FIELD_TEXT, version, PROTO_VERSION_SIZE);
        if (fault)
            return fault;
    }
    return NULL;
}

/* Each call once, refused at least once, and zeros behind them. */
static const char *denied_fault(const struct proto_finished *finished)
{
    for (size_t i = 0; i < PROTO_MAX_DENIED; i++) {
        const struct proto_denied *denied = &finished->denied[i];
        if (i >= finished->denied_count) {
            if (denied->number != 0 || denied->count != 0)
                return "has entries beyond denied_count";
            continue;
        }
        if (denied->count == 0)
            return "has a call that was never refused";
        for (size_t j = 0; j < i; j++) {
            if (finished->denied[j].number == denied->number)
                return "has a call twice";
        }
    }
    return NULL;
}

static const char *field_fault(const struct wire_field *field, const void *of)
{
    const struct proto_message *message = of;
    if (field->kind == FIELD_RUNTIMES)
        return runtimes_fault(&message->hello);
    if (field->kind == FIELD_DENIED)
        return denied_fault(&message->finished);
    if (field->kind == FIELD_DENIED_NETWORK)
        return proto_denied_network_fault(&message->finished);
    if (field->kind == FIELD_DENIED_NAMES)
        return proto_denied_names_fault(&message->finished);
    if (field->kind == FIELD_EGRESS)
        return proto_egress_fault(&message->create.egress);
    return string_fault(field->kind, (const char *)of + field->offset, field->size);
}

static const char *message_fault(const void *of)
{
    const struct proto_message *message = of;
    if (message->type == PROTO_CREATE && message->create.profile == PROFILE_WITHOUT_NETWORK &&
        message->create.egress.has_rules)
        return "egress has rules for a profile without a network";
    if (message->type == PROTO_FINISHED && !message->finished.has_status &&
        message->finished.wait_status != 0)
        return "wait_status is set without has_status";
    if (message->type == PROTO_FINISHED && message->finished.end != PROTO_END_FORBIDDEN &&
        message->finished.forbidden_call != 0)
        return "forbidden_call is set, and it is not what ended the run";
    return NULL;
}

static void put_string(uint8_t *bytes, const char *text, size_t size)
{
    size_t len = strnlen(text, size);
    memcpy(bytes, text, len);
    memset(bytes + len, 0, size - len);
}

static void put_runtimes(uint8_t *bytes, const struct proto_hello *hello)
{
    for (size_t i = 0; i < PROTO_MAX_RUNTIMES; i++) {
        put_string(bytes, hello->runtimes[i].name, PROTO_RUNTIME_SIZE);
        bytes += PROTO_RUNTIME_SIZE;
        put_string(bytes, hello->runtimes[i].version, PROTO_VERSION_SIZE);
        bytes += PROTO_VERSION_SIZE;
    }
}

static void put_denied(uint8_t *bytes, const struct proto_denied *denied)
{
    for (size_t i = 0; i < PROTO_MAX_DENIED; i++) {
        wire_put_le(bytes + 8 * i, (uint32_t)denied[i].number, 4);
        wire_put_le(bytes + 8 * i + 4, denied[i].count, 4);
    }
}

static void put_field(uint8_t *bytes, const struct wire_field *field, const void *of)
{
    const struct proto_message *message = of;
    if (field->kind == FIELD_RUNTIMES)
        put_runtimes(bytes, &message->hello);
    else if (field->kind == FIELD_DENIED)
        put_denied(bytes, message->finished.denied);
    else if (field->kind == FIELD_DENIED_NETWORK)
        proto_denied_network_put(bytes, &message->finished);
    else if (field->kind == FIELD_DENIED_NAMES)
        proto_denied_names_put(bytes, &message->finished);
    else if (field->kind == FIELD_EGRESS)
        proto_egress_put(bytes, &message->create.egress);
    else
        put_string(bytes, (const char *)of + field->offset, field->size);
}

static bool runtimes_are_padded(const struct proto_hello *hello)
{
    for (size_t i = 0; i < PROTO_MAX_RUNTIMES; i++) {
        if (!is_zero_padded(hello->runtimes[i].name, PROTO_RUNTIME_SIZE) ||
            !is_zero_padded(hello->runtimes[i].version, PROTO_VERSION_SIZE))
            return false;
    }
    return true;
}

static bool denied_names_are_padded(const struct proto_finished *finished)
{
    for (size_t i = 0; i < PROTO_MAX_DENIED_NAMES; i++) {
        if (!is_zero_padded(finished->denied_names[i].name, PROTO_NAME_SIZE))
            return false;
    }
    return true;
}

static void get_denied(const uint8_t *bytes, struct proto_denied *denied)
{
    for (size_t i = 0; i < PROTO_MAX_DENIED; i++) {
        uint32_t number = (uint32_t)wire_get_le(bytes + 8 * i, 4);
        memcpy(&denied[i].number, &number, sizeof(number));
        denied[i].count = (uint32_t)wire_get_le(bytes + 8 * i + 4, 4);
    }
}

static const char *get_field(const uint8_t *bytes, const struct wire_field *field, void *of)
{
    struct proto_message *message = of;
    char *at = (char *)of + field->offset;
    bool padded = true;
    if (field->kind == FIELD_DENIED) {
        get_denied(bytes, message->finished.denied);
    } else if (field->kind == FIELD_DENIED_NETWORK) {
        proto_denied_network_get(bytes, &message->finished);
    } else if (field->kind == FIELD_DENIED_NAMES) {
        proto_denied_names_get(bytes, &message->finished);
        padded = denied_names_are_padded(&message->finished);
    } else if (field->kind == FIELD_EGRESS) {
        proto_egress_get(bytes, &message->create.egress);
    } else {
        memcpy(at, bytes, field->size);
        padded = field->kind == FIELD_RUNTIMES ? runtimes_are_padded(&message->hello)
                                               : is_zero_padded(at, field->size);
    }
    return padded ? NULL : "has bytes behind its end";
}

static const struct wire_codec codec = {
    .formats = formats,
    .count = ARRAY_SIZE(formats),
    .field_fault = field_fault,
    .message_fault = message_fault,
    .put = put_field,
    .get = get_field,
};

int proto_encode(const struct proto_message *message, uint8_t bytes[static PROTO_MAX_MESSAGE])
{
    return wire_encode(&codec, message->type, message, bytes);
}

int proto_decode(const uint8_t *bytes, size_t len, struct proto_message *ret_message,
                 struct error *err)
{
    uint32_t type;
    int r = wire_open(&codec, bytes, len, &type, err);
    if (r < 0)
        return r;
    struct proto_message message = {.type = (enum proto_type)type};
    r = wire_read(&codec, type, bytes, &message, err);
    if (r >= 0)
        *ret_message = message;
    return r;
}
