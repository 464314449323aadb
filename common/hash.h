/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* uthash ends the process when out of memory unless told otherwise; after an add that failed the
 * element's hh.tbl is NULL. Its default hash function falls through switch labels in a way that
 * clang warns of. */
#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION     HASH_FNV
#include <uthash.h>
