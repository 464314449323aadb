/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/scheduler.h"

#include "common/api/quantity.h"
#include "common/cleanup.h"

#include <stdio.h>
#include <string.h>

static bool has_runtime(const struct sandboxnode *agent, const char *name)
{
    for (uint32_t i = 0; i < agent->runtime_count; i++) {
        if (strcmp(agent->runtimes[i].name, name) == 0)
            return true;
    }
    return false;
}

static bool has_label(const struct node *node, const struct run_label *wanted)
{
    for (size_t i = 0; i < node->label_count; i++) {
        if (strcmp(node->labels[i].key, wanted->key) == 0)
            return strcmp(node->labels[i].value, wanted->value) == 0;
    }
    return false;
}

static bool is_selected(const struct node *node, const struct run_request *request)
{
    for (size_t i = 0; i < request->node_selector_count; i++) {
        if (!has_label(node, &request->node_selector[i]))
            return false;
    }
    return true;
}

/* Which of the three is short, the slot first; NODE_FITS if none is. Subtracted, so that no sum
 * can overflow. */
static enum node_verdict check_room(const struct node_resources *capacity,
                                    const struct node_resources *used,
                                    const struct run_request *request)
{
    if (used->runs >= capacity->runs)
        return NODE_WITHOUT_SLOT;
    if (used->memory_bytes > capacity->memory_bytes ||
        request->memory_bytes > capacity->memory_bytes - used->memory_bytes)
        return NODE_WITHOUT_MEMORY;
    if (used->cpu_milli > capacity->cpu_milli ||
        request->cpu_milli > capacity->cpu_milli - used->cpu_milli)
        return NODE_WITHOUT_CPU;
    return NODE_FITS;
}

enum node_verdict scheduler_check(const struct run_request *request, const struct node *node)
{
    static const struct node_resources nothing = {0};
    const struct sandboxnode *agent = node->agent;
    if (!agent)
        return NODE_WITHOUT_AGENT;
    /* What can't change by itself is told before what may pass. A node that isn't ready may not
     * yet have said what it has: that says nothing of it. */
    if (!agent->ready)
        return NODE_NOT_READY;
    if (!node->heartbeat.fresh)
        return NODE_SILENT;
    if (!agent->profiles[request->profile])
        return NODE_WITHOUT_PROFILE;
    if (!has_runtime(agent, request->runtime))
        return NODE_WITHOUT_RUNTIME;
    if (!is_selected(node, request))
        return NODE_NOT_SELECTED;
    if (check_room(&agent->capacity, &nothing, request) != NODE_FITS)
        return NODE_TOO_SMALL;
    if (node->cordoned)
        return NODE_CORDONED;
    if (node->tainted)
        return NODE_TAINTED;
    return check_room(&agent->capacity, &node->used, request);
}

/* Warm sandboxes that are still there, as far as anybody can tell before the agent counts again.
 * Only Snippet runs are started in one. */
static uint32_t warm_left(const struct node *node, const struct run_request *request)
{
    if (request->profile != PROFILE_SNIPPET || node->agent->warm <= node->warm_taken)
        return 0;
    return node->agent->warm - node->warm_taken;
}

static double share(uint64_t used, uint64_t capacity)
{
    return capacity > 0 ? (double)used / (double)capacity : 1.0;
}

/* The fullest of a node's three resources tells how loaded it is. */
static double load(const struct node *node)
{
    const struct node_resources *capacity = &node->agent->capacity;
    double most = share(node->used.runs, capacity->runs);
    double memory = share(node->used.memory_bytes, capacity->memory_bytes);
    double cpu = share(node->used.cpu_milli, capacity->cpu_milli);
    if (memory > most)
        most = memory;
    return cpu > most ? cpu : most;
}

static bool is_better(const struct node *node, const struct node *than,
                      const struct run_request *request)
{
    uint32_t warm = warm_left(node, request);
    uint32_t than_warm = warm_left(than, request);
    if (warm != than_warm)
        return warm > than_warm;
    double node_load = load(node);
    double than_load = load(than);
    if (node_load < than_load || node_load > than_load)
        return node_load < than_load;
    return strcmp(node->name, than->name) < 0;
}

void scheduler_choose(const struct run_request *request, const struct nodes *nodes, uint64_t since,
                      struct scheduler_choice *ret_choice)
{
    struct scheduler_choice choice = {0};
    for (struct node *node = nodes->recent; node && node->improved > since;
         node = node->recent_next) {
        enum node_verdict verdict = scheduler_check(request, node);
        choice.counts[verdict]++;
        if (verdict == NODE_FITS && (!choice.node || is_better(node, choice.node, request)))
            choice.node = node;
    }
    *ret_choice = choice;
}

enum wait_reason scheduler_wait_reason(const struct scheduler_choice *choice)
{
    unsigned int total = 0;
    for (unsigned int i = 0; i < NODE_VERDICT_COUNT; i++)
        total += i == NODE_WITHOUT_AGENT ? 0 : choice->counts[i];
    if (total == 0)
        return WAIT_NO_NODES;
    if (choice->counts[NODE_WITHOUT_SLOT] + choice->counts[NODE_WITHOUT_MEMORY] +
            choice->counts[NODE_WITHOUT_CPU] + choice->counts[NODE_FITS] >
        0)
        return WAIT_NO_ROOM;
    if (choice->counts[NODE_NOT_READY] + choice->counts[NODE_SILENT] +
            choice->counts[NODE_CORDONED] + choice->counts[NODE_TAINTED] >
        0)
        return WAIT_NOT_READY;
    return WAIT_NO_MATCH;
}

const char *wait_reason_name(enum wait_reason reason)
{
    static const char *const names[WAIT_REASON_COUNT] = {
        [WAIT_NO_NODES] = "NoNodes",
        [WAIT_NO_MATCH] = "NoMatchingNode",
        [WAIT_NOT_READY] = "NoReadyNode",
        [WAIT_NO_ROOM] = "NoRoom",
        [WAIT_NAMESPACE_LIMIT] = "NamespaceLimit",
    };
    return names[reason];
}

static void describe(enum node_verdict verdict, const struct run_request *request, char *text,
                     size_t size)
{
    static const char *const words[NODE_VERDICT_COUNT] = {
        [NODE_FITS] = "with room, kept for earlier runs",
        [NODE_NOT_SELECTED] = "without the labels of nodeSelector",
        [NODE_CORDONED] = "cordoned",
        [NODE_TAINTED] = "tainted",
        [NODE_NOT_READY] = "not ready",
        [NODE_SILENT] = "without a heartbeat of its agent",
        [NODE_WITHOUT_SLOT] = "without a free slot",
    };
    char memory[QUANTITY_TEXT_SIZE], cpu[QUANTITY_TEXT_SIZE];
    quantity_format_bytes(request->memory_bytes, memory);
    quantity_format_milli(request->cpu_milli, cpu);
    if (words[verdict])
        (void)snprintf(text, size, "%s", words[verdict]);
    else if (verdict == NODE_WITHOUT_RUNTIME)
        (void)snprintf(text, size, "without runtime %s", request->runtime);
    else if (verdict == NODE_WITHOUT_PROFILE)
        (void)snprintf(text, size, "without profile %s", profile_limits(request->profile)->name);
    else if (verdict == NODE_WITHOUT_MEMORY)
        (void)snprintf(text, size, "without room for memory %s", memory);
    else if (verdict == NODE_WITHOUT_CPU)
        (void)snprintf(text, size, "without room for cpu %s", cpu);
    else
        (void)snprintf(text, size, "too small for memory %s and cpu %s", memory, cpu);
}

void scheduler_explain(const struct run_request *request, const struct scheduler_choice *choice,
                       char *text, size_t size)
{
    unsigned int total = 0;
    for (unsigned int i = 0; i < NODE_VERDICT_COUNT; i++)
        total += i == NODE_WITHOUT_AGENT ? 0 : choice->counts[i];
    if (total == 0) {
        (void)snprintf(text, size, "no node has an agent: there is no SandboxNode object");
        return;
    }
    int len = snprintf(text, size, "0 of %u node%s can take it", total, total == 1 ? "" : "s");
    const char *separator = ": ";
    for (unsigned int i = 0; i < NODE_VERDICT_COUNT; i++) {
        char words[160];
        if (i == NODE_WITHOUT_AGENT || choice->counts[i] == 0 || (size_t)len >= size)
            continue;
        describe((enum node_verdict)i, request, words, sizeof(words));
        len += snprintf(text + len, size - (size_t)len, "%s%u %s", separator, choice->counts[i],
                        words);
        separator = ", ";
    }
}
