/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/facts.h"

#include "common/api/run_status_decode.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "controller/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int out_of_memory(struct error *err)
{
    return error_set(err, ENOMEM, "out of memory while reading a SandboxRun");
}

static int copy_identity(const cJSON *object, const char *path, char **ret_text, struct error *err)
{
    const char *text = json_get_string(object, path);
    if (!text || !text[0])
        return error_set(err, EINVAL, "%s: is missing", path);
    if (strnlen(text, MAX_RUN_NAME + 1) > MAX_RUN_NAME)
        return error_set(err, EINVAL, "%s: longer than %d bytes", path, MAX_RUN_NAME);
    *ret_text = strdup(text);
    return *ret_text ? 0 : out_of_memory(err);
}

static int read_identity(const cJSON *object, struct run_facts *facts, struct error *err)
{
    int r = copy_identity(object, "metadata.namespace", &facts->name_space, err);
    if (r == 0)
        r = copy_identity(object, "metadata.name", &facts->name, err);
    if (r == 0)
        r = copy_identity(object, "metadata.uid", &facts->uid, err);
    if (r == 0)
        r = copy_identity(object, "metadata.resourceVersion", &facts->resource_version, err);
    return r;
}

/* NULL for an empty text. */
static int copy_if_set(const char *text, char **ret_text, struct error *err)
{
    if (!text[0])
        return 0;
    *ret_text = strdup(text);
    return *ret_text ? 0 : out_of_memory(err);
}

static int read_status(const struct run_status *status, struct run_facts *facts, struct error *err)
{
    facts->phase = status->phase;
    facts->scheduled_us = status->scheduled_us;
    facts->completion_us = status->completion_us;
    facts->observed_generation = status->observed_generation;
    int r = copy_if_set(status->node_name, &facts->node_name, err);
    if (r == 0)
        r = copy_if_set(status->agent_instance, &facts->agent_instance, err);
    if (r == 0)
        r = copy_if_set(status->sandbox_id, &facts->sandbox_id, err);
    return r;
}

/* A condition Scheduled=False was written by a controller: it need not be written again. */
static void read_waiting(const cJSON *object, struct run_facts *facts)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, json_get_path(object, "status.conditions")) {
        const char *type = json_get_string(item, "type");
        const char *status = json_get_string(item, "status");
        const char *reason = json_get_string(item, "reason");
        const char *since = json_get_string(item, "lastTransitionTime");
        if (!type || !status || !reason || !since || strcmp(type, "Scheduled") != 0 ||
            strcmp(status, "False") != 0)
            continue;
        (void)snprintf(facts->waiting_reason, sizeof(facts->waiting_reason), "%s", reason);
        (void)clock_parse(since, &facts->waiting_since_us);
    }
}

static int set_invalid(struct run_facts *facts, const char *text, struct error *err)
{
    facts->invalid = strdup(text);
    return facts->invalid ? 0 : out_of_memory(err);
}

/* Whatever else is wrong with a status, its phase says what may be done. */
static int read_refused_status(const cJSON *tree, struct run_facts *facts, struct error *err)
{
    const char *phase = json_get_string(tree, "phase");
    const char *node = json_get_string(tree, "nodeName");
    if (phase && run_phase_parse(phase, &facts->phase) < 0)
        facts->foreign = true;
    if (!node || strnlen(node, MAX_RUN_NAME + 1) > MAX_RUN_NAME)
        return 0;
    return copy_if_set(node, &facts->node_name, err);
}

/* An object that the codec refuses still has a phase, as far as that can be read. */
static int read_refused(const cJSON *object, const struct error *why, struct run_facts *facts,
                        struct error *err)
{
    __attribute__((cleanup(run_status_done))) struct run_status status = {0};
    const cJSON *tree = json_get(object, "status");
    const char *text = why->text;
    /* Metadata is all that is told of an object which is too large, or no JSON of ours. */
    if (!json_get(object, "spec"))
        text = "the object can't be read: it is larger than 4 MiB, or a text in it has a NUL";
    facts->ttl_seconds = -1;
    facts->deleting = json_get_path(object, "metadata.deletionTimestamp") != NULL;
    /* Not known; whoever assigned it may have let it run for so long. */
    facts->timeout_seconds = profile_limits(PROFILE_TOOL_CALL)->timeout_max_seconds;
    int r = set_invalid(facts, text, err);
    if (r < 0)
        return r;
    r = run_status_decode(tree, &status, NULL);
    if (r == -ENOMEM)
        return out_of_memory(err);
    return r < 0 ? read_refused_status(tree, facts, err) : read_status(&status, facts, err);
}

static int read_run(struct sandboxrun *run, struct run_facts *facts, struct error *err)
{
    struct error why;
    int r = read_status(&run->status, facts, err);
    facts->generation = run->generation;
    facts->deleting = run->deleting;
    facts->creation_us = run->creation_us;
    facts->timeout_seconds = run->spec.timeout_seconds;
    facts->queue_timeout_seconds = run->spec.queue_timeout_seconds;
    facts->ttl_seconds = run->spec.ttl_seconds;
    /* Nobody asks whether a run that was assigned should have been. */
    if (r == 0 && run->status.phase == RUN_PHASE_PENDING && sandboxrun_validate(run, &why) < 0)
        r = set_invalid(facts, why.text, err);
    facts->request = request_take(&run->spec);
    if (facts->request.memory_bytes > MAX_RUN_MEMORY)
        facts->request.memory_bytes = MAX_RUN_MEMORY;
    return r;
}

int facts_read(const cJSON *object, struct run_facts *ret_facts, struct error *err)
{
    __attribute__((cleanup(facts_done))) struct run_facts facts = {0};
    __attribute__((cleanup(sandboxrun_done))) struct sandboxrun run = {0};
    struct error why;
    int r = read_identity(object, &facts, err);
    if (r < 0)
        return r;
    r = sandboxrun_decode(object, SANDBOXRUN_LENIENT, &run, &why);
    if (r == -ENOMEM)
        return out_of_memory(err);
    r = r < 0 ? read_refused(object, &why, &facts, err) : read_run(&run, &facts, err);
    if (r < 0)
        return r;
    read_waiting(object, &facts);
    *ret_facts = facts;
    facts = (struct run_facts){0};
    return 0;
}

void facts_done(struct run_facts *facts)
{
    if (!facts)
        return;
    free(facts->name_space);
    free(facts->name);
    free(facts->uid);
    free(facts->resource_version);
    free(facts->invalid);
    request_done(&facts->request);
    free(facts->node_name);
    free(facts->agent_instance);
    free(facts->sandbox_id);
    *facts = (struct run_facts){0};
}
