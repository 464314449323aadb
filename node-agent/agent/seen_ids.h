/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>

/*
 * The sandbox ids that this agent is through with: none of them is ever worked on again, even if
 * an API server whose cache lags, or whose data was put back, shows it as newly assigned. The last
 * MAX_SEEN_IDS are kept.
 */
struct seen_ids;

int seen_ids_new(struct seen_ids **ret_ids, struct error *err);
void seen_ids_free(struct seen_ids *ids);

/* An id that is longer than any is left out. */
void seen_ids_add(struct seen_ids *ids, const char *id);
bool seen_ids_has(const struct seen_ids *ids, const char *id);
