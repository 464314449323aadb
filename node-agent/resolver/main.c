/* SPDX-License-Identifier: Apache-2.0 */

/*
 * sandboxrun-resolver: looks up public names for the ToolCall sandboxes of one node.
 *
 * Theory of operation
 *
 * One process, one thread, one event loop; uid 65533, no capability, no token, a read-only root,
 * and no process beside it. It is the only one on a node that parses DNS, which strangers write:
 * what an upstream passes on, and what a sandbox sends.
 *
 *    sandbox                       resolver                        upstream (resolv.conf)
 *    ask gateway:53 ── nftables ─▶ --port ── judge ── cache ──▶ exchange ── a socket for each try
 *                                            │                     │
 *         reply  ◀──────────────── filter ◀──┼─────────────────────┘
 *                                    │       │
 *                                  ALLOW   DENIED   fixed-size messages, SOCK_SEQPACKET
 *                                    ▼       ▼
 *                                    jailer (opens addresses, counts refusals, says who asks)
 *
 * Who asks. The jailer's nftables let a sandbox send from its own address only and redirect port
 * 53 of its gateway to here, so the source address says which slot it is. The jailer tells which
 * slots are taken, by which sandbox, and what names its rules have. Everybody else gets no reply,
 * or REFUSED where the address is one of a slot that isn't taken.
 *
 * A lookup. The query is parsed strictly (one question, dns_query.c) and judged: the rate of its
 * sandbox, type A or AAAA, a public host name, one that the run's rules allow (names_policy.c).
 * It is answered from what the same sandbox has asked before, or, within the run's budget
 * (budget.c), an upstream is asked with a message of our own making from a fresh port with a
 * random id (exchange.c). Of its answer only the CNAMEs from the asked name on and the addresses
 * at their end are kept (dns_answer.c), less those that no sandbox may reach (address_filter.c).
 * If the run's rules have names, the jailer is asked to open each address, and only after its word
 * the reply leaves, built anew from these values (dns_reply.c). So a program that connects at once
 * finds the way open, and none ever reads bytes that a stranger composed.
 *
 * Handshake. The jailer says HELLO (ranges of its slots, forbidden prefixes beside the built-in
 * ones), we answer READY with our port. It opens and closes slots; see resolver_proto.h.
 *
 * Descriptors. A UDP socket for each slot's gateway, so that a sandbox that floods fills its own
 * queue, two TCP listeners, one for each lookup at an upstream, one for each TCP client, the
 * jailer's, the loop's, the metrics server's. All are close-on-exec; nothing is ever executed.
 *
 * Bounds. Every table, rate and time is in resolver_limits.h, with what happens beyond.
 *
 * SIGTERM or SIGINT: the sandboxes that have a slot keep their names; it ends with 0 once none has
 * one any more, or the jailer has gone. Was that given by a descriptor, at once.
 *
 * Who dies             what happens
 *   the jailer         all lookups are refused; we connect again, and it tells who is there. Was it
 *                      given by a descriptor, we end with 0
 *   this process       lookups fail, and the jailer makes no new ToolCall sandbox until we are back
 *   an upstream        the next one is asked; SERVFAIL after 3.9 s at most
 *   a sandbox          CLOSE ends its lookups and connections
 */
#include "common/cleanup.h"
#include "common/http_server.h"
#include "common/log.h"
#include "common/loop.h"
#include "node-agent/resolver/hardening.h"
#include "node-agent/resolver/options.h"
#include "node-agent/resolver/resolver.h"
#include "node-agent/resolver/resolver_metrics.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define EXIT_USAGE  2
#define RESOLV_CONF "/etc/resolv.conf"

struct program {
    struct loop *loop;
    struct loop_signal *terminate;
    struct loop_signal *interrupt;
    struct resolver *resolver;
    struct http_server *http;
};

static void on_signal(int signum, void *arg)
{
    struct program *program = arg;
    log_event(LOG_LEVEL_INFO, "ending on a signal", LOG_NUMBER("signal", signum),
              LOG_NUMBER("openSlots", resolver_open_slots(program->resolver)));
    resolver_end(program->resolver);
}

static void on_ended(void *arg)
{
    struct program *program = arg;
    loop_stop(program->loop);
}

static int answer_healthz(struct buf *body, const char **ret_content_type, void *arg)
{
    (void)ret_content_type;
    (void)arg;
    return buf_append_str(body, "ok\n") == 0 ? 200 : 500;
}

static int answer_readyz(struct buf *body, const char **ret_content_type, void *arg)
{
    const struct program *program = arg;
    const char *unready = resolver_unready(program->resolver);
    (void)ret_content_type;
    if (buf_printf(body, "%s\n", unready ? unready : "ok") < 0)
        return 500;
    return unready ? 503 : 200;
}

static int answer_metrics(struct buf *body, const char **ret_content_type, void *arg)
{
    (void)arg;
    *ret_content_type = "text/plain; version=0.0.4";
    return resolver_metrics_print(body) == 0 ? 200 : 500;
}

static const struct http_route routes[] = {
    {"/healthz", answer_healthz},
    {"/readyz", answer_readyz},
    {"/metrics", answer_metrics},
    {NULL, NULL},
};

static int watch_signals(struct program *program, struct error *err)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    int r = loop_signal_new(program->loop, SIGTERM, on_signal, program, &program->terminate);
    if (r == 0)
        r = loop_signal_new(program->loop, SIGINT, on_signal, program, &program->interrupt);
    return r < 0 ? error_set_errno(err, -r, "watch signals") : 0;
}

static int start(struct program *program, struct error *err)
{
    int r = hardening_apply(err);
    if (r >= 0 && arg_upstreams.count == 0)
        r = upstreams_read_conf(&arg_upstreams, RESOLV_CONF, err);
    if (r >= 0 && arg_jailer_fd >= 0 && fcntl(arg_jailer_fd, F_SETFD, FD_CLOEXEC) < 0)
        r = error_set_errno(err, errno, "--jailer-fd %d", arg_jailer_fd);
    if (r >= 0)
        r = loop_new(&program->loop, err);
    if (r >= 0)
        r = watch_signals(program, err);
    if (r >= 0)
        r = resolver_new(program->loop, &arg_upstreams, arg_port, arg_jailer_socket, arg_jailer_fd,
                         on_ended, program, &program->resolver, err);
    if (r >= 0 && arg_metrics_address)
        r = http_server_new(program->loop, arg_metrics_address, routes, program, &program->http,
                            err);
    return r;
}

/* The reverse of start(), also where that stopped half-way. */
static void finish(struct program *program)
{
    http_server_free(program->http);
    resolver_free(program->resolver);
    loop_signal_free(program->interrupt);
    loop_signal_free(program->terminate);
    loop_free(program->loop);
}

int main(int argc, char **argv)
{
    struct program program = {0};
    struct error err = {0};
    int r = options_parse(argc, argv, &err);
    if (r < 0) {
        (void)fprintf(stderr, "sandboxrun-resolver: %s\n", err.text);
        return EXIT_USAGE;
    }
    if (r == 0)
        return EXIT_SUCCESS;
    log_init("resolver", arg_log_level, arg_log_format);
    r = start(&program, &err);
    if (r >= 0)
        r = loop_run(program.loop, &err);
    if (r < 0)
        log_event(LOG_LEVEL_ERROR, "can't go on", LOG_TEXT("error", err.text));
    finish(&program);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
