/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* How yaml_print() writes one string. text is valid UTF-8 without NUL, and NUL-terminated. */

/* On one line: plain where every reader takes it for that string, else in double quotes. */
int yaml_text_append_line(struct buf *buf, const char *text, size_t len);

/* Whether a literal block gives the text back byte by byte and is worth it: it has a line break,
 * no other breaks than \n, nothing that YAML counts as not printable, no blank last line. */
bool yaml_text_is_block(const char *text, size_t len);

/* "|" with its indicators, then the lines, each indented by indent and ended. The parent's
 * indentation must be two less. */
int yaml_text_append_block(struct buf *buf, const char *text, size_t len, unsigned int indent);
