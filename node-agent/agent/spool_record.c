/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/spool_record.h"

#include "common/api/run_status_decode.h"
#include "common/clock.h"
#include "common/json.h"

#include <errno.h>
#include <string.h>

#define RECORD_VERSION 1

void spool_record_done(struct spool_record *record)
{
    run_status_done(&record->status);
    record->status = (struct run_status){0};
    record->has_result = false;
}

static int append_record(const struct spool_record *record, size_t max_bytes, struct buf *json)
{
    char start[CLOCK_TEXT_SIZE];
    int r = buf_printf(json, "{\"version\":%d", RECORD_VERSION);

    clock_format_micro(record->start_us, start);
    if (r == 0)
        r = json_append_member(json, "sandboxID", record->sandbox_id);
    if (r == 0)
        r = json_append_member(json, "namespace", record->name_space);
    if (r == 0)
        r = json_append_member(json, "name", record->name);
    if (r == 0)
        r = json_append_member(json, "uid", record->uid);
    if (r == 0)
        r = json_append_member(json, "startTime", start);
    if (r == 0 && record->has_result)
        r = buf_append_str(json, ",\"status\":");
    if (r == 0 && record->has_result)
        r = run_status_encode(&record->status, max_bytes, json, NULL);
    return r == 0 ? buf_append_char(json, '}') : r;
}

int spool_record_encode(const struct spool_record *record, struct buf *json, struct error *err)
{
    int r = append_record(record, MAX_OBJECT_BYTES, json);

    if (r < 0)
        return error_set_errno(err, -r, "can't encode the spool's entry of sandbox %s",
                               record->sandbox_id);
    return 0;
}

static int decode(const cJSON *tree, const char *sandbox_id, struct spool_record *record)
{
    const cJSON *status = json_get(tree, "status");
    const char *start = json_get_string(tree, "startTime");
    int64_t version;
    int r = json_get_i64(tree, "version", &version);

    if (r < 0 || version != RECORD_VERSION)
        return -EBADMSG;
    r = json_copy_string(tree, "sandboxID", record->sandbox_id, sizeof(record->sandbox_id));
    if (r == 0)
        r = json_copy_string(tree, "namespace", record->name_space, sizeof(record->name_space));
    if (r == 0)
        r = json_copy_string(tree, "name", record->name, sizeof(record->name));
    if (r == 0)
        r = json_copy_string(tree, "uid", record->uid, sizeof(record->uid));
    if (r < 0 || strcmp(record->sandbox_id, sandbox_id) != 0)
        return -EBADMSG;
    if (!start || clock_parse(start, &record->start_us) < 0)
        return -EBADMSG;
    if (!status)
        return 0;
    if (run_status_decode(status, &record->status, NULL) < 0)
        return -EBADMSG;
    record->has_result = run_phase_is_terminal(record->status.phase);
    return record->has_result ? 0 : -EBADMSG;
}

int spool_record_decode(const char *bytes, size_t len, const char *sandbox_id,
                        struct spool_record *ret_record, struct error *err)
{
    cleanup_json cJSON *tree = NULL;
    struct spool_record record = {0};

    if (json_parse(bytes, len, &tree, NULL) < 0 || decode(tree, sandbox_id, &record) < 0) {
        spool_record_done(&record);
        return error_set(err, EBADMSG, "the spool's entry of sandbox %s makes no sense",
                         sandbox_id);
    }
    *ret_record = record;
    return 0;
}
