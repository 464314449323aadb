/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/program.h"

#include "common/cleanup.h"
#include "common/parse.h"
#include "common/utf8.h"

#include <errno.h>
#include <string.h>

/* Which option a complaint about a field is about. */
static const struct {
    const char *field;
    const char *option;
} field_options[] = {
    {"spec.profile", "--profile"},
    {"spec.runtime", "--runtime"},
    {"spec.timeoutSeconds", "--timeout"},
    {"spec.resources.limits.memory", "--memory"},
    {"spec.resources.limits.cpu", "--cpu"},
    {"spec.env", "--env"},
    {"spec.stdin", "--stdin"},
    {"spec.args", "arguments after --"},
};

/* Text that a JSON string can carry: the object must be one that an API server takes too. */
static int check_text(const char *what, const struct buf *text, struct error *err)
{
    const char *bytes = buf_str(text);
    size_t at = 0;
    while (at < text->len) {
        size_t len = utf8_decode(bytes + at, text->len - at, NULL);
        if (len == 0)
            return error_set(err, EINVAL,
                             "%s: byte %zu is not UTF-8; a SandboxRun carries text only", what,
                             at + 1);
        if (bytes[at] == '\0')
            return error_set(err, EINVAL,
                             "%s: byte %zu is a NUL byte; a SandboxRun carries text only", what,
                             at + 1);
        at += len;
    }
    return 0;
}

static int attach(cJSON *parent, const char *key, cJSON *item)
{
    if (!item)
        return -ENOMEM;
    bool attached =
        key ? cJSON_AddItemToObject(parent, key, item) : cJSON_AddItemToArray(parent, item);
    if (attached)
        return 0;
    cJSON_Delete(item);
    return -ENOMEM;
}

/* NULL text: the field stays out. */
static int attach_string(cJSON *parent, const char *key, const char *text)
{
    return text ? attach(parent, key, cJSON_CreateString(text)) : 0;
}

static int attach_args(cJSON *spec, const struct program_options *options)
{
    if (options->arg_count == 0)
        return 0;
    cJSON *args = cJSON_AddArrayToObject(spec, "args");
    int r = args ? 0 : -ENOMEM;
    for (size_t i = 0; r >= 0 && i < options->arg_count; i++)
        r = attach_string(args, NULL, options->args[i]);
    return r;
}

static int attach_env(cJSON *spec, const struct program_options *options)
{
    if (options->env_count == 0)
        return 0;
    cJSON *env = cJSON_AddArrayToObject(spec, "env");
    int r = env ? 0 : -ENOMEM;
    for (size_t i = 0; r >= 0 && i < options->env_count; i++) {
        const char *equals = strchr(options->env[i], '=');
        cleanup_free char *name = strndup(options->env[i], (size_t)(equals - options->env[i]));
        cJSON *variable = cJSON_CreateObject();
        r = name ? attach(env, NULL, variable) : -ENOMEM;
        if (r >= 0)
            r = attach_string(variable, "name", name);
        else if (!name)
            cJSON_Delete(variable);
        if (r >= 0)
            r = attach_string(variable, "value", equals + 1);
    }
    return r;
}

static int attach_limits(cJSON *spec, const struct program_options *options)
{
    if (!options->memory && !options->cpu)
        return 0;
    cJSON *resources = cJSON_AddObjectToObject(spec, "resources");
    cJSON *limits = resources ? cJSON_AddObjectToObject(resources, "limits") : NULL;
    int r = limits ? 0 : -ENOMEM;
    if (r >= 0)
        r = attach_string(limits, "memory", options->memory);
    if (r >= 0)
        r = attach_string(limits, "cpu", options->cpu);
    return r;
}

static int attach_timeout(cJSON *spec, const struct program_options *options, struct error *err)
{
    uint64_t seconds;
    if (!options->timeout)
        return 0;
    int r = options_timeout(options->timeout, &seconds, err);
    if (r < 0)
        return r;
    if (attach(spec, "timeoutSeconds", cJSON_CreateNumber((double)seconds)) < 0)
        return error_set_errno(err, ENOMEM, "--timeout");
    return 0;
}

static int attach_spec(cJSON *spec, const struct buf *code, const struct buf *stdin_text,
                       const struct program_options *options)
{
    int r = attach_string(spec, "profile", options->profile);
    if (r >= 0)
        r = attach_string(spec, "runtime", options->runtime);
    if (r >= 0)
        r = attach_string(spec, "code", buf_str(code));
    if (r >= 0)
        r = attach_args(spec, options);
    if (r >= 0)
        r = attach_env(spec, options);
    if (r >= 0 && stdin_text)
        r = attach_string(spec, "stdin", buf_str(stdin_text));
    if (r >= 0)
        r = attach_limits(spec, options);
    return r;
}

static int make_tree(const struct buf *code, const struct buf *stdin_text,
                     const struct program_options *options, cJSON **ret_tree, struct error *err)
{
    cleanup_json cJSON *tree = cJSON_CreateObject();
    int r = tree ? 0 : -ENOMEM;
    if (r >= 0)
        r = attach_string(tree, "apiVersion", SANDBOXRUN_GROUP_VERSION);
    if (r >= 0)
        r = attach_string(tree, "kind", SANDBOXRUN_KIND);
    /* In its place, to be filled in. */
    if (r >= 0 && !cJSON_AddObjectToObject(tree, "metadata"))
        r = -ENOMEM;
    cJSON *spec = r >= 0 ? cJSON_AddObjectToObject(tree, "spec") : NULL;
    if (r >= 0)
        r = spec ? attach_spec(spec, code, stdin_text, options) : -ENOMEM;
    if (r < 0)
        return error_set_errno(err, -r, "object of the program");
    r = attach_timeout(spec, options, err);
    if (r < 0)
        return r;
    *ret_tree = TAKE_PTR(tree);
    return 0;
}

/* "--timeout: spec.timeoutSeconds: at most 60" where the user wrote the option, not the field. */
static void name_option(struct error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(field_options); i++) {
        if (strncmp(err->text, field_options[i].field, strlen(field_options[i].field)) != 0)
            continue;
        (void)error_wrap(err, "%s", field_options[i].option);
        return;
    }
}

static int check_texts(const char *source, const struct buf *code, const struct buf *stdin_text,
                       const struct program_options *options, struct error *err)
{
    int r = check_text(source, code, err);
    if (r >= 0 && stdin_text)
        r = check_text("--stdin", stdin_text, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < options->env_count; i++) {
        if (!parse_is_utf8(options->env[i], strlen(options->env[i])))
            return error_set(err, EINVAL, "--env: number %zu is not UTF-8", i + 1);
    }
    for (size_t i = 0; i < options->arg_count; i++) {
        if (!parse_is_utf8(options->args[i], strlen(options->args[i])))
            return error_set(err, EINVAL, "arguments after --: number %zu is not UTF-8", i + 1);
    }
    return 0;
}

int program_add(struct document_list *list, const char *source, const struct buf *code,
                const struct buf *stdin_text, const struct program_options *options,
                struct error *err)
{
    int r = check_texts(source, code, stdin_text, options, err);
    if (r < 0)
        return r;
    cJSON *tree = NULL;
    r = make_tree(code, stdin_text, options, &tree, err);
    if (r < 0)
        return r;
    char name[MAX_RUN_NAME + 1];
    documents_make_name(source, 0, name);
    r = documents_add_tree(list, NULL, name, tree, err);
    if (r < 0) {
        name_option(err);
        return error_wrap(err, "%s", source);
    }
    return 0;
}
