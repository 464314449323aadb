/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/request.h"

#include "common/cleanup.h"

#include <string.h>

struct run_request request_take(struct run_spec *spec)
{
    struct run_request request = {
        .profile = spec->profile,
        .runtime = TAKE_PTR(spec->runtime),
        .cpu_milli = spec->cpu_milli,
        .memory_bytes = spec->memory_bytes,
        .node_selector = TAKE_PTR(spec->node_selector),
        .node_selector_count = spec->node_selector_count,
    };
    spec->node_selector_count = 0;
    return request;
}

void request_done(struct run_request *request)
{
    if (!request)
        return;
    free(request->runtime);
    for (size_t i = 0; i < request->node_selector_count; i++) {
        free(request->node_selector[i].key);
        free(request->node_selector[i].value);
    }
    free(request->node_selector);
    *request = (struct run_request){0};
}

bool request_same_placement(const struct run_request *a, const struct run_request *b)
{
    if (a->profile != b->profile || a->node_selector_count != b->node_selector_count ||
        strcmp(a->runtime, b->runtime) != 0)
        return false;
    for (size_t i = 0; i < a->node_selector_count; i++) {
        if (strcmp(a->node_selector[i].key, b->node_selector[i].key) != 0 ||
            strcmp(a->node_selector[i].value, b->node_selector[i].value) != 0)
            return false;
    }
    return true;
}

int request_append_placement(const struct run_request *request, struct buf *key)
{
    /* Neither names nor labels have a line break. */
    int r = buf_printf(key, "%d\n%s\n", (int)request->profile, request->runtime);
    for (size_t i = 0; r == 0 && i < request->node_selector_count; i++)
        r = buf_printf(key, "%s\n%s\n", request->node_selector[i].key,
                       request->node_selector[i].value);
    return r;
}

void resources_take(struct node_resources *used, const struct run_request *request)
{
    used->runs++;
    used->memory_bytes += request->memory_bytes;
    used->cpu_milli += request->cpu_milli;
}

void resources_give_back(struct node_resources *used, const struct run_request *request)
{
    used->runs--;
    used->memory_bytes -= request->memory_bytes;
    used->cpu_milli -= request->cpu_milli;
}
