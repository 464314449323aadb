/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/proto.h"

#include <stdbool.h>
#include <stddef.h>

/* What a jailer's checks say about the node. */

/* No required check failed, or could not be made. None at all are met. */
bool preconditions_met(const struct proto_check *checks, size_t count);

/* A sentence for the Ready condition: which required checks failed, then what each found and what
 * to do, as much as fits; "" if all are met. */
void preconditions_message(const struct proto_check *checks, size_t count, char *ret_text,
                           size_t size);

/* A line for each that failed and that somebody should do something about. */
void preconditions_log(const struct proto_check *checks, size_t count);
