/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"
#include "common/json_string.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * cJSON behind checks that it lacks: the grammar of RFC 8259 to the letter, a depth cap, nothing
 * behind the value, no NUL inside a string (\u0000 is refused: C strings can't carry it), valid
 * UTF-8, no duplicate keys, finite numbers. Integers are exact within ±(2^53 - 1); a larger one
 * parses as the nearest double, and json_get_i64() refuses it.
 */
#define MAX_JSON_DEPTH 64

/* Parses one value; the tree is the caller's (json_free). -EINVAL with line and column, or the
 * name of the duplicate key; -ENOMEM. The caller bounds len. */
int json_parse(const char *bytes, size_t len, cJSON **ret_tree, struct error *err);

/* The same with a smaller depth cap than MAX_JSON_DEPTH. */
int json_parse_depth(const char *bytes, size_t len, unsigned int max_depth, cJSON **ret_tree,
                     struct error *err);

void json_free(cJSON *tree);

static inline void json_free_cleanup(cJSON **tree)
{
    json_free(*tree);
}
#define cleanup_json __attribute__((cleanup(json_free_cleanup)))

/* Looks up a member by its exact name; NULL if absent, null, or tree (may be NULL) no object. */
const cJSON *json_get(const cJSON *tree, const char *key);

/* The same down a path such as "metadata.name"; names with dots can't be reached. */
const cJSON *json_get_path(const cJSON *tree, const char *path);

/* Text of a string member; NULL if absent or another type. Owned by the tree. */
const char *json_get_string(const cJSON *tree, const char *path);

/* Copies such a text. -ENOENT if there is none or it is empty, -EMSGSIZE if it doesn't fit: it is
 * never cut. */
int json_copy_string(const cJSON *tree, const char *path, char *ret_text, size_t size);

/* Integer of a number member; -ENOENT if absent, -EINVAL if no whole number within ±(2^53 - 1). */
int json_get_i64(const cJSON *tree, const char *path, int64_t *ret_value);

/* -ENOENT if absent, -EINVAL if no boolean. */
int json_get_bool(const cJSON *tree, const char *path, bool *ret_value);

/* Appends the text of tree to buf, compact or indented by two spaces. Strings are escaped as in
 * json_string.h. -EINVAL for NaN, infinities and raw nodes; buf is as before on failure. */
int json_print(const cJSON *tree, bool pretty, struct buf *buf);
