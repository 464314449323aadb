/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/documents.h"
#include "tests/unit/common/cmocka_setup.h"
#include "tests/unit/common/failing_malloc.h"

#include "common/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "apiVersion: sandboxrun.dev/v1alpha1\nkind: SandboxRun\n"
#define RUN  HEAD "spec: {code: print(1)}\n"

static int add(struct document_list *list, const char *source, const char *yaml, struct error *err)
{
    return documents_add(list, source, yaml, strlen(yaml), err);
}

static void test_one(void **state)
{
    (void)state;
    struct document_list list = {0};
    assert_int_equal(add(&list, "x.yaml",
                         HEAD "metadata: {name: hello}\nspec:\n  code: |\n    print(1)\n"
                              "status: {sandboxID: old, phase: Succeeded}\n",
                         NULL),
                     0);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].run.name, "hello");
    assert_string_equal(list.items[0].run.spec.code, "print(1)\n");
    /* An old result in the file is another run's. */
    assert_string_equal(list.items[0].run.status.sandbox_id, "");
    assert_int_equal(list.items[0].run.status.phase, RUN_PHASE_PENDING);
    documents_done(&list);
    assert_int_equal(list.count, 0);
}

static void test_many_and_their_names(void **state)
{
    (void)state;
    struct document_list list = {0};
    assert_int_equal(add(&list, "/d/My_jobs.v2.yaml", RUN "---\n" RUN "---\n---\n" RUN, NULL), 0);
    assert_int_equal(add(&list, "single.json",
                         "{\"apiVersion\":\"sandboxrun.dev/v1alpha1\",\"kind\":\"SandboxRun\","
                         "\"metadata\":{\"labels\":{}},\"spec\":{\"code\":\"1\"}}",
                         NULL),
                     0);
    assert_int_equal(
        add(&list, "stdin", HEAD "metadata: {generateName: gen-}\nspec: {code: x}\n", NULL), 0);
    assert_int_equal(list.count, 5);
    assert_string_equal(list.items[0].run.name, "my-jobs-v2-1");
    assert_string_equal(list.items[2].run.name, "my-jobs-v2-3");
    assert_string_equal(list.items[3].run.name, "single");
    assert_string_equal(list.items[4].run.name, "gen");
    /* The printed object has the name too. */
    assert_string_equal(json_get_string(list.items[3].tree, "metadata.name"), "single");
    documents_done(&list);
}

static void test_lists(void **state)
{
    (void)state;
    struct document_list list = {0};
    static const char item[] = "{apiVersion: sandboxrun.dev/v1alpha1, kind: SandboxRun, "
                               "spec: {code: x}}";
    char yaml[1024];
    (void)snprintf(yaml, sizeof(yaml), "apiVersion: v1\nkind: List\nitems: [%s, %s]\n", item, item);
    assert_int_equal(add(&list, "l.yaml", yaml, NULL), 0);
    (void)snprintf(yaml, sizeof(yaml), "kind: SandboxRunList\nmetadata: {}\nitems: [%s]\n", item);
    assert_int_equal(add(&list, "m.yaml", yaml, NULL), 0);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[1].run.name, "l-2");
    documents_done(&list);
}

/* One line each: the source, the document where there are several, the field, what to do. */
static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        const char *start;
    } cases[] = {
        {"", "f.yaml: holds no SandboxRun; a document starts with apiVersion: "},
        {"---\n---\n", "f.yaml: holds no SandboxRun"},
        {"# only a comment\n", "f.yaml: holds no SandboxRun"},
        {"print(1)\n", "f.yaml: a SandboxRun must be an object"},
        {"[1, 2]\n", "f.yaml: a SandboxRun must be an object"},
        {"kind: Pod\napiVersion: v1\n",
         "f.yaml: apiVersion: must be sandboxrun.dev/v1alpha1, got "},
        {"kind: SandboxRun\n", "f.yaml: apiVersion: is required"},
        {"apiVersion: sandboxrun.dev/v1alpha1\n", "f.yaml: kind: is required"},
        {"apiVersion: sandboxrun.dev/v1\nkind: SandboxRun\n", "f.yaml: apiVersion: must be "},
        {"apiVersion: sandboxrun.dev/v1alpha1\nkind: SandboxNode\n", "f.yaml: kind: must be "},
        {HEAD, "f.yaml: spec: "},
        {HEAD "spec: {}\n", "f.yaml: spec.code: "},
        {HEAD "spec: {code: ''}\n", "f.yaml: spec.code: "},
        {HEAD "spec: {code: 5}\n", "f.yaml: spec.code: must be a string"},
        {HEAD "spec: {code: x, timeout: 5}\n", "f.yaml: spec.timeout: "},
        {HEAD "spec: {code: x, timeoutSeconds: 0}\n", "f.yaml: spec.timeoutSeconds: "},
        {HEAD "spec: {code: x, timeoutSeconds: 61}\n", "f.yaml: spec.timeoutSeconds: "},
        {HEAD "spec: {code: x, timeoutSeconds: '5'}\n", "f.yaml: spec.timeoutSeconds: "},
        {HEAD "spec: {code: x, timeoutSeconds: 1.5}\n", "f.yaml: spec.timeoutSeconds: "},
        {HEAD "spec: {code: x, profile: Other}\n", "f.yaml: spec.profile: "},
        {HEAD "spec: {code: x, egress: []}\n", "f.yaml: spec.egress: "},
        {HEAD "spec: {code: x, args: [1]}\n", "f.yaml: spec.args[0]: "},
        {HEAD "spec: {code: x, args: x}\n", "f.yaml: spec.args: "},
        {HEAD "spec: {code: x, env: [{name: A}, {name: A}]}\n", "f.yaml: spec.env[1].name: "},
        {HEAD "spec: {code: x, env: [{name: A, valueFrom: {}}]}\n",
         "f.yaml: spec.env[0].valueFrom: "},
        {HEAD "spec: {code: x, resources: {limits: {memory: 1Gi}}}\n",
         "f.yaml: spec.resources.limits.memory: "},
        {HEAD "spec: {code: x, resources: {requests: {}}}\n", "f.yaml: spec.resources.requests: "},
        {HEAD "metadata: {name: UPPER}\nspec: {code: x}\n", "f.yaml: metadata.name: "},
        {HEAD "metadata: {name: 5}\nspec: {code: x}\n", "f.yaml: metadata.name: "},
        {HEAD "metadata: [x]\nspec: {code: x}\n", "f.yaml: metadata: "},
        {HEAD "extra: 1\nspec: {code: x}\n", "f.yaml: extra: "},
        {RUN "---\n" HEAD "spec: {code: ''}\n", "f.yaml: document 2: spec.code: "},
        {"kind: List\nitems: {}\n", "f.yaml: items: must be a list"},
        {"kind: List\nitems: []\n", "f.yaml: holds no SandboxRun"},
        {"kind: List\nitems: [{kind: List, items: []}]\n", "f.yaml: items[0]: apiVersion: "},
        {HEAD "kind: SandboxRun\n", "f.yaml: line 3, column 1: duplicate key"},
        {HEAD "spec: &a {code: x}\n", "f.yaml: line 3, column 7: anchors and aliases"},
        {HEAD "spec: {code: \"a\\0b\"}\n", "f.yaml: line 3, column 14: a NUL character"},
        {HEAD "spec: {code: \xff}\n", "f.yaml: line 3, column 14: bytes that are not UTF-8"},
        {HEAD "spec: {code: [\n", "f.yaml: line "},
        {"{\"kind\": ", "f.yaml: line "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct document_list list = {0};
        struct error err = {0};
        int r = add(&list, "f.yaml", cases[i].yaml, &err);
        if (r != -EINVAL || strncmp(err.text, cases[i].start, strlen(cases[i].start)) != 0)
            fail_msg("case %zu: %d \"%s\"", i, r, err.text);
        documents_done(&list);
    }
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        unsigned int number;
        const char *name;
    } cases[] = {
        {"hello.yaml", 0, "hello"},
        {"/a.b/Hello World.yaml", 3, "hello-world-3"},
        {"__x__.yaml", 0, "x"},
        {".hidden", 0, "hidden"},
        {"...", 0, "run"},
        {"\xc3\xa4.yaml", 0, "run"},
        {"a..b.yaml", 0, "a-b"},
        {"", 2, "run-2"},
        {"no-extension", 0, "no-extension"},
    };
    char name[MAX_RUN_NAME + 1];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        documents_make_name(cases[i].source, cases[i].number, name);
        assert_string_equal(name, cases[i].name);
        assert_true(parse_is_dns_subdomain(name));
    }
    char longest[1000];
    memset(longest, 'l', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    documents_make_name(longest, 4294967295u, name);
    assert_true(parse_is_dns_subdomain(name));
}

static void test_too_many(void **state)
{
    (void)state;
    cleanup_buf struct buf yaml = BUF_INIT(1u << 20);
    for (int i = 0; i < 256; i++)
        assert_int_equal(buf_append_str(&yaml, RUN "---\n"), 0);
    struct document_list list = {0};
    struct error err = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(documents_add(&list, "f.yaml", buf_str(&yaml), yaml.len, &err), 0);
    assert_int_equal(list.count, MAX_DOCUMENTS);
    assert_int_equal(add(&list, "g.yaml", RUN, &err), -E2BIG);
    assert_string_equal(err.text, "g.yaml: more than 1024 SandboxRuns in one call");
    documents_done(&list);
}

/* Whichever allocation fails, it is said, and nothing is lost or freed twice. */
static void test_out_of_memory(void **state)
{
    (void)state;
    cJSON_Hooks hooks = {.malloc_fn = failing_malloc, .free_fn = free};
    cJSON_InitHooks(&hooks);
    int r = -ENOMEM;
    int n = 0;
    for (; r < 0; n++) {
        struct document_list list = {0};
        struct error err = {0};
        failing_malloc_after(n);
        r = add(&list, "f.yaml", RUN "---\n" HEAD "spec: {code: x, env: [{name: A}]}\n", &err);
        failing_malloc_after(-1);
        assert_true(r == 0 || err.text[0] != '\0');
        documents_done(&list);
        assert_true(n < 2000);
    }
    assert_true(n > 20);
    cJSON_InitHooks(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),           cmocka_unit_test(test_many_and_their_names),
        cmocka_unit_test(test_lists),         cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_names),         cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
