/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/sandboxrun.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"

/* Allocations until one fails; negative: none does. */
static long allocations_left = -1;

static bool allocation_fails(void)
{
    return allocations_left >= 0 && allocations_left-- == 0;
}

/* The names that the linker's --wrap goes by are reserved, so they are given as labels. */
char *real_strdup(const char *text) __asm__("__real_strdup");
char *real_strndup(const char *text, size_t len) __asm__("__real_strndup");
void *real_calloc(size_t count, size_t size) __asm__("__real_calloc");
char *wrap_strdup(const char *text) __asm__("__wrap_strdup");
char *wrap_strndup(const char *text, size_t len) __asm__("__wrap_strndup");
void *wrap_calloc(size_t count, size_t size) __asm__("__wrap_calloc");

char *wrap_strdup(const char *text)
{
    return allocation_fails() ? NULL : real_strdup(text);
}

char *wrap_strndup(const char *text, size_t len)
{
    return allocation_fails() ? NULL : real_strndup(text, len);
}

void *wrap_calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : real_calloc(count, size);
}

#define HEAD "{\"apiVersion\":\"sandboxrun.dev/v1alpha1\",\"kind\":\"SandboxRun\","
#define META "\"metadata\":{\"name\":\"hello\"},"

static const char full[] =
    HEAD "\"metadata\":{\"name\":\"hello\",\"namespace\":\"team-a\",\"uid\":\"u-1\","
         "\"resourceVersion\":\"12\",\"generation\":3,"
         "\"creationTimestamp\":\"2026-11-29T22:17:14Z\","
         "\"deletionTimestamp\":\"2026-11-29T22:18:14Z\"},"
         "\"spec\":{\"profile\":\"ToolCall\",\"runtime\":\"python3.13\",\"code\":\"print(1)\","
         "\"args\":[\"a\",\"\",\"\\u00e4\"],\"env\":[{\"name\":\"A\",\"value\":\"1\"},"
         "{\"name\":\"B\"}],\"stdin\":\"in\",\"timeoutSeconds\":7,"
         "\"resources\":{\"limits\":{\"cpu\":2,\"memory\":\"64Mi\"}},"
         "\"egress\":[{\"to\":[{\"ipBlock\":{\"cidr\":\"192.0.2.0/24\",\"except\":[]}},"
         "{\"fqdn\":\"a.example\"}],\"ports\":[{\"protocol\":\"TCP\",\"port\":443,"
         "\"endPort\":444}]}],\"queueTimeoutSeconds\":9,\"ttlSecondsAfterFinished\":0,"
         "\"nodeSelector\":{\"pool\":\"x\"}},"
         "\"status\":{\"phase\":\"Failed\",\"reason\":\"Signaled\",\"message\":\"m\","
         "\"sandboxID\":\"s-1\",\"nodeName\":\"n-1\",\"agentInstance\":\"i-1\","
         "\"scheduledTime\":\"2026-11-29T22:17:15.000001Z\","
         "\"startTime\":\"2026-11-29T22:17:15.000002Z\","
         "\"completionTime\":\"2026-11-29T22:17:15.000003Z\",\"exitCode\":137,"
         "\"stdout\":\"o\",\"stderr\":\"e\",\"stdoutBytes\":1,\"stderrBytes\":99,"
         "\"stdoutTruncated\":false,\"stderrTruncated\":true,"
         "\"usage\":{\"cpuMilliseconds\":1,\"peakMemoryBytes\":2,\"wallMilliseconds\":3},"
         "\"effective\":{\"timeoutSeconds\":7,\"memory\":\"64Mi\",\"cpu\":\"2\","
         "\"runtimeVersion\":\"3.13.1\"},\"observedGeneration\":3}}";

static int decode(const char *json, enum sandboxrun_strictness strictness, struct sandboxrun *run,
                  struct error *err)
{
    cleanup_json cJSON *tree = NULL;
    assert_int_equal(json_parse(json, strlen(json), &tree, err), 0);
    return sandboxrun_decode(tree, strictness, run, err);
}

static void test_full(void **state)
{
    (void)state;
    struct sandboxrun run;
    struct error err = {0};
    assert_int_equal(decode(full, SANDBOXRUN_LENIENT, &run, &err), 0);
    assert_string_equal(run.name, "hello");
    assert_string_equal(run.name_space, "team-a");
    assert_string_equal(run.uid, "u-1");
    assert_string_equal(run.resource_version, "12");
    assert_int_equal(run.generation, 3);
    assert_int_equal(run.creation_us, 1795990634000000);
    assert_true(run.deleting);
    assert_int_equal(run.spec.profile, PROFILE_TOOL_CALL);
    assert_string_equal(run.spec.runtime, "python3.13");
    assert_string_equal(run.spec.code, "print(1)");
    assert_int_equal(run.spec.arg_count, 3);
    assert_string_equal(run.spec.args[2], "\xc3\xa4");
    assert_int_equal(run.spec.env_count, 2);
    assert_string_equal(run.spec.env[0].value, "1");
    assert_string_equal(run.spec.env[1].name, "B");
    assert_string_equal(run.spec.env[1].value, "");
    assert_string_equal(run.spec.stdin_text, "in");
    assert_int_equal(run.spec.timeout_seconds, 7);
    assert_int_equal(run.spec.cpu_milli, 2000);
    assert_int_equal(run.spec.memory_bytes, 64 << 20);
    assert_int_equal(run.spec.queue_timeout_seconds, 9);
    assert_int_equal(run.spec.ttl_seconds, 0);
    assert_non_null(run.spec.egress);
    assert_string_equal(run.spec.egress->name_text, "a.example");
    assert_int_equal(run.spec.node_selector_count, 1);
    assert_string_equal(run.spec.node_selector[0].key, "pool");
    assert_string_equal(run.spec.node_selector[0].value, "x");
    assert_int_equal(run.status.phase, RUN_PHASE_FAILED);
    assert_int_equal(run.status.reason, RUN_REASON_SIGNALED);
    assert_string_equal(run.status.message, "m");
    assert_string_equal(run.status.sandbox_id, "s-1");
    assert_string_equal(run.status.node_name, "n-1");
    assert_string_equal(run.status.agent_instance, "i-1");
    assert_int_equal(run.status.scheduled_us, 1795990635000001);
    assert_int_equal(run.status.start_us, 1795990635000002);
    assert_int_equal(run.status.completion_us, 1795990635000003);
    assert_true(run.status.has_exit_code);
    assert_int_equal(run.status.exit_code, 137);
    assert_string_equal(run.status.stdout_text, "o");
    assert_int_equal(run.status.stderr_len, 1);
    assert_int_equal(run.status.stderr_bytes, 99);
    assert_false(run.status.stdout_truncated);
    assert_true(run.status.stderr_truncated);
    assert_int_equal(run.status.usage.wall_ms, 3);
    assert_int_equal(run.status.effective_cpu_milli, 2000);
    assert_string_equal(run.status.effective_runtime_version, "3.13.1");
    assert_int_equal(run.status.observed_generation, 3);
    sandboxrun_done(&run);

    /* Strict takes the same object, and leaves the status of that earlier run aside. */
    assert_int_equal(decode(full, SANDBOXRUN_STRICT, &run, &err), 0);
    assert_int_equal(run.status.phase, RUN_PHASE_PENDING);
    assert_null(run.status.stdout_text);
    sandboxrun_done(&run);
}

static void test_defaults(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        uint32_t timeout, cpu;
        uint64_t memory;
    } cases[] = {
        {HEAD META "\"spec\":{\"code\":\"1\"}}", 20, 1000, 512ull << 20},
        {HEAD META "\"spec\":{\"code\":\"1\",\"profile\":\"Snippet\"}}", 20, 1000, 512ull << 20},
        {HEAD META "\"spec\":{\"code\":\"1\",\"profile\":\"ToolCall\"}}", 30, 2000, 1ull << 30},
        {HEAD META "\"spec\":{\"code\":\"1\",\"resources\":{\"limits\":{\"cpu\":\"250m\"}}}}", 20,
         250, 512ull << 20},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct sandboxrun run;
        struct error err = {0};
        assert_int_equal(decode(cases[i].json, SANDBOXRUN_STRICT, &run, &err), 0);
        assert_string_equal(run.name_space, "default");
        assert_string_equal(run.uid, "");
        assert_string_equal(run.spec.runtime, "python3.12");
        assert_null(run.spec.stdin_text);
        assert_int_equal(run.spec.timeout_seconds, cases[i].timeout);
        assert_int_equal(run.spec.cpu_milli, cases[i].cpu);
        assert_true(run.spec.memory_bytes == cases[i].memory);
        assert_int_equal(run.spec.queue_timeout_seconds, 60);
        assert_int_equal(run.spec.ttl_seconds, -1);
        assert_null(run.spec.egress);
        sandboxrun_done(&run);
    }
}

/* An explicit 0 is no wish for the default: it stays, for the validator to refuse. */
static void test_explicit_zero(void **state)
{
    (void)state;
    struct sandboxrun run;
    struct error err = {0};
    assert_int_equal(decode(HEAD META "\"spec\":{\"code\":\"1\",\"timeoutSeconds\":0,"
                                      "\"queueTimeoutSeconds\":0,\"resources\":{\"limits\":"
                                      "{\"cpu\":0,\"memory\":\"0\"}}}}",
                            SANDBOXRUN_STRICT, &run, &err),
                     0);
    assert_int_equal(run.spec.timeout_seconds, 0);
    assert_int_equal(run.spec.queue_timeout_seconds, 0);
    assert_int_equal(run.spec.cpu_milli, 0);
    assert_int_equal(run.spec.memory_bytes, 0);
    assert_int_equal(sandboxrun_validate(&run, &err), -EINVAL);
    sandboxrun_done(&run);
}

struct refusal {
    const char *json;
    const char *strict; /* the message; NULL: accepted */
    const char *lenient;
};

#define SPEC(text) HEAD META "\"spec\":{\"code\":\"1\"," text "}}"
#define BOTH(json, text)                                                                           \
    {                                                                                              \
        json, text, text                                                                           \
    }

static const struct refusal refusals[] = {
    BOTH("[]", "a SandboxRun must be an object"),
    {"{}", "apiVersion: is required, and must be sandboxrun.dev/v1alpha1", "metadata: is required"},
    {"{\"apiVersion\":\"sandboxrun.dev/v1alpha1\"}", "kind: is required, and must be SandboxRun",
     "metadata: is required"},
    BOTH("{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}",
         "apiVersion: must be sandboxrun.dev/v1alpha1, got \"v1\""),
    BOTH("{\"apiVersion\":\"sandboxrun.dev/v1alpha1\",\"kind\":\"SandboxNode\"}",
         "kind: must be SandboxRun, got \"SandboxNode\""),
    BOTH(HEAD "\"metadata\":{\"name\":\"a\"}}", "spec: is required"),
    BOTH(HEAD "\"spec\":{\"code\":\"1\"}}", "metadata: is required"),
    BOTH(HEAD "\"metadata\":{},\"spec\":{\"code\":\"1\"}}", "metadata.name: is required"),
    BOTH(HEAD META "\"spec\":[]}", "spec: must be an object, got list"),
    BOTH(HEAD META "\"spec\":{}}", "spec.code: is required"),
    BOTH(HEAD META "\"spec\":{\"code\":null}}", "spec.code: is required"),
    BOTH(HEAD META "\"spec\":{\"code\":7}}", "spec.code: must be a string, got number"),
    BOTH(SPEC("\"profile\":\"snippet\""),
         "spec.profile: \"snippet\" is no profile; use Snippet or ToolCall"),
    BOTH(SPEC("\"args\":[\"a\",\"b\",\"c\",4]"), "spec.args[3]: must be a string, got number"),
    BOTH(SPEC("\"args\":\"a\""), "spec.args: must be a list, got string"),
    BOTH(SPEC("\"env\":{\"A\":\"1\"}"), "spec.env: must be a list, got object"),
    BOTH(SPEC("\"env\":[{\"value\":\"1\"}]"), "spec.env[0].name: is required"),
    BOTH(SPEC("\"env\":[{\"name\":\"A\",\"value\":1}]"),
         "spec.env[0].value: must be a string, got number"),
    {SPEC("\"env\":[{\"name\":\"A\",\"valueFrom\":{}}]"),
     "spec.env[0].valueFrom: unknown field; values are literals only, so that no credential "
     "reaches code that nobody has read",
     NULL},
    {SPEC("\"timeOutSeconds\":3"),
     "spec.timeOutSeconds: unknown field; did you mean timeoutSeconds?", NULL},
    {SPEC("\"image\":\"x\""), "spec.image: unknown field", NULL},
    {SPEC("\"resources\":{\"requests\":{}}"), "spec.resources.requests: unknown field", NULL},
    BOTH(SPEC("\"timeoutSeconds\":\"3\""),
         "spec.timeoutSeconds: must be a whole number, got string"),
    BOTH(SPEC("\"timeoutSeconds\":1.5"), "spec.timeoutSeconds: must be a whole number, got 1.5"),
    BOTH(SPEC("\"timeoutSeconds\":-1"),
         "spec.timeoutSeconds: -1 is below the minimum of 1 for profile Snippet"),
    BOTH(SPEC("\"timeoutSeconds\":4294967356"),
         "spec.timeoutSeconds: 4294967356 is above the maximum of 60 for profile Snippet"),
    BOTH(SPEC("\"queueTimeoutSeconds\":-5"),
         "spec.queueTimeoutSeconds: -5 is below the minimum of 1"),
    BOTH(SPEC("\"ttlSecondsAfterFinished\":-1"),
         "spec.ttlSecondsAfterFinished: -1 is below the minimum of 0"),
    BOTH(SPEC("\"resources\":{\"limits\":{\"cpu\":0.5}}"),
         "spec.resources.limits.cpu: must be a whole number, got 0.5; a quantity with a fraction "
         "is written in quotes"),
    BOTH(SPEC("\"resources\":{\"limits\":{\"cpu\":\"half\"}}"),
         "spec.resources.limits.cpu: \"half\" is no quantity; write it like 500m or 1"),
    BOTH(SPEC("\"resources\":{\"limits\":{\"cpu\":-1}}"),
         "spec.resources.limits.cpu: -1 is negative"),
    BOTH(SPEC("\"resources\":{\"limits\":{\"cpu\":4294969}}"),
         "spec.resources.limits.cpu: 4294969 is above the maximum of 1 for profile Snippet"),
    BOTH(SPEC("\"resources\":{\"limits\":{\"memory\":\"12Mb\"}}"),
         "spec.resources.limits.memory: \"12Mb\" is no quantity; write it like 256Mi"),
    BOTH(SPEC("\"resources\":{\"limits\":{\"memory\":\"1e30\"}}"),
         "spec.resources.limits.memory: 1e30 is above any maximum"),
    BOTH(SPEC("\"resources\":{\"limits\":{\"memory\":\"33554432.5\"}}"),
         "spec.resources.limits.memory: 33554432.5 is no whole number of bytes; write it like "
         "256Mi"),
    BOTH(SPEC("\"egress\":[{\"to\":[{\"fqdn\":1}]}]"),
         "spec.egress[0].to[0].fqdn: must be a string, got number"),
    BOTH(SPEC("\"egress\":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},"
              "{},{},{},{},{},{},{},{},{}]"),
         "spec.egress: 33 rules is above the maximum of 32"),
    BOTH(SPEC("\"nodeSelector\":{\"a\":1}"), "spec.nodeSelector.a: must be a string, got number"),
    BOTH(HEAD "\"metadata\":{\"name\":\"a\",\"creationTimestamp\":\"today\"},"
              "\"spec\":{\"code\":\"1\"}}",
         "metadata.creationTimestamp: \"today\" is no RFC 3339 time"),
    {HEAD META "\"spec\":{\"code\":\"1\"},\"status\":{\"phase\":\"Gone\"}}", NULL,
     "status.phase: \"Gone\" is no phase"},
    {HEAD META "\"spec\":{\"code\":\"1\"},\"status\":{\"startTime\":\"now\"}}", NULL,
     "status.startTime: \"now\" is no RFC 3339 time"},
    {HEAD META "\"spec\":{\"code\":\"1\"},\"status\":{\"sandboxID\":"
               "\"0123456789012345678901234567890123456789\"}}",
     NULL, "status.sandboxID: 40 bytes is above the maximum of 39"},
    {HEAD META "\"spec\":{\"code\":\"1\"},\"unknown\":1}", "unknown: unknown field", NULL},
};

static void check_refusal(const char *json, enum sandboxrun_strictness strictness,
                          const char *wanted)
{
    struct sandboxrun run = {.generation = 77};
    struct error err = {0};
    int r = decode(json, strictness, &run, &err);
    if (wanted) {
        assert_string_equal(err.text, wanted);
        assert_int_equal(r, -EINVAL);
        assert_int_equal(run.generation, 77);
    } else {
        if (r < 0)
            fail_msg("%s: %s", json, err.text);
        sandboxrun_done(&run);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
        check_refusal(refusals[i].json, SANDBOXRUN_STRICT, refusals[i].strict);
        check_refusal(refusals[i].json, SANDBOXRUN_LENIENT, refusals[i].lenient);
    }
}

static void test_generate_name(void **state)
{
    (void)state;
    struct sandboxrun run;
    struct error err = {0};
    assert_int_equal(decode(HEAD "\"metadata\":{\"generateName\":\"job-\"},"
                                 "\"spec\":{\"code\":\"1\"}}",
                            SANDBOXRUN_STRICT, &run, &err),
                     0);
    assert_string_equal(run.name, "job");
    sandboxrun_done(&run);
}

/* Texts for people are cut before a character that doesn't fit whole. */
static void test_long_message(void **state)
{
    (void)state;
    char message[MAX_STATUS_MESSAGE], json[2 * MAX_STATUS_MESSAGE];
    memset(message, 'm', sizeof(message));
    (void)snprintf(json, sizeof(json),
                   HEAD META "\"spec\":{\"code\":\"1\"},\"status\":{\"message\":\"%.*s\xc3\xa4\"}}",
                   MAX_STATUS_MESSAGE - 2, message);
    struct sandboxrun run;
    struct error err = {0};
    assert_int_equal(decode(json, SANDBOXRUN_LENIENT, &run, &err), 0);
    assert_int_equal(strlen(run.status.message), MAX_STATUS_MESSAGE - 2);
    sandboxrun_done(&run);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    cleanup_json cJSON *tree = NULL;
    struct error err = {0};
    int r = -ENOMEM;
    assert_int_equal(json_parse(full, strlen(full), &tree, &err), 0);
    unsigned int failures = 0;
    for (long n = 0; r != 0; n++) {
        struct sandboxrun run = {0};
        allocations_left = n;
        r = sandboxrun_decode(tree, SANDBOXRUN_LENIENT, &run, &err);
        allocations_left = -1;
        assert_true(r == 0 || r == -ENOMEM);
        failures += r != 0;
        sandboxrun_done(&run);
    }
    assert_int_equal(failures, 22);

    r = -ENOMEM;
    for (long n = 0; r != 0; n++) {
        struct sandboxrun run = {0};
        allocations_left = n;
        r = sandboxrun_init(&run, "n", PROFILE_SNIPPET, "1");
        allocations_left = -1;
        assert_true(r == 0 || r == -ENOMEM);
        sandboxrun_done(&run);
    }
}

#define DENIED(kind, target, count)                                                                \
    "{\"kind\":\"" kind "\",\"target\":\"" target "\",\"count\":" count "}"
#define SIXTY_FOUR "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define TOO_LONG   SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR "012345"

static void test_denied(void **state)
{
    (void)state;
    struct sandboxrun run;
    struct error err = {0};
    /* What isn't understood is left out, and costs nothing else. */
    assert_int_equal(
        decode(HEAD META "\"spec\":{\"code\":\"1\"},\"status\":{\"denied\":[" DENIED(
                   "Syscall", "ptrace",
                   "3") "," DENIED("Device", "a",
                                   "1") "," DENIED("Network", "",
                                                   "1") "," DENIED("Network", "h:1",
                                                                   "0") ",{}," DENIED("Network",
                                                                                      TOO_LONG,
                                                                                      "1") "]}}",
               SANDBOXRUN_LENIENT, &run, &err),
        0);
    assert_int_equal(run.status.denied_count, 2);
    assert_int_equal(run.status.denied[0].kind, RUN_DENIED_SYSCALL);
    assert_string_equal(run.status.denied[0].target, "ptrace");
    assert_int_equal(run.status.denied[0].count, 3);
    assert_int_equal(run.status.denied[1].kind, RUN_DENIED_NETWORK);
    assert_int_equal(strlen(run.status.denied[1].target), MAX_DENIED_TARGET);
    sandboxrun_done(&run);

    /* No more than there is room for. */
    cleanup_buf struct buf json = BUF_INIT(1 << 16);
    assert_int_equal(buf_append_str(&json, HEAD META "\"spec\":{\"code\":\"1\"},"
                                                     "\"status\":{\"denied\":["),
                     0);
    for (unsigned int i = 0; i < 64; i++)
        assert_int_equal(buf_printf(&json, "%s" DENIED("Syscall", "c%u", "1"), i ? "," : "", i), 0);
    assert_int_equal(buf_append_str(&json, "]}}"), 0);
    assert_int_equal(decode(buf_str(&json), SANDBOXRUN_LENIENT, &run, &err), 0);
    assert_int_equal(run.status.denied_count, MAX_STATUS_DENIED);
    assert_string_equal(run.status.denied[31].target, "c31");
    sandboxrun_done(&run);

    assert_int_equal(decode(HEAD META "\"spec\":{\"code\":\"1\"},\"status\":{\"denied\":7}}",
                            SANDBOXRUN_LENIENT, &run, &err),
                     -EINVAL);
    assert_non_null(strstr(err.text, "status.denied"));
}

static void test_init(void **state)
{
    (void)state;
    struct sandboxrun run;
    struct error err = {0};
    assert_int_equal(sandboxrun_init(&run, "script", PROFILE_SNIPPET, "print(1)"), 0);
    assert_int_equal(run.spec.timeout_seconds, 20);
    assert_int_equal(run.spec.queue_timeout_seconds, 60);
    assert_int_equal(run.spec.ttl_seconds, -1);
    assert_int_equal(sandboxrun_validate(&run, &err), 0);
    run.spec.timeout_seconds = 0;
    run.spec.profile = PROFILE_TOOL_CALL;
    run.spec.cpu_milli = 5;
    sandboxrun_apply_defaults(&run);
    assert_int_equal(run.spec.timeout_seconds, 30);
    assert_int_equal(run.spec.cpu_milli, 5);
    sandboxrun_done(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_explicit_zero),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_generate_name),
        cmocka_unit_test(test_long_message),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_denied),
        cmocka_unit_test(test_init),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
