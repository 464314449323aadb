/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "node-agent/agent/spool.h"

/* The content of a spool file: a JSON object with the run's identity and, once it is over, its
 * status as the API has it. */
int spool_record_encode(const struct spool_record *record, struct buf *json, struct error *err);

/* -EBADMSG for anything that spool_record_encode() doesn't write for this sandbox. */
int spool_record_decode(const char *bytes, size_t len, const char *sandbox_id,
                        struct spool_record *ret_record, struct error *err);
