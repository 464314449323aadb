/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/run_status.h"
#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "node-agent/agent/status_plan.h"

#include <stddef.h>
#include <stdint.h>

/* The merge patches (RFC 7396) on the status of a SandboxRun. Each names the resourceVersion it
 * was decided on. */

/* Room for the status of an object, so that all of it stays below MAX_OBJECT_BYTES. tree is the
 * object as it was read; sizes are counted as the API server encodes it. */
size_t status_patch_room(const cJSON *object);

/* status as it is, cut to `amount` and to room bytes. */
int status_patch_status(const char *resource_version, const struct run_status *status,
                        enum status_amount amount, size_t room, struct buf *ret_body,
                        struct error *err);

/* Scheduled -> Pending: what the assignment set is cleared together. */
int status_patch_give_back(const char *resource_version, int64_t generation, struct buf *ret_body,
                           struct error *err);
