/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/run_status.h"
#include "common/error.h"
#include "common/kube/client.h"
#include "common/kube/limits.h"
#include "common/log.h"
#include "node-agent/agent/status_plan.h"

#include <stddef.h>
#include <stdint.h>

/* The two requests about a run's status: one attempt each, of STATUS_ATTEMPT_MS at most. */

/* What is written to: one object in one of its assignments. */
struct status_target {
    char name_space[64];
    char name[MAX_RUN_NAME + 1];
    char uid[64];
    char sandbox_id[40];
    char resource_version[MAX_KUBE_VERSION]; /* "": read the object first */
    int64_t generation;
    size_t room; /* for the status, status_patch_room(); 0: read the object first */
};

/* The fields of a log line that say which run it is about. */
#define LOG_TARGET(target)                                                                         \
    LOG_TEXT("namespace", (target)->name_space), LOG_TEXT("run", (target)->name),                  \
        LOG_TEXT("uid", (target)->uid), LOG_TEXT("sandbox", (target)->sandbox_id)

/* What to write: write tells what status and amount are good for. */
struct status_update {
    const struct status_target *target; /* with a resourceVersion */
    enum status_write write;
    enum status_amount amount;
    const struct run_status *status;
};

int status_request_read(struct kube_client *client, const struct status_target *target,
                        kube_response_fn fn, void *arg, struct kube_call **ret_call,
                        struct error *err);

/* Its answer is metadata only: the object itself may be a megabyte. */
int status_request_patch(struct kube_client *client, const struct status_update *update,
                         kube_response_fn fn, void *arg, struct kube_call **ret_call,
                         struct error *err);
