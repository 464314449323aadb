/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandboxrun-seccomp: the compiler of the seccomp policies.
 *
 * Theory of operation. The policies are data (snippet.json, tool-call.json, reaper.json). At build
 * time this program turns each into a C file, so that the jailer carries finished BPF and neither a
 * JSON parser nor libseccomp. policy.c reads the file, strictly and without effects; compile.c
 * hands it to libseccomp and takes the instructions; emit.c writes them, and the table of names by
 * which the agent tells people what was refused. The other commands are for people: what is allowed
 * and why, and running a command under a policy to see what it lacks. Nothing here runs in a
 * cluster.
 */
#include "common/cleanup.h"
#include "common/fd.h"
#include "seccomp/compile.h"
#include "seccomp/emit.h"
#include "seccomp/explain.h"
#include "seccomp/load.h"
#include "seccomp/options.h"

#include <fcntl.h>
#include <string.h>

#define MAX_OUTPUT_BYTES ((size_t)4 * 1024 * 1024)
#define MAX_POLICY_NAME  64

#define EXIT_WRONG_OPTION 2
#define EXIT_CANT_START   126
#define EXIT_NOT_FOUND    127

static int read_policy(const char *path, struct policy **ret_policy, struct error *err)
{
    cleanup_buf struct buf bytes = BUF_INIT(MAX_POLICY_BYTES);
    int r;

    r = fd_read_file(AT_FDCWD, path, false, &bytes);
    if (r < 0)
        return error_set_errno(err, -r, "can't read %s", path);
    r = policy_parse(buf_str(&bytes), bytes.len, ret_policy, err);
    return r < 0 ? error_wrap(err, "%s", path) : 0;
}

static int write_output(const char *path, const struct buf *bytes, struct error *err)
{
    cleanup_close int fd = -1;
    int out = STDOUT_FILENO;
    int r;

    if (strcmp(path, "-") != 0) {
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0)
            return error_set_errno(err, errno, "can't write %s", path);
        out = fd;
    }
    r = fd_write_full(out, buf_str(bytes), bytes->len);
    return r < 0 ? error_set_errno(err, -r, "can't write %s", path) : 0;
}

/* "seccomp/tool-call.json" is the policy "tool-call". */
static int policy_name(const char *path, char ret_name[static MAX_POLICY_NAME], struct error *err)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t len = strcspn(base, ".");

    if (len == 0 || len >= MAX_POLICY_NAME ||
        len != strspn(base, "abcdefghijklmnopqrstuvwxyz0123456789-"))
        return error_set(err, EINVAL,
                         "%s: a policy is named by its file: a-z, 0-9 and '-' before the first '.'",
                         path);
    memcpy(ret_name, base, len);
    ret_name[len] = '\0';
    return 0;
}

static int emit_policy(const struct options *options, const struct compiled *filter,
                       const struct compiled *answers, struct buf *out, struct error *err)
{
    char name[MAX_POLICY_NAME], symbol[MAX_POLICY_NAME + 16];
    int r;

    if (options->format == OUTPUT_FORMAT_RAW) {
        r = emit_raw(answers ? answers : filter, out);
    } else {
        r = policy_name(options->file, name, err);
        if (r < 0)
            return r;
        (void)snprintf(symbol, sizeof(symbol), "seccomp_policy_%s", name);
        for (char *c = symbol; *c; c++)
            *c = *c == '-' ? '_' : *c;
        r = emit_c(filter, answers, name, options->symbol ? options->symbol : symbol, out);
    }
    return r < 0 ? error_set_errno(err, -r, "can't keep the output") : 0;
}

static int run_count(const struct options *options, const struct policy *policy, struct error *err)
{
    cleanup_buf struct buf out = BUF_INIT(MAX_OUTPUT_BYTES);
    int r = buf_printf(&out, "%zu\n", policy_count_allowed(policy, options->arch));

    return r < 0 ? error_set_errno(err, -r, "can't keep the output") : write_output("-", &out, err);
}

static int run_explain(const struct options *options, const struct policy *policy,
                       struct error *err)
{
    cleanup_buf struct buf out = BUF_INIT(MAX_OUTPUT_BYTES);
    int r = explain_policy(policy, options->arch, &out);

    return r < 0 ? error_set_errno(err, -r, "can't keep the output") : write_output("-", &out, err);
}

static int run_compile(const struct options *options, const struct policy *policy,
                       struct error *err)
{
    cleanup_compiled struct compiled filter = {0}, answers = {0};
    cleanup_buf struct buf out = BUF_INIT(MAX_OUTPUT_BYTES);
    bool reports = policy->report_refusals;
    size_t skipped = 0;
    int r;

    r = compile_policy(policy, options->arch, COMPILE_NOTIFY, &filter, &skipped, err);
    if (r == 0 && reports)
        r = compile_policy(policy, options->arch, COMPILE_ANSWERS, &answers, NULL, err);
    if (r == 0)
        r = emit_policy(options, &filter, reports ? &answers : NULL, &out, err);
    if (r == 0)
        r = write_output(options->output, &out, err);
    if (r == 0 && skipped > 0)
        (void)fprintf(
            stderr,
            "sandboxrun-seccomp: %s: %zu calls are unknown to this libseccomp and fall to "
            "the default action; compile on %s itself to have them\n",
            options->file, skipped, arch_name(options->arch));
    return r;
}

static int run_exec(const struct options *options, const struct policy *policy, struct error *err)
{
    cleanup_compiled struct compiled compiled = {0};
    int r;

    r = compile_policy(policy, options->arch, COMPILE_ANSWERS, &compiled, NULL, err);
    if (r == 0)
        r = load_filter(&compiled, err);
    if (r < 0)
        return r;
    (void)execvp(options->program[0], options->program);
    return error_set_errno(err, errno, "can't start %s", options->program[0]);
}

static int run_names(const struct options *options, const struct policy *policy, struct error *err)
{
    cleanup_buf struct buf out = BUF_INIT(MAX_OUTPUT_BYTES);
    int r = emit_names(options->arch, &out);

    (void)policy;
    return r < 0 ? error_set_errno(err, -r, "can't keep the output")
                 : write_output(options->output, &out, err);
}

static int (*const runners[])(const struct options *, const struct policy *, struct error *) = {
    [COMMAND_COUNT] = run_count, [COMMAND_EXPLAIN] = run_explain, [COMMAND_COMPILE] = run_compile,
    [COMMAND_EXEC] = run_exec,   [COMMAND_NAMES] = run_names,
};

int main(int argc, char **argv)
{
    cleanup_policy struct policy *policy = NULL;
    struct options options;
    struct error err = {0};
    int r;

    r = options_parse(argc, argv, &options, &err);
    if (r < 0) {
        (void)fprintf(stderr, "sandboxrun-seccomp: %s; see --help\n", err.text);
        return EXIT_WRONG_OPTION;
    }
    if (options.command == COMMAND_HELP)
        return fputs(options_usage, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    r = options.file ? read_policy(options.file, &policy, &err) : 0;
    if (r == 0)
        r = runners[options.command](&options, policy, &err);
    if (r == 0)
        return EXIT_SUCCESS;
    (void)fprintf(stderr, "sandboxrun-seccomp: %s\n", err.text);
    if (options.command != COMMAND_EXEC || !policy)
        return EXIT_FAILURE;
    return err.code == ENOENT ? EXIT_NOT_FOUND : EXIT_CANT_START;
}
