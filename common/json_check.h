/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <cjson/cJSON.h>
#include <stddef.h>

/* What json_parse() checks around cJSON, apart from it to be tested and fuzzed alone. */

/* One value by the grammar of RFC 8259, at most max_depth objects and arrays deep, without
 * \u0000, of valid UTF-8, numbers finite and at most 63 bytes long (cJSON cuts longer ones).
 * -EINVAL with line and column. */
int json_check_text(const char *bytes, size_t len, unsigned int max_depth, struct error *err);

/* No object of tree has two members of one name. -EINVAL with the name; -ENOMEM. */
int json_check_duplicates(const cJSON *tree, struct error *err);
