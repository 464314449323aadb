/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the finished filters answer, by running their BPF: a table of calls with the answer that
 * each profile must give, and a comparison of every call number and many arguments with what the
 * policy says when its rules are simply read. Each policy has two: one that answers, and one that
 * sends the refusals that are reported to a listener.
 */
#include "bpf_machine.h"
#include "common/cleanup.h"
#include "decision_table.h"
#include "policy_files.h"
#include "seccomp/compile.h"
#include "seccomp/seccomp_policies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>

#define NOTIFY SECCOMP_RET_USER_NOTIF

#define MAX_NUMBER   500
#define X32_BIT      0x40000000U
#define MAX_POOL     2048
#define MAX_RELEVANT 64
#define N_RANDOM     40

static const char *const profile_names[N_PROFILES] = {"snippet", "tool-call", "reaper"};

struct built {
    struct policy *policy;
    struct compiled answers;
    struct compiled notify;
};

struct fixture {
    struct built built[N_PROFILES][ARCH_COUNT];
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct error err = {0};

    if (!fixture)
        return -1;
    for (int profile = 0; profile < N_PROFILES; profile++) {
        for (int arch = 0; arch < ARCH_COUNT; arch++) {
            struct built *built = &fixture->built[profile][arch];

            built->policy = policy_file_read(profile_names[profile]);
            if (compile_policy(built->policy, (enum arch)arch, COMPILE_ANSWERS, &built->answers,
                               NULL, &err) < 0 ||
                compile_policy(built->policy, (enum arch)arch, COMPILE_NOTIFY, &built->notify, NULL,
                               &err) < 0)
                fail_msg("%s: %s", profile_names[profile], err.text);
        }
    }
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    for (int profile = 0; profile < N_PROFILES; profile++) {
        for (int arch = 0; arch < ARCH_COUNT; arch++) {
            policy_free(fixture->built[profile][arch].policy);
            compiled_done(&fixture->built[profile][arch].answers);
            compiled_done(&fixture->built[profile][arch].notify);
        }
    }
    free(fixture);
    return 0;
}

static uint32_t run(const struct compiled *filter, uint32_t token, int number,
                    const uint64_t args[6])
{
    struct seccomp_data data = {.nr = number, .arch = token};

    memcpy(data.args, args, sizeof(data.args));
    return bpf_machine_run(filter->insns, filter->len, &data);
}

/* A call that libseccomp can't name falls to the default in a filter for a foreign machine. */
static bool is_skipped(const char *name, enum arch arch)
{
    return arch != arch_native() && seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR;
}

static void expect_answer(const struct fixture *fixture, enum arch arch,
                          const struct decision *decision, size_t index)
{
    int number;
    int r = arch_syscall_number(arch, decision->name, &number);

    assert_int_not_equal(r, -EINVAL);
    for (int p = 0; r == 0 && p < N_PROFILES && !is_skipped(decision->name, arch); p++) {
        uint32_t answer =
            run(&fixture->built[p][arch].answers, arch_token(arch), number, decision->args);

        if (answer != decision->expected[p])
            fail_msg("case %zu, %s on %s in %s: %#x, not %#x", index, decision->name,
                     arch_name(arch), profile_names[p], answer, decision->expected[p]);
    }
}

static void answers_as_listed(void **state)
{
    const struct fixture *fixture = *state;

    for (size_t i = 0; i < n_decisions; i++) {
        for (int arch = 0; arch < ARCH_COUNT; arch++)
            expect_answer(fixture, (enum arch)arch, &decisions[i], i);
    }
    for (int arch = 0; arch < ARCH_COUNT; arch++) {
        for (size_t i = 0; i < N_FLAG_DECISIONS; i++)
            expect_answer(fixture, (enum arch)arch, &flag_decisions[arch][i], i);
    }
}

static void expect_foreign_killed(const struct compiled *filter, enum arch arch)
{
    static const uint32_t foreign[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_PPC64LE, 0,
                                       UINT32_MAX};
    static const uint64_t none[6] = {0};
    enum arch other = arch == ARCH_X86_64 ? ARCH_AARCH64 : ARCH_X86_64;

    for (int number = -1; number < MAX_NUMBER; number++) {
        for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
            assert_int_equal(run(filter, foreign[i], number, none), KILL);
        assert_int_equal(run(filter, arch_token(other), number, none), KILL);
        if (arch == ARCH_X86_64 && number >= 0)
            assert_int_equal(
                run(filter, arch_token(ARCH_X86_64), (int)(X32_BIT | (unsigned)number), none),
                KILL);
    }
}

/* Foreign architectures and x32 die whatever they call, and nobody is asked. */
static void kills_foreign_calls(void **state)
{
    const struct fixture *fixture = *state;

    for (int p = 0; p < N_PROFILES; p++) {
        for (int arch = 0; arch < ARCH_COUNT; arch++) {
            expect_foreign_killed(&fixture->built[p][arch].answers, (enum arch)arch);
            expect_foreign_killed(&fixture->built[p][arch].notify, (enum arch)arch);
        }
    }
}

static bool arg_holds(const struct policy_arg *arg, const uint64_t args[6])
{
    uint64_t value = args[arg->index];

    switch (arg->compare) {
    case POLICY_COMPARE_EQ:
        return value == arg->value;
    case POLICY_COMPARE_NE:
        return value != arg->value;
    case POLICY_COMPARE_LT:
        return value < arg->value;
    case POLICY_COMPARE_LE:
        return value <= arg->value;
    case POLICY_COMPARE_GT:
        return value > arg->value;
    case POLICY_COMPARE_GE:
        return value >= arg->value;
    case POLICY_COMPARE_MASKED_EQ:
        break;
    }
    return (value & arg->value) == arg->value_two;
}

static uint32_t as_return(enum policy_action action, unsigned errno_ret)
{
    return action == POLICY_ACTION_ALLOW   ? ALLOW
           : action == POLICY_ACTION_ERRNO ? ERRNO(errno_ret)
                                           : KILL;
}

/* The rules about one call: resolving names is slow. */
struct relevant {
    const struct policy_rule *rules[MAX_RELEVANT];
    size_t n;
    bool conditions;
};

static void find_relevant(const struct policy *policy, enum arch arch, int number,
                          struct relevant *ret_relevant)
{
    struct relevant relevant = {0};

    for (size_t i = 0; i < policy->n_rules; i++) {
        const struct policy_rule *rule = &policy->rules[i];

        for (size_t j = 0; j < rule->n_names; j++) {
            int this_number;

            if (!rule->archs[arch] || is_skipped(rule->names[j], arch) ||
                arch_syscall_number(arch, rule->names[j], &this_number) < 0 ||
                this_number != number)
                continue;
            assert_true(relevant.n < MAX_RELEVANT);
            relevant.rules[relevant.n++] = rule;
            relevant.conditions = relevant.conditions || rule->n_args > 0;
        }
    }
    *ret_relevant = relevant;
}

/* What the two filters must say. */
struct reading {
    uint32_t answer;
    uint32_t notify;
};

static struct reading as_reading(const struct policy *policy, const struct policy_rule *rule)
{
    uint32_t answer = rule ? as_return(rule->action, rule->errno_ret)
                           : as_return(policy->default_action, policy->default_errno);
    bool reported = policy->report_refusals && answer != ALLOW && !(rule && rule->unreported);

    return (struct reading){.answer = answer, .notify = reported ? NOTIFY : answer};
}

/* By reading the rules; fails if two rules that match differ. */
static struct reading read_rules(const struct policy *policy, const struct relevant *relevant,
                                 const uint64_t args[6])
{
    struct reading reading = as_reading(policy, NULL);
    bool matched = false;

    for (size_t i = 0; i < relevant->n; i++) {
        const struct policy_rule *rule = relevant->rules[i];
        bool holds = true;

        for (size_t j = 0; j < rule->n_args; j++)
            holds = holds && arg_holds(&rule->args[j], args);
        if (!holds)
            continue;
        struct reading here = as_reading(policy, rule);
        if (matched && (reading.answer != here.answer || reading.notify != here.notify))
            fail_msg("%s: two rules that match say different things", rule->names[0]);
        reading = here;
        matched = true;
    }
    return reading;
}

/* Every number of a policy and its neighbours, with and without the upper half. */
static size_t fill_pool(const struct policy *policy, uint64_t pool[static MAX_POOL])
{
    size_t n = 0;

    pool[n++] = 0;
    pool[n++] = UINT64_MAX;
    pool[n++] = UINT32_MAX;
    for (size_t i = 0; i < policy->n_rules; i++) {
        for (size_t j = 0; j < policy->rules[i].n_args; j++) {
            const struct policy_arg *arg = &policy->rules[i].args[j];

            assert_true(n + 5 < MAX_POOL);
            pool[n++] = arg->value;
            pool[n++] = arg->value + 1;
            pool[n++] = arg->value - 1;
            pool[n++] = arg->value | HIGH;
            pool[n++] = arg->value_two | (arg->value_two << 7);
        }
    }
    return n;
}

/* Good enough for picking, and the same at every run. */
static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

static void compare_number(const struct built *built, enum arch arch, int number,
                           const uint64_t *pool, size_t n_pool, uint32_t *seed)
{
    struct relevant relevant;
    size_t tries;

    find_relevant(built->policy, arch, number, &relevant);
    tries = relevant.conditions ? N_RANDOM * n_pool : 2;
    for (size_t i = 0; i < tries; i++) {
        uint64_t args[6];

        for (size_t j = 0; j < ARRAY_SIZE(args); j++)
            args[j] = i < n_pool ? pool[i] : pool[next_random(seed) % n_pool];
        struct reading expected = read_rules(built->policy, &relevant, args);
        uint32_t answer = run(&built->answers, arch_token(arch), number, args);
        uint32_t notify = run(&built->notify, arch_token(arch), number, args);
        if (answer != expected.answer || notify != expected.notify)
            fail_msg("call %d on %s, args %#llx %#llx %#llx: %#x and %#x, not %#x and %#x", number,
                     arch_name(arch), (unsigned long long)args[0], (unsigned long long)args[1],
                     (unsigned long long)args[2], answer, notify, expected.answer, expected.notify);
    }
}

static void answers_as_the_rules_read(void **state)
{
    const struct fixture *fixture = *state;
    uint32_t seed = 1;

    for (int p = 0; p < N_PROFILES; p++) {
        for (int arch = 0; arch < ARCH_COUNT; arch++) {
            const struct built *built = &fixture->built[p][arch];
            uint64_t pool[MAX_POOL];
            size_t n_pool = fill_pool(built->policy, pool);

            for (int number = -1; number < MAX_NUMBER; number++)
                compare_number(built, (enum arch)arch, number, pool, n_pool, &seed);
        }
    }
}

static void expect_filter(const struct sock_filter *filter, size_t len,
                          const struct compiled *expected)
{
    assert_int_equal(len, expected->len);
    assert_memory_equal(filter, expected->insns, len * sizeof(*filter));
}

/* What the jailer links is what the files say now. */
static void library_holds_these_filters(void **state)
{
    static const struct seccomp_policy *const linked[N_PROFILES] = {
        &seccomp_policy_snippet, &seccomp_policy_tool_call, &seccomp_policy_reaper};
    const struct fixture *fixture = *state;

    for (int p = 0; p < N_PROFILES; p++) {
        const struct built *built = &fixture->built[p][arch_native()];

        assert_string_equal(linked[p]->name, profile_names[p]);
        expect_filter(linked[p]->filter, linked[p]->len, &built->notify);
        if (built->policy->report_refusals)
            expect_filter(linked[p]->answers, linked[p]->answers_len, &built->answers);
        else
            assert_null(linked[p]->answers);
    }
}

/* A change of these numbers is a change of what a program may do: make it knowingly. */
static void allows_so_many_calls(void **state)
{
    static const size_t expected[N_PROFILES][ARCH_COUNT] = {
        [SNIPPET] = {[ARCH_X86_64] = 164, [ARCH_AARCH64] = 141},
        [TOOL_CALL] = {[ARCH_X86_64] = 165, [ARCH_AARCH64] = 142},
        [REAPER] = {[ARCH_X86_64] = 11, [ARCH_AARCH64] = 10},
    };
    const struct fixture *fixture = *state;

    for (int p = 0; p < N_PROFILES; p++) {
        for (int arch = 0; arch < ARCH_COUNT; arch++)
            assert_int_equal(policy_count_allowed(fixture->built[p][arch].policy, (enum arch)arch),
                             expected[p][arch]);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_listed),         cmocka_unit_test(kills_foreign_calls),
        cmocka_unit_test(answers_as_the_rules_read), cmocka_unit_test(library_holds_these_filters),
        cmocka_unit_test(allows_so_many_calls),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
