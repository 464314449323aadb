/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/json.h"

#include <stdbool.h>

/*
 * What a JSON object may look like, as a table: names, types, nesting. One walk over the tree
 * checks all of it, so that whoever extracts the values afterwards meets no surprise.
 */
enum shape_type {
    SHAPE_ANY, /* not looked at */
    SHAPE_STRING,
    SHAPE_INTEGER, /* whole, within ±2^53 */
    SHAPE_BOOLEAN,
    SHAPE_QUANTITY, /* string or whole number */
    SHAPE_OBJECT,
    SHAPE_STRING_MAP
};

struct shape_field {
    const char *name; /* NULL ends a table */
    enum shape_type type;
    bool list;                        /* an array of type */
    bool required;                    /* neither absent nor null */
    const struct shape_field *fields; /* of SHAPE_OBJECT; NULL: any */
    const char *refused;              /* a field that people try: why there is none */
};

/* Checks tree, called name in messages ("" for the whole object), against fields. With strict,
 * a field that the table lacks is an error with a suggestion. -EINVAL names the field by path:
 * "spec.args[3]: must be a string, got number". */
int shape_check(const cJSON *tree, const char *name, const struct shape_field *fields, bool strict,
                struct error *err);
