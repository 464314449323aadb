/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/explain.h"

#include "common/cleanup.h"

#include <string.h>

#define MAX_CELL 256

static void format_action(enum policy_action action, unsigned errno_ret, struct buf *cell)
{
    const char *name = strerrorname_np((int)errno_ret);

    switch (action) {
    case POLICY_ACTION_ALLOW:
        (void)buf_append_str(cell, "allow");
        return;
    case POLICY_ACTION_KILL_PROCESS:
        (void)buf_append_str(cell, "kill");
        return;
    case POLICY_ACTION_ERRNO:
        break;
    }
    if (errno_ret == 0)
        (void)buf_append_str(cell, "success");
    else if (name)
        (void)buf_append_str(cell, name);
    else
        (void)buf_printf(cell, "errno %u", errno_ret);
}

static void format_arg(const struct policy_arg *arg, struct buf *cell)
{
    static const char *const signs[] = {
        [POLICY_COMPARE_EQ] = "==", [POLICY_COMPARE_NE] = "!=", [POLICY_COMPARE_LT] = "<",
        [POLICY_COMPARE_LE] = "<=", [POLICY_COMPARE_GT] = ">",  [POLICY_COMPARE_GE] = ">=",
    };

    if (arg->compare == POLICY_COMPARE_MASKED_EQ)
        (void)buf_printf(cell, "(arg%u & %#llx) == %#llx", arg->index,
                         (unsigned long long)arg->value, (unsigned long long)arg->value_two);
    else
        (void)buf_printf(cell, "arg%u %s %llu", arg->index, signs[arg->compare],
                         (unsigned long long)arg->value);
}

/* A cell that is too long for its buffer is cut: it is for the eye only. */
static void format_condition(const struct policy_rule *rule, struct buf *cell)
{
    for (size_t i = 0; i < rule->n_args; i++) {
        if (i > 0)
            (void)buf_append_str(cell, ", ");
        format_arg(&rule->args[i], cell);
    }
    if (rule->n_args == 0)
        (void)buf_append_str(cell, "always");
}

/* What stands before the reason: where the rule holds, and whether anybody hears of it. */
static void format_marks(const struct policy *policy, const struct policy_rule *rule, bool here,
                         enum arch arch, struct buf *marks)
{
    if (!here)
        (void)buf_append_str(marks, "[not on this architecture] ");
    else if (!policy_rule_everywhere(policy, rule))
        (void)buf_printf(marks, "[on %s] ", arch_name(arch));
    if (rule->unreported)
        (void)buf_append_str(marks, "[not reported] ");
}

int explain_policy(const struct policy *policy, enum arch arch, struct buf *buf)
{
    char action_text[MAX_CELL], condition_text[MAX_CELL], marks_text[MAX_CELL];
    struct buf action = BUF_FIXED(action_text), condition = BUF_FIXED(condition_text);
    struct buf marks = BUF_FIXED(marks_text);
    int number, r;

    r = buf_printf(buf, "%s\n\n%-24s %-12s %-34s %s\n", policy->comment, "NAME", "ACTION",
                   "CONDITION", "REASON");
    for (size_t i = 0; r == 0 && i < policy->n_rules; i++) {
        const struct policy_rule *rule = &policy->rules[i];

        buf_reset(&action);
        buf_reset(&condition);
        format_action(rule->action, rule->errno_ret, &action);
        format_condition(rule, &condition);
        for (size_t j = 0; r == 0 && j < rule->n_names; j++) {
            bool here =
                rule->archs[arch] && arch_syscall_number(arch, rule->names[j], &number) == 0;

            buf_reset(&marks);
            format_marks(policy, rule, here, arch, &marks);
            r = buf_printf(buf, "%-24s %-12s %-34s %s%s\n", rule->names[j], buf_str(&action),
                           buf_str(&condition), buf_str(&marks), rule->comment);
        }
    }
    buf_reset(&action);
    format_action(policy->default_action, policy->default_errno, &action);
    if (r == 0)
        r = buf_printf(buf, "%-24s %-12s %-34s %s\n", "(any other)", buf_str(&action), "always",
                       "The default of this policy.");
    return r;
}
