/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/run_status_decode.h"

#include "common/api/quantity.h"
#include "common/api/shape.h"
#include "common/cleanup.h"
#include "common/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct shape_field usage_shape[] = {
    {.name = "cpuMilliseconds", .type = SHAPE_INTEGER},
    {.name = "peakMemoryBytes", .type = SHAPE_INTEGER},
    {.name = "wallMilliseconds", .type = SHAPE_INTEGER},
    {0},
};

static const struct shape_field effective_shape[] = {
    {.name = "timeoutSeconds", .type = SHAPE_INTEGER},
    {.name = "memory", .type = SHAPE_STRING},
    {.name = "cpu", .type = SHAPE_STRING},
    {.name = "runtimeVersion", .type = SHAPE_STRING},
    {0},
};

static const struct shape_field denied_shape[] = {
    {.name = "kind", .type = SHAPE_STRING},
    {.name = "target", .type = SHAPE_STRING},
    {.name = "count", .type = SHAPE_INTEGER},
    {0},
};

static const struct shape_field status_shape[] = {
    {.name = "phase", .type = SHAPE_STRING},
    {.name = "reason", .type = SHAPE_STRING},
    {.name = "message", .type = SHAPE_STRING},
    {.name = "sandboxID", .type = SHAPE_STRING},
    {.name = "nodeName", .type = SHAPE_STRING},
    {.name = "agentInstance", .type = SHAPE_STRING},
    {.name = "scheduledTime", .type = SHAPE_STRING},
    {.name = "startTime", .type = SHAPE_STRING},
    {.name = "completionTime", .type = SHAPE_STRING},
    {.name = "exitCode", .type = SHAPE_INTEGER},
    {.name = "stdout", .type = SHAPE_STRING},
    {.name = "stderr", .type = SHAPE_STRING},
    {.name = "stdoutBytes", .type = SHAPE_INTEGER},
    {.name = "stderrBytes", .type = SHAPE_INTEGER},
    {.name = "stdoutTruncated", .type = SHAPE_BOOLEAN},
    {.name = "stderrTruncated", .type = SHAPE_BOOLEAN},
    {.name = "usage", .type = SHAPE_OBJECT, .fields = usage_shape},
    {.name = "effective", .type = SHAPE_OBJECT, .fields = effective_shape},
    {.name = "denied", .type = SHAPE_OBJECT, .list = true, .fields = denied_shape},
    {.name = "observedGeneration", .type = SHAPE_INTEGER},
    {0},
};

static int decode_phase_and_reason(const cJSON *tree, struct run_status *status, struct error *err)
{
    const char *phase = json_get_string(tree, "phase");
    const char *reason = json_get_string(tree, "reason");
    if (phase && run_phase_parse(phase, &status->phase) < 0)
        return error_set(err, EINVAL, "status.phase: \"%.64s\" is no phase", phase);
    /* One of a later version explains what this one has no use for. */
    if (reason)
        (void)run_reason_parse(reason, &status->reason);
    return 0;
}

static int decode_identity(const cJSON *tree, const char *name, char *field, size_t size,
                           struct error *err)
{
    const char *text = json_get_string(tree, name);
    if (!text)
        return 0;
    size_t len = strlen(text);
    if (len >= size)
        return error_set(err, EINVAL, "status.%s: %zu bytes is above the maximum of %zu", name, len,
                         size - 1);
    memcpy(field, text, len + 1);
    return 0;
}

/* Cut before a character that doesn't fit whole. */
static void decode_text(const cJSON *tree, const char *name, char *field, size_t size)
{
    const char *text = json_get_string(tree, name);
    if (!text)
        return;
    size_t len = strlen(text);
    if (len >= size) {
        len = size - 1;
        while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
            len--;
    }
    memcpy(field, text, len);
    field[len] = '\0';
}

static int decode_time(const cJSON *tree, const char *name, int64_t *ret_us, struct error *err)
{
    const char *text = json_get_string(tree, name);
    if (text && clock_parse(text, ret_us) < 0)
        return error_set(err, EINVAL, "status.%s: \"%.64s\" is no RFC 3339 time", name, text);
    return 0;
}

static void decode_count(const cJSON *tree, const char *path, uint64_t *ret_count)
{
    int64_t count;
    if (json_get_i64(tree, path, &count) == 0 && count > 0)
        *ret_count = (uint64_t)count;
}

static int decode_stream(const cJSON *tree, const char *name, char **ret_text, size_t *ret_len,
                         struct error *err)
{
    const char *text = json_get_string(tree, name);
    if (!text)
        return 0;
    char *copy = strdup(text);
    if (!copy)
        return error_set(err, ENOMEM, "out of memory while reading a SandboxRun");
    *ret_text = copy;
    *ret_len = strlen(copy);
    return 0;
}

static void decode_result(const cJSON *tree, struct run_status *status)
{
    int64_t exit_code;
    if (json_get_i64(tree, "exitCode", &exit_code) == 0 && exit_code >= INT32_MIN &&
        exit_code <= INT32_MAX) {
        status->has_exit_code = true;
        status->exit_code = (int32_t)exit_code;
    }
    decode_count(tree, "stdoutBytes", &status->stdout_bytes);
    decode_count(tree, "stderrBytes", &status->stderr_bytes);
    (void)json_get_bool(tree, "stdoutTruncated", &status->stdout_truncated);
    (void)json_get_bool(tree, "stderrTruncated", &status->stderr_truncated);
    status->has_usage = json_get(tree, "usage") != NULL;
    decode_count(tree, "usage.cpuMilliseconds", &status->usage.cpu_ms);
    decode_count(tree, "usage.peakMemoryBytes", &status->usage.peak_memory_bytes);
    decode_count(tree, "usage.wallMilliseconds", &status->usage.wall_ms);
    (void)json_get_i64(tree, "observedGeneration", &status->observed_generation);
}

static void decode_effective(const cJSON *tree, struct run_status *status)
{
    const cJSON *effective = json_get(tree, "effective");
    if (!effective)
        return;
    uint64_t timeout = 0, cpu = 0;
    const char *cpu_text = json_get_string(effective, "cpu");
    const char *memory_text = json_get_string(effective, "memory");
    status->has_effective = true;
    decode_count(effective, "timeoutSeconds", &timeout);
    if (timeout <= UINT32_MAX)
        status->effective_timeout_seconds = (uint32_t)timeout;
    if (cpu_text && quantity_parse_milli(cpu_text, &cpu) == 0 && cpu <= UINT32_MAX)
        status->effective_cpu_milli = (uint32_t)cpu;
    if (memory_text)
        (void)quantity_parse_bytes(memory_text, &status->effective_memory_bytes);
    decode_text(effective, "runtimeVersion", status->effective_runtime_version,
                sizeof(status->effective_runtime_version));
}

/* As many as there is room for. An entry that isn't understood, of a later version's kind say, is
 * no reason to refuse the rest. */
static void decode_denied(const cJSON *tree, struct run_status *status)
{
    const cJSON *item;
    status->denied_count = 0;
    cJSON_ArrayForEach (item, json_get(tree, "denied")) {
        struct run_denied denied = {0};
        const char *kind = json_get_string(item, "kind");
        decode_text(item, "target", denied.target, sizeof(denied.target));
        decode_count(item, "count", &denied.count);
        if (status->denied_count < MAX_STATUS_DENIED && kind && denied.target[0] &&
            denied.count > 0 && run_denied_kind_parse(kind, &denied.kind) == 0)
            status->denied[status->denied_count++] = denied;
    }
}

int run_status_decode(const cJSON *tree, struct run_status *ret_status, struct error *err)
{
    if (!tree)
        return 0;
    struct run_status *status = ret_status;
    int r = shape_check(tree, "status", status_shape, false, err);
    if (r == 0)
        r = decode_phase_and_reason(tree, status, err);
    if (r == 0)
        r = decode_identity(tree, "sandboxID", status->sandbox_id, sizeof(status->sandbox_id), err);
    if (r == 0)
        r = decode_identity(tree, "nodeName", status->node_name, sizeof(status->node_name), err);
    if (r == 0)
        r = decode_identity(tree, "agentInstance", status->agent_instance,
                            sizeof(status->agent_instance), err);
    if (r == 0)
        r = decode_time(tree, "scheduledTime", &status->scheduled_us, err);
    if (r == 0)
        r = decode_time(tree, "startTime", &status->start_us, err);
    if (r == 0)
        r = decode_time(tree, "completionTime", &status->completion_us, err);
    if (r == 0)
        r = decode_stream(tree, "stdout", &status->stdout_text, &status->stdout_len, err);
    if (r == 0)
        r = decode_stream(tree, "stderr", &status->stderr_text, &status->stderr_len, err);
    if (r < 0)
        return r;
    decode_text(tree, "message", status->message, sizeof(status->message));
    decode_result(tree, status);
    decode_effective(tree, status);
    decode_denied(tree, status);
    return 0;
}
