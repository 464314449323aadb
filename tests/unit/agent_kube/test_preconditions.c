/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/preconditions.h"
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"

#include <string.h>

#define CHECK(level_, outcome_, name_)                                                             \
    {                                                                                              \
        .level = (level_), .outcome = (outcome_), .name = (name_), .figure = "figure of " name_,   \
        .advice = "advice for " name_                                                              \
    }

static const struct proto_check fine[] = {
    CHECK(PROTO_REQUIRED, PROTO_OUTCOME_OK, "root"),
    CHECK(PROTO_RECOMMENDED, PROTO_OUTCOME_FAILED, "apparmor"),
    CHECK(PROTO_INFORMATION, PROTO_OUTCOME_SKIPPED, "landlock"),
};

static const struct proto_check poor[] = {
    CHECK(PROTO_REQUIRED, PROTO_OUTCOME_OK, "root"),
    CHECK(PROTO_REQUIRED, PROTO_OUTCOME_FAILED, "cgroup.writable"),
    CHECK(PROTO_REQUIRED, PROTO_OUTCOME_SKIPPED, "cgroup.limits"),
    CHECK(PROTO_RECOMMENDED, PROTO_OUTCOME_FAILED, "apparmor"),
    CHECK(PROTO_REQUIRED, PROTO_OUTCOME_FAILED, "runtimes"),
};

static void test_met(void **state)
{
    (void)state;
    char text[256] = "x";
    assert_true(preconditions_met(NULL, 0));
    assert_true(preconditions_met(fine, ARRAY_SIZE(fine)));
    preconditions_message(fine, ARRAY_SIZE(fine), text, sizeof(text));
    assert_string_equal(text, "");
}

static void test_what_is_missing_is_named_with_what_to_do(void **state)
{
    (void)state;
    char text[1024];
    assert_false(preconditions_met(poor, ARRAY_SIZE(poor)));
    preconditions_message(poor, ARRAY_SIZE(poor), text, sizeof(text));
    assert_string_equal(text,
                        "The node lacks: cgroup.writable, runtimes. cgroup.writable: figure of "
                        "cgroup.writable; advice for cgroup.writable. runtimes: figure of "
                        "runtimes; advice for runtimes.");
}

static void test_a_skipped_one_is_not_met(void **state)
{
    (void)state;
    assert_false(preconditions_met(&poor[2], 1));
}

/* Names first: they fit where the rest does not. */
static void test_the_message_is_cut(void **state)
{
    (void)state;
    char text[60];
    preconditions_message(poor, ARRAY_SIZE(poor), text, sizeof(text));
    assert_string_equal(text, "The node lacks: cgroup.writable, runtimes. cgroup.writable:");
    for (size_t size = 1; size < sizeof(text); size++) {
        memset(text, 'x', sizeof(text));
        preconditions_message(poor, ARRAY_SIZE(poor), text, size);
        assert_int_equal(strlen(text), size - 1);
        assert_int_equal(text[size], 'x');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_met),
        cmocka_unit_test(test_what_is_missing_is_named_with_what_to_do),
        cmocka_unit_test(test_a_skipped_one_is_not_met),
        cmocka_unit_test(test_the_message_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
