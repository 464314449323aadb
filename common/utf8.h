/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* U+FFFD in UTF-8, what stands for a byte that is no UTF-8. */
#define UTF8_REPLACEMENT "\xEF\xBF\xBD"

/*
 * Length in bytes (1 to 4) of the character at the start of bytes, with its code point in
 * ret_code_point (may be NULL). 0 if there is none: overlong forms, surrogates and code points
 * beyond U+10FFFF are invalid (RFC 3629).
 */
size_t utf8_decode(const void *bytes, size_t len, uint32_t *ret_code_point);
