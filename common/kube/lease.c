/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/lease.h"

#include "common/clock.h"
#include "common/json_string.h"
#include "common/kube/client.h"

#include <errno.h>
#include <inttypes.h>

static int64_t read_time(const char *text)
{
    int64_t time_us = 0;

    return text && clock_parse(text, &time_us) == 0 && time_us > 0 ? time_us : 0;
}

static int64_t read_count(const cJSON *tree, const char *path)
{
    int64_t value = 0;

    return json_get_i64(tree, path, &value) == 0 && value > 0 && value <= INT32_MAX ? value : 0;
}

int kube_lease_decode(const cJSON *tree, struct kube_lease *ret_lease, struct error *err)
{
    struct kube_lease lease = {0};

    int r = json_copy_string(tree, "metadata.name", lease.name, sizeof(lease.name));
    if (r == 0)
        r = json_copy_string(tree, "metadata.resourceVersion", lease.version,
                             sizeof(lease.version));
    if (r < 0)
        return error_set(err, EINVAL, "a Lease without a usable name or resourceVersion");
    const char *holder = json_get_string(tree, "spec.holderIdentity");
    lease.held = holder && holder[0];
    (void)json_copy_string(tree, "spec.holderIdentity", lease.holder, sizeof(lease.holder));
    (void)json_copy_string(tree, "spec.renewTime", lease.renew_text, sizeof(lease.renew_text));
    lease.renew_us = read_time(json_get_string(tree, "spec.renewTime"));
    lease.acquire_us = read_time(json_get_string(tree, "spec.acquireTime"));
    lease.transitions = read_count(tree, "spec.leaseTransitions");
    lease.duration_seconds = (uint32_t)read_count(tree, "spec.leaseDurationSeconds");
    *ret_lease = lease;
    return 0;
}

static int append_metadata(const struct kube_lease *lease, const char *label, struct buf *body)
{
    int r;

    if (lease->version[0]) {
        r = buf_append_str(body, "{\"metadata\":{");
        if (r == 0)
            r = json_append_member(body, "resourceVersion", lease->version);
    } else {
        r = buf_append_str(body, "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\","
                                 "\"metadata\":{");
        if (r == 0)
            r = json_append_member(body, "name", lease->name);
    }
    if (r == 0 && label) {
        r = buf_append_str(body, ",\"labels\":{");
        if (r == 0)
            r = json_append_member(body, LEASE_LABEL, label);
        if (r == 0)
            r = buf_append_str(body, "}");
    }
    return r == 0 ? buf_append_str(body, "}") : r;
}

int kube_lease_encode(const struct kube_lease *lease, const char *label, struct buf *body)
{
    char acquired[CLOCK_TEXT_SIZE];
    char renewed[CLOCK_TEXT_SIZE];
    /* The API server takes 32 bits; a Lease that has changed hands so often is renewed all the
     * same. */
    int64_t transitions = lease->transitions < INT32_MAX ? lease->transitions : INT32_MAX;
    int r = append_metadata(lease, label, body);

    clock_format_micro(lease->acquire_us, acquired);
    clock_format_micro(lease->renew_us, renewed);
    if (r == 0)
        r = buf_append_str(body, ",\"spec\":{");
    if (r == 0)
        r = json_append_member(body, "holderIdentity", lease->holder);
    if (r == 0)
        r = buf_printf(body,
                       ",\"leaseDurationSeconds\":%" PRIu32 ",\"leaseTransitions\":%" PRId64
                       ",\"acquireTime\":\"%s\",\"renewTime\":\"%s\"}}",
                       lease->duration_seconds, transitions, acquired, renewed);
    return r;
}

int kube_lease_path(const char *name_space, const char *name, struct buf *path)
{
    int r = buf_append_str(path, "/apis/coordination.k8s.io/v1/namespaces/");

    if (r == 0)
        r = kube_append_escaped(path, name_space);
    if (r == 0)
        r = buf_append_str(path, name ? "/leases/" : "/leases");
    return r == 0 && name ? kube_append_escaped(path, name) : r;
}
