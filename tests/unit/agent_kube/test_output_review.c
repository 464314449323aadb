/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/agent/output_review.h"

#include <errno.h>
#include <string.h>

static const struct output_target target = {.name_space = "team", .name = "a"};

static void test_token_review(void **state)
{
    (void)state;
    cleanup_buf struct buf json = BUF_INIT(4096);

    assert_int_equal(output_review_token("t\"k", &json), 0);
    assert_string_equal(buf_str(&json),
                        "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
                        "\"spec\":{\"audiences\":[\"sandboxrun.dev\"],\"token\":\"t\\\"k\"}}");
}

#define ACCESS                                                                                     \
    "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\",\"spec\":{"      \
    "\"resourceAttributes\":{\"verb\":\"get\",\"group\":\"sandboxrun.dev\",\"version\":"           \
    "\"v1alpha1\",\"resource\":\"sandboxruns\",\"subresource\":\"log\",\"namespace\":\"team\","    \
    "\"name\":\"a\"}"
#define OURS "\"audiences\":[\"sandboxrun.dev\"]"

static void test_access_review(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int result;
        const char *access;
    } cases[] = {
        {"{\"status\":{\"authenticated\":true," OURS
         ",\"user\":{\"username\":\"u\",\"uid\":\"1\",\"groups\":[\"g\",\"h\"],\"extra\":{\"k\":["
         "\"v\",\"w\"]}}}}",
         0,
         ACCESS ",\"user\":\"u\",\"uid\":\"1\",\"groups\":[\"g\",\"h\"],\"extra\":{\"k\":[\"v\","
                "\"w\"]}}}"},
        {"{\"status\":{\"authenticated\":true," OURS ",\"user\":{\"username\":\"u\"}}}", 0,
         ACCESS ",\"user\":\"u\"}}"},
        {"{\"status\":{\"authenticated\":true,\"audiences\":[\"x\",\"sandboxrun.dev\"],\"user\":{"
         "\"username\":\"u\"}}}",
         0, ACCESS ",\"user\":\"u\"}}"},
        /* Not valid, or valid elsewhere. */
        {"{\"status\":{\"authenticated\":false," OURS ",\"user\":{\"username\":\"u\"}}}", -EACCES,
         NULL},
        {"{\"status\":{\"error\":\"no\"}}", -EACCES, NULL},
        {"{\"status\":{}}", -EACCES, NULL},
        {"{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"u\"}}}", -EACCES, NULL},
        {"{\"status\":{\"authenticated\":true,\"audiences\":[],\"user\":{\"username\":\"u\"}}}",
         -EACCES, NULL},
        {"{\"status\":{\"authenticated\":true,\"audiences\":[\"sandboxrun.dev.example\",1],"
         "\"user\":{\"username\":\"u\"}}}",
         -EACCES, NULL},
        {"{\"status\":{\"authenticated\":true,\"audiences\":\"sandboxrun.dev\",\"user\":{"
         "\"username\":\"u\"}}}",
         -EACCES, NULL},
        {"{\"status\":{\"authenticated\":\"true\"," OURS ",\"user\":{\"username\":\"u\"}}}",
         -EACCES, NULL},
        /* No sense in it. */
        {"{\"status\":{\"authenticated\":true," OURS "}}", -EBADMSG, NULL},
        {"{\"status\":{\"authenticated\":true," OURS ",\"user\":{\"username\":\"\"}}}", -EBADMSG,
         NULL},
        {"{\"status\":{\"authenticated\":true," OURS ",\"user\":\"u\"}}", -EBADMSG, NULL},
        {"{}", -EBADMSG, NULL},
        {"", -EBADMSG, NULL},
        {"{\"status\":", -EBADMSG, NULL},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_buf struct buf access = BUF_INIT(4096);
        char user[MAX_OUTPUT_USER] = "";
        int r = output_review_access(cases[i].body, strlen(cases[i].body), &target, &access, user);
        if (r != cases[i].result)
            fail_msg("%s: %d", cases[i].body, r);
        assert_string_equal(user, r == 0 ? "u" : "");
        if (r == 0)
            assert_string_equal(buf_str(&access), cases[i].access);
    }
}

static void test_verdicts(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int result;
    } cases[] = {
        {"{\"status\":{\"allowed\":true}}", 0},
        {"{\"status\":{\"allowed\":true,\"denied\":false,\"reason\":\"r\"}}", 0},
        {"{\"status\":{\"allowed\":false}}", -EACCES},
        {"{\"status\":{\"allowed\":true,\"denied\":true}}", -EACCES},
        {"{\"status\":{\"allowed\":false,\"evaluationError\":\"e\"}}", -EACCES},
        {"{\"status\":{\"allowed\":\"true\"}}", -EBADMSG},
        {"{\"status\":{\"allowed\":1}}", -EBADMSG},
        {"{\"status\":{}}", -EBADMSG},
        {"{\"allowed\":true}", -EBADMSG},
        {"", -EBADMSG},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        if (output_review_verdict(cases[i].body, strlen(cases[i].body)) != cases[i].result)
            fail_msg("%s", cases[i].body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token_review),
        cmocka_unit_test(test_access_review),
        cmocka_unit_test(test_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
