/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/controller_health.h"

static int answer_healthz(struct buf *body, const char **ret_content_type, void *arg)
{
    (void)ret_content_type;
    (void)arg;
    return buf_append_str(body, "ok\n") < 0 ? 500 : 200;
}

static int answer_readyz(struct buf *body, const char **ret_content_type, void *arg)
{
    const struct controller_health *health = arg;
    int status = 200;
    (void)ret_content_type;
    for (unsigned int i = 0; i < WATCHED_COUNT; i++) {
        bool healthy = health->synced[i] && reflector_is_healthy(health->reflectors[i]);
        if (!healthy)
            status = 503;
        if (buf_printf(body, "%s: %s\n", watched_name((enum watched)i),
                       healthy ? "ok" : "the watch is not up to date") < 0)
            return 500;
    }
    return status;
}

static void count_events(const struct controller_health *health)
{
    struct metric *events = &health->metrics->events;
    for (unsigned int i = 0; i < EVENT_OUTCOME_COUNT; i++)
        metric_add(events, i,
                   (double)event_recorder_count(health->events, (enum event_outcome)i) -
                       events->values[i]);
}

static int answer_metrics(struct buf *body, const char **ret_content_type, void *arg)
{
    const struct controller_health *health = arg;
    struct metric *errors = &health->metrics->watch_errors;
    for (unsigned int i = 0; i < WATCHED_COUNT; i++)
        metric_add(errors, i,
                   (double)reflector_stats(health->reflectors[i]).errors - errors->values[i]);
    count_events(health);
    metric_set(&health->metrics->lease_clock, 0, lease_clock_runs(health->clock) ? 1 : 0);
    *ret_content_type = "text/plain; version=0.0.4";
    return controller_metrics_print(health->metrics, health->runs, health->nodes, body) < 0 ? 500
                                                                                            : 200;
}

int controller_health_start(struct controller_health *health, struct loop *loop,
                            const char *address, struct error *err)
{
    static const struct http_route routes[] = {
        {"/healthz", answer_healthz},
        {"/readyz", answer_readyz},
        {"/metrics", answer_metrics},
        {0},
    };
    if (!address)
        return 0;
    return http_server_new(loop, address, routes, health, &health->server, err);
}

void controller_health_stop(struct controller_health *health)
{
    http_server_free(health->server);
    health->server = NULL;
}
