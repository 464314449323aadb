/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/run_status.h"
#include "node-agent/proto/proto.h"

#include <stdint.h>

/* What the jailer knows as numbers, in the words of status.denied. No I/O. */

/* "io_uring_setup", or "system call 600" for a number that no call has. */
void denied_call_name(int32_t number, char ret_name[static MAX_DENIED_TARGET + 1]);

/* Fills status.denied from what was refused. */
void denied_fill(const struct proto_finished *finished, struct run_status *status);
