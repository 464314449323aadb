/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/documents.h"

#include "common/cleanup.h"
#include "common/yaml.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* Leaves room in a name for the number of a document. */
#define MAX_NAME_STEM 200u

void documents_make_name(const char *source, unsigned int number,
                         char ret_name[static MAX_RUN_NAME + 1])
{
    const char *slash = strrchr(source, '/');
    const char *base = slash ? slash + 1 : source;
    const char *dot = strrchr(base, '.');
    size_t base_len = dot && dot != base ? (size_t)(dot - base) : strlen(base);

    size_t len = 0;
    for (size_t i = 0; i < base_len && len < MAX_NAME_STEM; i++) {
        unsigned char c = (unsigned char)base[i];
        if (isalnum(c) && c < 0x80)
            ret_name[len++] = (char)tolower(c);
        else if (len > 0 && ret_name[len - 1] != '-')
            ret_name[len++] = '-';
    }
    while (len > 0 && ret_name[len - 1] == '-')
        len--;
    if (len == 0) {
        memcpy(ret_name, "run", 3);
        len = 3;
    }
    ret_name[len] = '\0';
    if (number > 0)
        (void)snprintf(ret_name + len, MAX_RUN_NAME + 1 - len, "-%u", number);
}

/* A local file may leave out the name that an API server would insist on. What is there is left
 * to the decoder to judge, which also makes a name of generateName. */
static int fill_name(cJSON *tree, const char *name_hint, struct error *err)
{
    cJSON *metadata = cJSON_GetObjectItemCaseSensitive(tree, "metadata");
    if (!cJSON_IsObject(tree) || (metadata && !cJSON_IsObject(metadata)) ||
        cJSON_GetObjectItemCaseSensitive(metadata, "name") ||
        cJSON_GetObjectItemCaseSensitive(metadata, "generateName"))
        return 0;
    if (!metadata)
        metadata = cJSON_AddObjectToObject(tree, "metadata");
    if (!metadata)
        return error_set_errno(err, ENOMEM, "metadata");
    if (!cJSON_AddStringToObject(metadata, "name", name_hint))
        return error_set_errno(err, ENOMEM, "metadata.name");
    return 0;
}

static struct document *list_grow(struct document_list *list)
{
    struct document *items = reallocarray(list->items, list->count + 1, sizeof(*list->items));
    if (!items)
        return NULL;
    list->items = items;
    struct document *document = &items[list->count];
    *document = (struct document){0};
    return document;
}

static int prefix(struct error *err, const char *label)
{
    return label ? error_wrap(err, "%s", label) : -err->code;
}

int documents_add_tree(struct document_list *list, const char *label, const char *name_hint,
                       cJSON *tree, struct error *err)
{
    cleanup_json cJSON *owned = tree;
    if (list->count == MAX_DOCUMENTS) {
        (void)error_set(err, E2BIG, "more than %u SandboxRuns in one call", MAX_DOCUMENTS);
        return prefix(err, label);
    }
    struct document *document = list_grow(list);
    if (!document) {
        (void)error_set_errno(err, ENOMEM, "SandboxRun");
        return prefix(err, label);
    }
    if (fill_name(owned, name_hint, err) < 0 ||
        sandboxrun_decode(owned, SANDBOXRUN_STRICT, &document->run, err) < 0)
        return prefix(err, label);
    if (sandboxrun_validate(&document->run, err) < 0) {
        sandboxrun_done(&document->run);
        return prefix(err, label);
    }
    document->tree = TAKE_PTR(owned);
    list->count++;
    return 0;
}

static bool is_list(const cJSON *tree)
{
    const char *kind = json_get_string(tree, "kind");
    return kind && (strcmp(kind, "List") == 0 || strcmp(kind, SANDBOXRUN_KIND "List") == 0);
}

/* "jobs.yaml", or "jobs.yaml: document 2" where there are several. */
static void make_label(const char *source, size_t number, size_t count, char *ret_label,
                       size_t size)
{
    if (count > 1)
        (void)snprintf(ret_label, size, "%s: document %zu", source, number);
    else
        (void)snprintf(ret_label, size, "%s", source);
}

static int add_list(struct document_list *list, const char *source, const char *label, cJSON *tree,
                    struct error *err)
{
    cJSON *items = cJSON_GetObjectItemCaseSensitive(tree, "items");
    if (!cJSON_IsArray(items))
        return error_set(err, EINVAL, "%s: items: must be a list", label);
    unsigned int number = 0;
    cJSON *item;
    while ((item = cJSON_DetachItemFromArray(items, 0))) {
        char item_label[MAX_ERROR_TEXT + 32];
        char name[MAX_RUN_NAME + 1];
        (void)snprintf(item_label, sizeof(item_label), "%s: items[%u]", label, number++);
        documents_make_name(source, number, name);
        int r = documents_add_tree(list, item_label, name, item, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int add_all(struct document_list *list, const char *source, struct yaml_documents *documents,
                   struct error *err)
{
    for (size_t i = 0; i < documents->count; i++) {
        char label[MAX_ERROR_TEXT];
        char name[MAX_RUN_NAME + 1];
        make_label(source, i + 1, documents->count, label, sizeof(label));
        documents_make_name(source, documents->count > 1 ? (unsigned int)i + 1 : 0, name);
        int r;
        if (is_list(documents->trees[i]))
            r = add_list(list, source, label, documents->trees[i], err);
        else
            r = documents_add_tree(list, label, name, TAKE_PTR(documents->trees[i]), err);
        if (r < 0)
            return r;
    }
    return 0;
}

int documents_add(struct document_list *list, const char *source, const char *bytes, size_t len,
                  struct error *err)
{
    struct yaml_documents documents = {0};
    if (yaml_parse(bytes, len, &documents, err) < 0)
        return error_wrap(err, "%s", source);
    size_t before = list->count;
    int r = add_all(list, source, &documents, err);
    yaml_documents_done(&documents);
    if (r >= 0 && list->count == before)
        return error_set(err, EINVAL,
                         "%s: holds no SandboxRun; a document starts with apiVersion: %s and "
                         "kind: %s",
                         source, SANDBOXRUN_GROUP_VERSION, SANDBOXRUN_KIND);
    return r;
}

void documents_done(struct document_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        json_free(list->items[i].tree);
        sandboxrun_done(&list->items[i].run);
    }
    free(list->items);
    *list = (struct document_list){0};
}
