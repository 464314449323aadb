/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/status_writer.h"

#include "common/api/run_status_decode.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/hash.h"
#include "common/json.h"
#include "common/kube/retry.h"
#include "common/kube/scan.h"
#include "common/log.h"
#include "common/random.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/status_patch.h"
#include "node-agent/agent/status_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Conflicts after which the next attempt waits. */
#define MAX_QUICK_CONFLICTS 4u

struct item {
    UT_hash_handle hh; /* by sandbox id */
    struct item *prev; /* among those that wait for their turn */
    struct item *next;
    struct status_writer *writer;
    struct status_target target;
    enum status_write write;
    enum status_amount amount;
    struct run_status status;
    bool spooled;    /* of an earlier agent, counted among MAX_SPOOLED_WRITES once begun */
    bool waiting;    /* in the line of those */
    bool read_first; /* the attempt under way is based on a read */
    bool lost;       /* the status is made of the object: an earlier agent left only the mark */
    bool superseded; /* a result came while a Running was under way */
    bool over;       /* only its name is left */
    unsigned int failures;
    unsigned int conflicts;
    int64_t begun_us;
    struct kube_call *call;
    struct loop_timer *timer;
};

struct status_writer {
    struct kube_client *client;
    struct spool *spool;
    struct agent_metrics *metrics;
    struct status_writer_hooks hooks;
    void *arg;
    struct item *items;
    struct item *line; /* spooled ones that wait */
    unsigned int spooled_active;
    unsigned int over_count;
    bool settled; /* a first list is through */
};

static void begin(struct item *item);

static void release(struct item *item)
{
    struct status_writer *writer = item->writer;

    if (item->waiting)
        DL_DELETE(writer->line, item);
    else if (item->spooled)
        writer->spooled_active--;
    kube_call_cancel(TAKE_PTR(item->call));
    loop_timer_free(TAKE_PTR(item->timer));
    run_status_done(&item->status);
    item->status = (struct run_status){0};
}

static void free_item(struct item *item)
{
    struct status_writer *writer = item->writer;

    if (item->over)
        writer->over_count--;
    else
        release(item);
    HASH_DEL(writer->items, item);
    free(item);
}

/* A list that was made before a write of ours is read after it: until the first one is through,
 * what it shows of these runs is no news. */
static void keep_name(struct item *item)
{
    release(item);
    item->over = true;
    item->writer->over_count++;
}

/* Only now is the result in memory. One that can't be read any more counts as lost. */
static void load_spooled(struct item *item)
{
    struct spool_record record = {0};
    struct error err = {0};

    if (item->lost)
        return;
    if (spool_load(item->writer->spool, item->target.sandbox_id, &record, &err) == 0 &&
        record.has_result) {
        item->status = record.status;
        record.status = (struct run_status){0};
    } else {
        item->lost = true;
    }
    spool_record_done(&record);
}

static void start_waiting(struct status_writer *writer)
{
    while (writer->line && writer->spooled_active < MAX_SPOOLED_WRITES) {
        struct item *item = writer->line;
        DL_DELETE(writer->line, item);
        item->waiting = false;
        writer->spooled_active++;
        load_spooled(item);
        begin(item);
    }
}

static void log_end(const struct item *item, enum status_step step)
{
    const struct status_target *target = &item->target;
    const char *msg = NULL;

    if (item->write == STATUS_WRITE_RUNNING)
        return;
    if (step == STATUS_STEP_GONE)
        msg = "the run was deleted before its status could be written";
    else if (step == STATUS_STEP_TOO_LATE)
        msg = "the run was ended by somebody else, dropping what came late";
    else if (item->write == STATUS_WRITE_GIVE_BACK)
        msg = "gave back a run that was not started";
    if (!msg)
        return;
    log_event(LOG_LEVEL_INFO, msg, LOG_TARGET(target),
              LOG_TEXT("reason", item->write == STATUS_WRITE_RESULT
                                     ? run_reason_name(item->status.reason)
                                     : NULL));
}

static void end(struct item *item, enum status_step step)
{
    struct status_writer *writer = item->writer;
    struct status_target target = item->target;
    enum status_write write = item->write;

    log_end(item, step);
    agent_metrics_written(writer->metrics, write, step);
    if (write == STATUS_WRITE_RESULT) {
        if (step == STATUS_STEP_WRITTEN)
            agent_metrics_stage(writer->metrics, AGENT_STAGE_WRITE_BACK,
                                clock_realtime_us() - item->begun_us);
        spool_remove(writer->spool, target.sandbox_id);
    }
    if (item->spooled && !writer->settled)
        keep_name(item);
    else
        free_item(item);
    start_waiting(writer);
    writer->hooks.over(&target, write, step, writer->arg);
}

static void retry(struct item *item, uint64_t retry_after_ms, const struct error *err)
{
    uint32_t random = 0;

    (void)random_bytes(&random, sizeof(random));
    item->failures++;
    uint64_t delay_ms = retry_delay_ms(item->failures, retry_after_ms, random);
    /* The first of a row, then at every doubling. */
    if ((item->failures & (item->failures - 1)) == 0)
        log_event(LOG_LEVEL_WARN, "can't write the status of a run, trying again",
                  LOG_TARGET(&item->target), LOG_NUMBER("failures", item->failures),
                  LOG_NUMBER("delayMs", (long long)delay_ms), LOG_TEXT("error", err->text));
    if (loop_timer_arm(item->timer, delay_ms) < 0)
        log_event(LOG_LEVEL_ERROR, "can't arm a timer: the status of a run stays unwritten",
                  LOG_TARGET(&item->target));
}

/* A result that came meanwhile is what counts now. */
static bool supersede(struct item *item)
{
    if (!item->superseded)
        return false;
    item->superseded = false;
    item->write = STATUS_WRITE_RESULT;
    item->amount = STATUS_WHOLE;
    item->failures = 0;
    return true;
}

static void take_step(struct item *item, enum status_step step,
                      const struct kube_response *response)
{
    switch (step) {
    case STATUS_STEP_WRITTEN:
    case STATUS_STEP_GONE:
    case STATUS_STEP_TOO_LATE:
    case STATUS_STEP_COUNT:
        end(item, step);
        return;
    case STATUS_STEP_READ:
        item->target.resource_version[0] = '\0';
        /* Somebody who changes the object all the time must not keep us busy. */
        if (++item->conflicts > MAX_QUICK_CONFLICTS) {
            retry(item, 0, &response->error);
            return;
        }
        break;
    case STATUS_STEP_SHRINK:
        item->amount++;
        log_event(LOG_LEVEL_WARN, "the API server refused a result, writing less of it",
                  LOG_TARGET(&item->target), LOG_TEXT("error", response->error.text));
        break;
    case STATUS_STEP_RETRY:
        retry(item, response->retry_after_ms, &response->error);
        return;
    case STATUS_STEP_PATCH:
        break;
    }
    begin(item);
}

static void set_version(struct item *item, const char *version)
{
    if (version && strlen(version) < sizeof(item->target.resource_version))
        memcpy(item->target.resource_version, version, strlen(version) + 1);
}

static void on_patched(const struct kube_response *response, void *arg)
{
    struct item *item = arg;
    cleanup_json cJSON *tree = NULL;
    enum status_step step = status_after_patch(item->write, response->status, response->error.text,
                                               item->amount, item->read_first);

    item->call = NULL;
    /* What was refused for its content is written smaller on the same version. */
    item->read_first = step == STATUS_STEP_SHRINK;
    if (step == STATUS_STEP_WRITTEN &&
        json_parse(response->body, response->body_len, &tree, NULL) == 0)
        set_version(item, json_get_string(tree, "metadata.resourceVersion"));
    /* Deleted is the end of a result, too; everything else about a Running no longer matters. */
    if (supersede(item) && step != STATUS_STEP_GONE) {
        if (step != STATUS_STEP_WRITTEN)
            item->target.resource_version[0] = '\0';
        begin(item);
        return;
    }
    take_step(item, step, response);
}

/* The identity that the object bears goes into a status that is made after a restart. */
static void make_lost(struct item *item, const struct run_status *current)
{
    struct run_status *status = &item->status;
    int64_t start_us = status->start_us;

    *status = *current;
    status->stdout_text = status->stderr_text = NULL;
    status->stdout_len = status->stderr_len = 0;
    status->phase = RUN_PHASE_FAILED;
    status->reason = RUN_REASON_AGENT_RESTARTED;
    (void)snprintf(status->message, sizeof(status->message),
                   "the node agent restarted while the run was under way; its result is lost");
    status->has_exit_code = true;
    status->exit_code = -1;
    if (start_us > 0)
        status->start_us = start_us;
    status->completion_us = clock_realtime_us();
    item->lost = false;
}

/* Fills view, and takes from the object what the write needs of it. */
static void read_object(struct item *item, const cJSON *tree, struct status_view *view)
{
    struct run_status current = {0};
    const char *uid = json_get_string(tree, "metadata.uid");

    if (run_status_decode(json_get(tree, "status"), &current, NULL) < 0) {
        run_status_done(&current);
        return;
    }
    view->readable = true;
    view->same_uid = uid && strcmp(uid, item->target.uid) == 0;
    view->same_sandbox = strcmp(current.sandbox_id, item->target.sandbox_id) == 0;
    view->phase = current.phase;
    set_version(item, json_get_string(tree, "metadata.resourceVersion"));
    (void)json_get_i64(tree, "metadata.generation", &item->target.generation);
    item->target.room = status_patch_room(tree);
    if (item->lost && view->same_uid && view->same_sandbox)
        make_lost(item, &current);
    run_status_done(&current);
}

static void read_unreadable(struct item *item, const struct kube_response *response,
                            struct status_view *view)
{
    static const struct run_status nothing;
    struct scan_identity identity;

    scan_identity(response->body, response->body_len, false, &identity);
    view->same_uid = strcmp(identity.uid, item->target.uid) == 0;
    set_version(item, identity.resource_version);
    item->target.room = MIN_STATUS_BYTES;
    if (item->lost)
        make_lost(item, &nothing);
}

static void on_read(const struct kube_response *response, void *arg)
{
    struct item *item = arg;
    cleanup_json cJSON *tree = NULL;
    struct status_view view = {.http_status = response->status};

    item->call = NULL;
    (void)supersede(item);
    if (response->status == 200) {
        if (json_parse(response->body, response->body_len, &tree, NULL) == 0)
            read_object(item, tree, &view);
        if (!view.readable)
            read_unreadable(item, response, &view);
    }
    item->read_first = true;
    take_step(item, status_after_read(item->write, &view), response);
}

static int send_patch(struct item *item, struct error *err)
{
    item->status.observed_generation = item->target.generation;
    const struct status_update update = {
        .target = &item->target,
        .write = item->write,
        .amount = item->amount,
        .status = &item->status,
    };
    return status_request_patch(item->writer->client, &update, on_patched, item, &item->call, err);
}

/* The next request of an item; if it can't even be made, later. */
static void begin(struct item *item)
{
    struct error err = {0};
    bool known = item->target.resource_version[0] && item->target.room > 0 && !item->lost;
    int r = known ? send_patch(item, &err)
                  : status_request_read(item->writer->client, &item->target, on_read, item,
                                        &item->call, &err);

    if (r < 0)
        retry(item, 0, &err);
}

static struct item *find(const struct status_writer *writer, const char *sandbox_id)
{
    struct item *item = NULL;

    HASH_FIND(hh, writer->items, sandbox_id, strlen(sandbox_id), item);
    return item;
}

/* The time of an earlier failure is over. */
static void on_timer(void *arg)
{
    begin(arg);
}

static int add(struct status_writer *writer, const struct status_target *target,
               enum status_write write, struct item **ret_item, struct error *err)
{
    struct item *item = calloc(1, sizeof(*item));

    if (!item)
        return error_set_errno(err, ENOMEM, "can't write the status of a run");
    item->writer = writer;
    item->target = *target;
    item->write = write;
    item->begun_us = clock_realtime_us();
    if (loop_timer_new(kube_client_loop(writer->client), on_timer, item, &item->timer) < 0) {
        free(item);
        return error_set_errno(err, ENOMEM, "can't write the status of a run");
    }
    HASH_ADD(hh, writer->items, target.sandbox_id, strlen(item->target.sandbox_id), item);
    if (!item->hh.tbl) {
        loop_timer_free(item->timer);
        free(item);
        return error_set_errno(err, ENOMEM, "can't write the status of a run");
    }
    *ret_item = item;
    return 0;
}

int status_writer_running(struct status_writer *writer, const struct status_target *target,
                          const struct run_status *status, struct error *err)
{
    struct item *item;

    if (find(writer, target->sandbox_id))
        return error_set(err, EBUSY, "the status of the run is being written already");
    int r = add(writer, target, STATUS_WRITE_RUNNING, &item, err);
    if (r < 0)
        return r;
    item->status = *status;
    item->status.phase = RUN_PHASE_RUNNING;
    item->status.stdout_text = item->status.stderr_text = NULL;
    item->status.stdout_len = item->status.stderr_len = 0;
    begin(item);
    return 0;
}

static void move_status(struct run_status *from, struct run_status *to)
{
    *to = *from;
    from->stdout_text = from->stderr_text = NULL;
    from->stdout_len = from->stderr_len = 0;
}

int status_writer_result(struct status_writer *writer, const struct status_target *target,
                         struct run_status *status, struct error *err)
{
    struct item *item = find(writer, target->sandbox_id);

    if (!item) {
        int r = add(writer, target, STATUS_WRITE_RESULT, &item, err);
        if (r < 0)
            return r;
        move_status(status, &item->status);
        begin(item);
        return 0;
    }
    if (item->write != STATUS_WRITE_RUNNING || item->superseded)
        return error_set(err, EBUSY, "the status of the run is being written already");
    move_status(status, &item->status);
    item->begun_us = clock_realtime_us();
    item->superseded = true;
    /* With a Running under way its answer is awaited: it brings the version to build on. One that
     * only waits for its next attempt is forgotten. */
    if (!item->call) {
        loop_timer_disarm(item->timer);
        (void)supersede(item);
        begin(item);
    }
    return 0;
}

int status_writer_give_back(struct status_writer *writer, const struct status_target *target,
                            struct error *err)
{
    struct item *item;

    if (find(writer, target->sandbox_id))
        return error_set(err, EBUSY, "the status of the run is being written already");
    int r = add(writer, target, STATUS_WRITE_GIVE_BACK, &item, err);
    if (r < 0)
        return r;
    /* Its patch is small whatever the object is. */
    item->target.room = MIN_STATUS_BYTES;
    begin(item);
    return 0;
}

int status_writer_spooled(struct status_writer *writer, const char *sandbox_id, struct error *err)
{
    struct spool_record record = {0};
    struct status_target target = {0};
    struct item *item;
    int r = spool_load(writer->spool, sandbox_id, &record, err);

    if (r < 0)
        return r;
    memcpy(target.name_space, record.name_space, sizeof(target.name_space));
    memcpy(target.name, record.name, sizeof(target.name));
    memcpy(target.uid, record.uid, sizeof(target.uid));
    memcpy(target.sandbox_id, record.sandbox_id, sizeof(target.sandbox_id));
    r = add(writer, &target, STATUS_WRITE_RESULT, &item, err);
    if (r == 0) {
        item->spooled = true;
        item->waiting = true;
        item->lost = !record.has_result;
        item->status.start_us = record.start_us;
        DL_APPEND(writer->line, item);
        start_waiting(writer);
    }
    spool_record_done(&record);
    return r;
}

void status_writer_saw(struct status_writer *writer, const char *sandbox_id,
                       const char *resource_version)
{
    struct item *item = find(writer, sandbox_id);

    /* What is under way has its version; what waits had better be up to date. */
    if (item && !item->call && !item->waiting && !item->over && item->target.resource_version[0])
        set_version(item, resource_version);
}

bool status_writer_has(const struct status_writer *writer, const char *sandbox_id)
{
    return find(writer, sandbox_id);
}

size_t status_writer_count(const struct status_writer *writer)
{
    return HASH_COUNT(writer->items) - writer->over_count;
}

void status_writer_settle(struct status_writer *writer)
{
    struct item *item;
    struct item *next;

    writer->settled = true;
    HASH_ITER (hh, writer->items, item, next) {
        if (item->over)
            free_item(item);
    }
}

int status_writer_new(struct kube_client *client, struct spool *spool,
                      struct agent_metrics *metrics, const struct status_writer_hooks *hooks,
                      void *arg, struct status_writer **ret_writer, struct error *err)
{
    struct status_writer *writer = calloc(1, sizeof(*writer));

    if (!writer)
        return error_set_errno(err, ENOMEM, "can't write the status of runs");
    writer->client = client;
    writer->spool = spool;
    writer->metrics = metrics;
    writer->hooks = *hooks;
    writer->arg = arg;
    *ret_writer = writer;
    return 0;
}

void status_writer_free(struct status_writer *writer)
{
    struct item *item;
    struct item *next;

    if (!writer)
        return;
    HASH_ITER (hh, writer->items, item, next)
        free_item(item);
    free(writer);
}
