/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/verdict.h"

#include "common/api/limits.h"
#include "common/api/quantity.h"
#include "common/cleanup.h"
#include "node-agent/agent/denied.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#define MEBIBYTE (1024.0 * 1024.0)

static void decide(struct verdict *verdict, enum run_reason reason, int32_t exit_code,
                   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void decide(struct verdict *verdict, enum run_reason reason, int32_t exit_code,
                   const char *fmt, ...)
{
    verdict->phase = reason == RUN_REASON_COMPLETED ? RUN_PHASE_SUCCEEDED : RUN_PHASE_FAILED;
    verdict->reason = reason;
    verdict->exit_code = exit_code;
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(verdict->message, sizeof(verdict->message), fmt, args);
    va_end(args);
}

static double seconds(uint64_t wall_us)
{
    return (double)wall_us / 1e6;
}

static void decide_signaled(int signum, struct verdict *verdict)
{
    const char *name = sigabbrev_np(signum);
    char text[32];
    if (name)
        (void)snprintf(text, sizeof(text), "SIG%s", name);
    else
        (void)snprintf(text, sizeof(text), "a real-time signal");

    if (signum == SIGSYS)
        decide(verdict, RUN_REASON_FORBIDDEN_SYSCALL, 128 + signum,
               "ended by signal %d (%s): the program made a system call that its profile forbids",
               signum, text);
    else
        decide(verdict, RUN_REASON_SIGNALED, 128 + signum, "ended by signal %d (%s)", signum, text);
}

static void decide_oom(const struct proto_finished *finished, const struct verdict_context *context,
                       struct verdict *verdict)
{
    char limit[QUANTITY_TEXT_SIZE];
    quantity_format_bytes(context->memory_bytes, limit);
    char peak[48] = "";
    if (finished->peak_memory_bytes > 0)
        (void)snprintf(peak, sizeof(peak), "; peak %.1fMi",
                       (double)finished->peak_memory_bytes / MEBIBYTE);
    decide(verdict, RUN_REASON_OOM_KILLED, VERDICT_EXIT_OOM,
           "memory limit of %s reached%s; killed after %.1f s", limit, peak,
           seconds(finished->wall_us));
}

static void decide_exited(const struct proto_finished *finished,
                          const struct verdict_context *context, struct verdict *verdict)
{
    int status = finished->wait_status;
    if (!finished->has_status) {
        decide(verdict, RUN_REASON_INTERNAL_ERROR, VERDICT_EXIT_PLATFORM,
               "the program ended and its exit status was not reported");
    } else if (WIFSIGNALED(status)) {
        /* The kernel's memory kill may reach the main process alone, before the jailer acts. */
        if (WTERMSIG(status) == SIGKILL && finished->oom_kills > 0)
            decide_oom(finished, context, verdict);
        else
            decide_signaled(WTERMSIG(status), verdict);
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        decide(verdict, RUN_REASON_COMPLETED, 0, "exited with code 0");
    } else if (WIFEXITED(status)) {
        decide(verdict, RUN_REASON_ERROR, WEXITSTATUS(status), "exited with code %d",
               WEXITSTATUS(status));
    } else {
        decide(verdict, RUN_REASON_INTERNAL_ERROR, VERDICT_EXIT_PLATFORM,
               "the program ended with an unknown wait status %#x", (unsigned int)status);
    }
}

static void decide_deadline(const struct proto_finished *finished,
                            const struct verdict_context *context, struct verdict *verdict)
{
    if (context->started)
        decide(verdict, RUN_REASON_DEADLINE_EXCEEDED, VERDICT_EXIT_PLATFORM,
               "killed after %.1f s, timeoutSeconds is %u", seconds(finished->wall_us),
               context->timeout_seconds);
    else
        decide(verdict, RUN_REASON_INTERNAL_ERROR, VERDICT_EXIT_PLATFORM,
               "the sandbox was made and not started within %u s; none of the code has run",
               PROTO_START_WITHIN_MS / 1000);
}

static void decide_killed(const struct proto_finished *finished,
                          const struct verdict_context *context, struct verdict *verdict)
{
    (void)finished;
    if (context->asked_reason == RUN_REASON_NONE)
        decide(verdict, RUN_REASON_INTERNAL_ERROR, VERDICT_EXIT_PLATFORM,
               "the jailer ended the run and nobody had asked for it");
    else
        decide(verdict, context->asked_reason, VERDICT_EXIT_PLATFORM, "%s",
               context->asked_message ? context->asked_message : "");
}

static void decide_reaper(const struct proto_finished *finished,
                          const struct verdict_context *context, struct verdict *verdict)
{
    /* It has kept the deadline while the jailer was stopped, and had not read of the start. */
    if (context->overdue) {
        decide(verdict, RUN_REASON_DEADLINE_EXCEEDED, VERDICT_EXIT_PLATFORM,
               "killed within %u s after timeoutSeconds, which is %u", PROTO_BACKSTOP_MS / 1000,
               context->timeout_seconds);
        return;
    }
    decide(verdict, RUN_REASON_ERROR, VERDICT_EXIT_PLATFORM,
           "process 1 of the sandbox died after %.1f s without reporting the program's end: the "
           "program may have killed it",
           seconds(finished->wall_us));
}

static void decide_shutdown(const struct proto_finished *finished,
                            const struct verdict_context *context, struct verdict *verdict)
{
    (void)context;
    decide(verdict, RUN_REASON_JAILER_LOST, VERDICT_EXIT_PLATFORM,
           "the jailer was stopped after %.1f s of the run", seconds(finished->wall_us));
}

static void decide_forbidden(const struct proto_finished *finished,
                             const struct verdict_context *context, struct verdict *verdict)
{
    (void)context;
    char name[MAX_DENIED_TARGET + 1];
    denied_call_name(finished->forbidden_call, name);
    decide(verdict, RUN_REASON_FORBIDDEN_SYSCALL, VERDICT_EXIT_FORBIDDEN,
           "killed after %.1f s: the program called %s, which ends every run",
           seconds(finished->wall_us), name);
}

/* status.denied alone can't say it. */
static void tell_of_more(struct verdict *verdict, const char *what)
{
    size_t len = strlen(verdict->message);
    (void)snprintf(verdict->message + len, sizeof(verdict->message) - len,
                   "; the counts in status.denied are lower bounds: more %s may have been refused",
                   what);
}

typedef void (*decide_fn)(const struct proto_finished *finished,
                          const struct verdict_context *context, struct verdict *verdict);

static const decide_fn decide_table[] = {
    [PROTO_END_EXITED] = decide_exited,
    [PROTO_END_DEADLINE] = decide_deadline,
    [PROTO_END_OOM] = decide_oom,
    [PROTO_END_KILLED] = decide_killed,
    [PROTO_END_REAPER] = decide_reaper,
    [PROTO_END_SHUTDOWN] = decide_shutdown,
    [PROTO_END_FORBIDDEN] = decide_forbidden,
};

void verdict_output_message(uint64_t output_bytes, char *ret_text, size_t size)
{
    (void)snprintf(ret_text, size,
                   "stdout and stderr together reached %" PRIu64 " bytes, the limit is %u",
                   output_bytes, MAX_OUTPUT_BYTES);
}

void verdict_finished(const struct proto_finished *finished, const struct verdict_context *context,
                      struct verdict *ret_verdict)
{
    *ret_verdict = (struct verdict){0};
    /* A flood that ends by itself in the moment of the kill is a flood all the same: the result
     * must not depend on who was faster. */
    if (context->output_bytes > MAX_OUTPUT_BYTES &&
        (finished->end == PROTO_END_EXITED || finished->end == PROTO_END_KILLED) &&
        (context->asked_reason == RUN_REASON_NONE ||
         context->asked_reason == RUN_REASON_OUTPUT_LIMIT_EXCEEDED)) {
        char text[MAX_STATUS_MESSAGE];
        verdict_output_message(context->output_bytes, text, sizeof(text));
        decide(ret_verdict, RUN_REASON_OUTPUT_LIMIT_EXCEEDED, VERDICT_EXIT_PLATFORM, "%s", text);
        return;
    }
    decide_fn fn = finished->end < ARRAY_SIZE(decide_table) ? decide_table[finished->end] : NULL;
    if (fn)
        fn(finished, context, ret_verdict);
    else
        decide(ret_verdict, RUN_REASON_INTERNAL_ERROR, VERDICT_EXIT_PLATFORM,
               "the jailer reported an unknown end of the run (%u)", finished->end);
    if (finished->denied_more && denied_network_is_cut(finished))
        tell_of_more(ret_verdict, "system calls, addresses and names");
    else if (finished->denied_more)
        tell_of_more(ret_verdict, "system calls");
    else if (denied_network_is_cut(finished))
        tell_of_more(ret_verdict, "addresses and names");
}

/* Errors of lock "request" that are not the spec's fault: no room now, or a breach of protocol. */
static bool is_fault_of_ours(uint32_t errnum)
{
    static const uint32_t ours[] = {EAGAIN, EBUSY,  ENOSPC, ENOMEM, ENOBUFS,  EMFILE,
                                    ENFILE, EEXIST, EPROTO, EDQUOT, EALREADY, ESTALE};
    for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
        if (ours[i] == errnum)
            return true;
    }
    return false;
}

void verdict_refused(const struct proto_refused *refused, const struct verdict_context *context,
                     struct verdict *ret_verdict)
{
    *ret_verdict = (struct verdict){0};
    if (context->asked_reason != RUN_REASON_NONE) {
        decide(ret_verdict, context->asked_reason, VERDICT_EXIT_PLATFORM, "%s",
               context->asked_message ? context->asked_message : "");
    } else if (strcmp(refused->lock, "request") != 0) {
        decide(ret_verdict, RUN_REASON_SANDBOX_SETUP_FAILED, VERDICT_EXIT_PLATFORM,
               "lock %s could not be set: %s", refused->lock, refused->text);
    } else if (refused->errnum == ESHUTDOWN) {
        /* It was told to stop before this request came: another node, or the next jailer, may. */
        decide(ret_verdict, RUN_REASON_JAILER_LOST, VERDICT_EXIT_PLATFORM,
               "the jailer refused the run: %s", refused->text);
    } else if (is_fault_of_ours(refused->errnum)) {
        decide(ret_verdict, RUN_REASON_INTERNAL_ERROR, VERDICT_EXIT_PLATFORM,
               "the jailer refused the run: %s", refused->text);
    } else {
        decide(ret_verdict, RUN_REASON_INVALID_SPEC, VERDICT_EXIT_PLATFORM,
               "the jailer refused the run: %s", refused->text);
    }
}

void verdict_lost(const struct error *err, struct verdict *ret_verdict)
{
    *ret_verdict = (struct verdict){0};
    decide(ret_verdict, RUN_REASON_JAILER_LOST, VERDICT_EXIT_PLATFORM, "%s", err->text);
}
