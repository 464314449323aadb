/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/run_events.h"

static bool is_platform_failure(enum run_reason reason)
{
    return reason == RUN_REASON_QUEUE_TIMEOUT || reason == RUN_REASON_QUEUE_FULL ||
           reason == RUN_REASON_NODE_LOST || reason == RUN_REASON_AGENT_RESTARTED ||
           reason == RUN_REASON_INTERNAL_ERROR;
}

bool run_event_of(enum action_kind kind, enum run_reason reason, enum wait_reason waits_for,
                  struct event *event)
{
    event->type = EVENT_WARNING;
    if (kind == ACTION_EXPLAIN) {
        event->reason = wait_reason_name(waits_for);
        event->action = "Scheduling";
        return true;
    }
    if (kind != ACTION_FAIL || !is_platform_failure(reason))
        return false;
    bool waited = reason == RUN_REASON_QUEUE_TIMEOUT || reason == RUN_REASON_QUEUE_FULL;
    event->reason = run_reason_name(reason);
    event->action = waited ? "Scheduling" : "Running";
    return true;
}
