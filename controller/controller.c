/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/controller.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/kube/event_recorder.h"
#include "common/kube/limits.h"
#include "common/kube/reflector.h"
#include "common/kube/server_clock.h"
#include "common/log.h"
#include "common/random.h"
#include "controller/controller_health.h"
#include "controller/controller_metrics.h"
#include "controller/heartbeats.h"
#include "controller/leader.h"
#include "controller/patch.h"
#include "controller/wait_clock.h"
#include "controller/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#define RUNS_PATH   "/apis/" SANDBOXRUN_GROUP_VERSION "/sandboxruns"
#define AGENTS_PATH "/apis/" SANDBOXRUN_GROUP_VERSION "/sandboxnodes"
#define NODES_PATH  "/api/v1/nodes"

struct controller {
    struct kube_client *client;
    int64_t ttl_seconds;
    const char *lease_namespace;
    struct leader *leader; /* NULL: there is no other controller */
    struct namespace_limits limits;
    struct finished_limits finished;
    struct event_recorder *events;
    char instance[MAX_REPORTING_INSTANCE + 1]; /* the name of this machine, or Pod */
    struct heartbeats heartbeats;
    struct nodes nodes;
    struct runs runs;
    struct wait_clock waits;
    struct plan plan;
    struct controller_metrics metrics;
    struct reflector *reflectors[WATCHED_COUNT];
    bool synced[WATCHED_COUNT];
    struct loop_timer *plan_timer; /* one at the end of this turn of the loop */
    struct loop_timer *wake_timer; /* for the next deadline */
    struct loop_timer *tick_timer; /* for the lease clock */
    struct controller_health health;
    struct write *writes;
    unsigned int assigns_in_flight;
    unsigned int writes_in_flight; /* the others */
};

static bool is_synced(const struct controller *controller)
{
    for (unsigned int i = 0; i < WATCHED_COUNT; i++) {
        if (!controller->synced[i])
            return false;
    }
    return true;
}

/* The time by which silence is counted. */
static int64_t steady_now(struct controller *controller)
{
    bool healthy = is_synced(controller);
    for (unsigned int i = 0; i < WATCHED_COUNT && healthy; i++)
        healthy = reflector_is_healthy(controller->reflectors[i]);
    return heartbeats_now(&controller->heartbeats, healthy);
}

/* The time by which waits are counted. */
static int64_t now_us(const struct controller *controller)
{
    return wait_clock_now_us(&controller->waits, clock_monotonic_ns());
}

/* Before anything is seen that has a wait: by then the API server has answered. */
static void set_wait_clock(struct controller *controller)
{
    wait_clock_set(&controller->waits, kube_client_server_time_us(controller->client),
                   clock_realtime_us(), clock_monotonic_ns());
}

/* However much changes in a turn of the loop, one plan is made of it. */
static void plan_soon(void *arg)
{
    struct controller *controller = arg;
    (void)loop_timer_arm(controller->plan_timer, 0);
}

static void write_unlink(struct write *write)
{
    struct controller *controller = write->controller;
    DL_DELETE(controller->writes, write);
    if (write->kind == ACTION_ASSIGN)
        controller->assigns_in_flight--;
    else
        controller->writes_in_flight--;
}

static void write_answered(const struct kube_response *response, void *arg)
{
    struct write *write = arg;
    struct controller *controller = write->controller;
    enum write_outcome outcome = write_outcome(response->status);
    struct run_digest *run = runs_find(&controller->runs, write->name_space, write->name);
    /* After a conflict, too, there is nothing to do before the watch has told what happened. */
    enum write_result result = outcome == WRITE_OUTCOME_OK || outcome == WRITE_OUTCOME_CONFLICT ||
                                       outcome == WRITE_OUTCOME_GONE
                                   ? WRITE_SETTLED
                                   : WRITE_FAILED;
    if (run && strcmp(run->facts.uid, write->uid) == 0)
        runs_end_write(&controller->runs, run, write->version, result, now_us(controller));
    write->waited_us = now_us(controller) - write->queued_us;
    write_report(write, outcome, response, &controller->metrics, controller->events);
    write_unlink(write);
    write_free(write);
    plan_soon(controller);
}

static int send_write(struct write *write, const struct action *action, struct error *err)
{
    struct controller *controller = write->controller;
    struct write_request request;
    if (write->kind == ACTION_ASSIGN) {
        int r = random_uuid(write->sandbox_id);
        if (r < 0)
            return error_set_errno(err, -r, "can't make a sandbox id");
    }
    /* An agent takes the age of an assignment for the delay of its watch. */
    int64_t date_us =
        server_clock_date_us(kube_client_server_time_us(controller->client), clock_realtime_us());
    int r = write_request_make(action, write->sandbox_id, date_us, &request, err);
    if (r < 0)
        return r;
    const struct kube_request call = {
        .method = request.method,
        .path = buf_str(&request.path),
        .content_type = request.content_type,
        .accept = request.accept,
        .body = buf_str(&request.body),
        .body_len = request.body.len,
        .retry_for_ms = WRITE_RETRY_MS,
        .not_after_ns = leader_not_after_ns(controller->leader),
    };
    write->started_ns = clock_monotonic_ns();
    r = kube_client_send(controller->client, &call, write_answered, write, &write->call, err);
    write_request_done(&request);
    return r;
}

static void perform(struct controller *controller, const struct action *action)
{
    struct error err = {0};
    struct write *write = write_new(controller, action);
    int r = write ? send_write(write, action, &err)
                  : error_set(&err, ENOMEM, "out of memory while writing about a run");
    if (!write || r < 0) {
        log_event(LOG_LEVEL_ERROR, "can't send a write about the run",
                  LOG_TEXT("namespace", action->run->facts.name_space),
                  LOG_TEXT("run", action->run->facts.name), LOG_TEXT("uid", action->run->facts.uid),
                  LOG_TEXT("error", err.text));
        runs_end_write(&controller->runs, action->run, action->run->facts.resource_version,
                       WRITE_FAILED, now_us(controller));
        if (write)
            write_free(write);
        plan_soon(controller);
        return;
    }
    /* The analyser does not know that a list with a head has a tail.
     * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    DL_APPEND(controller->writes, write);
    if (write->kind == ACTION_ASSIGN)
        controller->assigns_in_flight++;
    else
        controller->writes_in_flight++;
}

static void arm_wake_timer(struct controller *controller, int64_t now_us)
{
    int64_t wake_us = controller->plan.wake_us;
    if (wake_us == INT64_MAX) {
        loop_timer_disarm(controller->wake_timer);
        return;
    }
    /* Rounded up: a timer that is early by a part of a millisecond finds nothing due. */
    int64_t delay_ms = wake_us > now_us ? (wake_us - now_us + 999) / 1000 : 0;
    if (delay_ms > MAX_TIMER_MS)
        delay_ms = MAX_TIMER_MS;
    (void)loop_timer_arm(controller->wake_timer, (uint64_t)delay_ms);
}

static void plan_now(void *arg)
{
    struct controller *controller = arg;
    /* Before everything is known, nodes look empty and runs look lost. */
    if (!is_synced(controller))
        return;
    int64_t steady_us = steady_now(controller);
    if (!leader_leads(controller->leader)) {
        heartbeats_stand_by(&controller->heartbeats);
        return;
    }
    const struct plan_input input = {
        .runs = &controller->runs,
        .nodes = &controller->nodes,
        .now_us = now_us(controller),
        .steady_us = steady_us,
        .led_since_us = controller->heartbeats.led_since_us,
        .times = controller->heartbeats.times,
        .ttl_seconds = controller->ttl_seconds,
        .limits = controller->limits,
        .finished = controller->finished,
        .assign_room = MAX_ASSIGNS_IN_FLIGHT - controller->assigns_in_flight,
        .write_room = MAX_WRITES_IN_FLIGHT - controller->writes_in_flight,
    };
    plan_make(&input, &controller->plan);
    for (unsigned int i = 0; i < controller->plan.count; i++)
        perform(controller, &controller->plan.actions[i]);
    heartbeats_after_plan(&controller->heartbeats);
    /* Without room for writes whoever is due stays due: the next answer plans again. */
    if (controller->writes_in_flight < MAX_WRITES_IN_FLIGHT)
        arm_wake_timer(controller, input.now_us);
}

static void run_changed(const cJSON *object, size_t bytes, void *arg)
{
    struct controller *controller = arg;
    int64_t total_us;
    struct run_digest *run;
    struct error err = {0};
    set_wait_clock(controller);
    int64_t seen_us = now_us(controller);
    if (runs_upsert(&controller->runs, object, bytes, seen_us, &run, &err) == 0) {
        total_us = run_take_total_us(run, seen_us);
        /* Who stands by sees the same ends: one of all controllers counts them. */
        if (total_us >= 0 && leader_leads(controller->leader))
            metric_observe(&controller->metrics.total_seconds, 0, (double)total_us / 1e6);
    } else {
        log_event(LOG_LEVEL_ERROR, "can't take over a SandboxRun",
                  LOG_TEXT("namespace", json_get_string(object, "metadata.namespace")),
                  LOG_TEXT("run", json_get_string(object, "metadata.name")),
                  LOG_TEXT("uid", json_get_string(object, "metadata.uid")),
                  LOG_TEXT("error", err.text));
    }
    plan_soon(controller);
}

static void run_gone(const char *name_space, const char *name, const char *uid, void *arg)
{
    struct controller *controller = arg;
    runs_remove(&controller->runs, name_space, name, uid);
    plan_soon(controller);
}

static void agent_changed(const cJSON *object, size_t bytes, void *arg)
{
    struct controller *controller = arg;
    (void)bytes;
    struct node *node;
    struct error err = {0};
    if (nodes_set_agent(&controller->nodes, object, &node, &err) == 0)
        runs_touch_node(&controller->runs, node);
    else
        log_event(LOG_LEVEL_ERROR, "can't take over a SandboxNode",
                  LOG_TEXT("node", json_get_string(object, "metadata.name")),
                  LOG_TEXT("error", err.text));
    plan_soon(controller);
}

static void agent_gone(const char *name_space, const char *name, const char *uid, void *arg)
{
    struct controller *controller = arg;
    (void)name_space;
    (void)uid;
    struct node *node = nodes_remove_agent(&controller->nodes, name);
    if (node)
        runs_touch_node(&controller->runs, node);
    plan_soon(controller);
}

static void node_changed(const cJSON *object, size_t bytes, void *arg)
{
    struct controller *controller = arg;
    (void)bytes;
    struct error err = {0};
    if (nodes_set_core(&controller->nodes, object, &err) < 0)
        log_event(LOG_LEVEL_ERROR, "can't take over a Node",
                  LOG_TEXT("node", json_get_string(object, "metadata.name")),
                  LOG_TEXT("error", err.text));
    plan_soon(controller);
}

static void node_gone(const char *name_space, const char *name, const char *uid, void *arg)
{
    struct controller *controller = arg;
    (void)name_space;
    (void)uid;
    nodes_remove_core(&controller->nodes, name);
    plan_soon(controller);
}

static void lease_changed(const cJSON *object, size_t bytes, void *arg)
{
    struct controller *controller = arg;
    (void)bytes;
    (void)steady_now(controller);
    heartbeats_set(&controller->heartbeats, object);
    plan_soon(controller);
}

static void lease_gone(const char *name_space, const char *name, const char *uid, void *arg)
{
    struct controller *controller = arg;
    (void)name_space;
    (void)uid;
    (void)steady_now(controller);
    heartbeats_remove(&controller->heartbeats, name);
    plan_soon(controller);
}

static void tick(void *arg)
{
    struct controller *controller = arg;
    (void)loop_timer_arm(controller->tick_timer,
                         controller->heartbeats.times.renew_ms / TICKS_PER_RENEWAL);
    plan_now(controller);
}

static void mark_synced(struct controller *controller, enum watched watched)
{
    bool before = is_synced(controller);
    controller->synced[watched] = true;
    if (!before && is_synced(controller))
        log_event(LOG_LEVEL_INFO, "runs and nodes are known",
                  LOG_NUMBER("runs", HASH_COUNT(controller->runs.by_key)),
                  LOG_NUMBER("nodes", HASH_COUNT(controller->nodes.by_name)));
    /* Who doesn't know the runs yet would be a leader who does nothing. */
    if (is_synced(controller))
        leader_join(controller->leader);
    plan_soon(controller);
}

static void runs_synced(void *arg)
{
    struct controller *controller = arg;
    set_wait_clock(controller);
    controller->runs.listed = true;
    mark_synced(arg, WATCHED_RUNS);
}

static void agents_synced(void *arg)
{
    mark_synced(arg, WATCHED_AGENTS);
}

static void nodes_synced(void *arg)
{
    mark_synced(arg, WATCHED_NODES);
}

static void leases_synced(void *arg)
{
    mark_synced(arg, WATCHED_LEASES);
}

static void began_to_lead(void *arg)
{
    struct controller *controller = arg;
    heartbeats_lead(&controller->heartbeats, steady_now(controller));
    plan_soon(controller);
}

/* Of each write that is under way it is not known whether it still arrives: the run is decided on
 * again, should this controller lead again, and then the version tells. */
static void ended_to_lead(void *arg)
{
    struct controller *controller = arg;
    struct write *write, *next;
    DL_FOREACH_SAFE (controller->writes, write, next) {
        struct run_digest *run = runs_find(&controller->runs, write->name_space, write->name);
        kube_call_cancel(write->call);
        if (run && strcmp(run->facts.uid, write->uid) == 0)
            runs_end_write(&controller->runs, run, write->version, WRITE_FAILED,
                           now_us(controller));
        write_unlink(write);
        write_free(write);
    }
}

static int start_election(struct controller *controller, const struct controller_options *options,
                          struct error *err)
{
    const struct leader_options election = {
        .name_space = options->lease_namespace,
        .times = options->leader_times,
        .metrics = {.leading = &controller->metrics.leading,
                    .transitions = &controller->metrics.leader_transitions,
                    .failures = &controller->metrics.leader_failures},
        .started = began_to_lead,
        .stopped = ended_to_lead,
        .arg = controller,
    };
    metric_set(&controller->metrics.leading, 0, options->leader_elect ? 0 : 1);
    return options->leader_elect
               ? leader_new(controller->client, &election, &controller->leader, err)
               : 0;
}

static int start_watches(struct controller *controller, struct error *err)
{
    cleanup_buf struct buf leases = BUF_INIT(MAX_LEASE_PATH);
    int r = kube_lease_path(controller->lease_namespace, NULL, &leases);
    if (r < 0)
        return error_set_errno(err, -r, "can't watch leases");
    const struct {
        const char *path;
        struct reflector_handlers handlers;
    } watches[WATCHED_COUNT] = {
        [WATCHED_RUNS] = {RUNS_PATH, {run_changed, run_gone, runs_synced}},
        [WATCHED_AGENTS] = {AGENTS_PATH, {agent_changed, agent_gone, agents_synced}},
        [WATCHED_NODES] = {NODES_PATH, {node_changed, node_gone, nodes_synced}},
        [WATCHED_LEASES] = {buf_str(&leases), {lease_changed, lease_gone, leases_synced}},
    };
    for (unsigned int i = 0; i < WATCHED_COUNT; i++) {
        const struct reflector_options options = {
            .path = watches[i].path,
            .label_selector = i == WATCHED_LEASES ? LEASE_LABEL_SELECTOR : NULL,
            .name = watched_name((enum watched)i),
        };
        r = reflector_new(controller->client, &options, &watches[i].handlers, controller,
                          &controller->reflectors[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int start_events(struct controller *controller, struct error *err)
{
    const struct event_reporter reporter = {.controller = "sandboxrun.dev/controller",
                                            .instance = controller->instance};
    /* Cut, it isn't terminated. */
    if (gethostname(controller->instance, sizeof(controller->instance) - 1) < 0)
        return error_set_errno(err, errno, "can't read the name of this machine");
    return event_recorder_new(controller->client, &reporter, &controller->events, err);
}

int controller_new(struct kube_client *client, const struct controller_options *options,
                   struct controller **ret_controller, struct error *err)
{
    struct loop *loop = kube_client_loop(client);
    struct controller *controller = calloc(1, sizeof(*controller));
    if (!controller)
        return error_set(err, ENOMEM, "out of memory");
    controller->client = client;
    controller->ttl_seconds = options->ttl_seconds;
    controller->lease_namespace = options->lease_namespace;
    controller->limits = options->limits;
    controller->finished = options->finished;
    controller->heartbeats = (struct heartbeats){
        .nodes = &controller->nodes,
        .runs = &controller->runs,
        .answers = &controller->metrics.lease_asks,
        .changed = plan_soon,
        .arg = controller,
    };
    controller->health = (struct controller_health){
        .reflectors = controller->reflectors,
        .synced = controller->synced,
        .metrics = &controller->metrics,
        .clock = &controller->heartbeats.clock,
        .runs = &controller->runs,
        .nodes = &controller->nodes,
    };
    runs_init(&controller->runs, &controller->nodes);
    controller_metrics_init(&controller->metrics);
    int r = loop_timer_new(loop, plan_now, controller, &controller->plan_timer);
    if (r == 0)
        r = loop_timer_new(loop, plan_now, controller, &controller->wake_timer);
    if (r == 0)
        r = loop_timer_new(loop, tick, controller, &controller->tick_timer);
    if (r == 0)
        r = loop_timer_arm(controller->tick_timer, 0);
    if (r < 0)
        (void)error_set_errno(err, -r, "can't make a timer");
    if (r == 0)
        r = heartbeats_init(&controller->heartbeats, client, options->lease_namespace,
                            &options->lease_times, err);
    if (r == 0)
        r = start_election(controller, options, err);
    if (r == 0)
        r = start_events(controller, err);
    if (r == 0)
        r = start_watches(controller, err);
    controller->health.events = controller->events;
    if (r == 0)
        r = controller_health_start(&controller->health, loop, options->health_address, err);
    if (r < 0) {
        controller_free(controller);
        return r;
    }
    *ret_controller = controller;
    return 0;
}

void controller_end(struct controller *controller, void (*ended)(void *arg), void *arg)
{
    leader_leave(controller->leader, ended, arg);
}

void controller_free(struct controller *controller)
{
    struct write *write, *next;
    if (!controller)
        return;
    controller_health_stop(&controller->health);
    for (unsigned int i = 0; i < WATCHED_COUNT; i++)
        reflector_free(controller->reflectors[i]);
    DL_FOREACH_SAFE (controller->writes, write, next) {
        kube_call_cancel(write->call);
        write_free(write);
    }
    leader_free(controller->leader);
    event_recorder_free(controller->events);
    heartbeats_done(&controller->heartbeats);
    loop_timer_free(controller->tick_timer);
    loop_timer_free(controller->plan_timer);
    loop_timer_free(controller->wake_timer);
    runs_done(&controller->runs);
    nodes_done(&controller->nodes);
    free(controller);
}
