/* SPDX-License-Identifier: Apache-2.0 */

/* The schemas in manifests/crd and this code state the same: fields, types, names, bounds. */
#include "common/api/sandboxnode.h"
#include "common/api/sandboxrun.h"
#include "common/yaml.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/net/name_pattern.h"

#define SCHEMA "openAPIV3Schema"

struct crds {
    struct yaml_documents run_documents;
    struct yaml_documents node_documents;
    const cJSON *run; /* the schemas */
    const cJSON *node;
};

static const cJSON *load(const char *path, struct yaml_documents *documents)
{
    cleanup_file FILE *file = fopen(path, "re");
    static char bytes[1 << 18];
    struct error err = {0};
    if (!file)
        fail_msg("can't open %s", path);
    size_t len = fread(bytes, 1, sizeof(bytes), file);
    if (yaml_parse(bytes, len, documents, &err) < 0)
        fail_msg("%s: %s", path, err.text);
    assert_int_equal(documents->count, 1);
    const cJSON *version =
        cJSON_GetArrayItem(json_get_path(documents->trees[0], "spec.versions"), 0);
    const cJSON *schema = json_get(json_get(version, "schema"), SCHEMA);
    assert_non_null(schema);
    return schema;
}

static int setup(void **state)
{
    static struct crds crds;
    crds.run = load(MANIFESTS_DIR "/crd/sandboxruns.yaml", &crds.run_documents);
    crds.node = load(MANIFESTS_DIR "/crd/sandboxnodes.yaml", &crds.node_documents);
    *state = &crds;
    return 0;
}

static int teardown(void **state)
{
    struct crds *crds = *state;
    yaml_documents_done(&crds->run_documents);
    yaml_documents_done(&crds->node_documents);
    return 0;
}

/* The schema of a field: "spec.env[].name", "status.usage". */
static const cJSON *find(const cJSON *schema, const char *path)
{
    char copy[128];
    (void)snprintf(copy, sizeof(copy), "%s", path);
    char *rest = copy;
    while (rest && schema) {
        char *name = strsep(&rest, ".");
        char *bracket = strchr(name, '[');
        if (bracket)
            *bracket = '\0';
        schema = json_get(json_get(schema, "properties"), name);
        if (bracket)
            schema = json_get(schema, "items");
    }
    return schema;
}

static void test_bounds(void **state)
{
    const struct crds *crds = *state;
    static const struct {
        const char *field, *keyword;
        int64_t value;
    } bounds[] = {
        {"spec.runtime", "maxLength", MAX_RUNTIME_NAME},
        {"spec.code", "maxLength", MAX_REQUEST_BYTES},
        {"spec.code", "minLength", 1},
        {"spec.stdin", "maxLength", MAX_REQUEST_BYTES},
        {"spec.args", "maxItems", MAX_ARGS},
        {"spec.args[]", "maxLength", MAX_ARG_BYTES},
        {"spec.env", "maxItems", MAX_ENV},
        {"spec.env[].name", "maxLength", MAX_ENV_NAME},
        {"spec.env[].value", "maxLength", MAX_ARG_BYTES},
        {"spec.timeoutSeconds", "minimum", MIN_TIMEOUT_SECONDS},
        {"spec.queueTimeoutSeconds", "minimum", 1},
        {"spec.queueTimeoutSeconds", "maximum", MAX_QUEUE_TIMEOUT},
        {"spec.queueTimeoutSeconds", "default", DEFAULT_QUEUE_TIMEOUT},
        {"spec.ttlSecondsAfterFinished", "minimum", 0},
        {"spec.ttlSecondsAfterFinished", "maximum", MAX_TTL_SECONDS},
        {"spec.egress", "maxItems", MAX_EGRESS_RULES},
        {"spec.egress[].to", "maxItems", MAX_EGRESS_PEERS},
        {"spec.egress[].to[].ipBlock.except", "maxItems", MAX_EGRESS_EXCEPT},
        {"spec.egress[].to[].fqdn", "maxLength", MAX_NAME_PATTERN},
        {"spec.egress[].ports", "maxItems", MAX_EGRESS_PORTS},
        {"spec.nodeSelector", "maxProperties", MAX_NODE_SELECTOR},
        {"status.message", "maxLength", MAX_STATUS_MESSAGE},
        {"status.denied", "maxItems", MAX_STATUS_DENIED},
        {"status.denied[].target", "maxLength", MAX_DENIED_TARGET},
        {"status.nodeName", "maxLength", MAX_RUN_NAME},
        {"status.sandboxID", "maxLength", sizeof(((struct run_status *)NULL)->sandbox_id) - 1},
        {"status.agentInstance", "maxLength",
         sizeof(((struct run_status *)NULL)->agent_instance) - 1},
        {"status.effective.runtimeVersion", "maxLength",
         sizeof(((struct run_status *)NULL)->effective_runtime_version) - 1},
    };
    for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
        int64_t value = -77;
        const cJSON *schema = find(crds->run, bounds[i].field);
        if (json_get_i64(schema, bounds[i].keyword, &value) < 0 || value != bounds[i].value)
            fail_msg("%s: %s is %lld in the schema, %lld here", bounds[i].field, bounds[i].keyword,
                     (long long)value, (long long)bounds[i].value);
    }
    const char *runtime = json_get_string(find(crds->run, "spec.runtime"), "default");
    assert_non_null(runtime);
    assert_string_equal(runtime, DEFAULT_RUNTIME);
}

static void check_enum(const cJSON *schema, unsigned int count, unsigned int first,
                       const char *(*name)(unsigned int i))
{
    const cJSON *list = json_get(schema, "enum");
    assert_int_equal(cJSON_GetArraySize(list), count - first);
    for (unsigned int i = first; i < count; i++)
        assert_string_equal(cJSON_GetArrayItem(list, (int)(i - first))->valuestring, name(i));
}

static const char *phase_name(unsigned int i)
{
    return run_phase_name((enum run_phase)i);
}

static const char *reason_name(unsigned int i)
{
    return run_reason_name((enum run_reason)i);
}

static const char *profile_name(unsigned int i)
{
    return profile_limits((enum profile)i)->name;
}

static void test_enums(void **state)
{
    const struct crds *crds = *state;
    check_enum(find(crds->run, "status.phase"), RUN_PHASE_COUNT, 0, phase_name);
    check_enum(find(crds->run, "status.reason"), RUN_REASON_COUNT, RUN_REASON_COMPLETED,
               reason_name);
    check_enum(find(crds->run, "spec.profile"), PROFILE_COUNT, 0, profile_name);
    check_enum(find(crds->node, "status.profiles[]"), PROFILE_COUNT, 0, profile_name);
}

/* A value of the schema's type; its own fields stay empty. */
static const char *sample(const cJSON *schema)
{
    const char *type = json_get_string(schema, "type");
    if (!type || strcmp(type, "integer") == 0)
        return "1"; /* a quantity has no type of its own */
    if (strcmp(type, "boolean") == 0)
        return "true";
    if (strcmp(type, "array") == 0)
        return "[]";
    return strcmp(type, "object") == 0 ? "{}" : "\"Snippet\"";
}

static void check_known(const char *before, const cJSON *schema, const char *after)
{
    const cJSON *property;
    cJSON_ArrayForEach (property, json_get(schema, "properties")) {
        char json[512];
        (void)snprintf(json, sizeof(json),
                       "{\"apiVersion\":\"sandboxrun.dev/v1alpha1\",\"kind\":\"SandboxRun\","
                       "\"metadata\":{\"name\":\"a\"},\"spec\":{%s%s\"%s\":%s%s}",
                       before[0] ? "\"code\":\"1\"," : "", before, property->string,
                       sample(property), after);
        cleanup_json cJSON *tree = NULL;
        struct sandboxrun run;
        struct error err = {0};
        if (json_parse(json, strlen(json), &tree, &err) < 0)
            fail_msg("%s: %s", json, err.text);
        int r = sandboxrun_decode(tree, SANDBOXRUN_STRICT, &run, &err);
        if (r == 0)
            sandboxrun_done(&run);
        else if (strstr(err.text, "unknown field"))
            fail_msg("%s: %s", json, err.text);
    }
}

/* Whatever the schema has is known to the strict decoder. */
static void test_fields_of_spec(void **state)
{
    const struct crds *crds = *state;
    check_known("", find(crds->run, "spec"), "}");
    check_known("\"env\":[{", find(crds->run, "spec.env[]"), "}]}");
    check_known("\"resources\":{", find(crds->run, "spec.resources"), "}}");
    check_known("\"resources\":{\"limits\":{", find(crds->run, "spec.resources.limits"), "}}}");
    check_known("\"egress\":[{", find(crds->run, "spec.egress[]"), "}]}");
    check_known("\"egress\":[{\"to\":[{", find(crds->run, "spec.egress[].to[]"), "}]}]}");
    check_known("\"egress\":[{\"to\":[{\"ipBlock\":{",
                find(crds->run, "spec.egress[].to[].ipBlock"), "}}]}]}");
    check_known("\"egress\":[{\"ports\":[{", find(crds->run, "spec.egress[].ports[]"), "}]}]}");
}

static const char *type_of(const cJSON *value)
{
    if (cJSON_IsString(value))
        return "string";
    if (cJSON_IsNumber(value))
        return "integer";
    if (cJSON_IsBool(value))
        return "boolean";
    return cJSON_IsArray(value) ? "array" : "object";
}

/* Types, names, enumerations and required fields, all the way down. */
static void check_value(const cJSON *value, const cJSON *schema, const char *name)
{
    const char *type = json_get_string(schema, "type");
    const cJSON *item;
    int64_t max_length;
    if (!type || strcmp(type, type_of(value)) != 0)
        fail_msg("%s: %s in the schema, %s here", name, type ? type : "absent", type_of(value));
    if (cJSON_IsString(value) && json_get_i64(schema, "maxLength", &max_length) == 0)
        assert_true(strlen(value->valuestring) <= (size_t)max_length);
    if (cJSON_IsString(value) && json_get(schema, "enum")) {
        bool found = false;
        cJSON_ArrayForEach (item, json_get(schema, "enum")) {
            found |= strcmp(item->valuestring, value->valuestring) == 0;
        }
        if (!found)
            fail_msg("%s: \"%s\" is not in the schema's enum", name, value->valuestring);
    }
    cJSON_ArrayForEach (item, json_get(schema, "required")) {
        if (!json_get(value, item->valuestring))
            fail_msg("%s lacks %s, which the schema requires", name, item->valuestring);
    }
    if (cJSON_IsArray(value)) {
        cJSON_ArrayForEach (item, value) {
            check_value(item, json_get(schema, "items"), name);
        }
    }
    if (cJSON_IsObject(value)) {
        cJSON_ArrayForEach (item, value) {
            check_value(item, json_get(json_get(schema, "properties"), item->string), item->string);
        }
    }
}

static void check_json(const struct buf *json, const cJSON *schema, int properties)
{
    cleanup_json cJSON *tree = NULL;
    struct error err = {0};
    assert_int_equal(json_parse(json->data, json->len, &tree, &err), 0);
    check_value(tree, schema, "status");
    assert_int_equal(cJSON_GetArraySize(tree), properties);
}

static void test_run_status(void **state)
{
    const struct crds *crds = *state;
    static char text[] = "text";
    struct run_status status = {
        .message = "m",
        .sandbox_id = "sandbox-1",
        .node_name = "n",
        .agent_instance = "i",
        .scheduled_us = 1,
        .start_us = 1,
        .completion_us = 1,
        .has_exit_code = true,
        .stdout_text = text,
        .stdout_len = 4,
        .stderr_text = text,
        .stderr_len = 4,
        .has_usage = true,
        .usage = {.peak_memory_bytes = 1},
        .has_effective = true,
        .effective_runtime_version = "3.12.1",
        .denied_count = 2,
        .denied = {{RUN_DENIED_SYSCALL, "io_uring_setup", 1}, {RUN_DENIED_NETWORK, "a:1", 256}},
        .observed_generation = 1,
    };
    int properties = cJSON_GetArraySize(json_get(find(crds->run, "status"), "properties"));
    for (unsigned int i = 0; i < RUN_REASON_COUNT; i++) {
        cleanup_buf struct buf json = BUF_INIT(1 << 16);
        struct error err = {0};
        status.phase = (enum run_phase)(i % RUN_PHASE_COUNT);
        status.reason = (enum run_reason)i;
        status.scheduled_us = i % 2;
        assert_int_equal(run_status_encode(&status, 0, &json, &err), 0);
        check_json(&json, find(crds->run, "status"),
                   properties - (i == RUN_REASON_NONE) - (i % 2 == 0));
    }
}

static void test_node_status(void **state)
{
    const struct crds *crds = *state;
    const struct sandboxnode node = {
        .instance = "i",
        .runtimes = {{.name = "python3.12", .version = "3.12.1"}},
        .runtime_count = 1,
        .cgroup_version = 1,
        .kernel = "6.1",
        .profiles = {true, true},
        .ready_reason = "Starting",
        .ready_message = "m",
        .output = {.address = "10.0.0.7", .port = 8443, .certificate = "c"},
    };
    cleanup_buf struct buf json = BUF_INIT(1 << 16);
    assert_int_equal(sandboxnode_status_encode(&node, &json), 0);
    check_json(&json, find(crds->node, "status"),
               cJSON_GetArraySize(json_get(find(crds->node, "status"), "properties")));
    int64_t max_runtimes = 0;
    (void)json_get_i64(find(crds->node, "status.runtimes"), "maxItems", &max_runtimes);
    assert_int_equal(max_runtimes, MAX_NODE_RUNTIMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),         cmocka_unit_test(test_enums),
        cmocka_unit_test(test_fields_of_spec), cmocka_unit_test(test_run_status),
        cmocka_unit_test(test_node_status),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
