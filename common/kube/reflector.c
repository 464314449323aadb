/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/reflector.h"

#include "common/clock.h"
#include "common/kube/limits.h"
#include "common/kube/reflector_internal.h"
#include "common/log.h"
#include "common/random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000u

/* Beyond the watch's own end, within which the server closes it by itself. */
#define WATCH_GRACE_MS 30000u

static uint32_t random_u32(void)
{
    uint32_t value = 0;

    (void)random_bytes(&value, sizeof(value));
    return value;
}

static uint64_t ms_since(uint64_t then_ns)
{
    return (clock_monotonic_ns() - then_ns) / NS_PER_MS;
}

static void destroy(struct reflector *reflector)
{
    kube_call_cancel(reflector->call);
    reflector_lookups_done(reflector);
    loop_timer_free(reflector->timer);
    framer_done(&reflector->framer);
    splitter_done(&reflector->splitter);
    kube_cache_free(reflector->cache);
    reflector_plan_done(&reflector->plan);
    free(reflector->name);
    free(reflector->path);
    free(reflector->field_selector);
    free(reflector->label_selector);
    free(reflector);
}

static void log_failure(const struct reflector *reflector, const struct error *err,
                        uint64_t delay_ms)
{
    unsigned int failures = reflector->plan.failures;

    /* The first of a row, then at every doubling. */
    if (failures == 0 || (failures & (failures - 1)) != 0)
        return;
    log_event(LOG_LEVEL_WARN,
              reflector->plan.step == REFLECTOR_LIST ? "can't list, trying again"
                                                     : "can't watch, trying again",
              LOG_TEXT("watch", reflector->name), LOG_NUMBER("failures", failures),
              LOG_NUMBER("delayMs", (long long)delay_ms),
              LOG_TEXT("error", err && err->code ? err->text : NULL));
}

static void wait_then_step(struct reflector *reflector, uint64_t delay_ms)
{
    (void)loop_timer_arm(reflector->timer, delay_ms);
}

static void forget_bytes(struct reflector *reflector)
{
    framer_reset(&reflector->framer);
    splitter_reset(&reflector->splitter);
}

static void list_anew(struct reflector *reflector)
{
    kube_call_cancel(reflector->call);
    reflector->call = NULL;
    reflector->anew = false;
    forget_bytes(reflector);
    reflector_plan_relist(&reflector->plan);
    wait_then_step(reflector, 0);
}

void reflector_enter(struct reflector *reflector)
{
    reflector->depth++;
}

void reflector_leave(struct reflector *reflector)
{
    if (--reflector->depth > 0)
        return;
    if (reflector->dying)
        destroy(reflector);
    else if (reflector->anew)
        list_anew(reflector);
}

/* The request is over, one way or the other, and outcome says how. */
static void end_step(struct reflector *reflector, const struct error *err)
{
    struct reflector_outcome *outcome = &reflector->outcome;
    uint64_t delay_ms;

    outcome->lifetime_ms = ms_since(reflector->started_ns);
    if (reflector->plan.step == REFLECTOR_LIST)
        delay_ms = reflector_plan_failed_page(&reflector->plan, outcome, random_u32());
    else
        delay_ms = reflector_plan_watch_ended(&reflector->plan, outcome, random_u32());
    if (reflector->plan.failures > 0)
        reflector->stats.errors++;
    log_failure(reflector, err, delay_ms);
    forget_bytes(reflector);
    wait_then_step(reflector, delay_ms);
}

/* Ends the request from our side. */
static void break_off(struct reflector *reflector, const struct error *err)
{
    struct kube_call *call = reflector->call;

    reflector->call = NULL;
    kube_call_cancel(call);
    end_step(reflector, err);
}

static void finish_page(struct reflector *reflector)
{
    const struct buf *text = NULL;
    cleanup_json cJSON *metadata = NULL;
    struct error err = {0};
    bool complete = false;
    int r = splitter_end(&reflector->splitter, &text, &err);

    if (r == 0)
        r = json_parse(buf_str(text), text->len, &metadata, &err);
    if (r == 0) {
        r = reflector_plan_page(&reflector->plan, json_get_string(metadata, "resourceVersion"),
                                json_get_string(metadata, "continue"), &reflector->outcome,
                                &complete);
        if (r < 0)
            (void)error_set_errno(&err, -r, "the list's resourceVersion or continue token");
    }
    if (r < 0) {
        reflector->outcome.lost = true;
        end_step(reflector, &err);
        return;
    }
    splitter_reset(&reflector->splitter);
    if (complete) {
        reflector->stats.lists++;
        if (!reflector->partial)
            reflector_sweep(reflector);
        if (!reflector->dying && reflector->handlers.synced)
            reflector->handlers.synced(reflector->arg);
    }
    if (!reflector->dying)
        wait_then_step(reflector, 0);
}

/* How long the request under way may stay silent from now on; 0: it has been for too long. */
static uint64_t patience_ms(const struct reflector *reflector)
{
    bool watch = reflector->plan.step == REFLECTOR_WATCH;
    uint64_t limit_ms = watch ? reflector->silence_ms : KUBE_PAGE_SILENCE_MS;
    uint64_t silent_ms = ms_since(reflector->heard_ns);

    if (!reflector->outcome.opened) {
        limit_ms = KUBE_OPEN_MS;
        silent_ms = ms_since(reflector->started_ns);
    }
    return silent_ms < limit_ms ? limit_ms - silent_ms : 0;
}

static void on_opened(void *arg)
{
    struct reflector *reflector = arg;

    reflector->outcome.opened = true;
    reflector->heard_ns = clock_monotonic_ns();
    (void)loop_timer_arm(reflector->timer, patience_ms(reflector));
    if (reflector->plan.failures > 0)
        log_event(LOG_LEVEL_INFO, "the API server answers again",
                  LOG_TEXT("watch", reflector->name),
                  LOG_NUMBER("failures", reflector->plan.failures));
    if (reflector->plan.step == REFLECTOR_WATCH)
        reflector->stats.watches++;
}

/* Bytes alone are no sign of life: a peer that sends one a second would keep us waiting, and taken
 * for healthy, with nothing new ever told. */
static void note_progress(struct reflector *reflector, size_t len)
{
    reflector->untold += len;
    if (!reflector->told && reflector->untold < KUBE_PROGRESS_BYTES)
        return;
    reflector->told = false;
    reflector->untold = 0;
    reflector->heard_ns = clock_monotonic_ns();
}

static void on_data(const char *bytes, size_t len, void *arg)
{
    struct reflector *reflector = arg;
    struct error err = {0};
    int r;

    reflector_enter(reflector);
    reflector->outcome.bytes += len;
    if (reflector->plan.step == REFLECTOR_LIST)
        r = splitter_feed(&reflector->splitter, bytes, len, &err);
    else
        r = framer_feed(&reflector->framer, bytes, len);
    note_progress(reflector, len);
    if (r < 0 && !reflector->dying && !reflector->anew) {
        if (r != -ECANCELED)
            reflector->outcome.lost = true;
        break_off(reflector, &err);
    }
    reflector_leave(reflector);
}

static void on_ended(const struct kube_response *response, void *arg)
{
    struct reflector *reflector = arg;
    struct reflector_outcome *outcome = &reflector->outcome;

    reflector_enter(reflector);
    reflector->call = NULL;
    outcome->status = response->status;
    outcome->retry_after_ms = response->retry_after_ms;
    outcome->gone = response->status == 410;
    if (reflector->plan.step == REFLECTOR_LIST && response->status == 200)
        finish_page(reflector);
    else
        end_step(reflector, &response->error);
    reflector_leave(reflector);
}

static int append_parameter(struct buf *path, const char *key, const char *value)
{
    int r = 0;

    if (!value)
        return 0;
    r = buf_printf(path, "&%s=", key);
    return r == 0 ? kube_append_escaped(path, value) : r;
}

static int make_path(const struct reflector *reflector, struct buf *path)
{
    const struct reflector_plan *plan = &reflector->plan;
    unsigned int span = KUBE_WATCH_MAX_SECONDS - KUBE_WATCH_MIN_SECONDS + 1;
    int r;

    if (plan->step == REFLECTOR_WATCH) {
        /* Spread, so that the watches of many clients don't end in one moment. */
        r = buf_printf(path, "%s?watch=true&allowWatchBookmarks=true&timeoutSeconds=%u",
                       reflector->path, KUBE_WATCH_MIN_SECONDS + random_u32() % span);
        if (r == 0)
            r = append_parameter(path, "resourceVersion", plan->version);
    } else {
        r = buf_printf(path, "%s?limit=%u", reflector->path, plan->limit);
        if (r == 0)
            r = append_parameter(path, "continue", plan->continue_token);
    }
    if (r == 0)
        r = append_parameter(path, "fieldSelector", reflector->field_selector);
    if (r == 0)
        r = append_parameter(path, "labelSelector", reflector->label_selector);
    return r;
}

static void begin_step(struct reflector *reflector)
{
    static const struct kube_stream_handlers handlers = {
        .opened = on_opened, .data = on_data, .ended = on_ended};
    cleanup_buf struct buf path = BUF_INIT(MAX_KUBE_URL);
    bool watch = reflector->plan.step == REFLECTOR_WATCH;
    struct error err = {0};

    reflector->outcome = (struct reflector_outcome){0};
    reflector->untold = 0;
    reflector->started_ns = clock_monotonic_ns();
    int r = make_path(reflector, &path);
    if (r < 0)
        (void)error_set_errno(&err, -r, "can't make the path of a request");
    if (!watch && !reflector->plan.continue_token) {
        kube_cache_begin(reflector->cache);
        reflector->partial = false;
    }
    if (r == 0) {
        const struct kube_request request = {
            .method = "GET",
            .path = buf_str(&path),
            .timeout_ms = watch ? KUBE_WATCH_MAX_SECONDS * 1000u + WATCH_GRACE_MS : KUBE_PAGE_MS,
        };
        r = kube_client_stream(reflector->client, &request, &handlers, reflector, &reflector->call,
                               &err);
    }
    if (r < 0)
        end_step(reflector, &err);
    else
        (void)loop_timer_arm(reflector->timer, patience_ms(reflector));
}

static void on_timer(void *arg)
{
    struct reflector *reflector = arg;
    struct error err = {0};

    if (!reflector->call) {
        begin_step(reflector);
        return;
    }
    uint64_t left_ms = patience_ms(reflector);
    if (left_ms > 0) {
        (void)loop_timer_arm(reflector->timer, left_ms);
        return;
    }
    (void)error_set(&err, ETIMEDOUT, "the API server has fallen silent");
    /* A watch that has nothing to tell is quiet too, so its connection is no suspect. */
    if (!reflector->outcome.opened || reflector->plan.step == REFLECTOR_LIST) {
        struct kube_call *call = reflector->call;
        reflector->call = NULL;
        kube_call_abandon(call);
        end_step(reflector, &err);
        return;
    }
    break_off(reflector, &err);
}

static int copy_option(char **field, const char *text)
{
    if (!text)
        return 0;
    *field = strdup(text);
    return *field ? 0 : -ENOMEM;
}

int reflector_new(struct kube_client *client, const struct reflector_options *options,
                  const struct reflector_handlers *handlers, void *arg,
                  struct reflector **ret_reflector, struct error *err)
{
    struct reflector *reflector = calloc(1, sizeof(*reflector));
    int r;

    if (!reflector)
        return error_set_errno(err, ENOMEM, "can't watch %s", options->name);
    reflector->client = client;
    reflector->handlers = *handlers;
    reflector->arg = arg;
    reflector->silence_ms = options->silence_ms ? options->silence_ms : KUBE_WATCH_SILENCE_MS;
    reflector_plan_init(&reflector->plan, options->page_size ? options->page_size : 100);
    framer_init(&reflector->framer, MAX_KUBE_ITEM, reflector_take_line, reflector);
    splitter_init(&reflector->splitter, MAX_KUBE_ITEM, reflector_take_item, reflector);
    reflector->cache = kube_cache_new(MAX_KUBE_OBJECTS);
    r = reflector->cache ? 0 : -ENOMEM;
    if (r == 0)
        r = copy_option(&reflector->name, options->name);
    if (r == 0)
        r = copy_option(&reflector->path, options->path);
    if (r == 0)
        r = copy_option(&reflector->field_selector, options->field_selector);
    if (r == 0)
        r = copy_option(&reflector->label_selector, options->label_selector);
    if (r == 0)
        r = reflector_lookups_init(reflector);
    if (r == 0)
        r = loop_timer_new(kube_client_loop(client), on_timer, reflector, &reflector->timer);
    if (r == 0)
        r = loop_timer_arm(reflector->timer, 0);
    if (r < 0) {
        destroy(reflector);
        return error_set_errno(err, -r, "can't watch %s", options->name);
    }
    *ret_reflector = reflector;
    return 0;
}

void reflector_free(struct reflector *reflector)
{
    if (!reflector || reflector->dying)
        return;
    if (reflector->depth == 0) {
        destroy(reflector);
        return;
    }
    /* Nothing more is asked or told; the rest goes when the handler has returned. */
    reflector->dying = true;
    kube_call_cancel(reflector->call);
    reflector->call = NULL;
    reflector_drop_lookups(reflector);
    loop_timer_disarm(reflector->timer);
}

void reflector_relist(struct reflector *reflector)
{
    if (reflector->dying)
        return;
    reflector->anew = true;
    /* From a handler: when that has returned. */
    if (reflector->depth == 0)
        list_anew(reflector);
}

bool reflector_is_healthy(const struct reflector *reflector)
{
    bool going = reflector->plan.failures == 0 || reflector->outcome.opened;

    return reflector->plan.synced && going &&
           ms_since(reflector->heard_ns) < reflector->silence_ms + KUBE_OPEN_MS;
}

struct reflector_stats reflector_stats(const struct reflector *reflector)
{
    return reflector->stats;
}
