/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/limits.h"
#include "common/buf.h"
#include "common/error.h"
#include "node-agent/agent/run.h"

#include <stdint.h>

/* Whose output is kept, and how much of it: what a file of its own tells the next agent. */
struct retained_record {
    char sandbox_id[40];
    char name_space[64];
    char name[MAX_RUN_NAME + 1];
    char uid[64];
    int64_t ended_us;
    uint64_t bytes[RUN_STREAM_COUNT]; /* kept */
};

/* Appends it as JSON. */
int retained_record_encode(const struct retained_record *record, struct buf *json);

/* -EBADMSG for what is none, or is that of another sandbox. */
int retained_record_decode(const char *bytes, size_t len, const char *sandbox_id,
                           struct retained_record *ret_record);
