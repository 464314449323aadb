/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/quantity.h"
#include "common/api/run_status_decode.h"
#include "common/api/sandboxrun.h"
#include "common/api/sandboxrun_bounds.h"
#include "common/api/shape.h"
#include "common/cleanup.h"
#include "common/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct shape_field env_shape[] = {
    {.name = "name", .type = SHAPE_STRING, .required = true},
    {.name = "value", .type = SHAPE_STRING},
    {.name = "valueFrom",
     .refused =
         "values are literals only, so that no credential reaches code that nobody has read"},
    {0},
};

static const struct shape_field limits_shape[] = {
    {.name = "cpu", .type = SHAPE_QUANTITY},
    {.name = "memory", .type = SHAPE_QUANTITY},
    {0},
};

static const struct shape_field resources_shape[] = {
    {.name = "limits", .type = SHAPE_OBJECT, .fields = limits_shape},
    {0},
};

static const struct shape_field spec_shape[] = {
    {.name = "profile", .type = SHAPE_STRING},
    {.name = "runtime", .type = SHAPE_STRING},
    {.name = "code", .type = SHAPE_STRING, .required = true},
    {.name = "args", .type = SHAPE_STRING, .list = true},
    {.name = "env", .type = SHAPE_OBJECT, .list = true, .fields = env_shape},
    {.name = "stdin", .type = SHAPE_STRING},
    {.name = "timeoutSeconds", .type = SHAPE_INTEGER},
    {.name = "resources", .type = SHAPE_OBJECT, .fields = resources_shape},
    {.name = "egress", .type = SHAPE_ANY, .list = true}, /* egress_decode() looks at it */
    {.name = "queueTimeoutSeconds", .type = SHAPE_INTEGER},
    {.name = "ttlSecondsAfterFinished", .type = SHAPE_INTEGER},
    {.name = "nodeSelector", .type = SHAPE_STRING_MAP},
    {0},
};

/* All of ObjectMeta, so that an object written by kubectl get can be run as it is. */
static const struct shape_field metadata_shape[] = {
    {.name = "name", .type = SHAPE_STRING},
    {.name = "generateName", .type = SHAPE_STRING},
    {.name = "namespace", .type = SHAPE_STRING},
    {.name = "uid", .type = SHAPE_STRING},
    {.name = "resourceVersion", .type = SHAPE_STRING},
    {.name = "generation", .type = SHAPE_INTEGER},
    {.name = "creationTimestamp", .type = SHAPE_STRING},
    {.name = "deletionTimestamp", .type = SHAPE_STRING},
    {.name = "deletionGracePeriodSeconds", .type = SHAPE_INTEGER},
    {.name = "labels", .type = SHAPE_STRING_MAP},
    {.name = "annotations", .type = SHAPE_STRING_MAP},
    {.name = "finalizers", .type = SHAPE_ANY},
    {.name = "ownerReferences", .type = SHAPE_ANY},
    {.name = "managedFields", .type = SHAPE_ANY},
    {.name = "selfLink", .type = SHAPE_STRING},
    {0},
};

static const struct shape_field object_shape[] = {
    {.name = "apiVersion", .type = SHAPE_STRING},
    {.name = "kind", .type = SHAPE_STRING},
    {.name = "metadata", .type = SHAPE_OBJECT, .required = true, .fields = metadata_shape},
    {.name = "spec", .type = SHAPE_OBJECT, .required = true, .fields = spec_shape},
    {.name = "status", .type = SHAPE_OBJECT},
    {0},
};

static int out_of_memory(struct error *err)
{
    return error_set(err, ENOMEM, "out of memory while reading a SandboxRun");
}

static int copy_text(const cJSON *tree, const char *path, const char *fallback, char **ret_text,
                     struct error *err)
{
    const char *text = json_get_string(tree, path);
    if (!text)
        text = fallback;
    if (!text)
        return 0;
    char *copy = strdup(text);
    if (!copy)
        return out_of_memory(err);
    *ret_text = copy;
    return 0;
}

/* Items of lists from outside can't exceed what the parser let through; calloc checks the rest. */
static void *list_new(size_t count, size_t size)
{
    return count > 0 ? calloc(count, size) : NULL;
}

static int decode_args(const cJSON *list, struct run_spec *spec, struct error *err)
{
    const cJSON *item;
    size_t count = (size_t)cJSON_GetArraySize(list);
    spec->args = list_new(count, sizeof(*spec->args));
    if (count > 0 && !spec->args)
        return out_of_memory(err);
    cJSON_ArrayForEach (item, list) {
        char *copy = strdup(item->valuestring);
        if (!copy)
            return out_of_memory(err);
        spec->args[spec->arg_count++] = copy;
    }
    return 0;
}

static int decode_env(const cJSON *list, struct run_spec *spec, struct error *err)
{
    const cJSON *item;
    size_t count = (size_t)cJSON_GetArraySize(list);
    spec->env = list_new(count, sizeof(*spec->env));
    if (count > 0 && !spec->env)
        return out_of_memory(err);
    cJSON_ArrayForEach (item, list) {
        struct run_env *env = &spec->env[spec->env_count++];
        int r = copy_text(item, "name", NULL, &env->name, err);
        if (r == 0)
            r = copy_text(item, "value", "", &env->value, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int decode_node_selector(const cJSON *map, struct run_spec *spec, struct error *err)
{
    const cJSON *item;
    size_t count = (size_t)cJSON_GetArraySize(map);
    spec->node_selector = list_new(count, sizeof(*spec->node_selector));
    if (count > 0 && !spec->node_selector)
        return out_of_memory(err);
    cJSON_ArrayForEach (item, map) {
        struct run_label *label = &spec->node_selector[spec->node_selector_count++];
        label->key = strdup(item->string);
        label->value = strdup(item->valuestring);
        if (!label->key || !label->value)
            return out_of_memory(err);
    }
    return 0;
}

/* Absent leaves *value alone. What the type can't hold is out of bounds anyway and says so. */
static int decode_number(const cJSON *spec, const char *name, enum run_number number,
                         enum profile profile, int64_t *value, struct error *err)
{
    int64_t given;
    int r = json_get_i64(spec, name, &given);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return error_set(err, EINVAL, "%s: must be a whole number", run_number_field(number));
    if (given < 0 || given > INT32_MAX)
        return run_number_check(number, profile, given, err);
    *value = given;
    return 0;
}

static int decode_quantity(const cJSON *limits, const char *name, enum run_number number,
                           int (*parse)(const char *text, uint64_t *ret_value), int64_t *value,
                           struct error *err)
{
    const cJSON *given = json_get(limits, name);
    if (!given)
        return 0;

    char number_text[QUANTITY_TEXT_SIZE];
    const char *text = given->valuestring;
    if (cJSON_IsNumber(given)) {
        (void)snprintf(number_text, sizeof(number_text), "%.0f", given->valuedouble);
        text = number_text;
    }
    uint64_t parsed;
    int r = parse(text, &parsed);
    const char *field = run_number_field(number);
    if (r == -ERANGE && text[0] == '-')
        return error_set(err, EINVAL, "%s: %.64s is negative", field, text);
    if (r == -ERANGE)
        return error_set(err, EINVAL, "%s: %.64s is above any maximum", field, text);
    if (r < 0)
        return error_set(err, EINVAL, "%s: \"%.64s\" is no quantity; write it like %s", field, text,
                         number == RUN_NUMBER_CPU ? "500m or 1" : "256Mi");
    uint64_t milli;
    if (number == RUN_NUMBER_MEMORY && quantity_parse_milli(text, &milli) == 0 && milli % 1000 != 0)
        return error_set(err, EINVAL, "%s: %.64s is no whole number of bytes; write it like 256Mi",
                         field, text);
    *value = (int64_t)parsed;
    return 0;
}

/* Numbers: a field that is absent gets its default, an explicit 0 stays 0 for the validator. */
static int decode_numbers(const cJSON *tree, struct run_spec *spec, struct error *err)
{
    const struct profile_limits *profile = profile_limits(spec->profile);
    const cJSON *limits = json_get_path(tree, "resources.limits");
    int64_t timeout = profile->timeout_default_seconds;
    int64_t queue_timeout = DEFAULT_QUEUE_TIMEOUT;
    int64_t ttl = -1;
    int64_t cpu = profile->cpu_max_milli;
    int64_t memory = (int64_t)profile->memory_max_bytes;

    int r = decode_number(tree, "timeoutSeconds", RUN_NUMBER_TIMEOUT, spec->profile, &timeout, err);
    if (r == 0)
        r = decode_number(tree, "queueTimeoutSeconds", RUN_NUMBER_QUEUE_TIMEOUT, spec->profile,
                          &queue_timeout, err);
    if (r == 0)
        r = decode_number(tree, "ttlSecondsAfterFinished", RUN_NUMBER_TTL, spec->profile, &ttl,
                          err);
    if (r == 0)
        r = decode_quantity(limits, "cpu", RUN_NUMBER_CPU, quantity_parse_milli, &cpu, err);
    if (r == 0)
        r = decode_quantity(limits, "memory", RUN_NUMBER_MEMORY, quantity_parse_bytes, &memory,
                            err);
    if (r == 0 && cpu > UINT32_MAX)
        r = run_number_check(RUN_NUMBER_CPU, spec->profile, cpu, err);
    if (r < 0)
        return r;

    spec->timeout_seconds = (uint32_t)timeout;
    spec->queue_timeout_seconds = (uint32_t)queue_timeout;
    spec->ttl_seconds = ttl;
    spec->cpu_milli = (uint32_t)cpu;
    spec->memory_bytes = (uint64_t)memory;
    return 0;
}

static int decode_spec(const cJSON *tree, struct run_spec *spec, struct error *err)
{
    const char *profile = json_get_string(tree, "profile");
    const cJSON *egress = json_get(tree, "egress");
    if (profile && profile_parse(profile, &spec->profile) < 0)
        return error_set(err, EINVAL,
                         "spec.profile: \"%.64s\" is no profile; use Snippet or ToolCall", profile);
    int r = copy_text(tree, "runtime", DEFAULT_RUNTIME, &spec->runtime, err);
    if (r == 0)
        r = copy_text(tree, "code", NULL, &spec->code, err);
    if (r == 0)
        r = copy_text(tree, "stdin", NULL, &spec->stdin_text, err);
    if (r == 0)
        r = decode_args(json_get(tree, "args"), spec, err);
    if (r == 0)
        r = decode_env(json_get(tree, "env"), spec, err);
    if (r == 0)
        r = decode_node_selector(json_get(tree, "nodeSelector"), spec, err);
    if (r == 0 && egress)
        r = egress_decode(egress, &spec->egress, err);
    if (r == 0)
        r = decode_numbers(tree, spec, err);
    return r;
}

static int decode_time(const cJSON *tree, const char *path, int64_t *ret_us, struct error *err)
{
    const char *text = json_get_string(tree, path);
    if (text && clock_parse(text, ret_us) < 0)
        return error_set(err, EINVAL, "%s: \"%.64s\" is no RFC 3339 time", path, text);
    return 0;
}

/* A name is taken as it is; generateName, which only the server can complete, names a local run
 * well enough. */
static int decode_name(const cJSON *tree, char **ret_name, struct error *err)
{
    const char *name = json_get_string(tree, "metadata.name");
    if (!name)
        name = json_get_string(tree, "metadata.generateName");
    if (!name)
        return error_set(err, EINVAL, "metadata.name: is required");
    size_t len = strlen(name);
    if (!json_get_string(tree, "metadata.name")) {
        while (len > 0 && (name[len - 1] == '-' || name[len - 1] == '.'))
            len--;
    }
    char *copy = strndup(name, len);
    if (!copy)
        return out_of_memory(err);
    *ret_name = copy;
    return 0;
}

static int decode_metadata(const cJSON *tree, struct sandboxrun *run, struct error *err)
{
    int r = decode_name(tree, &run->name, err);
    if (r == 0)
        r = copy_text(tree, "metadata.namespace", "default", &run->name_space, err);
    if (r == 0)
        r = copy_text(tree, "metadata.uid", "", &run->uid, err);
    if (r == 0)
        r = copy_text(tree, "metadata.resourceVersion", "", &run->resource_version, err);
    if (r == 0)
        r = decode_time(tree, "metadata.creationTimestamp", &run->creation_us, err);
    if (r < 0)
        return r;
    (void)json_get_i64(tree, "metadata.generation", &run->generation);
    run->deleting = json_get_path(tree, "metadata.deletionTimestamp") != NULL;
    return 0;
}

static int check_kind(const cJSON *tree, enum sandboxrun_strictness strictness, struct error *err)
{
    const struct {
        const char *field, *wanted;
    } checks[] = {{"apiVersion", SANDBOXRUN_GROUP_VERSION}, {"kind", SANDBOXRUN_KIND}};
    for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
        const char *text = json_get_string(tree, checks[i].field);
        if (!text && strictness == SANDBOXRUN_STRICT)
            return error_set(err, EINVAL, "%s: is required, and must be %s", checks[i].field,
                             checks[i].wanted);
        if (text && strcmp(text, checks[i].wanted) != 0)
            return error_set(err, EINVAL, "%s: must be %s, got \"%.64s\"", checks[i].field,
                             checks[i].wanted, text);
    }
    return 0;
}

int sandboxrun_decode(const cJSON *tree, enum sandboxrun_strictness strictness,
                      struct sandboxrun *ret_run, struct error *err)
{
    __attribute__((cleanup(sandboxrun_done))) struct sandboxrun run = {0};
    int r = 0;
    if (!cJSON_IsObject(tree))
        return error_set(err, EINVAL, "a SandboxRun must be an object");
    /* The kind first: the fields of another kind would only be called unknown. */
    r = check_kind(tree, strictness, err);
    if (r == 0)
        r = shape_check(tree, "", object_shape, strictness == SANDBOXRUN_STRICT, err);
    if (r == 0)
        r = decode_metadata(tree, &run, err);
    if (r == 0)
        r = decode_spec(json_get(tree, "spec"), &run.spec, err);
    /* The status in a local file tells of another, earlier run. */
    if (r == 0 && strictness == SANDBOXRUN_LENIENT)
        r = run_status_decode(json_get(tree, "status"), &run.status, err);
    if (r < 0)
        return r;
    *ret_run = run;
    run = (struct sandboxrun){0};
    return 0;
}

int sandboxrun_with_status(const cJSON *tree, const struct run_status *status, cJSON **ret_object,
                           struct error *err)
{
    cleanup_buf struct buf json = BUF_INIT(4 * MAX_OBJECT_BYTES);
    cleanup_json cJSON *value = NULL;
    cleanup_json cJSON *object = NULL;
    int r = run_status_encode(status, 0, &json, err);
    if (r < 0)
        return r;
    r = json_parse(buf_str(&json), json.len, &value, err);
    if (r < 0)
        return r;
    object = cJSON_Duplicate(tree, true);
    if (!object)
        return out_of_memory(err);
    cJSON_DeleteItemFromObjectCaseSensitive(object, "status");
    if (!cJSON_AddItemToObject(object, "status", value))
        return out_of_memory(err);
    value = NULL;
    *ret_object = TAKE_PTR(object);
    return 0;
}
