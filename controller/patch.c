/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/patch.h"

#include "common/clock.h"
#include "common/json.h"
#include "common/kube/client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define MAX_WRITE_PATH (2u << 10)
#define MAX_WRITE_BODY (16u << 10)

static int append_path(const struct run_facts *facts, bool status, struct buf *path)
{
    int r = buf_append_str(path, "/apis/" SANDBOXRUN_GROUP_VERSION "/namespaces/");
    if (r == 0)
        r = kube_append_escaped(path, facts->name_space);
    if (r == 0)
        r = buf_append_str(path, "/sandboxruns/");
    if (r == 0)
        r = kube_append_escaped(path, facts->name);
    if (r == 0 && status)
        r = buf_append_str(path, "/status");
    return r;
}

static void copy_if_set(char *field, size_t size, const char *text)
{
    if (text)
        (void)snprintf(field, size, "%s", text);
}

static int append_assigned(const struct action *action, const char *sandbox_id, int64_t now_us,
                           struct buf *body, struct error *err)
{
    struct run_status status = {
        .phase = RUN_PHASE_SCHEDULED,
        .scheduled_us = now_us,
        .observed_generation = action->run->facts.generation,
    };
    copy_if_set(status.sandbox_id, sizeof(status.sandbox_id), sandbox_id);
    copy_if_set(status.node_name, sizeof(status.node_name), action->node->name);
    copy_if_set(status.agent_instance, sizeof(status.agent_instance),
                action->node->agent->instance);
    return run_status_encode(&status, 0, body, err);
}

/* Its start is left out: whoever has one and no output told wrote nothing, and here nobody knows.
 * The object keeps the start that it has. */
static int append_failed(const struct action *action, int64_t now_us, struct buf *body,
                         struct error *err)
{
    const struct run_facts *facts = &action->run->facts;
    struct run_status status = {
        .phase = RUN_PHASE_FAILED,
        .reason = action->reason,
        .scheduled_us = facts->scheduled_us,
        .completion_us = now_us,
        .has_exit_code = true,
        .exit_code = -1,
        .observed_generation = facts->generation,
    };
    copy_if_set(status.message, sizeof(status.message), action->message);
    copy_if_set(status.sandbox_id, sizeof(status.sandbox_id), facts->sandbox_id);
    copy_if_set(status.node_name, sizeof(status.node_name), facts->node_name);
    copy_if_set(status.agent_instance, sizeof(status.agent_instance), facts->agent_instance);
    return run_status_encode(&status, 0, body, err);
}

/* A list is replaced whole by a merge patch: the other condition goes with it. */
static int append_waiting(const struct action *action, int64_t now_us, struct buf *body)
{
    const struct run_facts *facts = &action->run->facts;
    char since[CLOCK_TEXT_SIZE];
    /* The status of the condition doesn't change with its reason. */
    clock_format_micro(facts->waiting_since_us > 0 ? facts->waiting_since_us : now_us, since);
    int r = buf_append_str(body, "{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"Scheduled\","
                                 "\"status\":\"False\"");
    if (r == 0)
        r = json_append_member(body, "reason", wait_reason_name(action->waits_for));
    if (r == 0)
        r = json_append_member(body, "message", action->message);
    if (r == 0)
        r = json_append_member(body, "lastTransitionTime", since);
    if (r == 0)
        r = buf_append_str(body, "},{\"type\":\"Finished\",\"status\":\"False\",\"reason\":"
                                 "\"Pending\",\"message\":\"The run has not finished.\","
                                 "\"lastTransitionTime\":\"1970-01-01T00:00:00.000000Z\"}]}");
    return r;
}

static int append_status(const struct action *action, const char *sandbox_id, int64_t now_us,
                         struct buf *body, struct error *err)
{
    switch (action->kind) {
    case ACTION_ASSIGN:
        return append_assigned(action, sandbox_id, now_us, body, err);
    case ACTION_FAIL:
        return append_failed(action, now_us, body, err);
    case ACTION_EXPLAIN:
        return append_waiting(action, now_us, body);
    case ACTION_OBSERVE:
        return buf_printf(body, "{\"observedGeneration\":%" PRId64 "}",
                          action->run->facts.generation);
    case ACTION_DELETE:
        break;
    }
    return -EINVAL;
}

static int append_patch(const struct action *action, const char *sandbox_id, int64_t now_us,
                        struct buf *body, struct error *err)
{
    int r = buf_append_str(body, "{\"metadata\":{");
    if (r == 0)
        r = json_append_member(body, "resourceVersion", action->run->facts.resource_version);
    if (r == 0)
        r = buf_append_str(body, "},\"status\":");
    if (r == 0)
        r = append_status(action, sandbox_id, now_us, body, err);
    return r < 0 ? r : buf_append_char(body, '}');
}

static int append_delete_options(const struct action *action, struct buf *body)
{
    const struct run_facts *facts = &action->run->facts;
    int r = buf_append_str(body, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                                 "\"propagationPolicy\":\"Background\",\"preconditions\":{");
    if (r == 0)
        r = json_append_member(body, "uid", facts->uid);
    if (r == 0)
        r = json_append_member(body, "resourceVersion", facts->resource_version);
    return r < 0 ? r : buf_append_str(body, "}}");
}

int write_request_make(const struct action *action, const char *sandbox_id, int64_t now_us,
                       struct write_request *ret_request, struct error *err)
{
    bool deletes = action->kind == ACTION_DELETE;
    struct write_request request = {
        .method = deletes ? "DELETE" : "PATCH",
        .content_type = deletes ? "application/json" : "application/merge-patch+json",
        .accept = KUBE_METADATA_ONLY,
        .path = BUF_INIT(MAX_WRITE_PATH),
        .body = BUF_INIT(MAX_WRITE_BODY),
    };
    int r = append_path(&action->run->facts, !deletes, &request.path);
    if (r == 0)
        r = deletes ? append_delete_options(action, &request.body)
                    : append_patch(action, sandbox_id, now_us, &request.body, err);
    if (r < 0) {
        write_request_done(&request);
        return error_set_errno(err, -r, "can't write a request to the API server");
    }
    *ret_request = request;
    return 0;
}

void write_request_done(struct write_request *request)
{
    buf_done(&request->path);
    buf_done(&request->body);
}
