/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/nodes.h"

#include "common/cleanup.h"
#include "controller/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct node *nodes_find(const struct nodes *nodes, const char *name)
{
    struct node *node = NULL;
    HASH_FIND_STR(nodes->by_name, name, node);
    return node;
}

static void free_labels(struct run_label *labels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(labels[i].key);
        free(labels[i].value);
    }
    free(labels);
}

static void node_free(struct node *node)
{
    free(node->name);
    free(node->agent);
    free_labels(node->labels, node->label_count);
    free(node);
}

struct node *nodes_get(struct nodes *nodes, const char *name)
{
    struct node *node = nodes_find(nodes, name);
    if (node)
        return node;
    node = calloc(1, sizeof(*node));
    if (!node)
        return NULL;
    node->name = strdup(name);
    if (node->name)
        HASH_ADD_KEYPTR(hh, nodes->by_name, node->name, strlen(node->name), node);
    if (!node->name || !node->hh.tbl) {
        node_free(node);
        return NULL;
    }
    return node;
}

void nodes_release(struct nodes *nodes, struct node *node)
{
    if (node->agent || node->has_core || node->runs)
        return;
    HASH_DEL(nodes->by_name, node);
    node_free(node);
}

int nodes_set_agent(struct nodes *nodes, const cJSON *object, struct node **ret_node,
                    struct error *err)
{
    cleanup_free struct sandboxnode *agent = malloc(sizeof(*agent));
    if (!agent)
        return error_set(err, ENOMEM, "out of memory while reading a SandboxNode");
    int r = sandboxnode_decode(object, agent, err);
    if (r < 0)
        return r;
    struct node *node = nodes_get(nodes, agent->name);
    if (!node)
        return error_set(err, ENOMEM, "out of memory while reading a SandboxNode");
    free(node->agent);
    node->agent = TAKE_PTR(agent);
    node->warm_taken = 0;
    nodes->changed = true;
    *ret_node = node;
    return 0;
}

struct node *nodes_remove_agent(struct nodes *nodes, const char *name)
{
    struct node *node = nodes_find(nodes, name);
    if (!node || !node->agent)
        return NULL;
    free(node->agent);
    node->agent = NULL;
    if (node->runs)
        return node;
    nodes_release(nodes, node);
    return NULL;
}

static int read_labels(const cJSON *map, struct run_label **ret_labels, size_t *ret_count)
{
    const cJSON *item;
    size_t count = 0;
    size_t size = (size_t)cJSON_GetArraySize(map);
    if (size > MAX_NODE_LABELS)
        return -E2BIG;
    struct run_label *labels = calloc(size > 0 ? size : 1, sizeof(*labels));
    if (!labels)
        return -ENOMEM;
    cJSON_ArrayForEach (item, map) {
        labels[count].key = strdup(item->string);
        labels[count].value = strdup(cJSON_IsString(item) ? item->valuestring : "");
        count++;
        if (!labels[count - 1].key || !labels[count - 1].value) {
            free_labels(labels, count);
            return -ENOMEM;
        }
    }
    *ret_labels = labels;
    *ret_count = count;
    return 0;
}

/* Runs tolerate nothing: a taint that keeps Pods away keeps them away too. */
static bool is_tainted(const cJSON *object)
{
    const cJSON *taint;
    cJSON_ArrayForEach (taint, json_get_path(object, "spec.taints")) {
        const char *effect = json_get_string(taint, "effect");
        if (effect && (strcmp(effect, "NoSchedule") == 0 || strcmp(effect, "NoExecute") == 0))
            return true;
    }
    return false;
}

int nodes_set_core(struct nodes *nodes, const cJSON *object, struct error *err)
{
    const char *name = json_get_string(object, "metadata.name");
    struct run_label *labels = NULL;
    size_t label_count = 0;
    if (!name || !name[0])
        return error_set(err, EINVAL, "metadata.name: is missing");
    const cJSON *map = json_get_path(object, "metadata.labels");
    int r = read_labels(cJSON_IsObject(map) ? map : NULL, &labels, &label_count);
    if (r == -ENOMEM)
        return error_set(err, ENOMEM, "out of memory while reading a Node");
    struct node *node = nodes_get(nodes, name);
    if (!node) {
        free_labels(labels, label_count);
        return error_set(err, ENOMEM, "out of memory while reading a Node");
    }
    free_labels(node->labels, node->label_count);
    node->labels = labels;
    node->label_count = label_count;
    node->has_core = true;
    node->tainted = is_tainted(object);
    node->cordoned = r == -E2BIG;
    bool unschedulable = false;
    if (json_get_bool(object, "spec.unschedulable", &unschedulable) == 0 && unschedulable)
        node->cordoned = true;
    nodes->changed = true;
    return 0;
}

void nodes_remove_core(struct nodes *nodes, const char *name)
{
    struct node *node = nodes_find(nodes, name);
    if (!node)
        return;
    free_labels(node->labels, node->label_count);
    node->labels = NULL;
    node->label_count = 0;
    node->has_core = false;
    node->cordoned = false;
    node->tainted = false;
    nodes->changed = true;
    nodes_release(nodes, node);
}

void node_take(struct node *node, const struct run_request *request)
{
    node->used.runs++;
    node->used.memory_bytes += request->memory_bytes;
    node->used.cpu_milli += request->cpu_milli;
}

void nodes_give_back(struct nodes *nodes, struct node *node, const struct run_request *request)
{
    node->used.runs--;
    node->used.memory_bytes -= request->memory_bytes;
    node->used.cpu_milli -= request->cpu_milli;
    nodes->changed = true;
}

void nodes_done(struct nodes *nodes)
{
    struct node *node, *next;
    HASH_ITER (hh, nodes->by_name, node, next) {
        HASH_DEL(nodes->by_name, node);
        node_free(node);
    }
}
