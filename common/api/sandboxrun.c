/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/sandboxrun.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sandboxrun_init(struct sandboxrun *ret_run, const char *name, enum profile profile,
                    const char *code)
{
    struct sandboxrun run = {
        .name = strdup(name),
        .name_space = strdup("default"),
        .uid = strdup(""),
        .resource_version = strdup(""),
        .spec = {.profile = profile,
                 .runtime = strdup(DEFAULT_RUNTIME),
                 .code = strdup(code),
                 .queue_timeout_seconds = DEFAULT_QUEUE_TIMEOUT,
                 .ttl_seconds = -1},
    };
    if (!run.name || !run.name_space || !run.uid || !run.resource_version || !run.spec.runtime ||
        !run.spec.code) {
        sandboxrun_done(&run);
        return -ENOMEM;
    }
    sandboxrun_apply_defaults(&run);
    *ret_run = run;
    return 0;
}

void sandboxrun_apply_defaults(struct sandboxrun *run)
{
    const struct profile_limits *limits = profile_limits(run->spec.profile);
    if (run->spec.timeout_seconds == 0)
        run->spec.timeout_seconds = limits->timeout_default_seconds;
    if (run->spec.cpu_milli == 0)
        run->spec.cpu_milli = limits->cpu_max_milli;
    if (run->spec.memory_bytes == 0)
        run->spec.memory_bytes = limits->memory_max_bytes;
}

static void spec_done(struct run_spec *spec)
{
    free(spec->runtime);
    free(spec->code);
    for (size_t i = 0; i < spec->arg_count; i++)
        free(spec->args[i]);
    free(spec->args);
    for (size_t i = 0; i < spec->env_count; i++) {
        free(spec->env[i].name);
        free(spec->env[i].value);
    }
    free(spec->env);
    free(spec->stdin_text);
    free(spec->egress);
    for (size_t i = 0; i < spec->node_selector_count; i++) {
        free(spec->node_selector[i].key);
        free(spec->node_selector[i].value);
    }
    free(spec->node_selector);
}

void sandboxrun_done(struct sandboxrun *run)
{
    if (!run)
        return;
    free(run->name);
    free(run->name_space);
    free(run->uid);
    free(run->resource_version);
    spec_done(&run->spec);
    run_status_done(&run->status);
    *run = (struct sandboxrun){0};
}
