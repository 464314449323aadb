/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/run_status.h"
#include "common/json.h"

/* Fills ret_status from a status value; tree NULL is a run that nobody has looked at. Texts for
 * people are cut to their field, identities that don't fit are -EINVAL. On failure ret_status is
 * safe to give to run_status_done(). */
int run_status_decode(const cJSON *tree, struct run_status *ret_status, struct error *err);
