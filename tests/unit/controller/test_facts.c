/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/facts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "objects.h"

#define META                                                                                       \
    "'metadata':{'namespace':'a','name':'n','uid':'u','resourceVersion':'7','generation':2,"       \
    "'creationTimestamp':'2026-11-29T22:17:14Z'}"

static void test_assigned(void **state)
{
    (void)state;
    struct run_facts facts;
    struct error err = {0};
    cleanup_json cJSON *object = parse_object(
        "{" META ",'spec':{'code':'x','timeoutSeconds':7,'queueTimeoutSeconds':8,"
        "'ttlSecondsAfterFinished':9,'resources':{'limits':{'cpu':'500m','memory':'64Mi'}},"
        "'nodeSelector':{'pool':'x'}},'status':{'phase':'Running','nodeName':'node-a',"
        "'agentInstance':'i','sandboxID':'s','scheduledTime':'2026-11-29T22:17:15Z',"
        "'startTime':'2026-11-29T22:17:16Z'}}");
    assert_int_equal(facts_read(object, &facts, &err), 0);
    assert_string_equal(facts.name_space, "a");
    assert_string_equal(facts.name, "n");
    assert_string_equal(facts.uid, "u");
    assert_string_equal(facts.resource_version, "7");
    assert_int_equal(facts.generation, 2);
    assert_false(facts.deleting);
    assert_null(facts.invalid);
    assert_int_equal(facts.request.cpu_milli, 500);
    assert_int_equal(facts.request.memory_bytes, 64 << 20);
    assert_string_equal(facts.request.runtime, "python3.12");
    assert_int_equal(facts.request.node_selector_count, 1);
    assert_int_equal(facts.timeout_seconds, 7);
    assert_int_equal(facts.queue_timeout_seconds, 8);
    assert_int_equal(facts.ttl_seconds, 9);
    assert_int_equal(facts.phase, RUN_PHASE_RUNNING);
    assert_int_equal(facts.creation_us, CREATED_US);
    assert_int_equal(facts.scheduled_us, CREATED_US + SECOND_US);
    assert_string_equal(facts.node_name, "node-a");
    assert_string_equal(facts.agent_instance, "i");
    assert_string_equal(facts.sandbox_id, "s");
    assert_string_equal(facts.waiting_reason, "");
    facts_done(&facts);
}

static void test_waiting(void **state)
{
    (void)state;
    struct run_facts facts;
    struct error err = {0};
    cleanup_json cJSON *object =
        parse_object("{" META ",'spec':{'code':'x'},'status':{'phase':'Pending','conditions':["
                     "{'type':'Finished','status':'False','reason':'Pending',"
                     "'lastTransitionTime':'1970-01-01T00:00:00Z'},7,"
                     "{'type':'Scheduled','status':'False','reason':'NoRoom',"
                     "'lastTransitionTime':'2026-11-29T22:17:14Z'}]}}");
    assert_int_equal(facts_read(object, &facts, &err), 0);
    assert_string_equal(facts.waiting_reason, "NoRoom");
    assert_int_equal(facts.waiting_since_us, CREATED_US);
    assert_null(facts.node_name);
    facts_done(&facts);
}

/* What can't be run is said, and never keeps the controller from knowing the run. */
static void test_invalid(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *invalid; /* NULL: fine */
        enum run_phase phase;
    } cases[] = {
        {"{" META ",'spec':{'code':'x'}}", NULL, RUN_PHASE_PENDING},
        {"{" META ",'spec':{'code':'x','profile':'ToolCall'}}", NULL, RUN_PHASE_PENDING},
        {"{" META ",'spec':{'code':'x','profile':'ToolCall','egress':[{'to':[{}]}]}}",
         "spec.egress[0].to[0]: set exactly one of ipBlock and fqdn", RUN_PHASE_PENDING},
        {"{" META ",'spec':{'code':'x','egress':[]}}",
         "spec.egress: needs profile ToolCall; profile Snippet has no network at all",
         RUN_PHASE_PENDING},
        {"{" META ",'spec':{'code':'x','timeoutSeconds':61}}",
         "spec.timeoutSeconds: 61 is above the maximum of 60 for profile Snippet",
         RUN_PHASE_PENDING},
        {"{" META ",'spec':{'code':7}}", "spec.code: must be a string, got number",
         RUN_PHASE_PENDING},
        {"{" META ",'spec':{'code':7},'status':{'phase':'Succeeded'}}",
         "spec.code: must be a string, got number", RUN_PHASE_SUCCEEDED},
        {"{" META ",'spec':{'code':'x'},'status':{'phase':'Unheard'}}",
         "status.phase: \"Unheard\" is no phase", RUN_PHASE_PENDING},
        /* Bounds are no matter of runs that are on their way. */
        {"{" META ",'spec':{'code':'x','timeoutSeconds':61},'status':{'phase':'Running'}}", NULL,
         RUN_PHASE_RUNNING},
        {"{" META "}",
         "the object can't be read: it is larger than 4 MiB, or a text in it has a NUL",
         RUN_PHASE_PENDING},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct run_facts facts;
        struct error err = {0};
        cleanup_json cJSON *object = parse_object("%s", cases[i].json);
        assert_int_equal(facts_read(object, &facts, &err), 0);
        if (cases[i].invalid)
            assert_string_equal(facts.invalid, cases[i].invalid);
        else
            assert_null(facts.invalid);
        assert_int_equal(facts.phase, cases[i].phase);
        assert_string_equal(facts.uid, "u");
        facts_done(&facts);
    }
}

static void test_deleting(void **state)
{
    (void)state;
    static const char *const specs[] = {"{'code':'x'}", "{'code':7}"};
    for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
        struct run_facts facts;
        struct error err = {0};
        cleanup_json cJSON *object =
            parse_object("{'metadata':{'namespace':'a','name':'n','uid':'u','resourceVersion':'7',"
                         "'deletionTimestamp':'2026-11-29T22:17:14Z'},'spec':%s}",
                         specs[i]);
        assert_int_equal(facts_read(object, &facts, &err), 0);
        assert_true(facts.deleting);
        facts_done(&facts);
    }
}

static void test_without_identity(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"{'spec':{'code':'x'}}", "metadata.namespace: is missing"},
        {"[1]", "metadata.namespace: is missing"},
        {"{'metadata':{'namespace':'a','name':'"
         "0123456789012345678901234567890123456789012345678901234567890123"
         "0123456789012345678901234567890123456789012345678901234567890123"
         "0123456789012345678901234567890123456789012345678901234567890123"
         "0123456789012345678901234567890123456789012345678901234567890123'}}",
         "metadata.name: longer than 253 bytes"},
        {"{'metadata':{'namespace':'a'}}", "metadata.name: is missing"},
        {"{'metadata':{'namespace':'a','name':'n','uid':''}}", "metadata.uid: is missing"},
        {"{'metadata':{'namespace':'a','name':'n','uid':'u','resourceVersion':7}}",
         "metadata.resourceVersion: is missing"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct run_facts facts = {.generation = 77};
        struct error err = {0};
        cleanup_json cJSON *object = parse_object("%s", cases[i].json);
        assert_int_equal(facts_read(object, &facts, &err), -EINVAL);
        assert_string_equal(err.text, cases[i].message);
        assert_int_equal(facts.generation, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_assigned),         cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_invalid),          cmocka_unit_test(test_deleting),
        cmocka_unit_test(test_without_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
