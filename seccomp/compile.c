/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/compile.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/fd.h"

#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>

/* Binary tree (libseccomp's seccomp_attr_set(3)). */
#define OPTIMIZE_TREE 2

/* The level at which libseccomp takes SCMP_ACT_NOTIFY. Set, or it would look at the kernel of the
 * machine that builds. */
#define API_LEVEL 5

static void release(scmp_filter_ctx *ctx)
{
    if (*ctx)
        seccomp_release(*ctx);
}

static uint32_t action_of(enum policy_action action, unsigned errno_ret)
{
    switch (action) {
    case POLICY_ACTION_ALLOW:
        return SCMP_ACT_ALLOW;
    case POLICY_ACTION_ERRNO:
        return SCMP_ACT_ERRNO(errno_ret);
    case POLICY_ACTION_KILL_PROCESS:
        break;
    }
    return SCMP_ACT_KILL_PROCESS;
}

/* Of a rule, or of the default (rule is NULL), in a filter of this kind. */
static uint32_t answer_of(const struct policy *policy, const struct policy_rule *rule,
                          enum compile_kind kind)
{
    if (kind == COMPILE_NOTIFY && policy_reports(policy, rule))
        return SCMP_ACT_NOTIFY;
    return rule ? action_of(rule->action, rule->errno_ret)
                : action_of(policy->default_action, policy->default_errno);
}

static enum scmp_compare compare_of(enum policy_compare compare)
{
    static const enum scmp_compare table[] = {
        [POLICY_COMPARE_EQ] = SCMP_CMP_EQ,
        [POLICY_COMPARE_NE] = SCMP_CMP_NE,
        [POLICY_COMPARE_LT] = SCMP_CMP_LT,
        [POLICY_COMPARE_LE] = SCMP_CMP_LE,
        [POLICY_COMPARE_GT] = SCMP_CMP_GT,
        [POLICY_COMPARE_GE] = SCMP_CMP_GE,
        [POLICY_COMPARE_MASKED_EQ] = SCMP_CMP_MASKED_EQ,
    };

    return table[compare];
}

static int make_context(enum arch arch, uint32_t default_answer, scmp_filter_ctx *ret_ctx,
                        struct error *err)
{
    cleanup_with(release) scmp_filter_ctx ctx = NULL;
    int r;

    r = seccomp_api_set(API_LEVEL);
    if (r < 0)
        return error_set_errno(err, -r, "libseccomp refuses API level %d", API_LEVEL);
    ctx = seccomp_init(default_answer);
    if (!ctx)
        return error_set(err, ENOMEM, "libseccomp could not make a filter");
    if (arch != arch_native()) {
        r = seccomp_arch_add(ctx, arch_token(arch));
        if (r == 0)
            r = seccomp_arch_remove(ctx, arch_token(arch_native()));
    }
    if (r == 0)
        r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (r == 0)
        r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, OPTIMIZE_TREE);
    if (r < 0)
        return error_set_errno(err, -r, "libseccomp could not set up a filter for %s",
                               arch_name(arch));
    *ret_ctx = TAKE_PTR(ctx);
    return 0;
}

static int add_call(scmp_filter_ctx ctx, const struct policy_rule *rule, uint32_t answer,
                    const char *name, enum arch arch, size_t *skipped, struct error *err)
{
    struct scmp_arg_cmp args[MAX_POLICY_ARGS];
    int number, native, r;

    if (arch_syscall_number(arch, name, &number) < 0)
        return 0;
    /* libseccomp takes the native number and translates it by name. What it has no name for can
     * only be given to it as it is. */
    native = seccomp_syscall_resolve_name(name);
    if (native == __NR_SCMP_ERROR) {
        if (arch != arch_native()) {
            (*skipped)++;
            return 0;
        }
        native = number;
    }
    for (size_t i = 0; i < rule->n_args; i++)
        args[i] = (struct scmp_arg_cmp){
            .arg = rule->args[i].index,
            .op = compare_of(rule->args[i].compare),
            .datum_a = rule->args[i].value,
            .datum_b = rule->args[i].value_two,
        };
    r = seccomp_rule_add_exact_array(ctx, answer, native, (unsigned)rule->n_args, args);
    if (r < 0)
        return error_set_errno(err, -r, "libseccomp refuses a rule for %s", name);
    return 0;
}

static int export_filter(scmp_filter_ctx ctx, struct compiled *ret_compiled, struct error *err)
{
    cleanup_buf struct buf bytes = BUF_INIT((BPF_MAXINSNS + 1) * sizeof(struct sock_filter));
    cleanup_close int fd = memfd_create("sandboxrun-seccomp", MFD_CLOEXEC);
    int r;

    if (fd < 0)
        return error_set_errno(err, errno, "no memory file for the filter");
    r = seccomp_export_bpf(ctx, fd);
    if (r < 0)
        return error_set_errno(err, -r, "libseccomp could not make the filter");
    if (lseek(fd, 0, SEEK_SET) < 0)
        return error_set_errno(err, errno, "can't read the filter");
    r = fd_read_all(fd, &bytes);
    if (r == -EFBIG || (r == 0 && bytes.len / sizeof(struct sock_filter) > BPF_MAXINSNS))
        return error_set(err, E2BIG, "the filter has more instructions than the kernel's limit, %d",
                         BPF_MAXINSNS);
    if (r < 0)
        return error_set_errno(err, -r, "can't read the filter");
    if (bytes.len == 0 || bytes.len % sizeof(struct sock_filter) != 0)
        return error_set(err, EIO, "libseccomp made a filter of %zu bytes", bytes.len);
    ret_compiled->len = bytes.len / sizeof(struct sock_filter);
    ret_compiled->insns = (struct sock_filter *)(void *)buf_take(&bytes);
    return ret_compiled->insns ? 0 : error_set(err, ENOMEM, "out of memory");
}

/* Adding a rule with the default answer is an error to libseccomp: it says what holds anyway. Such
 * rules stand in a policy for their reason, or for the errno that a listener is to answer. */
static int add_rules(scmp_filter_ctx ctx, const struct policy *policy, enum arch arch,
                     enum compile_kind kind, size_t *skipped, struct error *err)
{
    uint32_t default_answer = answer_of(policy, NULL, kind);
    int r = 0;

    for (size_t i = 0; r == 0 && i < policy->n_rules; i++) {
        const struct policy_rule *rule = &policy->rules[i];
        uint32_t answer = answer_of(policy, rule, kind);

        if (answer == default_answer || !rule->archs[arch])
            continue;
        for (size_t j = 0; r == 0 && j < rule->n_names; j++)
            r = add_call(ctx, rule, answer, rule->names[j], arch, skipped, err);
    }
    return r;
}

int compile_policy(const struct policy *policy, enum arch arch, enum compile_kind kind,
                   struct compiled *ret_compiled, size_t *ret_skipped, struct error *err)
{
    cleanup_with(release) scmp_filter_ctx ctx = NULL;
    struct compiled compiled = {0};
    size_t skipped = 0;
    int r;

    if (!policy->archs[arch])
        return error_set(err, EINVAL, "the policy does not name the architecture %s",
                         arch_name(arch));
    r = make_context(arch, answer_of(policy, NULL, kind), &ctx, err);
    if (r == 0)
        r = add_rules(ctx, policy, arch, kind, &skipped, err);
    if (r == 0)
        r = export_filter(ctx, &compiled, err);
    if (r < 0)
        return r;
    *ret_compiled = compiled;
    if (ret_skipped)
        *ret_skipped = skipped;
    return 0;
}

void compiled_done(struct compiled *compiled)
{
    free(compiled->insns);
    *compiled = (struct compiled){0};
}
