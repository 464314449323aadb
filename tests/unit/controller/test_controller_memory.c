/* SPDX-License-Identifier: Apache-2.0 */

/* Every allocation fails once: nothing is lost, leaked or half-filed by it. */
#include "controller/patch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "objects.h"

/* Allocations until one fails; negative: none does. */
static long allocations_left = -1;

static bool allocation_fails(void)
{
    return allocations_left >= 0 && allocations_left-- == 0;
}

/* The names that the linker's --wrap goes by are reserved, so they are given as labels. */
void *real_malloc(size_t size) __asm__("__real_malloc");
void *real_calloc(size_t count, size_t size) __asm__("__real_calloc");
void *real_realloc(void *old, size_t size) __asm__("__real_realloc");
void *real_reallocarray(void *old, size_t count, size_t size) __asm__("__real_reallocarray");
char *real_strdup(const char *text) __asm__("__real_strdup");
char *real_strndup(const char *text, size_t len) __asm__("__real_strndup");
void *wrap_malloc(size_t size) __asm__("__wrap_malloc");
void *wrap_calloc(size_t count, size_t size) __asm__("__wrap_calloc");
void *wrap_realloc(void *old, size_t size) __asm__("__wrap_realloc");
void *wrap_reallocarray(void *old, size_t count, size_t size) __asm__("__wrap_reallocarray");
char *wrap_strdup(const char *text) __asm__("__wrap_strdup");
char *wrap_strndup(const char *text, size_t len) __asm__("__wrap_strndup");

void *wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : real_malloc(size);
}

void *wrap_calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : real_calloc(count, size);
}

void *wrap_realloc(void *old, size_t size)
{
    return allocation_fails() ? NULL : real_realloc(old, size);
}

void *wrap_reallocarray(void *old, size_t count, size_t size)
{
    return allocation_fails() ? NULL : real_reallocarray(old, count, size);
}

char *wrap_strdup(const char *text)
{
    return allocation_fails() ? NULL : real_strdup(text);
}

char *wrap_strndup(const char *text, size_t len)
{
    return allocation_fails() ? NULL : real_strndup(text, len);
}

static cJSON *make_run(const char *version, const char *status)
{
    return parse_object("{'metadata':{'namespace':'a','name':'r','uid':'u','resourceVersion':'%s',"
                        "'creationTimestamp':'2026-11-29T22:17:14Z'},'spec':{'code':'x','args':"
                        "['a'],'nodeSelector':{'pool':'x'}},'status':{%s}}",
                        version, status);
}

static void test_runs(void **state)
{
    (void)state;
    cleanup_json cJSON *pending = make_run("1", "");
    cleanup_json cJSON *assigned =
        make_run("2", "'phase':'Running','nodeName':'n','agentInstance':'i','sandboxID':'s'");
    int r = -ENOMEM;
    unsigned int failures = 0;
    for (long n = 0; r != 0; n++) {
        struct nodes nodes = {0};
        struct runs runs;
        struct error err = {0};
        runs_init(&runs, &nodes);
        allocations_left = n;
        r = runs_upsert(&runs, pending, RUN_BYTES, CREATED_US, NULL, &err);
        int second = runs_upsert(&runs, assigned, RUN_BYTES, CREATED_US, NULL, &err);
        allocations_left = -1;
        assert_true(r == 0 || r == -ENOMEM);
        assert_true(second == 0 || second == -ENOMEM);
        if (r == 0)
            r = second;
        failures += r != 0;
        /* The next version finds everything in order. */
        cleanup_json cJSON *next =
            make_run("3", "'phase':'Scheduled','nodeName':'n','agentInstance':'i'");
        assert_int_equal(runs_upsert(&runs, next, RUN_BYTES, CREATED_US, NULL, &err), 0);
        assert_int_equal(nodes_find(&nodes, "n")->used.runs, 1);
        assert_int_equal(runs.counts[RUN_PHASE_SCHEDULED], 1);
        assert_int_equal(runs.counts[RUN_PHASE_PENDING], 0);
        assert_int_equal(runs.waiting, 0);
        runs_remove(&runs, "a", "r", "u");
        assert_null(nodes_find(&nodes, "n"));
        runs_done(&runs);
        nodes_done(&nodes);
    }
    assert_true(failures > 20);
}

static void test_nodes(void **state)
{
    (void)state;
    cleanup_json cJSON *agent = parse_object("{'metadata':{'name':'n'}}");
    cleanup_json cJSON *core = parse_object("{'metadata':{'name':'n','labels':{'a':'b','c':'d'}}}");
    int r = -ENOMEM;
    unsigned int failures = 0;
    for (long n = 0; r != 0; n++) {
        struct nodes nodes = {0};
        struct node *node;
        struct error err = {0};
        allocations_left = n;
        r = nodes_set_core(&nodes, core, &err);
        if (r == 0)
            r = nodes_set_agent(&nodes, agent, &node, &err);
        allocations_left = -1;
        assert_true(r == 0 || r == -ENOMEM);
        failures += r != 0;
        nodes_done(&nodes);
    }
    assert_true(failures > 8);
}

static void test_requests(void **state)
{
    (void)state;
    struct nodes nodes = {0};
    struct runs runs;
    runs_init(&runs, &nodes);
    const struct action action = {
        .kind = ACTION_ASSIGN,
        .run = put_run(&runs, "a", "r", "1", "", "", CREATED_US),
        .node = put_agent(&nodes, "n", "i", 1, "1Gi", "1"),
    };
    int r = -ENOMEM;
    unsigned int failures = 0;
    for (long n = 0; r != 0; n++) {
        struct write_request request;
        struct error err = {0};
        allocations_left = n;
        r = write_request_make(&action, "s", CREATED_US, &request, &err);
        allocations_left = -1;
        assert_true(r == 0 || r == -ENOMEM);
        failures += r != 0;
        if (r == 0)
            write_request_done(&request);
    }
    assert_true(failures >= 2);
    runs_done(&runs);
    nodes_done(&nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
