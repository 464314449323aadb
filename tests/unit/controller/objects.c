/* SPDX-License-Identifier: Apache-2.0 */
#include "objects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"

int64_t objects_steady_us = 1;

cJSON *parse_object(const char *fmt, ...)
{
    cleanup_free char *text = NULL;
    cJSON *tree = NULL;
    struct error err = {0};
    va_list args;
    va_start(args, fmt);
    int len = vasprintf(&text, fmt, args);
    va_end(args);
    assert_true(len > 0);
    for (char *quote = strchr(text, '\''); quote; quote = strchr(quote, '\''))
        *quote = '"';
    if (json_parse(text, (size_t)len, &tree, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return tree;
}

struct run_digest *put_run(struct runs *runs, const char *name_space, const char *name,
                           const char *version, const char *spec, const char *status,
                           int64_t now_us)
{
    struct run_digest *run = NULL;
    struct error err = {0};
    cleanup_json cJSON *object = parse_object(
        "{'metadata':{'namespace':'%s','name':'%s','uid':'uid-%s','resourceVersion':'%s',"
        "'generation':1,'creationTimestamp':'2026-11-29T22:17:14Z'},"
        "'spec':{'code':'print(1)'%s%s},'status':{%s}}",
        name_space, name, name, version, spec[0] ? "," : "", spec, status);
    if (runs_upsert(runs, object, RUN_BYTES, now_us, &run, &err) < 0)
        fail_msg("%s", err.text);
    return run;
}

struct node *put_agent(struct nodes *nodes, const char *name, const char *instance,
                       unsigned int runs, const char *memory, const char *cpu)
{
    char status[512];
    (void)snprintf(status, sizeof(status),
                   "'instance':'%s','capacity':{'runs':%u,'memory':'%s','cpu':'%s'},"
                   "'runtimes':[{'name':'python3.12','version':'3.12.1'}],"
                   "'profiles':['Snippet'],'conditions':[{'type':'Ready','status':'True'}]",
                   instance, runs, memory, cpu);
    return put_agent_status(nodes, name, status);
}

struct node *put_agent_status(struct nodes *nodes, const char *name, const char *status)
{
    struct node *node = NULL;
    struct error err = {0};
    cleanup_json cJSON *object =
        parse_object("{'metadata':{'name':'%s'},'status':{%s}}", name, status);
    if (nodes_set_agent(nodes, object, &node, &err) < 0)
        fail_msg("%s", err.text);
    node->heartbeat =
        (struct node_heartbeat){.moving = true, .fresh = true, .seen_us = objects_steady_us};
    (void)snprintf(node->heartbeat.holder, sizeof(node->heartbeat.holder), "%s",
                   node->agent->instance);
    return node;
}

void put_lease(struct nodes *nodes, const char *name, const char *holder, const char *renewed,
               const struct lease_times *times)
{
    struct error err = {0};
    cleanup_json cJSON *object = parse_object(
        "{'metadata':{'name':'%s','resourceVersion':'1'},'spec':{'holderIdentity':'%s',"
        "'renewTime':'2026-11-29T%sZ'}}",
        name, holder, renewed);
    if (nodes_set_lease(nodes, object, objects_steady_us, CREATED_US, times, &err) < 0)
        fail_msg("%s", err.text);
}

void put_core(struct nodes *nodes, const char *name, const char *metadata, const char *spec)
{
    struct error err = {0};
    cleanup_json cJSON *object = parse_object("{'metadata':{'name':'%s'%s%s},'spec':{%s}}", name,
                                              metadata[0] ? "," : "", metadata, spec);
    if (nodes_set_core(nodes, object, &err) < 0)
        fail_msg("%s", err.text);
}
