/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/lease.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"

static int decode(const char *text, struct kube_lease *lease, struct error *err)
{
    cleanup_json cJSON *tree = NULL;
    assert_int_equal(json_parse(text, strlen(text), &tree, err), 0);
    return kube_lease_decode(tree, lease, err);
}

static void test_decode(void **state)
{
    (void)state;
    struct kube_lease lease;
    struct error err = {0};
    assert_int_equal(
        decode("{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"7\"},\"spec\":{"
               "\"holderIdentity\":\"i\",\"leaseDurationSeconds\":40,"
               "\"leaseTransitions\":3,\"acquireTime\":\"1970-01-01T00:00:01.000000Z\","
               "\"renewTime\":\"1970-01-01T00:00:02.5Z\"}}",
               &lease, &err),
        0);
    assert_string_equal(lease.name, "n");
    assert_string_equal(lease.version, "7");
    assert_string_equal(lease.holder, "i");
    assert_true(lease.held);
    assert_string_equal(lease.renew_text, "1970-01-01T00:00:02.5Z");
    assert_int_equal(lease.renew_us, 2500000);
    assert_int_equal(lease.acquire_us, 1000000);
    assert_int_equal(lease.transitions, 3);
    assert_int_equal(lease.duration_seconds, 40);
}

/* What others may have written. */
static void test_absurd(void **state)
{
    (void)state;
    char text[1024], name[300];
    struct kube_lease lease;
    struct error err = {0};
    assert_int_equal(decode("{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"7\"},\"spec\":{"
                            "\"holderIdentity\":7,\"leaseDurationSeconds\":-1,"
                            "\"leaseTransitions\":1e300,\"acquireTime\":{},"
                            "\"renewTime\":\"tomorrow\"}}",
                            &lease, &err),
                     0);
    assert_string_equal(lease.holder, "");
    assert_false(lease.held);
    assert_string_equal(lease.renew_text, "tomorrow");
    assert_int_equal(lease.renew_us, 0);
    assert_int_equal(lease.acquire_us, 0);
    assert_int_equal(lease.transitions, 0);
    assert_int_equal(lease.duration_seconds, 0);
    assert_int_equal(decode("{\"metadata\":{\"name\":\"n\"}}", &lease, &err), -EINVAL);
    assert_int_equal(decode("{\"metadata\":{\"resourceVersion\":\"1\"}}", &lease, &err), -EINVAL);
    assert_int_equal(decode("{}", &lease, &err), -EINVAL);
    assert_int_equal(decode("[]", &lease, &err), -EINVAL);
    memset(name, 'n', sizeof(name));
    (void)snprintf(text, sizeof(text),
                   "{\"metadata\":{\"name\":\"%.256s\",\"resourceVersion\":\"1\"}}", name);
    assert_int_equal(decode(text, &lease, &err), -EINVAL);
    (void)snprintf(text, sizeof(text),
                   "{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"1\"},\"spec\":{"
                   "\"holderIdentity\":\"%.200s\"}}",
                   name);
    assert_int_equal(decode(text, &lease, &err), 0);
    assert_string_equal(lease.holder, "");
    assert_true(lease.held);
}

static void test_encode(void **state)
{
    (void)state;
    static const char spec[] =
        "\"labels\":{\"sandboxrun.dev/lease\":\"node\"}},\"spec\":{\"holderIdentity\":\"i\","
        "\"leaseDurationSeconds\":40,\"leaseTransitions\":2,\"acquireTime\":"
        "\"1970-01-01T00:00:01.000000Z\",\"renewTime\":\"1970-01-01T00:00:02.500000Z\"}}";
    struct kube_lease lease = {.name = "n",
                               .holder = "i",
                               .renew_us = 2500000,
                               .acquire_us = 1000000,
                               .transitions = 2,
                               .duration_seconds = 40};
    char expected[512];
    cleanup_buf struct buf create = BUF_INIT(4096);
    cleanup_buf struct buf patch = BUF_INIT(4096);
    cleanup_buf struct buf small = BUF_INIT(64);
    cleanup_buf struct buf bare = BUF_INIT(4096);
    assert_int_equal(kube_lease_encode(&lease, LEASE_LABEL_NODE, &create), 0);
    (void)snprintf(expected, sizeof(expected),
                   "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{"
                   "\"name\":\"n\",%s",
                   spec);
    assert_string_equal(buf_str(&create), expected);
    (void)snprintf(lease.version, sizeof(lease.version), "7");
    assert_int_equal(kube_lease_encode(&lease, LEASE_LABEL_NODE, &patch), 0);
    (void)snprintf(expected, sizeof(expected), "{\"metadata\":{\"resourceVersion\":\"7\",%s", spec);
    assert_string_equal(buf_str(&patch), expected);
    assert_int_equal(kube_lease_encode(&lease, LEASE_LABEL_NODE, &small), -EMSGSIZE);
    /* Without a label, given back, and having changed hands as often as a Lease can. */
    lease.holder[0] = '\0';
    lease.transitions = INT64_C(1) + INT32_MAX;
    assert_int_equal(kube_lease_encode(&lease, NULL, &bare), 0);
    assert_string_equal(
        buf_str(&bare),
        "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":\"\","
        "\"leaseDurationSeconds\":40,\"leaseTransitions\":2147483647,\"acquireTime\":"
        "\"1970-01-01T00:00:01.000000Z\",\"renewTime\":\"1970-01-01T00:00:02.500000Z\"}}");
}

static void test_path(void **state)
{
    (void)state;
    cleanup_buf struct buf one = BUF_INIT(256);
    cleanup_buf struct buf all = BUF_INIT(256);
    assert_int_equal(kube_lease_path("ns", "a/b", &one), 0);
    assert_string_equal(buf_str(&one), "/apis/coordination.k8s.io/v1/namespaces/ns/leases/a%2Fb");
    assert_int_equal(kube_lease_path("ns", NULL, &all), 0);
    assert_string_equal(buf_str(&all), "/apis/coordination.k8s.io/v1/namespaces/ns/leases");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_absurd),
        cmocka_unit_test(test_encode),
        cmocka_unit_test(test_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
