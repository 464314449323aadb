/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/run_status.h"
#include "common/error.h"
#include "common/kube/client.h"
#include "node-agent/agent/agent_metrics.h"
#include "node-agent/agent/spool.h"
#include "node-agent/agent/status_plan.h"
#include "node-agent/agent/status_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes to the status of runs until the API server has taken it, or answers that there is nothing
 * to write to any more. One write at a time for a sandbox; a result takes the place of a Running
 * that is still waiting. A result leaves the spool when its write is over.
 */
struct status_writer;

struct status_writer_hooks {
    /* A write is over; version is the object's newest where it was written. */
    void (*over)(const struct status_target *target, enum status_write write, enum status_step step,
                 void *arg);
};

int status_writer_new(struct kube_client *client, struct spool *spool,
                      struct agent_metrics *metrics, const struct status_writer_hooks *hooks,
                      void *arg, struct status_writer **ret_writer, struct error *err);
void status_writer_free(struct status_writer *writer);

/* status is copied, its streams aren't needed. */
int status_writer_running(struct status_writer *writer, const struct status_target *target,
                          const struct run_status *status, struct error *err);

/* Takes the streams out of status, which then has none. */
int status_writer_result(struct status_writer *writer, const struct status_target *target,
                         struct run_status *status, struct error *err);

int status_writer_give_back(struct status_writer *writer, const struct status_target *target,
                            struct error *err);

/* What an earlier agent left in the spool: its result, or that it was lost. */
int status_writer_spooled(struct status_writer *writer, const char *sandbox_id, struct error *err);

/* The watch has shown a newer version of the object. */
void status_writer_saw(struct status_writer *writer, const char *sandbox_id,
                       const char *resource_version);

/* The runs of this node have been listed once. */
void status_writer_settle(struct status_writer *writer);

/* True while a write for this sandbox isn't over; for what was found in the spool, until
 * status_writer_settle(). */
bool status_writer_has(const struct status_writer *writer, const char *sandbox_id);

/* Writes that aren't over. */
size_t status_writer_count(const struct status_writer *writer);
