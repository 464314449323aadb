/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/shape.h"

#include "common/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_PATH_TEXT 256
#define MAX_KEY_TEXT  80 /* of one key in a message */
#define MAX_NAME      32 /* of a field that is compared for a suggestion */

/* Where the walk is: a list on the stack from the leaf up to the root. */
struct place {
    const struct place *parent;
    const char *key; /* NULL: an element of the parent's list */
    int index;
};

struct walk {
    bool strict;
    struct error *err;
};

/* Keys come from outside and end on a terminal or in a log: only printable ASCII passes. */
static void append_key(char *text, size_t size, const char *key)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < MAX_KEY_TEXT && key[i] && len + 1 < size; i++) {
        unsigned char c = (unsigned char)key[i];
        text[len++] = c >= 0x20 && c < 0x7f ? (char)c : '?';
    }
    text[len] = '\0';
}

static void place_format(const struct place *place, char *text, size_t size)
{
    if (!place) {
        text[0] = '\0';
        return;
    }
    place_format(place->parent, text, size);
    size_t len = strlen(text);
    if (!place->key) {
        (void)snprintf(text + len, size - len, "[%d]", place->index);
        return;
    }
    if (len > 0 && place->key[0] && len + 1 < size) {
        text[len] = '.';
        text[len + 1] = '\0';
    }
    append_key(text, size, place->key);
}

static const char *type_name(const cJSON *value)
{
    if (!value || cJSON_IsNull(value))
        return "null";
    if (cJSON_IsString(value))
        return "string";
    if (cJSON_IsNumber(value))
        return "number";
    if (cJSON_IsBool(value))
        return "boolean";
    return cJSON_IsArray(value) ? "list" : "object";
}

static int wrong_type(const struct walk *walk, const struct place *place, const char *wanted,
                      const cJSON *value)
{
    char path[MAX_PATH_TEXT];
    place_format(place, path, sizeof(path));
    return error_set(walk->err, EINVAL, "%s: must be %s, got %s", path[0] ? path : "the document",
                     wanted, type_name(value));
}

static int wrong_number(const struct walk *walk, const struct place *place, const char *hint,
                        const cJSON *value)
{
    char path[MAX_PATH_TEXT];
    place_format(place, path, sizeof(path));
    return error_set(walk->err, EINVAL, "%s: must be a whole number, got %.17g%s", path,
                     value->valuedouble, hint);
}

static bool is_whole(const cJSON *value)
{
    double number = value->valuedouble;
    return isfinite(number) && fabs(number) <= MAX_EXACT_INTEGER && trunc(number) == number;
}

/* Edits between two names, letter case aside; both are at most MAX_NAME long. */
static unsigned int edit_distance(const char *a, const char *b)
{
    unsigned int row[MAX_NAME + 1];
    size_t len = strlen(b);
    for (size_t j = 0; j <= len; j++)
        row[j] = (unsigned int)j;
    for (size_t i = 0; a[i]; i++) {
        unsigned int diagonal = row[0];
        row[0] = (unsigned int)i + 1;
        for (size_t j = 0; j < len; j++) {
            bool same = tolower((unsigned char)a[i]) == tolower((unsigned char)b[j]);
            unsigned int best = diagonal + (same ? 0 : 1);
            diagonal = row[j + 1];
            if (diagonal + 1 < best)
                best = diagonal + 1;
            if (row[j] + 1 < best)
                best = row[j] + 1;
            row[j + 1] = best;
        }
    }
    return row[len];
}

static const char *nearest_field(const struct shape_field *fields, const char *name)
{
    const char *nearest = NULL;
    size_t len = strnlen(name, MAX_NAME + 1);
    unsigned int limit = (unsigned int)(len / 3) + 1;
    if (len > MAX_NAME)
        return NULL;
    for (; fields->name; fields++) {
        if (fields->refused || strlen(fields->name) > MAX_NAME)
            continue;
        unsigned int distance = edit_distance(name, fields->name);
        if (distance < limit) {
            limit = distance;
            nearest = fields->name;
        }
    }
    return nearest;
}

static int unknown_field(const struct walk *walk, const struct place *place,
                         const struct shape_field *fields)
{
    char path[MAX_PATH_TEXT];
    place_format(place, path, sizeof(path));
    const char *nearest = nearest_field(fields, place->key);
    if (nearest)
        return error_set(walk->err, EINVAL, "%s: unknown field; did you mean %s?", path, nearest);
    return error_set(walk->err, EINVAL, "%s: unknown field", path);
}

static const struct shape_field *find_field(const struct shape_field *fields, const char *name)
{
    for (; fields->name; fields++) {
        if (strcmp(fields->name, name) == 0)
            return fields;
    }
    return NULL;
}

static int check_object(const struct walk *walk, const struct place *place,
                        const struct shape_field *fields, const cJSON *value);

static int check_string_map(const struct walk *walk, const struct place *place, const cJSON *value)
{
    const cJSON *member;
    if (!cJSON_IsObject(value))
        return wrong_type(walk, place, "an object of strings", value);
    cJSON_ArrayForEach (member, value) {
        const struct place below = {.parent = place, .key = member->string};
        if (!cJSON_IsString(member))
            return wrong_type(walk, &below, "a string", member);
    }
    return 0;
}

static int check_quantity(const struct walk *walk, const struct place *place, const cJSON *value)
{
    if (cJSON_IsString(value))
        return 0;
    if (!cJSON_IsNumber(value))
        return wrong_type(walk, place, "a quantity such as \"500m\" or \"256Mi\"", value);
    if (!is_whole(value))
        return wrong_number(walk, place, "; a quantity with a fraction is written in quotes",
                            value);
    return 0;
}

static int check_value(const struct walk *walk, const struct place *place,
                       const struct shape_field *field, const cJSON *value)
{
    switch (field->type) {
    case SHAPE_ANY:
        return 0;
    case SHAPE_STRING:
        return cJSON_IsString(value) ? 0 : wrong_type(walk, place, "a string", value);
    case SHAPE_INTEGER:
        if (!cJSON_IsNumber(value))
            return wrong_type(walk, place, "a whole number", value);
        return is_whole(value) ? 0 : wrong_number(walk, place, "", value);
    case SHAPE_BOOLEAN:
        return cJSON_IsBool(value) ? 0 : wrong_type(walk, place, "true or false", value);
    case SHAPE_QUANTITY:
        return check_quantity(walk, place, value);
    case SHAPE_OBJECT:
        return check_object(walk, place, field->fields, value);
    case SHAPE_STRING_MAP:
        return check_string_map(walk, place, value);
    }
    return 0;
}

static int check_field(const struct walk *walk, const struct place *place,
                       const struct shape_field *field, const cJSON *value)
{
    if (!field->list)
        return check_value(walk, place, field, value);
    if (!cJSON_IsArray(value))
        return wrong_type(walk, place, "a list", value);
    int index = 0;
    const cJSON *item;
    cJSON_ArrayForEach (item, value) {
        const struct place below = {.parent = place, .index = index++};
        int r = check_value(walk, &below, field, item);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_required(const struct walk *walk, const struct place *place,
                          const struct shape_field *fields, const cJSON *value)
{
    for (; fields->name; fields++) {
        if (!fields->required || json_get(value, fields->name))
            continue;
        char path[MAX_PATH_TEXT];
        const struct place below = {.parent = place, .key = fields->name};
        place_format(&below, path, sizeof(path));
        return error_set(walk->err, EINVAL, "%s: is required", path);
    }
    return 0;
}

static int check_object(const struct walk *walk, const struct place *place,
                        const struct shape_field *fields, const cJSON *value)
{
    if (!cJSON_IsObject(value))
        return wrong_type(walk, place, "an object", value);
    if (!fields)
        return 0;
    const cJSON *member;
    cJSON_ArrayForEach (member, value) {
        const struct place below = {.parent = place, .key = member->string};
        const struct shape_field *field = find_field(fields, member->string);
        if (walk->strict && !field)
            return unknown_field(walk, &below, fields);
        if (walk->strict && field->refused) {
            char path[MAX_PATH_TEXT];
            place_format(&below, path, sizeof(path));
            return error_set(walk->err, EINVAL, "%s: unknown field; %s", path, field->refused);
        }
        /* null means absent, as the API server has it for fields that aren't nullable. */
        if (!field || field->refused || cJSON_IsNull(member))
            continue;
        int r = check_field(walk, &below, field, member);
        if (r < 0)
            return r;
    }
    return check_required(walk, place, fields, value);
}

int shape_check(const cJSON *tree, const char *name, const struct shape_field *fields, bool strict,
                struct error *err)
{
    const struct walk walk = {.strict = strict, .err = err};
    const struct place root = {.key = name};
    return check_object(&walk, &root, fields, tree);
}
