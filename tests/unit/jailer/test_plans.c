/* SPDX-License-Identifier: Apache-2.0 */

/* What a jail is planned to be, before any of it is done: mounts, limits, program. */
#include "common/cleanup.h"
#include "node-agent/jailer/mounts.h"
#include "node-agent/jailer/payload.h"
#include "node-agent/jailer/rlimits.h"
#include "tests/unit/common/cmocka_setup.h"

#include <stdbool.h>
#include <string.h>

#define MIB (1ull << 20)

static uint64_t size_of(const char *options)
{
    const char *at = strstr(options, "size=");
    assert_ptr_equal(at, options);
    uint64_t size = 0;
    for (at += 5; *at >= '0' && *at <= '9'; at++)
        size = size * 10 + (uint64_t)(*at - '0');
    return size;
}

static void test_file_systems_together_stay_below_the_memory_limit(void **state)
{
    (void)state;
    struct mounts_plan plan;
    mounts_plan(&plan, 512 * MIB, 2000000007);
    uint64_t sum = 0;
    for (size_t i = 0; i < MOUNTS_TMPFS_COUNT; i++) {
        sum += size_of(plan.options[i]);
        assert_non_null(strstr(plan.options[i], ",nr_inodes="));
        assert_non_null(strstr(plan.options[i], ",uid=2000000007,gid=2000000007"));
        assert_true(strlen(plan.options[i]) < MOUNTS_OPTIONS_SIZE - 1);
    }
    assert_true(sum < 512 * MIB);
    assert_non_null(strstr(plan.options[MOUNTS_HOME], ",mode=0700,"));
}

static void test_the_resolver_of_a_jail(void **state)
{
    (void)state;
    struct mounts_plan plan;
    mounts_plan(&plan, 512 * MIB, 2000000007);
    assert_string_equal(plan.resolv_conf, "");
    mounts_plan_resolver(&plan, "198.19.192.254");
    assert_string_equal(plan.resolv_conf,
                        "nameserver 198.19.192.254\noptions timeout:2 attempts:2\n");
}

static const struct rlimits_setting *find(const struct rlimits_plan *plan, int resource)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->settings[i].resource == resource)
            return &plan->settings[i];
    }
    return NULL;
}

static void test_rlimits(void **state)
{
    (void)state;
    struct rlimits_plan plan;
    rlimits_plan(&plan, 64 * MIB, 128);
    assert_true(plan.count <= MAX_RLIMITS);
    /* Exactly 1, which is what keeps a piped core handler from being started. */
    assert_int_equal(find(&plan, RLIMIT_CORE)->value.rlim_cur, 1);
    assert_int_equal(find(&plan, RLIMIT_CORE)->value.rlim_max, 1);
    assert_int_equal(find(&plan, RLIMIT_FSIZE)->value.rlim_max, 64 * MIB);
    assert_int_equal(find(&plan, RLIMIT_NPROC)->value.rlim_max, 128);
    static const int zero[] = {RLIMIT_MSGQUEUE, RLIMIT_NICE, RLIMIT_RTPRIO};
    for (size_t i = 0; i < ARRAY_SIZE(zero); i++)
        assert_int_equal(find(&plan, zero[i])->value.rlim_max, 0);
    static const int finite[] = {RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_STACK, RLIMIT_SIGPENDING};
    for (size_t i = 0; i < ARRAY_SIZE(finite); i++) {
        const struct rlimits_setting *setting = find(&plan, finite[i]);
        assert_non_null(setting);
        assert_true(setting->value.rlim_max != RLIM_INFINITY);
        assert_true(setting->value.rlim_cur <= setting->value.rlim_max);
    }
}

static bool has(char *const *list, const char *text)
{
    for (; *list; list++) {
        if (strcmp(*list, text) == 0)
            return true;
    }
    return false;
}

static size_t length(char *const *list)
{
    size_t count = 0;
    while (list[count])
        count++;
    return count;
}

static void test_program_and_environment(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "HOME=/home/sandbox",
        "TMPDIR=/tmp",
        "LANG=C.UTF-8",
        "USER=sandbox",
        "LOGNAME=sandbox",
        "PYTHONDONTWRITEBYTECODE=1",
        "PYTHONUNBUFFERED=1",
        "MPLBACKEND=Agg",
        "MPLCONFIGDIR=/tmp/matplotlib",
    };
    static const char *const argv[] = {"/usr/bin/python3", "-I", "-u", "-B",
                                       "/usr/lib/sandboxrun/runner.pyc"};
    struct payload payload;
    payload_plan(&payload, false);
    assert_int_equal(length(payload.argv), ARRAY_SIZE(argv));
    for (size_t i = 0; i < ARRAY_SIZE(argv); i++)
        assert_string_equal(payload.argv[i], argv[i]);
    /* These and no others. */
    assert_int_equal(length(payload.env), ARRAY_SIZE(expected));
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        if (!has(payload.env, expected[i]))
            fail_msg("%s is missing", expected[i]);
    }
}

static void test_a_program_that_waits_is_told_so(void **state)
{
    (void)state;
    struct payload payload;
    payload_plan(&payload, true);
    assert_int_equal(length(payload.argv), 6);
    assert_string_equal(payload.argv[5], "waits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_systems_together_stay_below_the_memory_limit),
        cmocka_unit_test(test_the_resolver_of_a_jail),
        cmocka_unit_test(test_rlimits),
        cmocka_unit_test(test_program_and_environment),
        cmocka_unit_test(test_a_program_that_waits_is_told_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
