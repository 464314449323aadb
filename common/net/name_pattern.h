/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* DNS names as egress rules have them: "api.example.org", or "*.example.org" for every name below
 * one, of one label or more in front of it, and not that name itself. */

#define MAX_NAME_PATTERN 253 /* RFC 1035 section 3.1, without the final dot */

/* Lower case, two labels or more behind the "*.", each of 1 to 63 letters, digits and '-' with a
 * letter or digit at both ends, the last one beginning with a letter (so no address passes), and
 * no final dot. */
bool name_pattern_is_valid(const char *text);

/* Whether a name (lower case, no final dot) is one that a valid pattern allows. */
bool name_pattern_matches(const char *pattern, const char *name);
