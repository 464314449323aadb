/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/node_status.h"

#include "common/api/sandboxrun.h"
#include "common/buf.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/json_string.h"
#include "common/kube/limits.h"
#include "common/kube/retry.h"
#include "common/log.h"
#include "common/random.h"
#include "node-agent/agent/agent_limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLLECTION    "/apis/" SANDBOXRUN_GROUP_VERSION "/sandboxnodes"
#define MAX_NODE_BODY (32u << 10)
#define NS_PER_MS     1000000u

/* A deleted or changed SandboxNode is read, made or written again so often without a pause. */
#define MAX_QUICK_RETRIES 4u

/* READ tells the version to build on, CREATE makes the object where READ found none. */
enum step { STEP_READ, STEP_CREATE, STEP_PATCH };

struct node_status {
    struct kube_client *client;
    struct sandboxnode node;
    node_status_written_fn written;
    void *arg;
    enum step step;
    char version[MAX_KUBE_VERSION];
    bool dirty;  /* node is newer than what was sent */
    bool urgent; /* and can't wait for the interval */
    bool known;  /* the API server has taken a status */
    unsigned int failures;
    uint64_t written_ns;
    char *address; /* of node.output */
    char *certificate;
    struct kube_call *call;
    struct loop_timer *timer;
};

static void go_on(struct node_status *status);

static void set_version(struct node_status *status, const struct kube_response *response)
{
    cleanup_json cJSON *tree = NULL;
    const char *version = NULL;

    if (json_parse(response->body, response->body_len, &tree, NULL) == 0)
        version = json_get_string(tree, "metadata.resourceVersion");
    if (!version || strlen(version) >= sizeof(status->version))
        version = "";
    memcpy(status->version, version, strlen(version) + 1);
}

static void retry(struct node_status *status, const struct kube_response *response)
{
    uint32_t random = 0;

    (void)random_bytes(&random, sizeof(random));
    status->failures++;
    uint64_t delay_ms = retry_delay_ms(status->failures, response->retry_after_ms, random);
    if ((status->failures & (status->failures - 1)) == 0)
        log_event(LOG_LEVEL_WARN, "can't write the SandboxNode, trying again",
                  LOG_TEXT("node", status->node.name), LOG_NUMBER("failures", status->failures),
                  LOG_NUMBER("delayMs", (long long)delay_ms),
                  LOG_TEXT("error", response->error.text));
    status->step = STEP_READ;
    (void)loop_timer_arm(status->timer, delay_ms);
}

static void on_patched(struct node_status *status)
{
    bool first = !status->known;

    status->failures = 0;
    status->written_ns = clock_monotonic_ns();
    status->known = true;
    if (first)
        log_event(LOG_LEVEL_INFO, "the node is registered", LOG_TEXT("node", status->node.name),
                  LOG_TEXT("instance", status->node.instance));
    if (status->dirty)
        go_on(status);
    status->written(first, status->arg);
}

static void on_response(const struct kube_response *response, void *arg)
{
    struct node_status *status = arg;
    enum step step = status->step;
    bool ok = response->status >= 200 && response->status <= 299;

    status->call = NULL;
    if (ok)
        set_version(status, response);
    if (ok && step == STEP_PATCH) {
        on_patched(status);
        return;
    }
    /* What was to be written is still to be written. */
    status->dirty = true;
    status->urgent = true;
    if (ok) {
        status->step = STEP_PATCH;
    } else if (response->status == 404 && step == STEP_READ) {
        status->step = STEP_CREATE;
    } else if ((response->status == 404 || response->status == 409) &&
               ++status->failures <= MAX_QUICK_RETRIES) {
        status->step = STEP_READ;
    } else {
        retry(status, response);
        return;
    }
    go_on(status);
}

static int append_create(const struct node_status *status, struct buf *body)
{
    int r = buf_append_str(body, "{\"apiVersion\":\"" SANDBOXRUN_GROUP_VERSION
                                 "\",\"kind\":\"" SANDBOXNODE_KIND "\",\"metadata\":{");

    if (r == 0)
        r = json_append_member(body, "name", status->node.name);
    return r == 0 ? buf_append_str(body, "}}") : r;
}

static int append_patch(const struct node_status *status, struct buf *body)
{
    int r = buf_append_str(body, "{\"metadata\":{");

    if (r == 0)
        r = json_append_member(body, "resourceVersion", status->version);
    if (r == 0)
        r = buf_append_str(body, "},\"status\":");
    if (r == 0)
        r = sandboxnode_status_encode(&status->node, body);
    return r == 0 ? buf_append_char(body, '}') : r;
}

static int append_path(const struct node_status *status, struct buf *path)
{
    int r = buf_append_str(path, COLLECTION);

    if (r == 0 && status->step != STEP_CREATE)
        r = buf_append_char(path, '/');
    if (r == 0 && status->step != STEP_CREATE)
        r = kube_append_escaped(path, status->node.name);
    return r == 0 && status->step == STEP_PATCH ? buf_append_str(path, "/status") : r;
}

static int send(struct node_status *status, struct error *err)
{
    static const char *const methods[] = {"GET", "POST", "PATCH"};
    cleanup_buf struct buf path = BUF_INIT(MAX_STATUS_PATH);
    cleanup_buf struct buf body = BUF_INIT(MAX_NODE_BODY);
    int r = append_path(status, &path);

    if (r == 0 && status->step == STEP_CREATE)
        r = append_create(status, &body);
    if (r == 0 && status->step == STEP_PATCH)
        r = append_patch(status, &body);
    if (r < 0)
        return error_set_errno(err, -r, "can't make a request for the SandboxNode");
    const struct kube_request request = {
        .method = methods[status->step],
        .path = buf_str(&path),
        .content_type = status->step == STEP_PATCH ? "application/merge-patch+json" : NULL,
        .accept = KUBE_METADATA_ONLY,
        .body = body.data,
        .body_len = body.len,
        .timeout_ms = STATUS_ATTEMPT_MS,
    };
    return kube_client_send(status->client, &request, on_response, status, &status->call, err);
}

static uint64_t wait_ms(const struct node_status *status)
{
    uint64_t passed_ms = (clock_monotonic_ns() - status->written_ns) / NS_PER_MS;

    /* An agent that is ending waits for its last word to be written. */
    if (status->urgent || !status->node.ready || passed_ms >= NODE_STATUS_INTERVAL_MS)
        return 0;
    return NODE_STATUS_INTERVAL_MS - passed_ms;
}

static void go_on(struct node_status *status)
{
    struct kube_response failed = {0};

    if (status->call)
        return;
    uint64_t delay_ms = wait_ms(status);
    if (delay_ms > 0) {
        (void)loop_timer_arm(status->timer, delay_ms);
        return;
    }
    loop_timer_disarm(status->timer);
    if (status->step == STEP_PATCH && !status->version[0])
        status->step = STEP_READ;
    status->dirty = false;
    status->urgent = false;
    if (send(status, &failed.error) < 0) {
        status->dirty = true;
        status->urgent = true;
        retry(status, &failed);
    }
}

static void on_timer(void *arg)
{
    go_on(arg);
}

void node_status_set_allocated(struct node_status *status, const struct node_resources *allocated)
{
    const struct node_resources *old = &status->node.allocated;

    if (old->runs == allocated->runs && old->memory_bytes == allocated->memory_bytes &&
        old->cpu_milli == allocated->cpu_milli)
        return;
    status->node.allocated = *allocated;
    status->dirty = true;
    if (status->failures == 0)
        go_on(status);
}

void node_status_set_warm(struct node_status *status, uint32_t warm)
{
    if (status->node.warm == warm)
        return;
    status->node.warm = warm;
    status->dirty = true;
    if (status->failures == 0)
        go_on(status);
}

int node_status_set_output(struct node_status *status, const struct node_output *output)
{
    cleanup_free char *address = output->address ? strdup(output->address) : NULL;
    cleanup_free char *certificate = strdup(output->certificate);

    if ((output->address && !address) || !certificate)
        return -ENOMEM;
    free(status->address);
    free(status->certificate);
    status->address = TAKE_PTR(address);
    status->certificate = TAKE_PTR(certificate);
    status->node.output = (struct node_output){
        .address = status->address, .port = output->port, .certificate = status->certificate};
    status->dirty = true;
    /* Until clients know of it they can't be served. */
    status->urgent = true;
    if (status->failures == 0)
        go_on(status);
    return 0;
}

void node_status_set_unready(struct node_status *status, const char *reason, const char *message)
{
    struct sandboxnode *node = &status->node;

    (void)snprintf(node->ready_reason, sizeof(node->ready_reason), "%s", reason);
    (void)snprintf(node->ready_message, sizeof(node->ready_message), "%s", message);
    if (node->ready)
        node->ready_since_us = clock_realtime_us();
    node->ready = false;
    status->dirty = true;
    status->urgent = true;
    go_on(status);
}

static void describe_ready(struct sandboxnode *node)
{
    bool before = node->ready;

    node->ready = node->runtime_count > 0;
    (void)snprintf(node->ready_reason, sizeof(node->ready_reason), "%s",
                   node->ready ? "JailerReady" : "NoRuntime");
    (void)snprintf(node->ready_message, sizeof(node->ready_message), "%s",
                   node->ready ? "The node takes runs." : "The jailer has found no runtime.");
    if (node->ready != before || node->ready_since_us == 0)
        node->ready_since_us = clock_realtime_us();
}

void node_status_set_ready(struct node_status *status)
{
    describe_ready(&status->node);
    status->dirty = true;
    status->urgent = true;
    go_on(status);
}

bool node_status_is_written(const struct node_status *status)
{
    return status->known && !status->dirty && !status->call;
}

static void fill(struct sandboxnode *node, const char *node_name, const char *instance,
                 const struct proto_hello *hello)
{
    (void)snprintf(node->name, sizeof(node->name), "%s", node_name);
    (void)snprintf(node->instance, sizeof(node->instance), "%s", instance);
    (void)snprintf(node->kernel, sizeof(node->kernel), "%.64s", hello->kernel);
    node->cgroup_version = hello->cgroup_version;
    node->capacity.runs = hello->max_runs;
    node->capacity.memory_bytes = hello->memory_bytes;
    node->capacity.cpu_milli = hello->cpu_milli;
    for (unsigned int i = 0; i < PROFILE_COUNT; i++)
        node->profiles[i] = hello->profiles & (1u << i);
    for (uint32_t i = 0; i < hello->runtime_count && i < MAX_NODE_RUNTIMES; i++) {
        struct node_runtime *runtime = &node->runtimes[node->runtime_count++];
        (void)snprintf(runtime->name, sizeof(runtime->name), "%s", hello->runtimes[i].name);
        (void)snprintf(runtime->version, sizeof(runtime->version), "%s",
                       hello->runtimes[i].version);
    }
    describe_ready(node);
}

int node_status_new(struct kube_client *client, const char *node_name, const char *instance,
                    const struct proto_hello *hello, node_status_written_fn written, void *arg,
                    struct node_status **ret_status, struct error *err)
{
    struct node_status *status = calloc(1, sizeof(*status));

    if (!status || loop_timer_new(kube_client_loop(client), on_timer, status, &status->timer) < 0) {
        free(status);
        return error_set_errno(err, ENOMEM, "can't write the SandboxNode");
    }
    status->client = client;
    status->written = written;
    status->arg = arg;
    fill(&status->node, node_name, instance, hello);
    status->dirty = true;
    status->urgent = true;
    go_on(status);
    *ret_status = status;
    return 0;
}

void node_status_free(struct node_status *status)
{
    if (!status)
        return;
    kube_call_cancel(status->call);
    loop_timer_free(status->timer);
    free(status->address);
    free(status->certificate);
    free(status);
}
