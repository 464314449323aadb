/* SPDX-License-Identifier: Apache-2.0 */

/*
 * sandboxrun-agent: runs the SandboxRuns that the controller assigns to this node.
 *
 * Theory of operation
 *
 * One process, one thread, one event loop; uid 65532, no capability, a read-only root. It holds
 * the node's service account token, and the only things it can reach besides the API server are a
 * Unix socket and a directory. It listens for the kubelet's probes and, over TLS, for those who
 * read outputs:
 *
 *        API server                                       sandbox
 *          ▲   │ watch: sandboxruns of this node             │ stdout, stderr
 *    PATCH │   ▼                                             ▼
 *   ┌──────┴─────────── agent ────────────┐   messages   ┌────────┐
 *   │ assignments ─▶ run ─▶ status_writer │◀────────────▶│ jailer │
 *   └──────┬───────────────────────┬──────┘     pipes    └────────┘
 *          ▼                       ▼
 *   spool directory (0700)   readers of outputs
 *
 * Start. Connect to the jailer and wait for its HELLO, which says what this node can run; however
 * long that takes where it says that an earlier jailer is still at work. Lock the spool, so that
 * there is one agent of it at a time, waiting for the one that has it, and add this start to it: a
 * random "instance". Write the SandboxNode with that instance; only then does the controller
 * assign anything to it, and only then are the node's runs watched. What the spool holds of
 * earlier starts is reported.
 *
 * The heartbeat. A Lease of the node's name is taken at start and renewed every 10 s, on a
 * connection of its own. Before the first renewal there is no SandboxNode of this instance. Nothing
 * is started later than 15 s after the sending of the last renewal that was accepted: each start
 * tells the jailer that instant, and the jailer refuses what it reads later. What is assigned
 * meanwhile waits for the next renewal. If that comes only when the controller may have given the
 * node up, what waited is given back. So when the controller calls the node lost, nothing of it can
 * be running.
 *
 * A run. Code is started only if its status is Scheduled, bears this instance and a sandbox id
 * that this agent has never seen, if the object isn't being deleted, is valid, and fits into what
 * the jailer offered; what doesn't fit waits in line. So does what the watch brings late, or what
 * it brings after the Lease had lapsed, until a new list has shown it too: the controller may have
 * ended it. The jailer seals a jail, or has one that waits, and hands over the ends of three pipes
 * and a timer. Then the mark is made durable in the spool, and only after that is the jailer told
 * to start and the request written. So whatever dies when, nothing is started twice: without a mark
 * nothing of the request had left this process. Between the two the timer is set, behind the
 * deadline: when it expires process 1 of the jail ends, for the deadline itself is the jailer's,
 * which may be stopped. So a run that the jailer says nothing of for 30 s past its deadline is
 * over.
 *
 * Its end. The result replaces the mark in the spool, then goes to the API server, and leaves the
 * spool when the API server has taken it or answers that the object is gone, is another one or is
 * over. Every update names the resourceVersion it was decided on; a conflict is settled by reading
 * the object. A result that is too large is cut. There is no last attempt.
 *
 * Outputs. What a ToolCall run writes is copied to files below the spool as it comes, and kept for
 * a while after its end. Whoever asks for it shows a token that was made for nothing else; the API
 * server is asked whose it is and whether they may. A copy that can't be kept costs no run its
 * result.
 *
 * Who dies                what happens
 *   the agent             the jailer kills every sandbox it made for it. The next agent reports
 *                         the results in the spool, fails what has a mark without one
 *                         (AgentRestarted), and gives back what has none (Scheduled -> Pending)
 *   the jailer            running code is gone: those runs fail as JailerLost, the others are given
 *                         back, the node is not ready, the agent exits with 1 and is started anew
 *   the API server        nothing new starts, runs go on, results wait in the spool, the watch
 *                         comes back by itself
 *   the disk              full, say: what can't be marked is given back, the node is not ready
 *                         until a write succeeds, results go to the API server all the same. An
 *                         agent that starts so reports what the spool holds, which makes room
 *   the machine           as the agent; a result of the last seconds may be lost, and counts as one
 *
 * An agent whose Lease another one of the node has taken ends with 1, and its sandboxes with it.
 *
 * SIGTERM or SIGINT, or a jailer that says that it was told to stop: the node is not ready, what
 * hasn't started is given back, what runs ends by itself, results are written, exit with 0.
 * Descriptors are all close-on-exec, and nothing is ever executed from here.
 */
#include "common/kube/config.h"
#include "common/log.h"
#include "common/loop.h"
#include "node-agent/agent/agent.h"
#include "node-agent/agent/capabilities.h"
#include "node-agent/agent/options.h"

#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define EXIT_USAGE 2

/* From this size on an allocation is a mapping of its own, given back when it is freed: an object
 * of a megabyte must not stay in the heap of a process that is to be small. */
#define MMAP_BYTES (64 * 1024)

struct program {
    struct kube_config config;
    struct loop *loop;
    struct loop_signal *terminate;
    struct loop_signal *interrupt;
    struct agent *agent;
    struct error failure; /* code 0: told to end */
};

static void on_signal(int signum, void *arg)
{
    struct program *program = arg;

    log_event(LOG_LEVEL_INFO, "ending on a signal", LOG_NUMBER("signal", signum));
    agent_end(program->agent);
}

static void on_ended(const struct error *err, void *arg)
{
    struct program *program = arg;

    if (err)
        program->failure = *err;
    loop_stop(program->loop);
}

static void set_up_process(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    uint64_t capabilities = 0;
    char mask[20];

    (void)mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, 2 * MMAP_BYTES);
    (void)mallopt(M_ARENA_MAX, 1);
    (void)sigaction(SIGPIPE, &ignore, NULL);
    if (capabilities_read(&capabilities) < 0 || capabilities == 0)
        return;
    (void)snprintf(mask, sizeof(mask), "%016" PRIx64, capabilities);
    log_event(LOG_LEVEL_WARN, "holding capabilities that this process has no use for",
              LOG_TEXT("mask", mask));
}

static int start(struct program *program, struct error *err)
{
    int r = kube_config_load(arg_kubeconfig, &program->config, err);
    const struct agent_options options = {
        .node_name = arg_node_name,
        .jailer_socket = arg_jailer_socket,
        .spool_dir = arg_spool_dir,
        .health_address = arg_health_address,
        .retain_output_ms = arg_retain_output_ms,
        .retain_output_bytes = arg_retain_output_bytes,
        .output_address = arg_output_address,
        .output_host = arg_output_host,
        .output_cert = arg_output_cert,
        .output_key = arg_output_key,
        .lease_namespace =
            arg_lease_namespace ? arg_lease_namespace : program->config.default_namespace,
        .lease_times = arg_lease_times,
        .kube = &program->config,
    };

    if (r == 0)
        r = loop_new(&program->loop, err);
    if (r == 0)
        r = agent_new(program->loop, &options, on_ended, program, &program->agent, err);
    if (r < 0)
        return r;
    r = loop_signal_new(program->loop, SIGTERM, on_signal, program, &program->terminate);
    if (r == 0)
        r = loop_signal_new(program->loop, SIGINT, on_signal, program, &program->interrupt);
    return r < 0 ? error_set_errno(err, -r, "can't watch signals") : 0;
}

/* The reverse of start(), also where that stopped half-way. */
static void finish(struct program *program)
{
    loop_signal_free(program->interrupt);
    loop_signal_free(program->terminate);
    agent_free(program->agent);
    loop_free(program->loop);
    kube_config_done(&program->config);
}

int main(int argc, char **argv)
{
    struct program program = {0};
    struct error err = {0};
    int r = options_parse(argc, argv, &err);

    if (r < 0) {
        (void)fprintf(stderr, "sandboxrun-agent: %s\n", err.text);
        return EXIT_USAGE;
    }
    if (r == 0)
        return EXIT_SUCCESS;
    log_init("agent", arg_log_level, LOG_FORMAT_JSON);
    set_up_process();
    r = start(&program, &err);
    if (r == 0) {
        log_event(LOG_LEVEL_INFO, "started", LOG_TEXT("version", SANDBOXRUN_VERSION),
                  LOG_TEXT("node", arg_node_name), LOG_TEXT("server", program.config.server));
        r = loop_run(program.loop, &err);
    }
    if (r == 0 && program.failure.code) {
        err = program.failure;
        r = -err.code;
    }
    if (r < 0)
        log_event(LOG_LEVEL_ERROR, "can't go on", LOG_TEXT("error", err.text));
    finish(&program);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
