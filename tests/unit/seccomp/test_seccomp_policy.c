/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "seccomp/explain.h"
#include "seccomp/policy.h"
#include "seccomp/syscall_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define HEAD                                                                                       \
    "{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":38,"              \
    "\"architectures\":[\"SCMP_ARCH_X86_64\"],"
#define RULE(members) HEAD "\"syscalls\":[{\"comment\":\"r\"," members "}]}"
#define ARG(members)                                                                               \
    RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{" members "}]")
#define READ       "{\"comment\":\"r\",\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\""
#define ON(arches) "\"includes\":{\"arches\":[" arches "]}"
#define EQ         "\"args\":[{\"index\":0,\"value\":1,\"op\":\"SCMP_CMP_EQ\"}]"

static const struct {
    const char *text;
    const char *message; /* a part of it */
} bad[] = {
    {"", "line 1, column"},
    {"[]", "not an object"},
    {"{", "line 1, column"},
    {RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\"") "x", "line 1, column"},
    {"{}", "no \"comment\""},
    {"{\"comment\":\"c\"}", "defaultAction"},
    {"{\"comment\":\"c\",\"comment\":\"c\"}", "comment"},
    {"{\"comment\":\"\"}", "no \"comment\""},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_ERRNO\"}", "defaultErrnoRet"},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":0}", "success"},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":4096}", "4095"},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":-1}", "4095"},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":1.5}", "4095"},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":\"1\"}", "4095"},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_ALLOW\"}", "allows what it doesn't name"},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_TRAP\"}", "SCMP_ACT_TRAP"},
    {"{\"comment\":\"c\",\"defaultAction\":7}", "defaultAction"},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_KILL_PROCESS\",\"defaultErrnoRet\":1}",
     "without SCMP_ACT_ERRNO"},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_KILL_PROCESS\"}", "architectures"},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_KILL_PROCESS\",\"architectures\":[]}",
     "architectures"},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_KILL_PROCESS\","
     "\"architectures\":[\"SCMP_ARCH_X32\"]}",
     "architecture other than"},
    {"{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_KILL_PROCESS\","
     "\"architectures\":[\"SCMP_ARCH_X86_64\",\"SCMP_ARCH_X86_64\"]}",
     "twice"},
    {HEAD "\"reportRefusals\":1,\"syscalls\":[" READ "}]}", "reportRefusals"},
    {HEAD "\"syscalls\":[" READ ",\"report\":false}]}", "nothing to report"},
    {RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_KILL_PROCESS\",\"report\":false"),
     "nothing to report"},
    {HEAD "\"reportRefusals\":true,\"syscalls\":[" READ ",\"report\":false}]}",
     "nothing to report"},
    {HEAD "\"reportRefusals\":true,\"syscalls\":[" READ ",\"report\":true}]}", "not false"},
    {HEAD "\"reportRefusals\":true,\"syscalls\":[" READ ",\"report\":null}]}", "not false"},
    {HEAD "\"reportRefusals\":true,\"syscalls\":[{\"comment\":\"c\",\"names\":[\"fsync\"],"
          "\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":0}]}",
     "no refusal"},
    {HEAD "\"flags\":[],\"syscalls\":[" READ "}]}", "unknown member \"flags\""},
    {HEAD "\"x\":1}", "unknown member \"x\""},
    {HEAD "\"syscalls\":null}", "syscalls"},
    {HEAD "\"syscalls\":[]}", "syscalls"},
    {HEAD "\"syscalls\":[1]}", "syscalls[0] is not an object"},
    {HEAD "\"syscalls\":[{}]}", "syscalls[0] has no \"comment\""},
    {HEAD "\"syscalls\":[" READ "},{\"comment\":1}]}", "syscalls[1] has no \"comment\""},
    {RULE("\"names\":[\"read\"]"), "has no \"action\""},
    {RULE("\"action\":\"SCMP_ACT_ALLOW\""), "names"},
    {RULE("\"names\":[],\"action\":\"SCMP_ACT_ALLOW\""), "names"},
    {RULE("\"names\":\"read\",\"action\":\"SCMP_ACT_ALLOW\""), "names"},
    {RULE("\"names\":[1],\"action\":\"SCMP_ACT_ALLOW\""), "no string"},
    {RULE("\"names\":[\"raed\"],\"action\":\"SCMP_ACT_ALLOW\""), "no system call \"raed\""},
    {RULE("\"names\":[\"\"],\"action\":\"SCMP_ACT_ALLOW\""), "no system call \"\""},
    {RULE("\"names\":[\"READ\"],\"action\":\"SCMP_ACT_ALLOW\""), "no system call"},
    {RULE("\"names\":[\"_llseek\"],\"action\":\"SCMP_ACT_ALLOW\""), "no system call"},
    {RULE("\"names\":[\"read\",\"read\"],\"action\":\"SCMP_ACT_ALLOW\""), "names read twice"},
    {RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_LOG\""), "SCMP_ACT_LOG"},
    {RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ERRNO\""), "errnoRet"},
    {RULE("\"names\":[\"fsync\",\"read\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":0"),
     "success"},
    {RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\",\"errnoRet\":1"), "errnoRet"},
    {RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\",\"errnoRet\":null"), "errnoRet"},
    {RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\",\"x\":1"), "unknown member \"x\""},
    {RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[]"), "empty"},
    {RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":null"), "no list"},
    {RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":{}"), "no list"},
    {RULE("\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[0]"), "args[0] is not an"},
    {ARG("\"value\":1,\"op\":\"SCMP_CMP_EQ\""), "index"},
    {ARG("\"index\":6,\"value\":1,\"op\":\"SCMP_CMP_EQ\""), "0 to 5"},
    {ARG("\"index\":0,\"op\":\"SCMP_CMP_EQ\""), "\"value\""},
    {ARG("\"index\":0,\"value\":-1,\"op\":\"SCMP_CMP_EQ\""), "\"value\""},
    {ARG("\"index\":0,\"value\":18446744073709551615,\"op\":\"SCMP_CMP_EQ\""), "\"value\""},
    {ARG("\"index\":0,\"value\":1"), "\"op\""},
    {ARG("\"index\":0,\"value\":1,\"op\":\"SCMP_CMP_SAME\""), "SCMP_CMP_SAME"},
    {ARG("\"index\":0,\"value\":1,\"op\":\"SCMP_CMP_MASKED_EQ\""), "valueTwo"},
    {ARG("\"index\":0,\"value\":1,\"valueTwo\":1,\"op\":\"SCMP_CMP_EQ\""), "valueTwo"},
    {ARG("\"index\":0,\"value\":1,\"valueTwo\":2,\"op\":\"SCMP_CMP_MASKED_EQ\""), "can't hold"},
    {ARG("\"index\":0,\"value\":1,\"op\":\"SCMP_CMP_EQ\"},"
         "{\"index\":0,\"value\":2,\"op\":\"SCMP_CMP_EQ\""),
     "a second time"},
    {HEAD "\"syscalls\":[" READ "},{\"comment\":\"r\",\"names\":[\"write\"],"
          "\"action\":\"SCMP_ACT_ALLOW\",\"includes\":1}]}",
     "syscalls[1].includes is not an object"},
    {HEAD "\"syscalls\":[" READ ",\"includes\":null}]}", "syscalls[0].includes is not an object"},
    {HEAD "\"syscalls\":[" READ ",\"includes\":{}}]}", "syscalls[0].includes needs \"arches\""},
    {HEAD "\"syscalls\":[" READ ",\"includes\":{\"caps\":[\"CAP_SYS_ADMIN\"]}}]}",
     "unknown member \"caps\""},
    {HEAD "\"syscalls\":[" READ ",\"includes\":{\"arches\":\"amd64\"}}]}", "needs \"arches\""},
    {HEAD "\"syscalls\":[" READ "," ON("") "}]}", "needs \"arches\""},
    {HEAD "\"syscalls\":[" READ "," ON("1") "}]}", "other than amd64 and arm64"},
    {HEAD "\"syscalls\":[" READ "," ON("\"x86_64\"") "}]}", "other than amd64 and arm64"},
    {HEAD "\"syscalls\":[" READ "," ON("\"AMD64\"") "}]}", "other than amd64 and arm64"},
    {HEAD "\"syscalls\":[" READ "," ON("\"amd64\",\"amd64\"") "}]}", "names amd64 twice"},
    {HEAD "\"syscalls\":[" READ "," ON("\"arm64\"") "}]}", "the policy is not for"},
    {HEAD "\"syscalls\":[" READ "," ON("\"amd64\"") "}," READ "}]}", "another rule for read"},
    {HEAD "\"excludes\":{},\"syscalls\":[" READ "}]}", "unknown member \"excludes\""},
    {HEAD "\"syscalls\":[" READ "}," READ "}]}", "another rule for read"},
    {HEAD "\"syscalls\":[" READ "}," READ "," EQ "}]}", "has no conditions"},
    {HEAD "\"syscalls\":[" READ "," EQ "}," READ "}]}", "has no conditions"},
    {HEAD "\"syscalls\":[" READ "," EQ "}," READ "," EQ "}]}", "the same conditions"},
};

static void refuses_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        cleanup_policy struct policy *policy = NULL;
        struct error err = {0};

        assert_int_equal(policy_parse(bad[i].text, strlen(bad[i].text), &policy, &err), -EINVAL);
        assert_null(policy);
        if (!strstr(err.text, bad[i].message))
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.text, bad[i].message);
    }
}

static void refuses_a_long_file(void **state)
{
    cleanup_free char *text = malloc(MAX_POLICY_BYTES + 1);
    struct policy *policy = NULL;
    struct error err = {0};

    (void)state;
    assert_non_null(text);
    memset(text, ' ', MAX_POLICY_BYTES + 1);
    assert_int_equal(policy_parse(text, MAX_POLICY_BYTES + 1, &policy, &err), -EINVAL);
    assert_non_null(strstr(err.text, "longer than"));
}

static void reads_every_member(void **state)
{
    static const char text[] = HEAD
        "\"syscalls\":["
        "{\"comment\":\"one\",\"names\":[\"read\",\"write\"],\"action\":\"SCMP_ACT_ALLOW\"},"
        "{\"comment\":\"two\",\"names\":[\"kill\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":13,"
        "\"args\":[{\"index\":1,\"value\":240,\"valueTwo\":16,\"op\":\"SCMP_CMP_MASKED_EQ\"},"
        "{\"index\":5,\"value\":9007199254740991,\"op\":\"SCMP_CMP_GE\"}]}]}";
    cleanup_policy struct policy *policy = NULL;
    struct error err = {0};

    (void)state;
    assert_int_equal(policy_parse(text, strlen(text), &policy, &err), 0);
    assert_string_equal(policy->comment, "c");
    assert_int_equal(policy->default_action, POLICY_ACTION_ERRNO);
    assert_int_equal(policy->default_errno, 38);
    assert_true(policy->archs[ARCH_X86_64]);
    assert_false(policy->archs[ARCH_AARCH64]);
    assert_int_equal(policy->n_rules, 2);
    assert_int_equal(policy->rules[0].n_names, 2);
    assert_string_equal(policy->rules[0].names[1], "write");
    assert_int_equal(policy->rules[0].action, POLICY_ACTION_ALLOW);
    assert_int_equal(policy->rules[0].n_args, 0);
    assert_string_equal(policy->rules[1].comment, "two");
    assert_int_equal(policy->rules[1].errno_ret, 13);
    assert_int_equal(policy->rules[1].n_args, 2);
    assert_int_equal(policy->rules[1].args[0].compare, POLICY_COMPARE_MASKED_EQ);
    assert_int_equal(policy->rules[1].args[0].value, 240);
    assert_int_equal(policy->rules[1].args[0].value_two, 16);
    assert_int_equal(policy->rules[1].args[1].index, 5);
    assert_int_equal(policy->rules[1].args[1].compare, POLICY_COMPARE_GE);
    assert_true(policy->rules[1].args[1].value == 9007199254740991U);
}

static void knows_what_is_reported(void **state)
{
    static const char text[] = HEAD
        "\"reportRefusals\":true,\"syscalls\":["
        "{\"comment\":\"a\",\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\"},"
        "{\"comment\":\"b\",\"names\":[\"ptrace\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":1},"
        "{\"comment\":\"c\",\"names\":[\"clone3\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":38,"
        "\"report\":false},"
        "{\"comment\":\"d\",\"names\":[\"reboot\"],\"action\":\"SCMP_ACT_KILL_PROCESS\"}]}";
    static const bool expected[] = {false, true, false, true};
    cleanup_policy struct policy *policy = NULL, *silent = NULL;
    struct error err = {0};

    (void)state;
    assert_int_equal(policy_parse(text, strlen(text), &policy, &err), 0);
    assert_true(policy_reports(policy, NULL));
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
        assert_int_equal(policy_reports(policy, &policy->rules[i]), expected[i]);

    static const char without[] =
        RULE("\"names\":[\"reboot\"],\"action\":\"SCMP_ACT_KILL_PROCESS\"");
    assert_int_equal(policy_parse(without, strlen(without), &silent, &err), 0);
    assert_false(policy_reports(silent, NULL));
    assert_false(policy_reports(silent, &silent->rules[0]));
}

/* A call in two rules counts once; one that the architecture lacks, not at all. */
static void counts_calls(void **state)
{
    static const char text[] = HEAD
        "\"syscalls\":["
        "{\"comment\":\"a\",\"names\":[\"read\",\"open\"],\"action\":\"SCMP_ACT_ALLOW\"},"
        "{\"comment\":\"b\",\"names\":[\"ptrace\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":1},"
        "{\"comment\":\"c\",\"names\":[\"kill\"],\"action\":\"SCMP_ACT_ALLOW\"," EQ "},"
        "{\"comment\":\"d\",\"names\":[\"kill\"],\"action\":\"SCMP_ACT_ALLOW\","
        "\"args\":[{\"index\":0,\"value\":2,\"op\":\"SCMP_CMP_EQ\"}]}]}";
    cleanup_policy struct policy *policy = NULL;
    struct error err = {0};

    (void)state;
    assert_int_equal(policy_parse(text, strlen(text), &policy, &err), 0);
    assert_int_equal(policy_count_allowed(policy, ARCH_X86_64), 3);
    assert_int_equal(policy_count_allowed(policy, ARCH_AARCH64), 2);
}

#define TWO_ARCHS                                                                                  \
    "{\"comment\":\"c\",\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":38,"              \
    "\"architectures\":[\"SCMP_ARCH_X86_64\",\"SCMP_ARCH_AARCH64\"],\"syscalls\":["

/* Rules of different architectures don't meet, whatever their conditions. */
static void keeps_architectures_apart(void **state)
{
    static const char text[] = TWO_ARCHS READ "," ON("\"amd64\"") "}," READ "," ON(
        "\"arm64\"") "," EQ "},"
                     "{\"comment\":\"c\",\"names\":[\"kill\",\"write\"],"
                     "\"action\":\"SCMP_ACT_ALLOW\"," ON(
                         "\"arm64\"") "},"
                                      "{\"comment\":\"d\",\"names\":[\"kill\"],"
                                      "\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":1," ON(
                                          "\"amd64\"") "},"
                                                       "{\"comment\":\"e\",\"names\":[\"close\"],"
                                                       "\"action\":\"SCMP_ACT_ALLOW\"," ON(
                                                           "\"arm64\",\"amd64\"") "}]}";
    static const bool expected[][ARCH_COUNT] = {
        {true, false}, {false, true}, {false, true}, {true, false}, {true, true}};
    cleanup_policy struct policy *policy = NULL;
    struct error err = {0};

    (void)state;
    assert_int_equal(policy_parse(text, strlen(text), &policy, &err), 0);
    assert_int_equal(policy->n_rules, ARRAY_SIZE(expected));
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        for (int arch = 0; arch < ARCH_COUNT; arch++)
            assert_int_equal(policy->rules[i].archs[arch], expected[i][arch]);
        assert_int_equal(policy_rule_everywhere(policy, &policy->rules[i]),
                         expected[i][ARCH_X86_64] && expected[i][ARCH_AARCH64]);
    }
    assert_int_equal(policy_count_allowed(policy, ARCH_X86_64), 2);
    assert_int_equal(policy_count_allowed(policy, ARCH_AARCH64), 4);
}

static const char *line_of(const char *text, const char *name, char *line, size_t size)
{
    const char *start = strstr(text, name);

    assert_non_null(start);
    (void)snprintf(line, size, "%.*s", (int)strcspn(start, "\n"), start);
    return line;
}

static void explains_where_a_rule_holds(void **state)
{
    static const char text[] =
        TWO_ARCHS READ "," ON("\"amd64\"") "},"
                                           "{\"comment\":\"w\",\"names\":[\"write\",\"open\"],"
                                           "\"action\":\"SCMP_ACT_ALLOW\"}]}";
    static const struct {
        enum arch arch;
        const char *name;
        const char *reason;
    } cases[] = {
        {ARCH_X86_64, "read", " [on x86_64] r"},
        {ARCH_AARCH64, "read", " [not on this architecture] r"},
        {ARCH_X86_64, "write", " w"},
        {ARCH_AARCH64, "write", " w"},
        {ARCH_X86_64, "open", " w"},
        {ARCH_AARCH64, "open", " [not on this architecture] w"},
    };
    cleanup_policy struct policy *policy = NULL;
    struct error err = {0};

    (void)state;
    assert_int_equal(policy_parse(text, strlen(text), &policy, &err), 0);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_buf struct buf buf = BUF_INIT(MAX_POLICY_BYTES);
        char line[256], expected[256];

        assert_int_equal(explain_policy(policy, cases[i].arch, &buf), 0);
        (void)snprintf(expected, sizeof(expected), "%-24s %-12s %-34s%s", cases[i].name, "allow",
                       "always", cases[i].reason);
        assert_string_equal(line_of(buf_str(&buf), cases[i].name, line, sizeof(line)), expected);
    }
}

static void knows_numbers(void **state)
{
    static const struct {
        enum arch arch;
        const char *name;
        int expected; /* number or error */
    } cases[] = {
        {ARCH_X86_64, "read", 0},
        {ARCH_AARCH64, "read", 63},
        {ARCH_X86_64, "open", 2},
        {ARCH_AARCH64, "open", -ENOENT},
        {ARCH_X86_64, "fchmodat2", 452},
        {ARCH_AARCH64, "fchmodat2", 452},
        {ARCH_X86_64, "mseal", 462},
        {ARCH_X86_64, "arch_prctl", 158},
        {ARCH_AARCH64, "arch_prctl", -ENOENT},
        /* Of 32-bit architectures only. */
        {ARCH_X86_64, "_llseek", -EINVAL},
        {ARCH_X86_64, "socketcall", -EINVAL},
        {ARCH_X86_64, "nothing", -EINVAL},
        {ARCH_AARCH64, "", -EINVAL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int number = -1;
        int r = arch_syscall_number(cases[i].arch, cases[i].name, &number);

        if ((r < 0 ? r : number) != cases[i].expected)
            fail_msg("%s: %d, %d", cases[i].name, r, number);
    }
}

/* Every name leads back to its number, and the table that is linked is that of this machine. */
static void names_numbers(void **state)
{
    (void)state;
    for (int arch = 0; arch < ARCH_COUNT; arch++) {
        int found = 0;

        for (int number = -2; number < 1000; number++) {
            char name[MAX_SYSCALL_NAME];
            int back = -1;
            int r = arch_syscall_name((enum arch)arch, number, name);

            assert_true(r == 0 || r == -ENOENT);
            if (arch == (int)arch_native()) {
                bool inside = number >= 0 && (size_t)number < syscall_names_count;

                assert_int_equal(r == 0, inside && syscall_names[number]);
                if (r == 0)
                    assert_string_equal(syscall_names[number], name);
            }
            if (r < 0)
                continue;
            found++;
            if (arch_syscall_number((enum arch)arch, name, &back) < 0 || back != number)
                fail_msg("%s is %d and not %d", name, back, number);
        }
        assert_true(found > 300);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(refuses_a_long_file),
        cmocka_unit_test(reads_every_member),
        cmocka_unit_test(counts_calls),
        cmocka_unit_test(knows_numbers),
        cmocka_unit_test(names_numbers),
        cmocka_unit_test(knows_what_is_reported),
        cmocka_unit_test(keeps_architectures_apart),
        cmocka_unit_test(explains_where_a_rule_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
