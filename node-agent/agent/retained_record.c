/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/retained_record.h"

#include "common/clock.h"
#include "common/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define RECORD_VERSION 1

int retained_record_encode(const struct retained_record *record, struct buf *json)
{
    char ended[CLOCK_TEXT_SIZE];
    int r = buf_printf(json, "{\"version\":%d", RECORD_VERSION);

    clock_format_micro(record->ended_us, ended);
    if (r == 0)
        r = json_append_member(json, "sandboxID", record->sandbox_id);
    if (r == 0)
        r = json_append_member(json, "namespace", record->name_space);
    if (r == 0)
        r = json_append_member(json, "name", record->name);
    if (r == 0)
        r = json_append_member(json, "uid", record->uid);
    if (r == 0)
        r = json_append_member(json, "ended", ended);
    if (r == 0)
        r = buf_printf(json, ",\"stdoutBytes\":%" PRIu64 ",\"stderrBytes\":%" PRIu64 "}",
                       record->bytes[RUN_STDOUT], record->bytes[RUN_STDERR]);
    return r;
}

static int copy_size(const cJSON *tree, const char *key, uint64_t *ret_bytes)
{
    int64_t bytes;

    if (json_get_i64(tree, key, &bytes) < 0 || bytes < 0)
        return -EBADMSG;
    *ret_bytes = (uint64_t)bytes;
    return 0;
}

static int decode(const cJSON *tree, struct retained_record *record)
{
    const char *ended = json_get_string(tree, "ended");
    int64_t version;

    if (json_get_i64(tree, "version", &version) < 0 || version != RECORD_VERSION || !ended ||
        clock_parse(ended, &record->ended_us) < 0)
        return -EBADMSG;
    int r = json_copy_string(tree, "sandboxID", record->sandbox_id, sizeof(record->sandbox_id));
    if (r == 0)
        r = json_copy_string(tree, "namespace", record->name_space, sizeof(record->name_space));
    if (r == 0)
        r = json_copy_string(tree, "name", record->name, sizeof(record->name));
    if (r == 0)
        r = json_copy_string(tree, "uid", record->uid, sizeof(record->uid));
    if (r == 0)
        r = copy_size(tree, "stdoutBytes", &record->bytes[RUN_STDOUT]);
    if (r == 0)
        r = copy_size(tree, "stderrBytes", &record->bytes[RUN_STDERR]);
    return r;
}

int retained_record_decode(const char *bytes, size_t len, const char *sandbox_id,
                           struct retained_record *ret_record)
{
    cleanup_json cJSON *tree = NULL;
    struct retained_record record = {0};

    if (json_parse(bytes, len, &tree, NULL) < 0 || decode(tree, &record) < 0 ||
        strcmp(record.sandbox_id, sandbox_id) != 0)
        return -EBADMSG;
    *ret_record = record;
    return 0;
}
