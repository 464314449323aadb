/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/status_plan.h"

#include "common/kube/retry.h"

/* The server won't have it in this form, now or later. */
static enum status_step refused(enum status_write write, enum status_amount amount)
{
    /* That a run goes on is news for a moment only. */
    if (write == STATUS_WRITE_RUNNING)
        return STATUS_STEP_TOO_LATE;
    if (write == STATUS_WRITE_RESULT && amount < STATUS_BARE)
        return STATUS_STEP_SHRINK;
    return STATUS_STEP_RETRY;
}

enum status_step status_after_patch(enum status_write write, int status, const char *message,
                                    enum status_amount amount, bool read_first)
{
    if (status >= 200 && status <= 299)
        return STATUS_STEP_WRITTEN;
    if (status == 404 || status == 410)
        return STATUS_STEP_GONE;
    if (status == 409)
        return STATUS_STEP_READ;
    if (retry_is_too_large(status, message))
        return refused(write, amount);
    /* Invalid may mean that the run is over: the rules of the schema forbid to change it then. */
    if (status == 400 || status == 422)
        return read_first ? refused(write, amount) : STATUS_STEP_READ;
    return STATUS_STEP_RETRY;
}

enum status_step status_after_read(enum status_write write, const struct status_view *view)
{
    if (view->http_status == 404 || view->http_status == 410)
        return STATUS_STEP_GONE;
    if (view->http_status != 200)
        return STATUS_STEP_RETRY;
    if (!view->same_uid)
        return STATUS_STEP_GONE;
    /* An object that our reader refuses (a NUL in an annotation) still has a version; the rules of
     * the schema keep us from changing what is over. */
    if (!view->readable)
        return STATUS_STEP_PATCH;
    if (!view->same_sandbox || run_phase_is_terminal(view->phase))
        return STATUS_STEP_TOO_LATE;
    if (write != STATUS_WRITE_RESULT && view->phase != RUN_PHASE_SCHEDULED)
        return STATUS_STEP_TOO_LATE;
    return STATUS_STEP_PATCH;
}
