/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/scheduler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "objects.h"

static char runtime[] = "python3.12";
static char key[] = "pool", value[] = "x";
static struct run_label selector[] = {{key, value}};

static const struct run_request plain = {
    .profile = PROFILE_SNIPPET, .runtime = runtime, .cpu_milli = 1000, .memory_bytes = 512 << 20};

#define HAS     "'instance':'i','capacity':{'runs':2,'memory':'1Gi','cpu':'2'},"
#define READY   "'conditions':[{'type':'Ready','status':'True'}]"
#define RUNTIME "'runtimes':[{'name':'python3.12'}],"
#define PROFILE "'profiles':['Snippet'],"

struct check_case {
    const char *status;               /* of the SandboxNode; NULL: none */
    const char *metadata, *spec;      /* of the core Node; NULL: none */
    const struct run_label *selector; /* one label */
    struct node_resources used;
    enum node_verdict verdict;
};

static const struct check_case check_cases[] = {
    {HAS RUNTIME PROFILE READY, NULL, NULL, NULL, {0}, NODE_FITS},
    {NULL, "", "", NULL, {0}, NODE_WITHOUT_AGENT},
    {HAS RUNTIME PROFILE "'conditions':[{'type':'Ready','status':'False'}]",
     NULL,
     NULL,
     NULL,
     {0},
     NODE_NOT_READY},
    {"", NULL, NULL, NULL, {0}, NODE_NOT_READY},
    {HAS RUNTIME READY, NULL, NULL, NULL, {0}, NODE_WITHOUT_PROFILE},
    {HAS RUNTIME "'profiles':['ToolCall']," READY, NULL, NULL, NULL, {0}, NODE_WITHOUT_PROFILE},
    {HAS PROFILE READY, NULL, NULL, NULL, {0}, NODE_WITHOUT_RUNTIME},
    {HAS PROFILE "'runtimes':[{'name':'python3.13'}]," READY,
     NULL,
     NULL,
     NULL,
     {0},
     NODE_WITHOUT_RUNTIME},
    {HAS RUNTIME PROFILE READY, NULL, NULL, selector, {0}, NODE_NOT_SELECTED},
    {HAS RUNTIME PROFILE READY, "'labels':{'pool':'y'}", "", selector, {0}, NODE_NOT_SELECTED},
    {HAS RUNTIME PROFILE READY, "'labels':{'a':'b','pool':'x'}", "", selector, {0}, NODE_FITS},
    {"'instance':'i','capacity':{'runs':2,'memory':'511Mi','cpu':'2'}," RUNTIME PROFILE READY,
     NULL,
     NULL,
     NULL,
     {0},
     NODE_TOO_SMALL},
    {"'instance':'i','capacity':{'runs':2,'memory':'1Gi','cpu':'999m'}," RUNTIME PROFILE READY,
     NULL,
     NULL,
     NULL,
     {0},
     NODE_TOO_SMALL},
    {"'instance':'i'," RUNTIME PROFILE READY, NULL, NULL, NULL, {0}, NODE_TOO_SMALL},
    {HAS RUNTIME PROFILE READY, "", "'unschedulable':true", NULL, {0}, NODE_CORDONED},
    {HAS RUNTIME PROFILE READY, "", "'taints':[{'effect':'NoSchedule'}]", NULL, {0}, NODE_TAINTED},
    {HAS RUNTIME PROFILE READY, NULL, NULL, NULL, {.runs = 1}, NODE_FITS},
    {HAS RUNTIME PROFILE READY, NULL, NULL, NULL, {.runs = 2}, NODE_WITHOUT_SLOT},
    {HAS RUNTIME PROFILE READY, NULL, NULL, NULL, {.memory_bytes = 512 << 20}, NODE_FITS},
    {HAS RUNTIME PROFILE READY,
     NULL,
     NULL,
     NULL,
     {.memory_bytes = (512 << 20) + 1},
     NODE_WITHOUT_MEMORY},
    {HAS RUNTIME PROFILE READY, NULL, NULL, NULL, {.cpu_milli = 1000}, NODE_FITS},
    {HAS RUNTIME PROFILE READY, NULL, NULL, NULL, {.cpu_milli = 1001}, NODE_WITHOUT_CPU},
    /* More than it has, after it was made smaller; and what can't be. */
    {HAS RUNTIME PROFILE READY, NULL, NULL, NULL, {.runs = UINT32_MAX}, NODE_WITHOUT_SLOT},
    {HAS RUNTIME PROFILE READY,
     NULL,
     NULL,
     NULL,
     {.memory_bytes = UINT64_MAX},
     NODE_WITHOUT_MEMORY},
    {HAS RUNTIME PROFILE READY, NULL, NULL, NULL, {.cpu_milli = UINT64_MAX}, NODE_WITHOUT_CPU},
    /* What the agent says is taken is older than what was given to it. */
    {HAS "'allocated':{'runs':2,'memory':'1Gi','cpu':'2'}," RUNTIME PROFILE READY,
     NULL,
     NULL,
     NULL,
     {0},
     NODE_FITS},
};

static void test_check(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(check_cases); i++) {
        const struct check_case *c = &check_cases[i];
        struct nodes nodes = {0};
        struct run_request request = plain;
        if (c->status)
            (void)put_agent_status(&nodes, "node-a", c->status);
        if (c->metadata)
            put_core(&nodes, "node-a", c->metadata, c->spec);
        if (c->selector) {
            request.node_selector = selector;
            request.node_selector_count = 1;
        }
        struct node *node = nodes_find(&nodes, "node-a");
        node->used = c->used;
        enum node_verdict verdict = scheduler_check(&request, node);
        if (verdict != c->verdict)
            fail_msg("case %zu: %d", i, (int)verdict);
        nodes_done(&nodes);
    }
}

static void test_silent(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    struct node *node = put_agent(&nodes, "node-a", "i", 2, "1Gi", "2");
    assert_int_equal(scheduler_check(&plain, node), NODE_FITS);
    node->heartbeat.fresh = false;
    assert_int_equal(scheduler_check(&plain, node), NODE_SILENT);
    nodes_done(&nodes);
}

static const char *choose(const struct nodes *nodes)
{
    struct scheduler_choice choice;
    scheduler_choose(&plain, nodes, 0, &choice);
    return choice.node ? choice.node->name : "";
}

static void test_choice(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    assert_string_equal(choose(&nodes), "");
    struct node *b = put_agent(&nodes, "node-b", "i", 10, "10Gi", "10");
    struct node *a = put_agent(&nodes, "node-a", "i", 10, "10Gi", "10");
    struct node *c = put_agent(&nodes, "node-c", "i", 10, "10Gi", "10");

    /* All equal: by name. */
    assert_string_equal(choose(&nodes), "node-a");
    /* The least loaded, by whatever is scarcest there. */
    a->used = (struct node_resources){.runs = 1, .memory_bytes = 1ull << 30, .cpu_milli = 3000};
    b->used = (struct node_resources){.runs = 1, .memory_bytes = 2ull << 30, .cpu_milli = 1000};
    c->used = (struct node_resources){.runs = 4, .memory_bytes = 1 << 20, .cpu_milli = 10};
    assert_string_equal(choose(&nodes), "node-b");
    /* Warm sandboxes come first, as long as they last. */
    c->agent->warm = 2;
    assert_string_equal(choose(&nodes), "node-c");
    c->warm_taken = 2;
    assert_string_equal(choose(&nodes), "node-b");
    c->warm_taken = 3;
    assert_string_equal(choose(&nodes), "node-b");
    c->warm_taken = 1;
    a->agent->warm = 2;
    assert_string_equal(choose(&nodes), "node-a");
    /* But not on a node that is full. */
    a->used.runs = 10;
    assert_string_equal(choose(&nodes), "node-c");
    nodes_done(&nodes);
}

/* ToolCall runs are never warm. */
static void test_warm_is_for_snippets(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    struct scheduler_choice choice;
    struct run_request tool = plain;
    tool.profile = PROFILE_TOOL_CALL;
    struct node *a = put_agent(&nodes, "node-a", "i", 10, "10Gi", "10");
    struct node *b = put_agent(&nodes, "node-b", "i", 10, "10Gi", "10");
    a->agent->profiles[PROFILE_TOOL_CALL] = b->agent->profiles[PROFILE_TOOL_CALL] = true;
    b->agent->warm = 5;
    assert_string_equal(choose(&nodes), "node-b");
    scheduler_choose(&tool, &nodes, 0, &choice);
    assert_ptr_equal(choice.node, a);
    nodes_done(&nodes);
}

/* Only nodes that may have got room since are looked at. */
static void test_improved_nodes(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    struct scheduler_choice choice;
    struct node *a = put_agent(&nodes, "node-a", "i", 10, "10Gi", "10");
    struct node *b = put_agent(&nodes, "node-b", "i", 10, "10Gi", "10");
    uint64_t generation = nodes.generation;
    scheduler_choose(&plain, &nodes, generation, &choice);
    assert_null(choice.node);
    assert_int_equal(choice.counts[NODE_FITS], 0);
    nodes_improve(&nodes, b);
    scheduler_choose(&plain, &nodes, generation, &choice);
    assert_ptr_equal(choice.node, b);
    assert_int_equal(choice.counts[NODE_FITS], 1);
    nodes_improve(&nodes, a);
    scheduler_choose(&plain, &nodes, generation, &choice);
    assert_ptr_equal(choice.node, a);
    scheduler_choose(&plain, &nodes, 0, &choice);
    assert_int_equal(choice.counts[NODE_FITS], 2);
    nodes_done(&nodes);
}

static void explain(const struct nodes *nodes, enum wait_reason reason, const char *text)
{
    struct scheduler_choice choice;
    char explained[512];
    scheduler_choose(&plain, nodes, 0, &choice);
    assert_string_equal(wait_reason_name(scheduler_wait_reason(&choice)), wait_reason_name(reason));
    scheduler_explain(&plain, &choice, explained, sizeof(explained));
    assert_string_equal(explained, text);
}

static void test_explanations(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    explain(&nodes, WAIT_NO_NODES, "no node has an agent: there is no SandboxNode object");
    put_core(&nodes, "core-only", "", "");
    explain(&nodes, WAIT_NO_NODES, "no node has an agent: there is no SandboxNode object");
    (void)put_agent_status(&nodes, "n1", HAS PROFILE "'runtimes':[{'name':'python3.13'}]," READY);
    explain(&nodes, WAIT_NO_MATCH, "0 of 1 node can take it: 1 without runtime python3.12");
    (void)put_agent_status(&nodes, "n2", "");
    explain(&nodes, WAIT_NOT_READY,
            "0 of 2 nodes can take it: 1 without runtime python3.12, 1 not ready");
    (void)put_agent(&nodes, "n3", "i", 0, "1Gi", "2");
    put_agent(&nodes, "n4", "i", 5, "1Gi", "2")->used.runs = 5;
    put_agent(&nodes, "n7", "i", 5, "1Gi", "2")->used.memory_bytes = 1 << 30;
    put_agent(&nodes, "n8", "i", 5, "1Gi", "2")->used.cpu_milli = 2000;
    (void)put_agent(&nodes, "n5", "i", 5, "1Gi", "2");
    put_core(&nodes, "n5", "", "'unschedulable':true");
    (void)put_agent_status(&nodes, "n6", HAS RUNTIME READY);
    explain(&nodes, WAIT_NO_ROOM,
            "0 of 8 nodes can take it: 1 without profile Snippet, 1 without runtime python3.12, "
            "1 too small for memory 512Mi and cpu 1, 1 cordoned, 1 not ready, "
            "1 without a free slot, 1 without room for memory 512Mi, 1 without room for cpu 1");
    nodes_done(&nodes);
}

/* A text that doesn't fit is cut, and never written beyond its end. */
static void test_short_text(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    struct scheduler_choice choice;
    (void)put_agent_status(&nodes, "n1", "");
    (void)put_agent(&nodes, "n2", "i", 0, "1Gi", "2");
    scheduler_choose(&plain, &nodes, 0, &choice);
    for (size_t size = 1; size < 100; size++) {
        char text[128];
        memset(text, '#', sizeof(text));
        scheduler_explain(&plain, &choice, text, size);
        assert_true(strlen(text) < size);
        assert_int_equal(text[size], '#');
    }
    nodes_done(&nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),          cmocka_unit_test(test_silent),
        cmocka_unit_test(test_choice),         cmocka_unit_test(test_warm_is_for_snippets),
        cmocka_unit_test(test_improved_nodes), cmocka_unit_test(test_explanations),
        cmocka_unit_test(test_short_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
