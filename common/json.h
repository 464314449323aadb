/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * cJSON behind checks that it lacks: size and depth caps, nothing behind the value, no NUL inside
 * a string (\u0000 is refused: C strings can't carry it), valid UTF-8, no duplicate keys,
 * integers exact within ±2^53.
 */
#define MAX_JSON_DEPTH 64

/* Parses one value; the tree is the caller's (json_free). -EINVAL with the position named. */
int json_parse(const char *bytes, size_t len, cJSON **ret_tree, struct error *err);

void json_free(cJSON *tree);

static inline void json_free_cleanup(cJSON **tree)
{
    json_free(*tree);
}
#define cleanup_json __attribute__((cleanup(json_free_cleanup)))

/* Looks up a member by its exact name; NULL if absent, null, or tree is no object. */
const cJSON *json_get(const cJSON *tree, const char *key);

/* The same down a path such as "metadata.name". */
const cJSON *json_get_path(const cJSON *tree, const char *path);

/* Text of a string member; NULL if absent or another type. Owned by the tree. */
const char *json_get_string(const cJSON *tree, const char *path);

/* Integer of a number member; -ENOENT if absent, -EINVAL if no whole number within ±2^53. */
int json_get_i64(const cJSON *tree, const char *path, int64_t *ret_value);

/* -ENOENT if absent, -EINVAL if no boolean. */
int json_get_bool(const cJSON *tree, const char *path, bool *ret_value);

/* Appends the compact or indented text of tree to buf. */
int json_print(const cJSON *tree, bool pretty, struct buf *buf);

/* Appends text as a JSON string with quotes; bytes that are not UTF-8 become U+FFFD. */
int json_append_string(struct buf *buf, const char *bytes, size_t len);

/* Bytes that json_append_string() would append, quotes not counted. */
size_t json_string_size(const char *bytes, size_t len);
