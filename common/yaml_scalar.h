/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What a plain (unquoted) YAML scalar means; reader and printer share it. */
enum yaml_scalar_type {
    YAML_SCALAR_STRING,
    YAML_SCALAR_NULL,
    YAML_SCALAR_BOOL,
    YAML_SCALAR_NUMBER,
    YAML_SCALAR_NOT_FINITE, /* .inf and .nan, which JSON lacks */
};

struct yaml_scalar {
    enum yaml_scalar_type type;
    double number; /* NUMBER; BOOL: 0 or 1 */
};

/* text is NUL-terminated. */
struct yaml_scalar yaml_scalar_resolve(const char *text);

/* Whether some YAML reader takes the plain text for something else than a string: what
 * yaml_scalar_resolve() types, and besides yes, no, on, off, y, n, dates, times and "<<". */
bool yaml_scalar_needs_quotes(const char *text);
