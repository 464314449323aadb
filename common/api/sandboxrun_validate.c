/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/sandboxrun.h"
#include "common/api/sandboxrun_bounds.h"
#include "common/parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Characters allowed at the start, in the middle and at the end of a name. */
#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static bool is_name(const char *text, const char *ends, const char *middle)
{
    size_t len = strlen(text);
    return len > 0 && strchr(ends, text[0]) && strchr(ends, text[len - 1]) &&
           strspn(text, middle) == len;
}

static bool is_label_name(const char *text)
{
    return strlen(text) <= MAX_LABEL_NAME &&
           is_name(text, LOWER UPPER DIGITS, LOWER UPPER DIGITS "._-");
}

static int check_utf8(const char *field, const char *text, struct error *err)
{
    if (parse_is_utf8(text, strlen(text)))
        return 0;
    return error_set(err, EINVAL,
                     "%s: is not valid UTF-8; encode binary data, for instance as base64", field);
}

static int check_metadata(const struct sandboxrun *run, struct error *err)
{
    if (!parse_is_dns_subdomain(run->name))
        return error_set(err, EINVAL,
                         "metadata.name: \"%.64s\" is no name: 1 to %d lower-case letters, digits, "
                         "'-' and '.', with a letter or digit at both ends",
                         run->name, MAX_RUN_NAME);
    if (!parse_is_dns_label(run->name_space))
        return error_set(err, EINVAL,
                         "metadata.namespace: \"%.64s\" is no namespace: 1 to 63 lower-case "
                         "letters, digits and '-', with a letter or digit at both ends",
                         run->name_space);
    return 0;
}

static int check_runtime(const struct sandboxrun *run, struct error *err)
{
    const char *name = run->spec.runtime;
    if (strlen(name) <= MAX_RUNTIME_NAME && is_name(name, LOWER DIGITS, LOWER DIGITS "._-"))
        return 0;
    return error_set(err, EINVAL,
                     "spec.runtime: \"%.64s\" is no runtime's name: 1 to %d lower-case letters, "
                     "digits, '.', '_' and '-', with a letter or digit at both ends",
                     name, MAX_RUNTIME_NAME);
}

static int check_code(const struct sandboxrun *run, struct error *err)
{
    if (!run->spec.code[0])
        return error_set(err, EINVAL, "spec.code: is empty; give it the program's source");
    return check_utf8("spec.code", run->spec.code, err);
}

static int check_stdin(const struct sandboxrun *run, struct error *err)
{
    return run->spec.stdin_text ? check_utf8("spec.stdin", run->spec.stdin_text, err) : 0;
}

static int check_args(const struct sandboxrun *run, struct error *err)
{
    const struct run_spec *spec = &run->spec;
    if (spec->arg_count > MAX_ARGS)
        return error_set(err, EINVAL,
                         "spec.args: %zu is above the maximum of %d; pass more by stdin",
                         spec->arg_count, MAX_ARGS);
    for (size_t i = 0; i < spec->arg_count; i++) {
        char field[32];
        (void)snprintf(field, sizeof(field), "spec.args[%zu]", i);
        size_t len = strlen(spec->args[i]);
        if (len > MAX_ARG_BYTES)
            return error_set(err, EINVAL,
                             "%s: %zu bytes is above the maximum of %u; pass more by stdin", field,
                             len, MAX_ARG_BYTES);
        int r = check_utf8(field, spec->args[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_env_entry(const struct run_spec *spec, size_t index, struct error *err)
{
    const struct run_env *env = &spec->env[index];
    size_t name_len = strlen(env->name);
    size_t len = name_len + strlen(env->value);
    char field[32];
    (void)snprintf(field, sizeof(field), "spec.env[%zu]", index);

    if (name_len > MAX_ENV_NAME)
        return error_set(err, EINVAL, "%s.name: %zu bytes is above the maximum of %d", field,
                         name_len, MAX_ENV_NAME);
    if (!is_name(env->name, LOWER UPPER DIGITS "_.-", LOWER UPPER DIGITS "_.-") ||
        strchr(DIGITS, env->name[0]))
        return error_set(err, EINVAL,
                         "%s.name: \"%.64s\" is no variable's name: letters, digits, '_', '.' and "
                         "'-', not starting with a digit",
                         field, env->name);
    if (len > MAX_ARG_BYTES)
        return error_set(err, EINVAL,
                         "%s: name and value are %zu bytes, above the maximum of %u; pass more by "
                         "stdin",
                         field, len, MAX_ARG_BYTES);
    for (size_t i = 0; i < index; i++) {
        if (strcmp(spec->env[i].name, env->name) == 0)
            return error_set(err, EINVAL, "%s.name: \"%.64s\" was given before, by spec.env[%zu]",
                             field, env->name, i);
    }
    return check_utf8(field, env->value, err);
}

static int check_env(const struct sandboxrun *run, struct error *err)
{
    const struct run_spec *spec = &run->spec;
    if (spec->env_count > MAX_ENV)
        return error_set(err, EINVAL,
                         "spec.env: %zu is above the maximum of %d; pass more by stdin",
                         spec->env_count, MAX_ENV);
    for (size_t i = 0; i < spec->env_count; i++) {
        int r = check_env_entry(spec, i, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_request_bytes(const struct sandboxrun *run, struct error *err)
{
    const struct run_spec *spec = &run->spec;
    size_t total = strlen(spec->code) + (spec->stdin_text ? strlen(spec->stdin_text) : 0);
    for (size_t i = 0; i < spec->arg_count; i++)
        total += strlen(spec->args[i]);
    for (size_t i = 0; i < spec->env_count; i++)
        total += strlen(spec->env[i].name) + strlen(spec->env[i].value);
    if (total <= MAX_REQUEST_BYTES)
        return 0;
    return error_set(err, EINVAL,
                     "spec: code, stdin, args and env together are %zu bytes, above the maximum of "
                     "%u; make the program fetch or generate its data",
                     total, MAX_REQUEST_BYTES);
}

static int check_numbers(const struct sandboxrun *run, struct error *err)
{
    const struct run_spec *spec = &run->spec;
    const int64_t values[RUN_NUMBER_COUNT] = {
        [RUN_NUMBER_TIMEOUT] = spec->timeout_seconds,
        [RUN_NUMBER_CPU] = spec->cpu_milli,
        [RUN_NUMBER_MEMORY] =
            spec->memory_bytes > INT64_MAX ? INT64_MAX : (int64_t)spec->memory_bytes,
        [RUN_NUMBER_QUEUE_TIMEOUT] = spec->queue_timeout_seconds,
        [RUN_NUMBER_TTL] = spec->ttl_seconds,
    };
    for (unsigned int i = 0; i < RUN_NUMBER_COUNT; i++) {
        if (i == RUN_NUMBER_TTL && spec->ttl_seconds == -1)
            continue;
        int r = run_number_check((enum run_number)i, spec->profile, values[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_egress(const struct sandboxrun *run, struct error *err)
{
    if (!run->spec.egress || run->spec.profile == PROFILE_TOOL_CALL)
        return 0;
    return error_set(err, EINVAL,
                     "spec.egress: needs profile ToolCall; profile %s has no network at all",
                     profile_limits(run->spec.profile)->name);
}

/* A label's key: an optional DNS subdomain and a slash, then a name. */
static bool is_label_key(const char *key)
{
    const char *slash = strchr(key, '/');
    if (!slash)
        return is_label_name(key);
    char prefix[MAX_RUN_NAME + 1];
    size_t len = (size_t)(slash - key);
    if (len >= sizeof(prefix))
        return false;
    memcpy(prefix, key, len);
    prefix[len] = '\0';
    return parse_is_dns_subdomain(prefix) && is_label_name(slash + 1);
}

static int check_node_selector(const struct sandboxrun *run, struct error *err)
{
    const struct run_spec *spec = &run->spec;
    if (spec->node_selector_count > MAX_NODE_SELECTOR)
        return error_set(err, EINVAL, "spec.nodeSelector: %zu labels is above the maximum of %d",
                         spec->node_selector_count, MAX_NODE_SELECTOR);
    for (size_t i = 0; i < spec->node_selector_count; i++) {
        const struct run_label *label = &spec->node_selector[i];
        if (!is_label_key(label->key))
            return error_set(err, EINVAL, "spec.nodeSelector: \"%.64s\" is no label's name",
                             label->key);
        if (label->value[0] && !is_label_name(label->value))
            return error_set(err, EINVAL,
                             "spec.nodeSelector: %.64s: \"%.64s\" is no label's value: at most %d "
                             "letters, digits, '-', '_' and '.'",
                             label->key, label->value, MAX_LABEL_NAME);
    }
    return 0;
}

int sandboxrun_validate(const struct sandboxrun *run, struct error *err)
{
    /* Counts come before what walks over the items. */
    static int (*const checks[])(const struct sandboxrun *run, struct error *err) = {
        check_metadata, check_runtime, check_code,    check_stdin,         check_args,
        check_env,      check_egress,  check_numbers, check_request_bytes, check_node_selector,
    };
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        int r = checks[i](run, err);
        if (r < 0)
            return r;
    }
    return 0;
}
