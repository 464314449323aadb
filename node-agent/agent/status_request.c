/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/status_request.h"

#include "common/api/sandboxrun.h"
#include "common/buf.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/status_patch.h"

static int make_path(const struct status_target *target, const char *subresource, struct buf *path,
                     struct error *err)
{
    int r = buf_append_str(path, "/apis/" SANDBOXRUN_GROUP_VERSION "/namespaces/");

    if (r == 0)
        r = kube_append_escaped(path, target->name_space);
    if (r == 0)
        r = buf_append_str(path, "/sandboxruns/");
    if (r == 0)
        r = kube_append_escaped(path, target->name);
    if (r == 0)
        r = buf_append_str(path, subresource);
    return r < 0 ? error_set_errno(err, -r, "can't make the path of a run") : 0;
}

int status_request_read(struct kube_client *client, const struct status_target *target,
                        kube_response_fn fn, void *arg, struct kube_call **ret_call,
                        struct error *err)
{
    cleanup_buf struct buf path = BUF_INIT(MAX_STATUS_PATH);
    int r = make_path(target, "", &path, err);

    if (r < 0)
        return r;
    const struct kube_request request = {
        .method = "GET", .path = buf_str(&path), .timeout_ms = STATUS_ATTEMPT_MS};
    return kube_client_send(client, &request, fn, arg, ret_call, err);
}

int status_request_patch(struct kube_client *client, const struct status_update *update,
                         kube_response_fn fn, void *arg, struct kube_call **ret_call,
                         struct error *err)
{
    cleanup_buf struct buf path = BUF_INIT(MAX_STATUS_PATH);
    cleanup_buf struct buf body = BUF_INIT(MAX_SPOOL_FILE);
    const struct status_target *target = update->target;
    int r = make_path(target, "/status", &path, err);

    if (r < 0)
        return r;
    if (update->write == STATUS_WRITE_GIVE_BACK)
        r = status_patch_give_back(target->resource_version, target->generation, &body, err);
    else
        r = status_patch_status(target->resource_version, update->status, update->amount,
                                target->room, &body, err);
    if (r < 0)
        return r;
    const struct kube_request request = {
        .method = "PATCH",
        .path = buf_str(&path),
        .content_type = "application/merge-patch+json",
        .accept = KUBE_METADATA_ONLY,
        .body = body.data,
        .body_len = body.len,
        .timeout_ms = STATUS_ATTEMPT_MS,
    };
    return kube_client_send(client, &request, fn, arg, ret_call, err);
}
