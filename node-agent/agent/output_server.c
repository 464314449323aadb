/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/output_server.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/https_server.h"
#include "common/json_string.h"
#include "common/log.h"
#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/output_access.h"
#include "node-agent/agent/output_audience.h"
#include "node-agent/agent/output_cert.h"
#include "node-agent/agent/output_target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <utlist.h>

#define MAX_NAMES 6u /* of the certificate */

#define TOKEN_ADVICE                                                                               \
    "; make one with: kubectl create token SERVICEACCOUNT --namespace NAMESPACE --audience " OUTPUT_AUDIENCE

struct output_server {
    struct output_server_options options;
    output_server_changed_fn changed;
    void *arg;
    const char *names[MAX_NAMES];
    struct output_cert *cert;
    struct output_access *access;
    struct https_server *https;
    struct loop_timer *timer;
    struct pending *pending;
};

/* A request whose bearer is being asked about. */
struct pending {
    struct pending *prev;
    struct pending *next;
    struct output_server *server;
    struct https_request *request;
    struct output_target target;
};

/* In the order of enum agent_output_outcome. */
static const struct refusal {
    unsigned int status;
    const char *reason; /* as the API server names it */
} refusals[AGENT_OUTPUT_COUNT] = {
    [AGENT_OUTPUT_SERVED] = {200, ""},
    [AGENT_OUTPUT_BAD_REQUEST] = {400, "BadRequest"},
    [AGENT_OUTPUT_UNAUTHORIZED] = {401, "Unauthorized"},
    [AGENT_OUTPUT_FORBIDDEN] = {403, "Forbidden"},
    [AGENT_OUTPUT_NOT_FOUND] = {404, "NotFound"},
    [AGENT_OUTPUT_TOO_MANY] = {429, "TooManyRequests"},
    [AGENT_OUTPUT_UNAVAILABLE] = {503, "ServiceUnavailable"},
};

static void __attribute__((format(printf, 4, 5)))
refuse(struct output_server *server, struct https_request *request,
       enum agent_output_outcome outcome, const char *fmt, ...)
{
    const struct refusal *refusal = &refusals[outcome];
    struct buf body = BUF_INIT(MAX_OUTPUT_ANSWER);
    char message[1024];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    agent_metrics_output(server->options.metrics, outcome);
    int r = buf_append_str(&body, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                                  "\"status\":\"Failure\"");
    if (r == 0)
        r = json_append_member(&body, "message", message);
    if (r == 0)
        r = buf_printf(&body, ",\"reason\":\"%s\",\"code\":%u}\n", refusal->reason,
                       refusal->status);
    if (r < 0)
        buf_reset(&body);
    if (outcome == AGENT_OUTPUT_UNAUTHORIZED)
        https_request_add_header(request, "WWW-Authenticate",
                                 "Bearer realm=\"" OUTPUT_AUDIENCE "\"");
    if (outcome == AGENT_OUTPUT_TOO_MANY || outcome == AGENT_OUTPUT_UNAVAILABLE)
        https_request_add_header(request, "Retry-After", "1");
    https_answer(request, refusal->status, "application/json", &body);
    buf_done(&body);
}

static void serve(struct output_server *server, struct https_request *request,
                  const struct output_target *target)
{
    const char *type = "application/octet-stream";
    struct buf empty = BUF_INIT(1);
    uint64_t bytes = 0;
    int fd = -1;
    int r = retained_find(server->options.retained, target->name_space, target->name,
                          target->stream, &fd, &bytes);

    if (r < 0) {
        refuse(server, request, AGENT_OUTPUT_NOT_FOUND,
               "node %s keeps no output of sandboxrun %s/%s. Output of ToolCall runs is kept on "
               "the node of their status.nodeName, for %" PRIu64 " s after their end, or until "
               "the run is deleted or its room is needed",
               server->options.node_name, target->name_space, target->name,
               server->options.keep_ms / 1000);
        return;
    }
    agent_metrics_output(server->options.metrics, AGENT_OUTPUT_SERVED);
    /* Whoever opens it in a browser gets bytes, not a page that a program has written. */
    https_request_add_header(request, "X-Content-Type-Options", "nosniff");
    if (fd < 0)
        https_answer(request, 200, type, &empty);
    else
        https_answer_file(request, type, fd, bytes);
    buf_done(&empty);
}

static void log_verdict(const struct output_target *target, enum output_verdict verdict,
                        const char *user, const struct error *err)
{
    static const char *const messages[] = {
        [OUTPUT_ALLOWED] = "output is read",
        [OUTPUT_UNAUTHENTICATED] = "output is refused to a token that isn't valid here",
        [OUTPUT_FORBIDDEN] = "output is refused to a user who may not read it",
        [OUTPUT_UNKNOWN] = "can't ask the API server who may read output",
    };

    log_event(verdict == OUTPUT_UNKNOWN ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, messages[verdict],
              LOG_TEXT("namespace", target->name_space), LOG_TEXT("run", target->name),
              LOG_TEXT("user", user[0] ? user : NULL), LOG_TEXT("error", err ? err->text : NULL));
}

static void on_verdict(enum output_verdict verdict, const char *user, const struct error *err,
                       void *arg)
{
    struct pending *pending = arg;
    struct output_server *server = pending->server;
    struct https_request *request = pending->request;
    struct output_target target = pending->target;

    DL_DELETE(server->pending, pending);
    free(pending);
    log_verdict(&target, verdict, user, err);
    switch (verdict) {
    case OUTPUT_ALLOWED:
        serve(server, request, &target);
        break;
    case OUTPUT_UNAUTHENTICATED:
        refuse(server, request, AGENT_OUTPUT_UNAUTHORIZED,
               "the bearer token is not valid for the audience " OUTPUT_AUDIENCE TOKEN_ADVICE);
        break;
    case OUTPUT_FORBIDDEN:
        refuse(server, request, AGENT_OUTPUT_FORBIDDEN,
               "sandboxruns.sandboxrun.dev \"%s\" is forbidden: user \"%s\" cannot get resource "
               "\"sandboxruns/log\" in API group \"sandboxrun.dev\" in the namespace \"%s\"",
               target.name, user, target.name_space);
        break;
    case OUTPUT_UNKNOWN:
        refuse(server, request, AGENT_OUTPUT_UNAVAILABLE,
               "the API server can't be asked who may read this; try again");
        break;
    }
}

static void ask(struct output_server *server, struct https_request *request, const char *token,
                const struct output_target *target)
{
    struct pending *pending = calloc(1, sizeof(*pending));
    struct error err = {0};
    int r = -ENOMEM;

    if (pending) {
        pending->server = server;
        pending->request = request;
        pending->target = *target;
        r = output_access_check(server->access, token, target, on_verdict, pending, &err);
    }
    if (r == 0) {
        DL_APPEND(server->pending, pending);
        return;
    }
    free(pending);
    if (r == -EAGAIN)
        refuse(server, request, AGENT_OUTPUT_TOO_MANY, "%s; try again", err.text);
    else
        refuse(server, request, AGENT_OUTPUT_UNAVAILABLE,
               "the API server can't be asked who may read this; try again");
}

/* The token is refused before anybody else sees it, if it says itself that it isn't for here. */
static bool is_for_us(struct output_server *server, struct https_request *request,
                      const char *token)
{
    enum output_audience audience = output_audience(token);

    if (audience == OUTPUT_AUDIENCE_OTHER)
        refuse(server, request, AGENT_OUTPUT_UNAUTHORIZED,
               "the bearer token is for another audience than " OUTPUT_AUDIENCE
               ": a node must not see it, and it counts for nothing here" TOKEN_ADVICE);
    if (audience == OUTPUT_AUDIENCE_SHARED)
        refuse(server, request, AGENT_OUTPUT_UNAUTHORIZED,
               "the bearer token is for other audiences beside " OUTPUT_AUDIENCE
               ", where a node that sees it could use it" TOKEN_ADVICE);
    return audience == OUTPUT_AUDIENCE_OURS || audience == OUTPUT_AUDIENCE_UNKNOWN;
}

static void on_request(struct https_request *request, void *arg)
{
    struct output_server *server = arg;
    struct output_target target;
    struct error err = {0};
    const char *value = NULL;
    const char *token = NULL;
    int r = output_target_parse(https_request_target(request), &target, &err);

    if (r < 0) {
        refuse(server, request, r == -ENOENT ? AGENT_OUTPUT_NOT_FOUND : AGENT_OUTPUT_BAD_REQUEST,
               "%s", err.text);
        return;
    }
    r = https_request_header(request, "Authorization", &value);
    if (r < 0) {
        refuse(server, request, AGENT_OUTPUT_BAD_REQUEST, "there is more than one Authorization");
        return;
    }
    if (!value || output_bearer_parse(value, &token) < 0) {
        refuse(server, request, AGENT_OUTPUT_UNAUTHORIZED,
               "an Authorization: Bearer TOKEN of the audience " OUTPUT_AUDIENCE
               " is needed" TOKEN_ADVICE);
        return;
    }
    if (is_for_us(server, request, token))
        ask(server, request, token, &target);
}

static void on_timer(void *arg)
{
    struct output_server *server = arg;
    struct error err = {0};

    (void)loop_timer_arm(server->timer, OUTPUT_CERT_LOOK_MS);
    if (!output_cert_refresh(server->cert))
        return;
    if (https_server_set_certificate(server->https, output_cert_certificate(server->cert),
                                     output_cert_key(server->cert), &err) < 0) {
        log_event(LOG_LEVEL_ERROR, "can't change the output server's certificate",
                  LOG_TEXT("error", err.text));
        return;
    }
    log_event(LOG_LEVEL_INFO, "the output server has a new certificate");
    server->changed(server->arg);
}

static int make_cert(struct output_server *server, struct error *err)
{
    struct output_cert_options cert = {
        .cert_file = server->options.cert_file,
        .key_file = server->options.key_file,
        .names = server->names,
    };

    server->names[cert.name_count++] = server->options.node_name;
    if (server->options.host)
        server->names[cert.name_count++] = server->options.host;
    /* By port-forward it is reached on the client's own machine. */
    server->names[cert.name_count++] = "localhost";
    server->names[cert.name_count++] = "127.0.0.1";
    server->names[cert.name_count++] = "::1";
    return output_cert_new(&cert, &server->cert, err);
}

static int listen_for(struct output_server *server, struct error *err)
{
    const struct https_options https = {
        .address = server->options.address,
        .certificate = output_cert_certificate(server->cert),
        .key = output_cert_key(server->cert),
        .fn = on_request,
        .arg = server,
    };
    struct loop *loop = kube_client_loop(server->options.client);

    if (loop_timer_new(loop, on_timer, server, &server->timer) < 0 ||
        loop_timer_arm(server->timer, OUTPUT_CERT_LOOK_MS) < 0)
        return error_set_errno(err, ENOMEM, "timer");
    return https_server_new(loop, &https, &server->https, err);
}

int output_server_new(const struct output_server_options *options, output_server_changed_fn changed,
                      void *arg, struct output_server **ret_server, struct error *err)
{
    struct output_server *server = calloc(1, sizeof(*server));

    if (!server)
        return error_set_errno(err, ENOMEM, "can't serve output");
    server->options = *options;
    server->changed = changed;
    server->arg = arg;
    int r = output_access_new(options->client, &server->access, err);
    if (r == 0)
        r = make_cert(server, err);
    if (r == 0)
        r = listen_for(server, err);
    if (r < 0) {
        output_server_free(server);
        return error_wrap(err, "can't serve output");
    }
    *ret_server = server;
    return 0;
}

void output_server_free(struct output_server *server)
{
    struct pending *pending;
    struct pending *next;

    if (!server)
        return;
    output_access_free(server->access);
    DL_FOREACH_SAFE (server->pending, pending, next)
        free(pending);
    https_server_free(server->https);
    output_cert_free(server->cert);
    loop_timer_free(server->timer);
    free(server);
}

void output_server_describe(const struct output_server *server, struct node_output *ret_output)
{
    *ret_output = (struct node_output){
        .address = server->options.host,
        .port = https_server_port(server->https),
        .certificate = output_cert_certificate(server->cert),
    };
}
