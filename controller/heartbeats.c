/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/heartbeats.h"

#include "common/clock.h"
#include "common/log.h"
#include "controller/limits.h"

void heartbeats_set(struct heartbeats *heartbeats, const cJSON *lease)
{
    struct error err = {0};
    if (nodes_set_lease(heartbeats->nodes, lease, heartbeats->clock.now_us, clock_realtime_us(),
                        &heartbeats->times, &err) < 0)
        log_event(LOG_LEVEL_ERROR, "can't take over a Lease",
                  LOG_TEXT("node", json_get_string(lease, "metadata.name")),
                  LOG_TEXT("error", err.text));
}

void heartbeats_remove(struct heartbeats *heartbeats, const char *name)
{
    nodes_remove_lease(heartbeats->nodes, name, heartbeats->clock.now_us);
}

/* What the API server itself says of a node that seems lost. */
static void lease_was_read(const char *name, int status, const cJSON *lease, int64_t steady_us,
                           const struct error *err, void *arg)
{
    struct heartbeats *heartbeats = arg;
    enum lease_answer answer = LEASE_ANSWER_FAILED;
    if (status == 200)
        heartbeats_set(heartbeats, lease);
    else if (status == 404)
        heartbeats_remove(heartbeats, name);
    else
        log_event(LOG_LEVEL_WARN, "can't read the lease of a node that seems lost, asking again",
                  LOG_TEXT("node", name), LOG_TEXT("error", err->text));
    struct node *node = nodes_find(heartbeats->nodes, name);
    if (node && (status == 200 || status == 404)) {
        bool silent = node->heartbeat.seen_us < steady_us;
        answer = silent ? LEASE_ANSWER_SILENT : LEASE_ANSWER_RENEWED;
        if (silent)
            node->heartbeat.asked_us = steady_us;
        runs_touch_node(heartbeats->runs, node);
    }
    if (node)
        node->heartbeat.asking = false;
    metric_add(heartbeats->answers, answer, 1);
    heartbeats->changed(heartbeats->arg);
}

int heartbeats_init(struct heartbeats *heartbeats, struct kube_client *client,
                    const char *name_space, const struct lease_times *times, struct error *err)
{
    heartbeats->times = *times;
    /* Agents that were cut off as we were are heard of within that time again, and so is what they
     * have to report. */
    lease_clock_init(&heartbeats->clock, times->duration_ms, MAX_LEASE_STEPS * times->renew_ms);
    return lease_reader_new(client, name_space, lease_was_read, heartbeats, &heartbeats->reader,
                            err);
}

void heartbeats_done(struct heartbeats *heartbeats)
{
    lease_reader_free(heartbeats->reader);
}

int64_t heartbeats_now(struct heartbeats *heartbeats, bool healthy)
{
    lease_clock_advance(&heartbeats->clock, clock_monotonic_ns(), healthy);
    return heartbeats->clock.now_us;
}

void heartbeats_lead(struct heartbeats *heartbeats, int64_t steady_us)
{
    heartbeats->led_since_us = steady_us;
}

void heartbeats_stand_by(struct heartbeats *heartbeats)
{
    nodes_age(heartbeats->nodes, heartbeats->clock.now_us,
              (int64_t)heartbeats->times.duration_ms * 1000);
}

static void ask(struct heartbeats *heartbeats)
{
    struct error err = {0};
    struct nodes *nodes = heartbeats->nodes;
    if (!nodes->asks)
        return;
    nodes->asks = false;
    for (struct node *node = nodes->by_name; node; node = node->hh.next) {
        struct node_heartbeat *heartbeat = &node->heartbeat;
        if (!heartbeat->ask || heartbeat->asking)
            continue;
        heartbeat->asking =
            lease_reader_read(heartbeats->reader, node->name, heartbeats->clock.now_us, &err) == 0;
        heartbeat->ask = !heartbeat->asking;
        /* The others' turn comes with the next plan. */
        nodes->asks |= heartbeat->ask;
    }
}

static void tell(struct heartbeats *heartbeats)
{
    struct nodes *nodes = heartbeats->nodes;
    if (!nodes->untold)
        return;
    nodes->untold = false;
    for (struct node *node = nodes->by_name; node; node = node->hh.next) {
        struct node_heartbeat *heartbeat = &node->heartbeat;
        if (heartbeat->fresh == heartbeat->told)
            continue;
        heartbeat->told = heartbeat->fresh;
        log_event(heartbeat->fresh ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
                  heartbeat->fresh ? "a node is heard of"
                                   : "a node is not heard of any more, it gets no new runs",
                  LOG_TEXT("node", node->name), LOG_TEXT("instance", heartbeat->holder));
    }
}

void heartbeats_after_plan(struct heartbeats *heartbeats)
{
    ask(heartbeats);
    tell(heartbeats);
}
