/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/loop.h"
#include "node-agent/agent/jailer_client.h"
#include "node-agent/agent/run.h"
#include "node-agent/cli/documents.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Runs a list of documents on one jailer, in their order, as many at a time as asked for and as
 * the jailer has room for. index is the document's place in the list.
 */
struct batch;

struct batch_callbacks {
    void (*started)(size_t index, void *arg);
    void (*running)(size_t index, void *arg); /* still going after 100 ms */
    void (*output)(size_t index, enum run_stream stream, const char *bytes, size_t len, void *arg);
    /* Once for each document, also for those that were never started. */
    void (*finished)(size_t index, const struct run_status *status, void *arg);
    /* After the last of them. The callback may not free the batch. */
    void (*done)(void *arg);
};

/* documents and jailer outlive it. */
int batch_new(struct loop *loop, struct jailer_client *jailer,
              const struct document_list *documents, uint32_t parallel,
              const struct batch_callbacks *callbacks, void *arg, struct batch **ret_batch,
              struct error *err);

/* Checks every document against what the jailer offers (-EINVAL names document and field, nothing
 * was started), then starts the first. */
int batch_start(struct batch *batch, struct error *err);

/* Ends what runs and starts no more; done follows. */
void batch_cancel(struct batch *batch, enum run_reason reason, const char *message);

/* Kills what still runs. NULL is fine. */
void batch_free(struct batch *batch);
