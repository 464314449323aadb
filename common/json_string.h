/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"

#include <stddef.h>

/*
 * Text as a JSON string (RFC 8259), without a JSON library. Escapes are those of Go's
 * encoding/json, so that sizes are the ones the API server meets: control bytes, '<', '>', '&',
 * U+2028 and U+2029 take six bytes (\b \f \n \r \t two); bytes that are not UTF-8 become U+FFFD.
 */

/* Appends text with its quotes; on failure (-EMSGSIZE, -ENOMEM) buf is as before. */
int json_append_string(struct buf *buf, const char *bytes, size_t len);

/* Appends a member with a text, behind a comma unless it is the object's first; key needs no
 * escape. As above. */
int json_append_member(struct buf *buf, const char *key, const char *text);

/* Bytes that json_append_string() would append, quotes not counted. */
size_t json_string_size(const char *bytes, size_t len);

/* Length of the longest prefix, in whole characters, whose json_string_size() is at most size. */
size_t json_string_fit(const char *bytes, size_t len, size_t size);

/* For messages: text quoted and escaped, cut to a few dozen bytes. */
#define JSON_QUOTE_SIZE 72
void json_quote(const char *text, char ret_quoted[static JSON_QUOTE_SIZE]);
