/* SPDX-License-Identifier: Apache-2.0 */
#include "common/json.h"

#include "common/cleanup.h"
#include "common/json_check.h"
#include "common/number.h"

#include <errno.h>
#include <math.h>
#include <string.h>

int json_parse(const char *bytes, size_t len, cJSON **ret_tree, struct error *err)
{
    return json_parse_depth(bytes, len, MAX_JSON_DEPTH, ret_tree, err);
}

int json_parse_depth(const char *bytes, size_t len, unsigned int max_depth, cJSON **ret_tree,
                     struct error *err)
{
    int r =
        json_check_text(bytes, len, max_depth < MAX_JSON_DEPTH ? max_depth : MAX_JSON_DEPTH, err);
    if (r < 0)
        return r;
    /* cJSON takes all that the check lets pass; what is left to fail is memory. */
    cleanup_json cJSON *tree = cJSON_ParseWithLength(bytes, len);
    if (!tree)
        return error_set(err, ENOMEM, "out of memory");
    r = json_check_duplicates(tree, err);
    if (r < 0)
        return r;
    *ret_tree = TAKE_PTR(tree);
    return 0;
}

void json_free(cJSON *tree)
{
    cJSON_Delete(tree);
}

static const cJSON *json_find(const cJSON *tree, const char *key, size_t key_len)
{
    if (!cJSON_IsObject(tree))
        return NULL;
    for (const cJSON *member = tree->child; member; member = member->next) {
        if (strncmp(member->string, key, key_len) == 0 && member->string[key_len] == '\0')
            return cJSON_IsNull(member) ? NULL : member;
    }
    return NULL;
}

const cJSON *json_get(const cJSON *tree, const char *key)
{
    return json_find(tree, key, strlen(key));
}

const cJSON *json_get_path(const cJSON *tree, const char *path)
{
    for (;;) {
        size_t len = strcspn(path, ".");
        tree = json_find(tree, path, len);
        if (!tree || path[len] == '\0')
            return tree;
        path += len + 1;
    }
}

const char *json_get_string(const cJSON *tree, const char *path)
{
    return cJSON_GetStringValue(json_get_path(tree, path));
}

int json_copy_string(const cJSON *tree, const char *path, char *ret_text, size_t size)
{
    const char *text = json_get_string(tree, path);
    if (!text || !text[0])
        return -ENOENT;
    size_t len = strlen(text);
    if (len >= size)
        return -EMSGSIZE;
    memcpy(ret_text, text, len + 1);
    return 0;
}

int json_get_i64(const cJSON *tree, const char *path, int64_t *ret_value)
{
    const cJSON *node = json_get_path(tree, path);
    if (!node)
        return -ENOENT;
    if (!cJSON_IsNumber(node))
        return -EINVAL;
    double value = node->valuedouble;
    if (!(fabs(value) <= MAX_EXACT_INTEGER) || value != floor(value))
        return -EINVAL;
    *ret_value = (int64_t)value;
    return 0;
}

int json_get_bool(const cJSON *tree, const char *path, bool *ret_value)
{
    const cJSON *node = json_get_path(tree, path);
    if (!node)
        return -ENOENT;
    if (!cJSON_IsBool(node))
        return -EINVAL;
    *ret_value = cJSON_IsTrue(node);
    return 0;
}
