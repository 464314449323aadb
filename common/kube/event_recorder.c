/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/event_recorder.h"

#include "common/clock.h"
#include "common/hash.h"
#include "common/kube/limits.h"
#include "common/log.h"
#include "common/token_bucket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An Event that is there, or about to be. */
struct series {
    UT_hash_handle hh; /* in the order in which they were last told */
    struct event_recorder *recorder;
    struct kube_call *call; /* under way */
    char *key;
    char *name_space;
    char *name;
    uint64_t told_ns; /* last */
    int64_t told_us;
    uint32_t count;
    uint32_t written; /* of these; 0: it isn't there yet */
};

struct event_recorder {
    struct kube_client *client;
    struct event_reporter reporter;
    struct token_bucket bucket;
    struct series *series;
    unsigned long counts[EVENT_OUTCOME_COUNT];
};

static void series_free(struct series *series)
{
    if (series->recorder->series && series->hh.tbl)
        HASH_DEL(series->recorder->series, series);
    free(series->key);
    free(series->name_space);
    free(series->name);
    free(series);
}

static int append_key(const struct event *event, struct buf *key)
{
    const char *const texts[] = {event->uid,
                                 event->name_space,
                                 event->name,
                                 event->kind,
                                 event->type == EVENT_WARNING ? "Warning" : "Normal",
                                 event->reason,
                                 event->action};
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(texts) / sizeof(texts[0]); i++) {
        r = buf_append_str(key, texts[i]);
        if (r == 0)
            r = buf_append_char(key, '\n');
    }
    return r;
}

static struct series *series_find(const struct event_recorder *recorder, const char *key)
{
    struct series *series = NULL;
    HASH_FIND_STR(recorder->series, key, series);
    return series;
}

/* Those that were not told for so long are over; beyond the bound, the one that was not for
 * longest. */
static void expire(struct event_recorder *recorder, uint64_t now_ns)
{
    struct series *series, *next;
    unsigned int count = HASH_COUNT(recorder->series);
    HASH_ITER (hh, recorder->series, series, next) {
        bool over = now_ns - series->told_ns >= EVENT_SERIES_NS;
        if (!over && count < MAX_EVENT_SERIES)
            return;
        if (series->call)
            continue;
        series_free(series);
        count--;
    }
}

static struct series *series_new(struct event_recorder *recorder, const char *key,
                                 const struct event *event, const char *name)
{
    struct series *series = calloc(1, sizeof(*series));
    if (!series)
        return NULL;
    series->recorder = recorder;
    series->count = 1;
    series->key = strdup(key);
    series->name_space = strdup(event->name_space);
    series->name = strdup(name);
    if (series->key && series->name_space && series->name)
        HASH_ADD_KEYPTR(hh, recorder->series, series->key, strlen(series->key), series);
    if (!series->hh.tbl) {
        series_free(series);
        return NULL;
    }
    return series;
}

static bool take_token(struct event_recorder *recorder)
{
    return token_bucket_take(&recorder->bucket, clock_monotonic_ns(), EVENT_BURST, EVENT_SPACE_NS);
}

static void write_count(struct series *series);

static void on_answer(const struct kube_response *response, void *arg)
{
    struct series *series = arg;
    series->call = NULL;
    if (response->status >= 200 && response->status <= 299) {
        /* The creation counts for one, whatever was told while it was under way. */
        if (series->written == 0)
            series->written = 1;
        write_count(series);
        return;
    }
    log_event(LOG_LEVEL_WARN, "an event was not taken", LOG_NUMBER("status", response->status),
              LOG_TEXT("error", response->error.text));
    /* Told again it is a new one, or the count is written then. */
    if (series->written == 0 || response->status == 404)
        series_free(series);
    else
        series->written = 1;
}

static int send(struct series *series, const struct kube_request *request, struct error *err)
{
    return kube_client_send(series->recorder->client, request, on_answer, series, &series->call,
                            err);
}

/* Whatever was told and isn't written, as far as that may be sent now. */
static void write_count(struct series *series)
{
    cleanup_buf struct buf path = BUF_INIT(MAX_EVENT_PATH);
    cleanup_buf struct buf body = BUF_INIT(MAX_EVENT_BODY);
    struct error err = {0};
    if (series->call || series->written == 0 || series->written == series->count ||
        !take_token(series->recorder))
        return;
    int r = event_encode_series(series->name_space, series->name, series->count, series->told_us,
                                &path, &body, &err);
    const struct kube_request request = {.method = "PATCH",
                                         .path = buf_str(&path),
                                         .content_type = "application/merge-patch+json",
                                         .body = body.data,
                                         .body_len = body.len};
    uint32_t written = series->written;
    series->written = series->count;
    if (r == 0)
        r = send(series, &request, &err);
    if (r < 0)
        series->written = written;
}

static int create(struct event_recorder *recorder, const char *key, const struct event *event,
                  struct error *err)
{
    cleanup_buf struct buf path = BUF_INIT(MAX_EVENT_PATH);
    cleanup_buf struct buf body = BUF_INIT(MAX_EVENT_BODY);
    char name[EVENT_NAME_SIZE];
    int64_t now_us = clock_realtime_us();
    if (HASH_COUNT(recorder->series) >= MAX_EVENT_SERIES)
        return error_set(err, EBUSY, "%u events wait for their answers", MAX_EVENT_SERIES);
    int r = event_encode(event, &recorder->reporter, now_us, &path, &body, err);
    if (r < 0)
        return r;
    event_make_name(event, now_us, name);
    struct series *series = series_new(recorder, key, event, name);
    if (!series)
        return error_set(err, ENOMEM, "out of memory while telling of an event");
    const struct kube_request request = {
        .method = "POST", .path = buf_str(&path), .body = body.data, .body_len = body.len};
    series->told_ns = clock_monotonic_ns();
    series->told_us = now_us;
    r = send(series, &request, err);
    if (r < 0)
        series_free(series);
    return r;
}

static int tell(struct event_recorder *recorder, const struct event *event, struct error *err)
{
    cleanup_buf struct buf key = BUF_INIT(MAX_EVENT_BODY);
    int r = append_key(event, &key);
    if (r < 0)
        return error_set_errno(err, -r, "can't tell of an event");
    expire(recorder, clock_monotonic_ns());
    struct series *series = series_find(recorder, buf_str(&key));
    if (!series) {
        if (!take_token(recorder))
            return error_set(err, EBUSY, "more than %u events a second",
                             1000000000u / EVENT_SPACE_NS);
        return create(recorder, buf_str(&key), event, err);
    }
    /* To the end of the order. */
    HASH_DEL(recorder->series, series);
    HASH_ADD_KEYPTR(hh, recorder->series, series->key, strlen(series->key), series);
    if (!series->hh.tbl) {
        kube_call_cancel(series->call);
        series_free(series);
        return error_set(err, ENOMEM, "out of memory while telling of an event");
    }
    if (series->count < INT32_MAX)
        series->count++;
    series->told_ns = clock_monotonic_ns();
    series->told_us = clock_realtime_us();
    write_count(series);
    return 1;
}

int event_recorder_tell(struct event_recorder *recorder, const struct event *event,
                        struct error *err)
{
    int r = tell(recorder, event, err);
    enum event_outcome outcome = r > 0 ? EVENT_REPEATED : EVENT_CREATED;
    recorder->counts[r < 0 ? EVENT_LEFT_OUT : outcome]++;
    return r < 0 ? r : 0;
}

unsigned long event_recorder_count(const struct event_recorder *recorder,
                                   enum event_outcome outcome)
{
    return recorder->counts[outcome];
}

int event_recorder_new(struct kube_client *client, const struct event_reporter *reporter,
                       struct event_recorder **ret_recorder, struct error *err)
{
    struct event_recorder *recorder = calloc(1, sizeof(*recorder));
    if (!recorder)
        return error_set(err, ENOMEM, "out of memory");
    recorder->client = client;
    recorder->reporter = *reporter;
    *ret_recorder = recorder;
    return 0;
}

void event_recorder_free(struct event_recorder *recorder)
{
    struct series *series, *next;
    if (!recorder)
        return;
    HASH_ITER (hh, recorder->series, series, next) {
        kube_call_cancel(series->call);
        series_free(series);
    }
    free(recorder);
}
