/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/status_patch.h"

#include "common/json_string.h"
#include "node-agent/agent/agent_limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Quotes, colon, comma or bracket around one value. */
#define PUNCTUATION_BYTES 4

/* Bytes that one value takes; its members are counted on their own. */
static size_t own_size(const cJSON *value)
{
    size_t size = PUNCTUATION_BYTES;

    if (value->string)
        size += json_string_size(value->string, strlen(value->string)) + PUNCTUATION_BYTES;
    if (cJSON_IsString(value) && value->valuestring)
        size += json_string_size(value->valuestring, strlen(value->valuestring));
    else if (cJSON_IsNumber(value))
        size += 24;
    return size;
}

/* The reader has bounded the depth. */
static size_t encoded_size(const cJSON *tree, unsigned int depth)
{
    size_t size = own_size(tree);
    const cJSON *child;

    if (depth == 0)
        return size;
    cJSON_ArrayForEach (child, tree)
        size += encoded_size(child, depth - 1);
    return size;
}

size_t status_patch_room(const cJSON *object)
{
    size_t used = STATUS_HEADROOM_BYTES;
    const cJSON *child;

    cJSON_ArrayForEach (child, object)
        used += child->string && strcmp(child->string, "status") == 0
                    ? 0
                    : encoded_size(child, MAX_JSON_DEPTH);
    /* An object that is too large as it is: the API server says so, and less is written then. */
    return used + MIN_STATUS_BYTES < MAX_OBJECT_BYTES ? MAX_OBJECT_BYTES - used : MIN_STATUS_BYTES;
}

static int begin(const char *resource_version, struct buf *body)
{
    int r = buf_append_str(body, "{\"metadata\":{");

    if (r == 0)
        r = json_append_member(body, "resourceVersion", resource_version);
    return r == 0 ? buf_append_str(body, "},\"status\":") : r;
}

/* Bytes of the status without the text of its streams. */
static int frame_size(const struct run_status *status, size_t *ret_size, struct error *err)
{
    cleanup_buf struct buf frame = BUF_INIT(MAX_OBJECT_BYTES);
    /* Only read: the texts stay the caller's. */
    struct run_status bare = *status;

    bare.stdout_text = bare.stderr_text = NULL;
    bare.stdout_len = bare.stderr_len = 0;
    int r = run_status_encode(&bare, 0, &frame, err);
    if (r == 0)
        *ret_size = frame.len;
    return r;
}

static int append_bare(const struct run_status *status, struct buf *body, struct error *err)
{
    struct run_status bare = {
        .phase = status->phase,
        .reason = status->reason,
        .scheduled_us = status->scheduled_us,
        .completion_us = status->completion_us,
        .has_exit_code = status->has_exit_code,
        .exit_code = status->exit_code,
    };

    memcpy(bare.node_name, status->node_name, sizeof(bare.node_name));
    (void)snprintf(bare.message, sizeof(bare.message),
                   "The API server has refused the whole result, so this is all of it.");
    return run_status_encode(&bare, 0, body, err);
}

static int append_cut(const struct run_status *status, enum status_amount amount, size_t room,
                      struct buf *body, struct error *err)
{
    size_t frame = 0;

    if (amount == STATUS_BARE)
        return append_bare(status, body, err);
    if (amount == STATUS_WHOLE)
        return run_status_encode(status, room, body, err);
    int r = frame_size(status, &frame, err);
    if (r < 0)
        return r;
    if (amount == STATUS_SMALL)
        frame += 2 * MAX_STATUS_SMALL_STREAM;
    return run_status_encode(status, frame, body, err);
}

int status_patch_status(const char *resource_version, const struct run_status *status,
                        enum status_amount amount, size_t room, struct buf *ret_body,
                        struct error *err)
{
    int r = begin(resource_version, ret_body);

    if (r < 0)
        return error_set_errno(err, -r, "can't make the status update");
    r = append_cut(status, amount, room, ret_body, err);
    if (r == 0 && buf_append_char(ret_body, '}') < 0)
        r = error_set_errno(err, ENOMEM, "can't make the status update");
    return r;
}

int status_patch_give_back(const char *resource_version, int64_t generation, struct buf *ret_body,
                           struct error *err)
{
    static const char cleared[] = "{\"nodeName\":null,\"agentInstance\":null,\"sandboxID\":null,"
                                  "\"scheduledTime\":null,";
    const struct run_status pending = {.phase = RUN_PHASE_PENDING,
                                       .observed_generation = generation};
    cleanup_buf struct buf status = BUF_INIT(MIN_STATUS_BYTES);
    int r = run_status_encode(&pending, 0, &status, err);

    if (r < 0)
        return r;
    r = begin(resource_version, ret_body);
    if (r == 0)
        r = buf_append_str(ret_body, cleared);
    /* Behind its opening brace. */
    if (r == 0)
        r = buf_append(ret_body, status.data + 1, status.len - 1);
    if (r == 0)
        r = buf_append_char(ret_body, '}');
    return r < 0 ? error_set_errno(err, -r, "can't make the status update") : 0;
}
