/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/agent.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/kube/client.h"
#include "common/kube/limits.h"
#include "common/log.h"
#include "common/random.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/agent_metrics.h"
#include "node-agent/agent/agent_pools.h"
#include "node-agent/agent/assignments.h"
#include "node-agent/agent/health.h"
#include "node-agent/agent/jailer_client.h"
#include "node-agent/agent/node_lease.h"
#include "node-agent/agent/node_status.h"
#include "node-agent/agent/output_server.h"
#include "node-agent/agent/preconditions.h"
#include "node-agent/agent/retained.h"
#include "node-agent/agent/spool.h"
#include "node-agent/agent/spool_watch.h"
#include "node-agent/agent/status_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000u

/* Each state goes on to the next, or straight to ENDED. */
enum agent_state {
    AGENT_CONNECTING, /* to the jailer, until its HELLO */
    AGENT_WAITING,    /* for the spool, which another agent has */
    AGENT_WORKING,
    AGENT_DRAINING, /* told to end, or the jailer is lost */
    AGENT_ENDED,
};

struct agent {
    struct loop *loop;
    struct agent_options options;
    agent_ended_fn ended;
    void *arg;
    enum agent_state state;
    char instance[RANDOM_UUID_SIZE];
    struct error cause;       /* why it ends; code 0: it was told to */
    struct loop_timer *timer; /* connecting again; the end of patience while draining */
    bool standing_by;         /* the jailer waits for another one */
    uint64_t since_ns;        /* of connecting, or of flushing (0: not yet) */
    struct agent_metrics metrics;
    struct kube_client *client;
    struct event_recorder *events;
    struct jailer_client *jailer;
    struct spool *spool;
    struct spool_watch *spool_watch;
    struct status_writer *writer;
    struct retained *retained;
    struct output_server *output;
    struct node_lease *lease;
    struct node_status *node; /* from the first renewal on */
    struct assignments *assignments;
    struct health *health;
    char unmet[1024]; /* what the node lacks to take runs; "" if nothing */
};

static void finish(struct agent *agent)
{
    agent->state = AGENT_ENDED;
    loop_timer_disarm(agent->timer);
    agent->ended(agent->cause.code ? &agent->cause : NULL, agent->arg);
}

static void fail(struct agent *agent, const struct error *err)
{
    if (agent->state == AGENT_ENDED)
        return;
    agent->cause = *err;
    finish(agent);
}

/* Whatever may have been the last thing to wait for calls this. */
static void check_end(struct agent *agent)
{
    if (agent->state != AGENT_DRAINING)
        return;
    if (agent->assignments && assignments_active(agent->assignments) > 0)
        return;
    bool results = !agent->writer || status_writer_count(agent->writer) == 0;
    bool told = !agent->node || node_status_is_written(agent->node);
    if (results && told) {
        finish(agent);
        return;
    }
    /* From the end of the last run on, patience has a limit; what is in the spool is safe. */
    if (agent->since_ns == 0) {
        agent->since_ns = clock_monotonic_ns();
        (void)loop_timer_arm(agent->timer,
                             agent->cause.code ? FLUSH_LOST_WITHIN_MS : FLUSH_WITHIN_MS);
    }
}

static void on_changed(void *arg)
{
    struct agent *agent = arg;
    struct node_resources allocated;

    /* Called while they are being made, too. */
    if (!agent->assignments)
        return;
    spool_watch_look(agent->spool_watch);
    assignments_allocated(agent->assignments, &allocated);
    node_status_set_allocated(agent->node, &allocated);
    check_end(agent);
}

static void on_written(const struct status_target *target, enum status_write write,
                       enum status_step step, void *arg)
{
    struct agent *agent = arg;

    if (agent->assignments)
        assignments_written(agent->assignments, target, write, step);
    check_end(agent);
}

static void drain(struct agent *agent, const char *reason, const char *message)
{
    agent->state = AGENT_DRAINING;
    agent->since_ns = 0;
    if (agent->node)
        node_status_set_unready(agent->node, reason, message);
    if (agent->assignments)
        assignments_drain(agent->assignments);
    check_end(agent);
}

void agent_end(struct agent *agent)
{
    if (agent->state == AGENT_CONNECTING || agent->state == AGENT_WAITING)
        finish(agent);
    else if (agent->state == AGENT_WORKING)
        drain(agent, "Draining", "The agent was told to end; it takes no new runs.");
}

static void on_jailer_notice(enum proto_notice_kind kind, void *arg)
{
    struct agent *agent = arg;

    if (kind == PROTO_NOTICE_WAITING) {
        agent->standing_by = true;
        log_event(LOG_LEVEL_INFO, "standing by: the jailer waits for another one of this node");
    } else {
        log_event(LOG_LEVEL_INFO, "the jailer was told to stop, ending with it");
        agent_end(agent);
    }
}

/* Its runs have been told already and end as JailerLost. */
static void on_jailer_lost(const struct error *err, void *arg)
{
    struct agent *agent = arg;

    if (agent->state == AGENT_ENDED)
        return;
    log_event(LOG_LEVEL_ERROR, "the jailer is lost, ending", LOG_TEXT("error", err->text));
    agent->cause = *err;
    drain(agent, "JailerLost", err->text);
}

/* Before the node is known the controller assigns nothing to this instance. */
static void begin_watch(struct agent *agent)
{
    const struct assignments_options options = {
        .client = agent->client,
        .jailer = agent->jailer,
        .spool = agent->spool,
        .writer = agent->writer,
        .metrics = &agent->metrics,
        .retained = agent->retained,
        .events = agent->events,
        .lease = agent->lease,
        .node_name = agent->options.node_name,
        .instance = agent->instance,
    };
    struct error err = {0};

    if (assignments_new(&options, on_changed, agent, &agent->assignments, &err) < 0)
        fail(agent, &err);
    else if (agent->unmet[0])
        assignments_drain(agent->assignments);
}

static void on_node_written(bool first, void *arg)
{
    struct agent *agent = arg;

    if (first && agent->state == AGENT_WORKING && agent->writer)
        begin_watch(agent);
    check_end(agent);
}

static void write_spooled(const char *sandbox_id, void *arg)
{
    struct agent *agent = arg;
    struct error err = {0};

    if (status_writer_spooled(agent->writer, sandbox_id, &err) < 0)
        log_event(LOG_LEVEL_WARN, "can't use an entry of the spool, the run counts as lost",
                  LOG_TEXT("sandbox", sandbox_id), LOG_TEXT("error", err.text));
}

/* What the jailer has found of its node. */
static void take_checks(struct agent *agent)
{
    size_t count = 0;
    const struct proto_check *checks = jailer_client_checks(agent->jailer, &count);
    preconditions_message(checks, count, agent->unmet, sizeof(agent->unmet));
    preconditions_log(checks, count);
}

static void tell_of_spool(struct agent *agent)
{
    const struct error *failure = spool_failure(agent->spool);
    char message[MAX_ERROR_TEXT + 128];

    if (!agent->node || agent->state != AGENT_WORKING || agent->unmet[0])
        return;
    if (!failure) {
        node_status_set_ready(agent->node);
        return;
    }
    (void)snprintf(message, sizeof(message),
                   "No run is started until the spool can be written to: %s.", failure->text);
    node_status_set_unready(agent->node, "SpoolNotWritable", message);
}

/* Other nodes are to have what this one can't start: first of all the controller hears of it. */
static void on_spool_changed(void *arg)
{
    struct agent *agent = arg;

    tell_of_spool(agent);
    if (agent->assignments)
        assignments_spool_changed(agent->assignments);
}

/* A spool that can't be written to can be read: reporting what it holds is what makes room. */
static int begin_results(struct agent *agent, struct error *err)
{
    static const struct status_writer_hooks hooks = {.over = on_written};
    int r = spool_open(agent->options.spool_dir, &agent->spool, err);

    if (r == 0)
        r = spool_watch_new(agent->loop, agent->spool, on_spool_changed, agent, &agent->spool_watch,
                            err);
    if (r == 0)
        r = status_writer_new(agent->client, agent->spool, &agent->metrics, &hooks, agent,
                              &agent->writer, err);
    if (r < 0)
        return r;
    (void)spool_enter(agent->spool, agent->instance, err);
    spool_watch_look(agent->spool_watch);
    return 0;
}

/* Clients have to know where it is and by what certificate they know it. */
static void describe_output(void *arg)
{
    struct agent *agent = arg;
    struct node_output output;

    if (!agent->output || !agent->node)
        return;
    output_server_describe(agent->output, &output);
    if (node_status_set_output(agent->node, &output) < 0)
        log_event(LOG_LEVEL_ERROR, "out of memory, clients can't know the output server");
}

/* Output that can't be kept costs no run; but where it is to be served it is asked for, and an
 * operator should know at once that it can't be. */
static int begin_output(struct agent *agent, struct error *err)
{
    const struct agent_options *options = &agent->options;
    const struct retained_options retained = {
        .spool_dir = options->spool_dir,
        .keep_ms = options->retain_output_ms,
        .max_bytes = options->retain_output_bytes,
    };

    if (!agent->spool || options->retain_output_ms == 0)
        return 0;
    int r = retained_open(agent->loop, &retained, &agent->retained, err);
    if (r < 0) {
        log_event(LOG_LEVEL_ERROR, "whole outputs are not kept", LOG_TEXT("error", err->text));
        return 0;
    }
    const struct output_server_options server = {
        .client = agent->client,
        .retained = agent->retained,
        .metrics = &agent->metrics,
        .node_name = options->node_name,
        .address = options->output_address,
        .host = options->output_host,
        .cert_file = options->output_cert,
        .key_file = options->output_key,
        .keep_ms = options->retain_output_ms,
    };
    return options->output_address
               ? output_server_new(&server, describe_output, agent, &agent->output, err)
               : 0;
}

static void on_pools_changed(void *arg)
{
    const struct agent *agent = arg;
    struct agent_pools pools;
    agent_pools_sum(agent->jailer, &pools);
    node_status_set_warm(agent->node, pools.waiting);
}

/* The node says what it is only when it is known to be alive. */
static void begin_node(struct agent *agent)
{
    const struct proto_hello *hello = jailer_client_hello(agent->jailer);
    struct error err = {0};

    if (agent->state != AGENT_WORKING || !hello)
        return;
    if (node_status_new(agent->client, agent->options.node_name, agent->instance, hello,
                        on_node_written, agent, &agent->node, &err) < 0) {
        fail(agent, &err);
        return;
    }
    describe_output(agent);
    jailer_client_watch_pools(agent->jailer, on_pools_changed);
    if (agent->unmet[0])
        node_status_set_unready(agent->node, "PreconditionFailed", agent->unmet);
    else if (spool_failure(agent->spool))
        tell_of_spool(agent);
}

static void on_lease_renewed(bool first, bool lapsed, void *arg)
{
    struct agent *agent = arg;

    if (first)
        begin_node(agent);
    if (agent->assignments)
        assignments_renewed(agent->assignments, lapsed);
}

static void on_lease_taken(const struct error *err, void *arg)
{
    fail(arg, err);
}

static int begin_lease(struct agent *agent, struct error *err)
{
    const struct node_lease_options options = {
        .kube = agent->options.kube,
        .name_space = agent->options.lease_namespace,
        .node_name = agent->options.node_name,
        .instance = agent->instance,
        .times = agent->options.lease_times,
        .metrics = &agent->metrics,
    };

    return node_lease_new(agent->loop, &options, on_lease_renewed, on_lease_taken, agent,
                          &agent->lease, err);
}

/* As of a Pod that still lets its runs end: whoever has the spool is the node's agent. */
static int wait_for_spool(struct agent *agent, struct error *err)
{
    if (agent->state != AGENT_WAITING)
        log_event(LOG_LEVEL_INFO, "standing by: another agent of this node has the spool",
                  LOG_TEXT("error", err->text));
    agent->state = AGENT_WAITING;
    return loop_timer_arm(agent->timer, SPOOL_RETRY_MS) < 0
               ? error_set_errno(err, ENOMEM, "can't wait for the spool")
               : 0;
}

/* Without a spool nothing can be run or reported, but for why the node can't. */
static int begin_work(struct agent *agent, const struct proto_hello *hello, struct error *err)
{
    int r = begin_results(agent, err);
    if (r == -EBUSY)
        return wait_for_spool(agent, err);
    if (r < 0 && !agent->unmet[0])
        return r;
    if (r < 0)
        log_event(LOG_LEVEL_ERROR, "no spool", LOG_TEXT("error", err->text));
    r = begin_output(agent, err);
    if (r < 0)
        return r;
    log_event(LOG_LEVEL_INFO, "the jailer is ready", LOG_TEXT("instance", agent->instance),
              LOG_NUMBER("maxRuns", hello->max_runs), LOG_NUMBER("runtimes", hello->runtime_count),
              LOG_NUMBER("cgroupVersion", hello->cgroup_version),
              LOG_NUMBER("spooled", agent->spool ? (long long)spool_count(agent->spool) : 0));
    agent->state = AGENT_WORKING;
    if (agent->writer)
        spool_each(agent->spool, write_spooled, agent);
    return begin_lease(agent, err);
}

static void on_jailer_ready(const struct proto_hello *hello, const struct error *err, void *arg)
{
    struct agent *agent = arg;
    struct error failure = {0};

    if (agent->state != AGENT_CONNECTING)
        return;
    agent->standing_by = false;
    if (err) {
        fail(agent, err);
        return;
    }
    take_checks(agent);
    if (begin_work(agent, hello, &failure) < 0)
        fail(agent, &failure);
}

/* The jailer's container may start after this one. */
static void connect_jailer(struct agent *agent)
{
    struct error err = {0};
    int sock = jailer_client_connect(agent->options.jailer_socket, &err);
    uint64_t passed_ms = (clock_monotonic_ns() - agent->since_ns) / NS_PER_MS;

    if (sock >= 0) {
        if (jailer_client_new(agent->loop, sock, on_jailer_ready, on_jailer_lost, agent,
                              &agent->jailer, &err) == 0) {
            jailer_client_set_notice(agent->jailer, on_jailer_notice);
            return;
        }
        (void)fd_close(sock);
        fail(agent, &err);
    } else if (passed_ms >= JAILER_CONNECT_WITHIN_MS) {
        fail(agent, &err);
    } else {
        (void)loop_timer_arm(agent->timer, JAILER_CONNECT_RETRY_MS);
    }
}

static void try_spool_again(struct agent *agent)
{
    const struct proto_hello *hello = jailer_client_hello(agent->jailer);
    struct error err = {0};

    /* Without a hello the jailer's end is about to be told. */
    if (hello && begin_work(agent, hello, &err) < 0)
        fail(agent, &err);
}

static void on_timer(void *arg)
{
    struct agent *agent = arg;

    if (agent->state == AGENT_CONNECTING) {
        connect_jailer(agent);
    } else if (agent->state == AGENT_WAITING) {
        try_spool_again(agent);
    } else if (agent->state == AGENT_DRAINING) {
        log_event(LOG_LEVEL_WARN, "ending before all is written, results stay in the spool",
                  LOG_NUMBER("pending",
                             agent->writer ? (long long)status_writer_count(agent->writer) : 0),
                  LOG_NUMBER("spooled", agent->spool ? (long long)spool_count(agent->spool) : 0));
        finish(agent);
    }
}

static const char *unready(const struct agent *agent)
{
    if (agent->state == AGENT_CONNECTING)
        return "the jailer has not answered yet";
    if (agent->state != AGENT_WORKING)
        return "the agent is ending";
    if (agent->unmet[0])
        return agent->unmet;
    if (spool_failure(agent->spool))
        return spool_failure(agent->spool)->text;
    if (!agent->node)
        return "the node's lease has not been renewed yet";
    if (!agent->assignments)
        return "the SandboxNode is not written yet";
    if (!node_lease_is_fresh(agent->lease))
        return "the node's lease is not being renewed";
    return assignments_is_healthy(agent->assignments) ? NULL
                                                      : "the API server is not being heard of";
}

/* One that stands by has all it needs but the end of the other: a rolling update with a surge waits
 * for the new Pod to be ready before it ends the old one. */
static bool is_ready(const char **ret_text, void *arg)
{
    const struct agent *agent = arg;
    const char *why = NULL;

    if (agent->state == AGENT_WAITING)
        *ret_text = "standing by: another agent of this node has the spool";
    else if (agent->state == AGENT_CONNECTING && agent->standing_by)
        *ret_text = "standing by: the jailer waits for another one of this node";
    else if ((why = unready(agent)))
        *ret_text = why;
    return !why;
}

static int print_metrics(struct buf *body, void *arg)
{
    struct agent *agent = arg;
    struct agent_counts counts = {0};

    if (agent->assignments) {
        counts.active = assignments_active(agent->assignments);
        counts.held = assignments_held(agent->assignments);
    }
    if (agent->lease)
        counts.lease_age_seconds = node_lease_age_seconds(agent->lease);
    agent_pools_sum(agent->jailer, &counts.pools);
    if (agent->writer)
        counts.writes = status_writer_count(agent->writer);
    if (agent->spool)
        counts.spooled = spool_count(agent->spool);
    if (agent->retained)
        retained_counts(agent->retained, &counts.retained, &counts.retained_bytes);
    return agent_metrics_print(&agent->metrics, &counts, body);
}

/* A node with too long a name is told by the agent's instance id. */
static int begin_events(struct agent *agent, struct error *err)
{
    bool fits = strlen(agent->options.node_name) <= MAX_REPORTING_INSTANCE;
    const struct event_reporter reporter = {
        .controller = "sandboxrun.dev/node-agent",
        .instance = fits ? agent->options.node_name : agent->instance,
    };

    return event_recorder_new(agent->client, &reporter, &agent->events, err);
}

int agent_new(struct loop *loop, const struct agent_options *options, agent_ended_fn ended,
              void *arg, struct agent **ret_agent, struct error *err)
{
    static const struct health_sources sources = {.ready = is_ready, .metrics = print_metrics};
    struct agent *agent = calloc(1, sizeof(*agent));
    int r;

    if (!agent)
        return error_set_errno(err, ENOMEM, "can't make the agent");
    agent->loop = loop;
    agent->options = *options;
    agent->ended = ended;
    agent->arg = arg;
    agent->since_ns = clock_monotonic_ns();
    agent_metrics_init(&agent->metrics);
    r = random_uuid(agent->instance);
    if (r == 0)
        r = loop_timer_new(loop, on_timer, agent, &agent->timer);
    if (r < 0)
        r = error_set_errno(err, -r, "can't make the agent");
    else
        r = kube_client_new(loop, options->kube, "sandboxrun-agent/" SANDBOXRUN_VERSION,
                            &agent->client, err);
    if (r == 0)
        r = begin_events(agent, err);
    if (r == 0 && options->health_address)
        r = health_new(loop, options->health_address, &sources, agent, &agent->health, err);
    if (r == 0 && loop_timer_arm(agent->timer, 0) < 0)
        r = error_set_errno(err, ENOMEM, "can't make the agent");
    if (r < 0) {
        agent_free(agent);
        return r;
    }
    *ret_agent = agent;
    return 0;
}

void agent_free(struct agent *agent)
{
    if (!agent)
        return;
    health_free(agent->health);
    assignments_free(agent->assignments);
    event_recorder_free(agent->events);
    output_server_free(agent->output);
    retained_free(agent->retained);
    node_status_free(agent->node);
    node_lease_free(agent->lease);
    status_writer_free(agent->writer);
    spool_watch_free(agent->spool_watch);
    jailer_client_free(agent->jailer);
    spool_free(agent->spool);
    kube_client_free(agent->client);
    loop_timer_free(agent->timer);
    free(agent);
}
