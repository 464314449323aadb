/* SPDX-License-Identifier: Apache-2.0 */

/* Files that an earlier agent, or whoever had the directory, has left. */
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/retained_record.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    cleanup_buf struct buf json = BUF_INIT(MAX_RETAINED_RECORD);
    struct retained_record record, back;

    if (retained_record_decode((const char *)bytes, len, "id-1", &record) < 0)
        return 0;
    if (strcmp(record.sandbox_id, "id-1") != 0 || !record.name[0] || !record.uid[0])
        abort();
    if (retained_record_encode(&record, &json) < 0)
        return 0;
    if (retained_record_decode(json.data, json.len, "id-1", &back) < 0 ||
        back.ended_us != record.ended_us ||
        memcmp(back.bytes, record.bytes, sizeof(back.bytes)) != 0)
        abort();
    return 0;
}
