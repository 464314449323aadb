/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/sandboxnode.h"

#include "common/api/quantity.h"
#include "common/clock.h"
#include "common/parse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* More than any machine has, and far from where sums of 64-bit figures overflow. */
#define MAX_NODE_RUNS   100000
#define MAX_NODE_BYTES  (1ull << 50)
#define MAX_NODE_MILLI  100000000ull
#define READY_CONDITION "Ready"

/* The first thing that is wrong with the object is what its ready_message tells. */
static void __attribute__((format(printf, 2, 3)))
not_ready(struct sandboxnode *node, const char *fmt, ...)
{
    node->ready = false;
    if (strcmp(node->ready_reason, "InvalidStatus") == 0 && node->ready_message[0])
        return;
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(node->ready_message, sizeof(node->ready_message), fmt, args);
    va_end(args);
    (void)snprintf(node->ready_reason, sizeof(node->ready_reason), "InvalidStatus");
}

/* Copies a text member that must fit; false if it is there and doesn't. */
static bool copy_text(const cJSON *tree, const char *path, char *field, size_t size)
{
    const char *text = json_get_string(tree, path);
    if (!text)
        return json_get_path(tree, path) == NULL;
    size_t len = strlen(text);
    if (len >= size)
        return false;
    memcpy(field, text, len + 1);
    return true;
}

/* Texts for people: cut before a character that doesn't fit whole. */
static void copy_cut(const cJSON *tree, const char *path, char *field, size_t size)
{
    const char *text = json_get_string(tree, path);
    if (!text)
        return;
    size_t len = strnlen(text, size);
    if (len == size) {
        len = size - 1;
        while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
            len--;
    }
    memcpy(field, text, len);
    field[len] = '\0';
}

static void decode_count(const cJSON *tree, const char *path, struct sandboxnode *node,
                         uint32_t *ret_count)
{
    int64_t count;
    int r = json_get_i64(tree, path, &count);
    if (r == -ENOENT)
        return;
    if (r < 0 || count < 0 || count > MAX_NODE_RUNS)
        not_ready(node, "status.%s: must be a whole number from 0 to %d", path, MAX_NODE_RUNS);
    else
        *ret_count = (uint32_t)count;
}

static void decode_quantity(const cJSON *tree, const char *path,
                            int (*parse)(const char *text, uint64_t *ret_value), uint64_t max,
                            struct sandboxnode *node, uint64_t *ret_value)
{
    if (!json_get_path(tree, path))
        return;
    const char *text = json_get_string(tree, path);
    uint64_t value;
    if (!text || parse(text, &value) < 0 || value > max)
        not_ready(node, "status.%s: must be a quantity within reason", path);
    else
        *ret_value = value;
}

static void decode_runtimes(const cJSON *list, struct sandboxnode *node)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, list) {
        if (node->runtime_count == MAX_NODE_RUNTIMES) {
            not_ready(node, "status.runtimes: more than %d", MAX_NODE_RUNTIMES);
            return;
        }
        struct node_runtime *runtime = &node->runtimes[node->runtime_count];
        *runtime = (struct node_runtime){0};
        if (!copy_text(item, "name", runtime->name, sizeof(runtime->name)) || !runtime->name[0] ||
            !copy_text(item, "version", runtime->version, sizeof(runtime->version))) {
            not_ready(node, "status.runtimes[%" PRIu32 "]: no usable name and version",
                      node->runtime_count);
            return;
        }
        node->runtime_count++;
    }
}

/* A profile that this version doesn't know is one that no run of ours asks for. */
static void decode_profiles(const cJSON *list, struct sandboxnode *node)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, list) {
        enum profile profile;
        if (cJSON_IsString(item) && profile_parse(item->valuestring, &profile) == 0)
            node->profiles[profile] = true;
    }
}

static void decode_ready(const cJSON *conditions, struct sandboxnode *node)
{
    const cJSON *item;
    node->ready = false;
    (void)snprintf(node->ready_reason, sizeof(node->ready_reason), "NoStatus");
    (void)snprintf(node->ready_message, sizeof(node->ready_message),
                   "the agent hasn't said that it is ready");
    cJSON_ArrayForEach (item, conditions) {
        const char *type = json_get_string(item, "type");
        const char *status = json_get_string(item, "status");
        const char *since = json_get_string(item, "lastTransitionTime");
        if (!type || !status || strcmp(type, READY_CONDITION) != 0)
            continue;
        node->ready = strcmp(status, "True") == 0;
        node->ready_reason[0] = '\0';
        node->ready_message[0] = '\0';
        copy_cut(item, "reason", node->ready_reason, sizeof(node->ready_reason));
        copy_cut(item, "message", node->ready_message, sizeof(node->ready_message));
        if (since)
            (void)clock_parse(since, &node->ready_since_us);
    }
}

static void decode_cgroup_version(const cJSON *status, struct sandboxnode *node)
{
    const char *text = json_get_string(status, "cgroupVersion");
    if (text && strcmp(text, "v1") == 0)
        node->cgroup_version = 1;
    if (text && strcmp(text, "v2") == 0)
        node->cgroup_version = 2;
}

static void decode_status(const cJSON *status, struct sandboxnode *node)
{
    decode_ready(json_get(status, "conditions"), node);
    if (!copy_text(status, "instance", node->instance, sizeof(node->instance)) ||
        (node->ready && !node->instance[0]))
        not_ready(node, "status.instance: must have 1 to %zu bytes", sizeof(node->instance) - 1);
    decode_count(status, "capacity.runs", node, &node->capacity.runs);
    decode_quantity(status, "capacity.memory", quantity_parse_bytes, MAX_NODE_BYTES, node,
                    &node->capacity.memory_bytes);
    decode_quantity(status, "capacity.cpu", quantity_parse_milli, MAX_NODE_MILLI, node,
                    &node->capacity.cpu_milli);
    decode_count(status, "allocated.runs", node, &node->allocated.runs);
    decode_quantity(status, "allocated.memory", quantity_parse_bytes, MAX_NODE_BYTES, node,
                    &node->allocated.memory_bytes);
    decode_quantity(status, "allocated.cpu", quantity_parse_milli, MAX_NODE_MILLI, node,
                    &node->allocated.cpu_milli);
    decode_count(status, "warm", node, &node->warm);
    decode_runtimes(json_get(status, "runtimes"), node);
    decode_profiles(json_get(status, "profiles"), node);
    decode_cgroup_version(status, node);
    copy_cut(status, "kernel", node->kernel, sizeof(node->kernel));
}

int sandboxnode_decode(const cJSON *tree, struct sandboxnode *ret_node, struct error *err)
{
    struct sandboxnode node = {0};
    const char *name = json_get_string(tree, "metadata.name");
    if (!name || !parse_is_dns_subdomain(name))
        return error_set(err, EINVAL, "metadata.name: \"%.64s\" is no name of a SandboxNode",
                         name ? name : "");
    (void)snprintf(node.name, sizeof(node.name), "%s", name);
    copy_cut(tree, "metadata.uid", node.uid, sizeof(node.uid));
    decode_status(json_get(tree, "status"), &node);
    *ret_node = node;
    return 0;
}

static int encode_resources(const char *key, const struct node_resources *resources,
                            struct buf *json)
{
    char memory[QUANTITY_TEXT_SIZE], cpu[QUANTITY_TEXT_SIZE];
    quantity_format_bytes(resources->memory_bytes, memory);
    quantity_format_milli(resources->cpu_milli, cpu);
    return buf_printf(json, ",\"%s\":{\"runs\":%" PRIu32 ",\"memory\":\"%s\",\"cpu\":\"%s\"}", key,
                      resources->runs, memory, cpu);
}

static int encode_runtimes(const struct sandboxnode *node, struct buf *json)
{
    int r = buf_append_str(json, ",\"runtimes\":[");
    for (uint32_t i = 0; r == 0 && i < node->runtime_count; i++) {
        r = buf_append_str(json, i > 0 ? ",{" : "{");
        if (r == 0)
            r = json_append_member(json, "name", node->runtimes[i].name);
        if (r == 0 && node->runtimes[i].version[0])
            r = json_append_member(json, "version", node->runtimes[i].version);
        if (r == 0)
            r = buf_append_char(json, '}');
    }
    return r < 0 ? r : buf_append_char(json, ']');
}

static int encode_profiles(const struct sandboxnode *node, struct buf *json)
{
    const char *comma = "";
    int r = buf_append_str(json, ",\"profiles\":[");
    for (unsigned int i = 0; r == 0 && i < PROFILE_COUNT; i++) {
        if (!node->profiles[i])
            continue;
        r = buf_printf(json, "%s\"%s\"", comma, profile_limits((enum profile)i)->name);
        comma = ",";
    }
    return r < 0 ? r : buf_append_char(json, ']');
}

static int encode_ready(const struct sandboxnode *node, struct buf *json)
{
    char since[CLOCK_TEXT_SIZE];
    clock_format_micro(node->ready_since_us, since);
    int r = buf_append_str(json, ",\"conditions\":[{\"type\":\"" READY_CONDITION "\",\"status\":");
    if (r == 0)
        r = buf_append_str(json, node->ready ? "\"True\"" : "\"False\"");
    if (r == 0)
        r = json_append_member(json, "reason", node->ready_reason);
    if (r == 0)
        r = json_append_member(json, "message", node->ready_message);
    if (r == 0)
        r = json_append_member(json, "lastTransitionTime", since);
    return r < 0 ? r : buf_append_str(json, "}]");
}

/* null, so that a merge patch removes what an earlier agent wrote. */
static int encode_output(const struct node_output *output, struct buf *json)
{
    if (output->port == 0)
        return buf_append_str(json, ",\"output\":null");
    int r = buf_printf(json, ",\"output\":{\"port\":%" PRIu32, output->port);
    if (r == 0 && output->address)
        r = json_append_member(json, "address", output->address);
    else if (r == 0)
        r = buf_append_str(json, ",\"address\":null");
    if (r == 0)
        r = json_append_member(json, "certificate", output->certificate);
    return r < 0 ? r : buf_append_char(json, '}');
}

static int encode_status(const struct sandboxnode *node, struct buf *json)
{
    int r = buf_append_char(json, '{');
    if (r == 0)
        r = json_append_member(json, "instance", node->instance);
    if (r == 0)
        r = encode_resources("capacity", &node->capacity, json);
    if (r == 0)
        r = encode_resources("allocated", &node->allocated, json);
    if (r == 0)
        r = buf_printf(json, ",\"warm\":%" PRIu32, node->warm);
    if (r == 0)
        r = encode_runtimes(node, json);
    if (r == 0 && node->cgroup_version > 0)
        r = buf_printf(json, ",\"cgroupVersion\":\"v%" PRIu32 "\"", node->cgroup_version);
    if (r == 0 && node->kernel[0])
        r = json_append_member(json, "kernel", node->kernel);
    if (r == 0)
        r = encode_profiles(node, json);
    if (r == 0)
        r = encode_output(&node->output, json);
    if (r == 0)
        r = encode_ready(node, json);
    return r < 0 ? r : buf_append_char(json, '}');
}

int sandboxnode_status_encode(const struct sandboxnode *node, struct buf *json)
{
    size_t before = json->len;
    int r = encode_status(node, json);
    if (r < 0)
        buf_truncate(json, before);
    return r;
}
