/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/batch.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/random.h"
#include "node-agent/cli/offer.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

struct slot {
    struct batch *batch;
    size_t index;
    struct run *run; /* NULL: not started, or over */
};

struct batch {
    struct loop *loop;
    struct jailer_client *jailer;
    const struct document_list *documents;
    uint32_t parallel;
    struct batch_callbacks callbacks;
    void *arg;
    struct slot *slots;
    size_t next;     /* the first that was not started */
    size_t finished; /* how many are over */
    struct offer_use use;
    bool told_done;
    enum run_reason cancelled; /* NONE: not */
    char cancel_message[MAX_STATUS_MESSAGE];
    char node_name[MAX_RUN_NAME + 1];
    char instance[RANDOM_UUID_SIZE];
};

static void pump(struct batch *batch);

static void slot_over(struct slot *slot, const struct run_status *status)
{
    struct batch *batch = slot->batch;
    batch->finished++;
    batch->callbacks.finished(slot->index, status, batch->arg);
}

/* The end of a document that never became a run. */
static void slot_refuse(struct slot *slot, enum run_reason reason, const char *message)
{
    struct run_status status = {
        .phase = RUN_PHASE_FAILED,
        .reason = reason,
        .completion_us = clock_realtime_us(),
        .has_exit_code = true,
        .exit_code = -1,
    };
    (void)snprintf(status.message, sizeof(status.message), "%s", message);
    slot_over(slot, &status);
}

static void on_running(struct run *run, void *arg)
{
    (void)run;
    struct slot *slot = arg;
    slot->batch->callbacks.running(slot->index, slot->batch->arg);
}

static void on_output(struct run *run, enum run_stream stream, const char *bytes, size_t len,
                      void *arg)
{
    (void)run;
    struct slot *slot = arg;
    slot->batch->callbacks.output(slot->index, stream, bytes, len, slot->batch->arg);
}

static void on_finished(struct run *run, const struct run_status *status, void *arg)
{
    struct slot *slot = arg;
    struct batch *batch = slot->batch;
    offer_give_back(&batch->use, &batch->documents->items[slot->index].run.spec);
    slot->run = NULL;
    slot_over(slot, status);
    run_free(run);
    pump(batch);
}

static int slot_start(struct slot *slot, struct error *err)
{
    static const struct run_callbacks callbacks = {
        .running = on_running, .output = on_output, .finished = on_finished};
    struct batch *batch = slot->batch;
    /* The same fields that a controller fills, for this call is the run's node. */
    struct sandboxrun object = batch->documents->items[slot->index].run;
    memcpy(object.status.node_name, batch->node_name, sizeof(batch->node_name));
    memcpy(object.status.agent_instance, batch->instance, sizeof(batch->instance));
    object.status.scheduled_us = clock_realtime_us();
    int r = run_new(batch->loop, batch->jailer, &object, &callbacks, slot, &slot->run, err);
    if (r < 0)
        return r;
    offer_take(&batch->use, &object.spec);
    batch->callbacks.started(slot->index, batch->arg);
    return 0;
}

/* Starts what there is room for; tells of the end when there is nothing left. */
static void pump(struct batch *batch)
{
    while (batch->next < batch->documents->count) {
        struct slot *slot = &batch->slots[batch->next];
        const struct proto_hello *hello = jailer_client_hello(batch->jailer);
        const struct run_spec *spec = &batch->documents->items[slot->index].run.spec;
        struct error err = {0};
        if (!hello && batch->cancelled == RUN_REASON_NONE) {
            batch->cancelled = RUN_REASON_JAILER_LOST;
            (void)snprintf(batch->cancel_message, sizeof(batch->cancel_message),
                           "not started: the jailer is gone");
        }
        if (batch->cancelled == RUN_REASON_NONE &&
            (batch->use.runs >= batch->parallel || !offer_has_room(hello, &batch->use, spec)))
            return;
        batch->next++;
        if (batch->cancelled != RUN_REASON_NONE)
            slot_refuse(slot, batch->cancelled, batch->cancel_message);
        else if (slot_start(slot, &err) < 0)
            slot_refuse(slot,
                        jailer_client_hello(batch->jailer) ? RUN_REASON_INTERNAL_ERROR
                                                           : RUN_REASON_JAILER_LOST,
                        err.text);
    }
    if (batch->finished == batch->documents->count && !batch->told_done) {
        batch->told_done = true;
        batch->callbacks.done(batch->arg);
    }
}

int batch_new(struct loop *loop, struct jailer_client *jailer,
              const struct document_list *documents, uint32_t parallel,
              const struct batch_callbacks *callbacks, void *arg, struct batch **ret_batch,
              struct error *err)
{
    struct utsname host;
    struct batch *batch = calloc(1, sizeof(*batch));
    if (batch)
        batch->slots = calloc(documents->count + 1, sizeof(*batch->slots));
    if (!batch || !batch->slots || uname(&host) < 0 || random_uuid(batch->instance) < 0) {
        batch_free(batch);
        return error_set_errno(err, errno > 0 ? errno : ENOMEM, "prepare the runs");
    }
    batch->loop = loop;
    batch->jailer = jailer;
    batch->documents = documents;
    batch->parallel = parallel;
    batch->callbacks = *callbacks;
    batch->arg = arg;
    (void)snprintf(batch->node_name, sizeof(batch->node_name), "%s", host.nodename);
    for (size_t i = 0; i < documents->count; i++)
        batch->slots[i] = (struct slot){.batch = batch, .index = i};
    *ret_batch = batch;
    return 0;
}

int batch_start(struct batch *batch, struct error *err)
{
    const struct proto_hello *hello = jailer_client_hello(batch->jailer);
    if (!hello)
        return error_set(err, ENOTCONN, "the jailer is gone");
    for (size_t i = 0; i < batch->documents->count; i++) {
        const struct sandboxrun *run = &batch->documents->items[i].run;
        int r = offer_check(hello, &run->spec, err);
        if (r < 0)
            return error_wrap(err, "%s", run->name);
    }
    pump(batch);
    return 0;
}

void batch_cancel(struct batch *batch, enum run_reason reason, const char *message)
{
    if (batch->cancelled != RUN_REASON_NONE)
        return;
    batch->cancelled = reason;
    (void)snprintf(batch->cancel_message, sizeof(batch->cancel_message), "%s", message);
    for (size_t i = 0; i < batch->next; i++) {
        if (batch->slots[i].run)
            run_kill(batch->slots[i].run, reason, message);
    }
    pump(batch);
}

void batch_free(struct batch *batch)
{
    if (!batch)
        return;
    for (size_t i = 0; batch->slots && i < batch->next; i++)
        run_free(batch->slots[i].run);
    free(batch->slots);
    free(batch);
}
