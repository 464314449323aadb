/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Checked parsers of small texts. All take the whole string: trailing bytes, signs where none
 * belong, white space and empty strings are -EINVAL; a value out of range is -ERANGE. On failure
 * the result is untouched. */

int parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value);
int parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret_value);

/* A finite decimal number such as "-1.5e3"; -ERANGE where it overflows. */
int parse_double(const char *text, double *ret_value);

/* "20", "20s", "1500ms", "2m": milliseconds. A bare number is seconds. */
int parse_duration_ms(const char *text, uint64_t *ret_ms);

/* RFC 1123 subdomain as Kubernetes names are: lower case, digits, '-', '.', 1 to 253 bytes. */
bool parse_is_dns_subdomain(const char *text);

/* RFC 1123 label: lower case, digits, '-', 1 to 63 bytes. */
bool parse_is_dns_label(const char *text);

/* True if len bytes are valid UTF-8 (no surrogates, no overlong forms, up to U+10FFFF). */
bool parse_is_utf8(const void *bytes, size_t len);
