/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/node_lease.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/kube/client.h"
#include "common/kube/lease.h"
#include "common/log.h"
#include "node-agent/agent/agent_limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

/* READ tells whose it is and the version to build on, CREATE makes it where READ found none. */
enum step { STEP_READ, STEP_CREATE, STEP_RENEW };

struct node_lease {
    struct kube_client *client;
    struct loop_timer *timer;
    struct kube_call *call;
    struct node_lease_options options;
    node_lease_renewed_fn renewed;
    node_lease_taken_fn taken;
    void *arg;
    enum step step;
    struct kube_lease object; /* as it was last read or written */
    unsigned int quick;       /* attempts without a pause */
    unsigned int failures;
    uint64_t sent_ns;    /* the request under way, CLOCK_BOOTTIME */
    uint64_t renewed_ns; /* when the last accepted renewal was sent; 0: none was */
};

static void go_on(struct node_lease *lease);

static uint64_t window_ns(const struct node_lease *lease)
{
    return lease_times_window_ms(&lease->options.times) * NS_PER_MS;
}

uint64_t node_lease_not_after_ns(const struct node_lease *lease)
{
    /* Before the first renewal: an instant that has passed. */
    return lease->renewed_ns > 0 ? lease->renewed_ns + window_ns(lease) : 1;
}

bool node_lease_is_fresh(const struct node_lease *lease)
{
    return clock_boottime_ns() + LEASE_START_MARGIN_MS * NS_PER_MS < node_lease_not_after_ns(lease);
}

double node_lease_age_seconds(const struct node_lease *lease)
{
    return lease->renewed_ns > 0 ? (double)(clock_boottime_ns() - lease->renewed_ns) / 1e9 : 0.0;
}

/* The next renewal is due an interval after this one was sent, however long it took. */
static void wait_for_next(struct node_lease *lease)
{
    uint64_t passed_ms = (clock_boottime_ns() - lease->sent_ns) / NS_PER_MS;
    uint64_t interval_ms = lease->options.times.renew_ms;

    (void)loop_timer_arm(lease->timer, passed_ms < interval_ms ? interval_ms - passed_ms : 0);
}

static void on_accepted(struct node_lease *lease)
{
    uint64_t before_ns = lease->renewed_ns;
    bool lapsed = before_ns > 0 &&
                  clock_boottime_ns() - before_ns >= lease->options.times.duration_ms * NS_PER_MS;

    if (lease->failures > 0 || lapsed)
        log_event(LOG_LEVEL_INFO, "the node's lease is renewed again",
                  LOG_TEXT("node", lease->options.node_name),
                  LOG_NUMBER("failures", lease->failures), LOG_NUMBER("lapsed", lapsed));
    lease->renewed_ns = lease->sent_ns;
    lease->failures = 0;
    lease->quick = 0;
    lease->step = STEP_RENEW;
    agent_metrics_renewal(lease->options.metrics, true);
    wait_for_next(lease);
    lease->renewed(before_ns == 0, lapsed, lease->arg);
}

/* Sooner than the next one would be due: there are to be several attempts before it is too late. */
static void retry(struct node_lease *lease, const struct kube_response *response)
{
    uint64_t interval_ms = lease->options.times.renew_ms;
    uint64_t delay_ms = interval_ms / LEASE_RETRIES;

    if (response->retry_after_ms > delay_ms)
        delay_ms = response->retry_after_ms < interval_ms ? response->retry_after_ms : interval_ms;
    lease->failures++;
    lease->quick = 0;
    lease->step = STEP_READ;
    agent_metrics_renewal(lease->options.metrics, false);
    if ((lease->failures & (lease->failures - 1)) == 0)
        log_event(LOG_LEVEL_WARN, "can't renew the node's lease, trying again",
                  LOG_TEXT("node", lease->options.node_name),
                  LOG_TEXT("namespace", lease->options.name_space),
                  LOG_NUMBER("failures", lease->failures),
                  LOG_NUMBER("delayMs", (long long)delay_ms),
                  LOG_TEXT("error", response->error.text));
    (void)loop_timer_arm(lease->timer, delay_ms);
}

/* Only a Lease that was this agent's can be taken from it. */
static bool is_taken(const struct node_lease *lease)
{
    return lease->renewed_ns > 0 && lease->object.holder[0] &&
           strcmp(lease->object.holder, lease->options.instance) != 0;
}

static void tell_taken(struct node_lease *lease)
{
    struct error err = {0};

    (void)error_set(&err, EBUSY,
                    "another agent, %s, has taken the lease of node %s: two agents must not have "
                    "the same --node-name",
                    lease->object.holder, lease->options.node_name);
    lease->taken(&err, lease->arg);
}

static int take_answer(struct node_lease *lease, const struct kube_response *response,
                       struct error *err)
{
    cleanup_json cJSON *tree = NULL;
    int r = json_parse(response->body, response->body_len, &tree, err);

    return r == 0 ? kube_lease_decode(tree, &lease->object, err) : r;
}

static void on_response(const struct kube_response *response, void *arg)
{
    struct node_lease *lease = arg;
    enum step step = lease->step;
    bool ok = response->status >= 200 && response->status <= 299;
    struct kube_response failed = {0};

    lease->call = NULL;
    if (ok && take_answer(lease, response, &failed.error) < 0) {
        retry(lease, &failed);
    } else if (ok && step != STEP_READ) {
        on_accepted(lease);
    } else if (ok && is_taken(lease)) {
        tell_taken(lease);
    } else if (ok) {
        lease->step = STEP_RENEW;
        go_on(lease);
    } else if (response->status == 404 && step == STEP_READ) {
        lease->step = STEP_CREATE;
        go_on(lease);
    } else if ((response->status == 404 || response->status == 409) &&
               ++lease->quick <= LEASE_QUICK_RETRIES) {
        lease->step = STEP_READ;
        go_on(lease);
    } else {
        retry(lease, response);
    }
}

/* What the Lease is to be after this renewal. */
static void fill(struct node_lease *lease, struct kube_lease *ret_object)
{
    const struct node_lease_options *options = &lease->options;
    int64_t now_us = clock_realtime_us();
    struct kube_lease object = {0};

    if (lease->step == STEP_RENEW)
        object = lease->object;
    (void)snprintf(object.name, sizeof(object.name), "%s", options->node_name);
    if (strcmp(object.holder, options->instance) != 0) {
        object.transitions += lease->step == STEP_RENEW;
        object.acquire_us = now_us;
    }
    (void)snprintf(object.holder, sizeof(object.holder), "%s", options->instance);
    object.duration_seconds = (uint32_t)((options->times.duration_ms + 999) / 1000);
    object.renew_us = now_us;
    *ret_object = object;
}

static int send(struct node_lease *lease, struct error *err)
{
    static const char *const methods[] = {"GET", "POST", "PATCH"};
    cleanup_buf struct buf path = BUF_INIT(MAX_STATUS_PATH);
    cleanup_buf struct buf body = BUF_INIT(MAX_LEASE_BODY);
    struct kube_lease object;
    int r = kube_lease_path(lease->options.name_space,
                            lease->step == STEP_CREATE ? NULL : lease->options.node_name, &path);

    fill(lease, &object);
    if (r == 0 && lease->step != STEP_READ)
        r = kube_lease_encode(&object, LEASE_LABEL_NODE, &body);
    if (r < 0)
        return error_set_errno(err, -r, "can't make a request for the node's lease");
    const struct kube_request request = {
        .method = methods[lease->step],
        .path = buf_str(&path),
        .content_type = lease->step == STEP_RENEW ? "application/merge-patch+json" : NULL,
        .body = body.data,
        .body_len = body.len,
        .timeout_ms = lease->options.times.renew_ms,
    };
    lease->sent_ns = clock_boottime_ns();
    return kube_client_send(lease->client, &request, on_response, lease, &lease->call, err);
}

static void go_on(struct node_lease *lease)
{
    struct kube_response failed = {0};

    if (send(lease, &failed.error) < 0)
        retry(lease, &failed);
}

static void on_timer(void *arg)
{
    go_on(arg);
}

int node_lease_new(struct loop *loop, const struct node_lease_options *options,
                   node_lease_renewed_fn renewed, node_lease_taken_fn taken, void *arg,
                   struct node_lease **ret_lease, struct error *err)
{
    struct node_lease *lease = calloc(1, sizeof(*lease));

    if (!lease)
        return error_set_errno(err, ENOMEM, "can't renew the node's lease");
    lease->options = *options;
    lease->renewed = renewed;
    lease->taken = taken;
    lease->arg = arg;
    int r = kube_client_new(loop, options->kube, "sandboxrun-agent/" SANDBOXRUN_VERSION,
                            &lease->client, err);
    if (r == 0) {
        r = loop_timer_new(loop, on_timer, lease, &lease->timer);
        if (r == 0)
            r = loop_timer_arm(lease->timer, 0);
        if (r < 0)
            (void)error_set_errno(err, -r, "can't renew the node's lease");
    }
    if (r < 0) {
        node_lease_free(lease);
        return r;
    }
    *ret_lease = lease;
    return 0;
}

void node_lease_free(struct node_lease *lease)
{
    if (!lease)
        return;
    kube_client_free(lease->client);
    loop_timer_free(lease->timer);
    free(lease);
}
