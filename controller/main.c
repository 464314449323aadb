/* SPDX-License-Identifier: Apache-2.0 */

/*
 * sandboxrun-controller: gives every SandboxRun to a node, and takes away what is finished.
 *
 * Theory of operation
 *
 * One process, one thread, uid 65532, no capability, no file of its own: all state is in the API
 * server. A controller that dies loses nothing. There are two: one leads, the other one knows as
 * much and waits.
 *
 *      API server ── list + watch ──▶ reflectors ──▶ runs, nodes      what is known
 *          ▲                                            │
 *          │                                            ▼
 *          └── PATCH status, DELETE ◀── actions ◀── plan, scheduler   what is to be done
 *
 * Four reflectors follow SandboxRuns of all namespaces, SandboxNodes, the Leases that the agents
 * renew, and core Nodes. Of a run a digest is kept (facts.h), never its code or output. Whatever
 * changes marks a run to be looked at; at the end of the loop's turn one plan is made of all
 * changes. Nothing is planned before each of them has delivered its first list. The only other
 * things that start a plan are a timer for the earliest deadline of any run (an explanation, a
 * queue timeout, a back-off, a TTL) and the tick of the lease clock. No timer is on the way from a
 * created run to its assignment.
 *
 * Who waits. Namespaces take turns; within one the oldest that can be placed goes first, and those
 * that would go to the same nodes wait behind one for which there is no room (tenants.h). What a
 * namespace may use and queue is bounded where the operator says so (namespace_limits.h). A plan
 * looks only at the heads of these lines, and at nodes that may have got room since they were last
 * looked at, so that what it costs doesn't grow with how many wait (plan_queues.c). Of finished
 * runs a bounded number, and size, is kept (finished.h). That a run waits, or could not be run, its
 * namespace is told by an Event too (run_events.h).
 *
 * Leading. leader.c competes for a Lease as client-go does (leader_plan.c decides), once everything
 * is known here. A standby runs its reflectors and is ready; only the plan is not made. Who begins
 * to lead plans at once. Who has not renewed in time, or has lost the Lease, cancels what is under
 * way and stands by again, with all it knows; an exit would throw that away. The time is
 * CLOCK_BOOTTIME since the last accepted renewal was sent, looked at before every plan; each
 * request bears its end and is not sent after it, so that a controller that was stopped and wakes
 * up writes nothing. Whoever waits counts by CLOCK_MONOTONIC, from when it read that the record had
 * changed, and longer: each side errs to its own cost. Times that others wrote are never looked at.
 * A watch of the Lease tells when it is given back, so that the other one need not wait for its
 * next look.
 *
 * Silence. How long a Lease has not changed is counted here, from when the last change was seen,
 * never by times that others wrote. The clock for it begins at 0 with the process, and stands still
 * while any watch is unhealthy, for a while after that, and while the process itself was stopped
 * (lease_clock.h). Runs are given up for silence since the take-over only. A node that is silent
 * for 40 s gets nothing new. When so much time has passed that everything it may have started is
 * over (lease_times.h), its Lease is read once more from the API server itself: only if that shows
 * no change either do its runs end as NodeLost.
 *
 * Waits. How long a run has waited, or has been over, is counted by the monotonic clock from when
 * it was first seen so. Only what was there before this controller has a past that nobody here saw:
 * it is read off the dates that the API server gave the object, against that server's own clock,
 * which its answers tell (wait_clock.h). A node's date counts only between those. So nobody's clock
 * that is wrong, or is set, ends a wait early or late, and a standby that takes over goes on
 * counting.
 *
 * plan.c and scheduler.c decide, without I/O. What they decide is accounted for at once, so that
 * the next decision counts it, and sent by controller.c. A claim is one merge patch on the status:
 * phase, node, the instance of the node's agent, and a sandbox id that never was before. It carries
 * the resourceVersion it was decided on, as every write here does, so that it changes exactly that
 * version or nothing. After a conflict the watch tells what happened, and the run is decided on
 * again. Should two controllers ever write at once, each write still changes what it was decided
 * on.
 *
 * Who dies                what happens
 *   the leader            runs under way go on; new ones wait for the standby, which leads a lease
 *                         duration after the last renewal it saw, or at once after SIGTERM
 *   the standby           nothing
 *   the leader sleeps     as if it died; when it wakes it stands by, and has written nothing
 *   both                  new runs wait for the next controller
 *   the Lease             deleted, it is made again by the leader; written by another, that one
 *                         leads while it renews
 *   the API server        writes back off, watches come back by themselves, /readyz says so;
 *                         nobody leads until it answers
 *   an agent              its node is silent, or has another instance; what was assigned to the
 *                         old one is reported or given back by the new one, and failed here when
 *                         neither can happen any more
 *
 * What is under way is bounded (limits.h), assignments apart from the other writes. SIGTERM and
 * SIGINT cancel the requests under way and give the Lease back, for 3 s at most; then the loop
 * ends, and the process exits with 0. A second signal doesn't wait.
 */
#include "common/kube/config.h"
#include "common/log.h"
#include "common/loop.h"
#include "controller/controller.h"
#include "controller/options.h"
#include "controller/options_bounds.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define EXIT_USAGE 2

struct program {
    struct kube_config config;
    struct loop *loop;
    struct loop_signal *terminate;
    struct loop_signal *interrupt;
    struct kube_client *client;
    struct controller *controller;
    bool ending;
};

static void end_loop(void *arg)
{
    loop_stop(arg);
}

/* A second signal ends it at once. */
static void on_signal(int signum, void *arg)
{
    struct program *program = arg;
    log_event(LOG_LEVEL_INFO, "ending on a signal", LOG_NUMBER("signal", signum));
    if (program->ending || !program->controller) {
        loop_stop(program->loop);
        return;
    }
    program->ending = true;
    controller_end(program->controller, end_loop, program->loop);
}

static int watch_signals(struct program *program, struct error *err)
{
    int r = loop_signal_new(program->loop, SIGTERM, on_signal, program, &program->terminate);
    if (r == 0)
        r = loop_signal_new(program->loop, SIGINT, on_signal, program, &program->interrupt);
    return r < 0 ? error_set_errno(err, -r, "can't watch signals") : 0;
}

static int start(struct program *program, struct error *err)
{
    int r = kube_config_load(arg_kubeconfig, &program->config, err);
    const struct controller_options options = {
        .ttl_seconds = arg_ttl_seconds,
        .health_address = arg_health_address,
        .lease_namespace =
            arg_lease_namespace ? arg_lease_namespace : program->config.default_namespace,
        .lease_times = arg_lease_times,
        .leader_elect = arg_leader_elect,
        .leader_times = arg_leader_times,
        .limits = arg_limits,
        .finished = arg_finished,
    };
    if (r == 0)
        r = loop_new(&program->loop, err);
    if (r == 0)
        r = watch_signals(program, err);
    if (r == 0)
        r = kube_client_new(program->loop, &program->config,
                            "sandboxrun-controller/" SANDBOXRUN_VERSION, &program->client, err);
    if (r == 0)
        r = controller_new(program->client, &options, &program->controller, err);
    return r;
}

/* The reverse of start(), also where that stopped half-way. */
static void finish(struct program *program)
{
    controller_free(program->controller);
    kube_client_free(program->client);
    loop_signal_free(program->interrupt);
    loop_signal_free(program->terminate);
    loop_free(program->loop);
    kube_config_done(&program->config);
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct program program = {0};
    int r = options_parse(argc, argv, &err);
    if (r < 0) {
        (void)fprintf(stderr, "sandboxrun-controller: %s\n", err.text);
        return EXIT_USAGE;
    }
    if (r == 0)
        return EXIT_SUCCESS;
    log_init("controller", arg_log_level, LOG_FORMAT_JSON);
    r = start(&program, &err);
    if (r == 0) {
        log_event(LOG_LEVEL_INFO, "started", LOG_TEXT("version", SANDBOXRUN_VERSION),
                  LOG_TEXT("server", program.config.server));
        r = loop_run(program.loop, &err);
    }
    if (r < 0)
        log_event(LOG_LEVEL_ERROR, "can't go on", LOG_TEXT("error", err.text));
    finish(&program);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
