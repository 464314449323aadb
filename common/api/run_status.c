/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/run_status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const phase_names[RUN_PHASE_COUNT] = {
    [RUN_PHASE_PENDING] = "Pending", [RUN_PHASE_SCHEDULED] = "Scheduled",
    [RUN_PHASE_RUNNING] = "Running", [RUN_PHASE_SUCCEEDED] = "Succeeded",
    [RUN_PHASE_FAILED] = "Failed",
};

static const char *const reason_names[RUN_REASON_COUNT] = {
    [RUN_REASON_NONE] = "",
    [RUN_REASON_COMPLETED] = "Completed",
    [RUN_REASON_ERROR] = "Error",
    [RUN_REASON_SIGNALED] = "Signaled",
    [RUN_REASON_DEADLINE_EXCEEDED] = "DeadlineExceeded",
    [RUN_REASON_OOM_KILLED] = "OOMKilled",
    [RUN_REASON_OUTPUT_LIMIT_EXCEEDED] = "OutputLimitExceeded",
    [RUN_REASON_FORBIDDEN_SYSCALL] = "ForbiddenSyscall",
    [RUN_REASON_CANCELLED] = "Cancelled",
    [RUN_REASON_QUEUE_TIMEOUT] = "QueueTimeout",
    [RUN_REASON_QUEUE_FULL] = "QueueFull",
    [RUN_REASON_INVALID_SPEC] = "InvalidSpec",
    [RUN_REASON_SANDBOX_SETUP_FAILED] = "SandboxSetupFailed",
    [RUN_REASON_JAILER_LOST] = "JailerLost",
    [RUN_REASON_AGENT_RESTARTED] = "AgentRestarted",
    [RUN_REASON_NODE_LOST] = "NodeLost",
    [RUN_REASON_INTERNAL_ERROR] = "InternalError",
};

static const char *const denied_kind_names[RUN_DENIED_KIND_COUNT] = {
    [RUN_DENIED_NETWORK] = "Network",
    [RUN_DENIED_SYSCALL] = "Syscall",
};

static int find_name(const char *const *names, unsigned int count, const char *name)
{
    for (unsigned int i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return (int)i;
    }
    return -EINVAL;
}

const char *run_phase_name(enum run_phase phase)
{
    return phase_names[phase];
}

int run_phase_parse(const char *name, enum run_phase *ret_phase)
{
    int r = find_name(phase_names, RUN_PHASE_COUNT, name);
    if (r < 0)
        return r;
    *ret_phase = (enum run_phase)r;
    return 0;
}

bool run_phase_is_terminal(enum run_phase phase)
{
    return phase == RUN_PHASE_SUCCEEDED || phase == RUN_PHASE_FAILED;
}

const char *run_reason_name(enum run_reason reason)
{
    return reason_names[reason];
}

int run_reason_parse(const char *name, enum run_reason *ret_reason)
{
    int r = find_name(reason_names, RUN_REASON_COUNT, name);
    if (r < 0)
        return r;
    *ret_reason = (enum run_reason)r;
    return 0;
}

const char *run_denied_kind_name(enum run_denied_kind kind)
{
    return denied_kind_names[kind];
}

int run_denied_kind_parse(const char *name, enum run_denied_kind *ret_kind)
{
    int r = find_name(denied_kind_names, RUN_DENIED_KIND_COUNT, name);
    if (r < 0)
        return r;
    *ret_kind = (enum run_denied_kind)r;
    return 0;
}

void run_status_done(struct run_status *status)
{
    if (!status)
        return;
    free(status->stdout_text);
    free(status->stderr_text);
    *status = (struct run_status){0};
}
