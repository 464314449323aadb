/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/jailer/ceilings.h"
#include "tests/unit/common/cmocka_setup.h"

#include <string.h>

#define MIB (1ull << 20)

struct create_case {
    uint32_t profile, cpu_milli;
    uint64_t memory_bytes;
    int result;
    const char *names;
};

static const struct create_case create_cases[] = {
    {0, 1000, 512 * MIB, 0, NULL},
    {0, 10, 32 * MIB, 0, NULL},
    {0, 1, 512 * MIB, -EINVAL, "CPU"},
    {0, 9, 512 * MIB, -EINVAL, "minimum of 10"},
    {0, 1001, 512 * MIB, -EINVAL, "ceiling of 1000"},
    {0, UINT32_MAX, 512 * MIB, -EINVAL, "Snippet"},
    {0, 1000, 512 * MIB + 1, -EINVAL, "ceiling of 536870912"},
    {0, 1000, UINT64_MAX, -EINVAL, "memory"},
    {0, 1000, 32 * MIB - 1, -EINVAL, "minimum of 33554432"},
    {0, 1000, 0, -EINVAL, "memory"},
    {1, 2000, 1024 * MIB, 0, NULL},
    {1, 2001, 1024 * MIB, -EINVAL, "ToolCall"},
    {1, 2000, 1024 * MIB + 1, -EINVAL, "ToolCall"},
    {2, 1000, 512 * MIB, -EINVAL, "profile 2"},
    {UINT32_MAX, 1000, 512 * MIB, -EINVAL, "profile"},
};

static void test_check_create(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(create_cases); i++) {
        const struct create_case *c = &create_cases[i];
        struct proto_create create = {
            .profile = c->profile, .cpu_milli = c->cpu_milli, .memory_bytes = c->memory_bytes};
        struct error err = {0};
        int r = ceilings_check_create(&create, &err);
        if (r != c->result || (c->names && !strstr(err.text, c->names)))
            fail_msg("case %zu: %d \"%s\"", i, r, err.text);
    }
}

static void test_check_start(void **state)
{
    (void)state;
    struct error err = {0};
    assert_int_equal(ceilings_check_start(0, 1, &err), 0);
    assert_int_equal(ceilings_check_start(0, 60000, &err), 0);
    assert_int_equal(ceilings_check_start(0, 60001, &err), -EINVAL);
    assert_non_null(strstr(err.text, "60001"));
    assert_non_null(strstr(err.text, "60000"));
    assert_int_equal(ceilings_check_start(0, 0, &err), -EINVAL);
    assert_int_equal(ceilings_check_start(1, 120000, &err), 0);
    assert_int_equal(ceilings_check_start(1, 120001, &err), -EINVAL);
    assert_int_equal(ceilings_check_start(7, 1, &err), -EINVAL);
}

static void test_what_is_offered_is_what_can_be_created(void **state)
{
    (void)state;
    for (uint32_t profile = 0; ceilings_of(profile); profile++) {
        const struct ceiling *ceiling = ceilings_of(profile);
        struct proto_create create = {.profile = profile,
                                      .cpu_milli = ceiling->cpu_milli,
                                      .memory_bytes = ceiling->memory_bytes};
        assert_int_equal(ceilings_check_create(&create, NULL), 0);
        assert_int_equal((ceilings_offered(true) >> profile) & 1, 1);
        assert_int_equal((ceilings_offered(false) >> profile) & 1, ceiling->network ? 0 : 1);
    }
    assert_int_equal(ceilings_offered(true), 3);
    assert_int_equal(ceilings_offered(false), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_create),
        cmocka_unit_test(test_check_start),
        cmocka_unit_test(test_what_is_offered_is_what_can_be_created),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
