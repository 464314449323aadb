/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/nodes.h"

#include "common/cleanup.h"
#include "controller/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

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
    node->improved = ++nodes->generation;
    DL_PREPEND2(nodes->recent, node, recent_prev, recent_next);
    return node;
}

void nodes_improve(struct nodes *nodes, struct node *node)
{
    node->improved = ++nodes->generation;
    if (nodes->recent == node)
        return;
    DL_DELETE2(nodes->recent, node, recent_prev, recent_next);
    DL_PREPEND2(nodes->recent, node, recent_prev, recent_next);
}

void nodes_release(struct nodes *nodes, struct node *node)
{
    if (node->agent || node->has_core || node->runs || node->heartbeat.exists)
        return;
    HASH_DEL(nodes->by_name, node);
    DL_DELETE2(nodes->recent, node, recent_prev, recent_next);
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
    if (!node->agent || strcmp(node->agent->instance, agent->instance) != 0)
        nodes->unaged = true;
    free(node->agent);
    node->agent = TAKE_PTR(agent);
    node->warm_taken = 0;
    nodes_improve(nodes, node);
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
    nodes->unaged = true;
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
    nodes_improve(nodes, node);
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
    nodes_improve(nodes, node);
    nodes_release(nodes, node);
}

static bool was_renewed_lately(const struct kube_lease *lease, int64_t now_us,
                               const struct lease_times *times)
{
    int64_t duration_us = (int64_t)times->duration_ms * 1000;
    int64_t age_us = now_us - lease->renew_us;
    return lease->renew_us > 0 && age_us < duration_us && age_us > -duration_us;
}

int nodes_set_lease(struct nodes *nodes, const cJSON *object, int64_t steady_us, int64_t now_us,
                    const struct lease_times *times, struct error *err)
{
    struct kube_lease lease;
    int r = kube_lease_decode(object, &lease, err);
    if (r < 0)
        return r;
    struct node *node = nodes_get(nodes, lease.name);
    if (!node)
        return error_set(err, ENOMEM, "out of memory while reading a Lease");
    struct node_heartbeat *heartbeat = &node->heartbeat;
    bool renewed = !heartbeat->exists || strcmp(heartbeat->holder, lease.holder) != 0 ||
                   strcmp(heartbeat->renewed, lease.renew_text) != 0;
    /* Others may write labels to it: that is no sign of life. */
    if (!renewed)
        return 0;
    if (!heartbeat->exists ||
        steady_us - heartbeat->seen_us > (int64_t)lease_times_window_ms(times) * 1000)
        heartbeat->resumed_us = steady_us;
    if (!heartbeat->fresh || strcmp(heartbeat->holder, lease.holder) != 0)
        nodes->unaged = true;
    heartbeat->moving = heartbeat->exists || was_renewed_lately(&lease, now_us, times);
    heartbeat->exists = true;
    heartbeat->seen_us = steady_us;
    heartbeat->asked_us = 0;
    memcpy(heartbeat->holder, lease.holder, sizeof(heartbeat->holder));
    memcpy(heartbeat->renewed, lease.renew_text, sizeof(heartbeat->renewed));
    return 0;
}

void nodes_remove_lease(struct nodes *nodes, const char *name, int64_t steady_us)
{
    struct node *node = nodes_find(nodes, name);
    if (!node || !node->heartbeat.exists)
        return;
    node->heartbeat.exists = false;
    node->heartbeat.moving = false;
    node->heartbeat.seen_us = steady_us;
    node->heartbeat.asked_us = 0;
    node->heartbeat.holder[0] = node->heartbeat.renewed[0] = '\0';
    nodes->unaged = true;
    nodes_release(nodes, node);
}

void nodes_age(struct nodes *nodes, int64_t steady_us, int64_t duration_us)
{
    if (!nodes->unaged && steady_us < nodes->silent_us)
        return;
    nodes->unaged = false;
    nodes->silent_us = INT64_MAX;
    for (struct node *node = nodes->by_name; node; node = node->hh.next) {
        struct node_heartbeat *heartbeat = &node->heartbeat;
        int64_t silent_us = heartbeat->seen_us + duration_us;
        bool fresh = heartbeat->moving && steady_us < silent_us && node->agent &&
                     strcmp(heartbeat->holder, node->agent->instance) == 0;
        if (fresh && silent_us < nodes->silent_us)
            nodes->silent_us = silent_us;
        if (fresh != heartbeat->fresh)
            nodes->untold = true;
        if (fresh && !heartbeat->fresh)
            nodes_improve(nodes, node);
        heartbeat->fresh = fresh;
    }
}

void nodes_give_back(struct nodes *nodes, struct node *node, const struct run_request *request)
{
    resources_give_back(&node->used, request);
    nodes_improve(nodes, node);
}

void nodes_done(struct nodes *nodes)
{
    struct node *node, *next;
    HASH_ITER (hh, nodes->by_name, node, next) {
        HASH_DEL(nodes->by_name, node);
        node_free(node);
    }
    nodes->recent = NULL;
}
