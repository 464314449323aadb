/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When which call is tried. A call waits for one of MAX_KUBE_IN_FLIGHT places, is active in a
 * transport, or sleeps until its next attempt. libcurl's own time limits are not used for whole
 * attempts: a transfer that waits for a connection to be shared is not under them.
 *
 * Nothing of a client may be freed, and no transfer added or removed, while libcurl is on the
 * stack. So every entry from the loop is bracketed by client_enter() and client_leave(); what
 * handlers ask for in between is marked (CALL_DOOMED, CALL_WAITING, dying) and done when libcurl
 * has been left.
 */
#include "common/kube/client.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/kube/auth.h"
#include "common/kube/call.h"
#include "common/kube/limits.h"
#include "common/kube/retry.h"
#include "common/kube/transport.h"
#include "common/random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define NS_PER_MS 1000000u

/* Transports that run empty: as many as there can be calls with a reason for a new one. */
#define MAX_DRAINING 8

struct kube_client {
    struct loop *loop;
    struct kube_config config;
    struct auth auth;
    char *user_agent;
    struct server_clock clock;
    struct transport *transport;              /* for new attempts; NULL until the first */
    struct transport *draining[MAX_DRAINING]; /* NULL: a free place */
    struct kube_call *calls[CALL_STATE_COUNT];
    unsigned int count;
    unsigned int in_flight; /* active ones that take a place */
    unsigned int depth;     /* entries from the loop on the stack */
    bool dying;
};

static void client_destroy(struct kube_client *client);
static void pump(struct kube_client *client);

/* Streams last for minutes, and what is urgent must not wait behind calls that a slow server leaves
 * unanswered. */
static bool takes_place(const struct kube_call *call)
{
    return !call->streaming && !call->urgent;
}

/* Who takes no place stands at the head. */
static void queue_call(struct kube_call *call)
{
    if (takes_place(call))
        DL_APPEND(call->client->calls[CALL_WAITING], call);
    else
        DL_PREPEND(call->client->calls[CALL_WAITING], call);
}

static void move_call(struct kube_call *call, enum call_state state)
{
    struct kube_client *client = call->client;

    if (call->state == CALL_ACTIVE && takes_place(call))
        client->in_flight--;
    DL_DELETE(client->calls[call->state], call);
    call->state = state;
    if (state == CALL_WAITING)
        queue_call(call);
    else
        DL_APPEND(client->calls[state], call);
    if (state == CALL_ACTIVE && takes_place(call))
        client->in_flight++;
}

static void drop_call(struct kube_call *call)
{
    struct kube_client *client = call->client;

    if (call->transport)
        transport_remove(call->transport, call->easy);
    if (call->state == CALL_ACTIVE && takes_place(call))
        client->in_flight--;
    DL_DELETE(client->calls[call->state], call);
    client->count--;
    call_free(call);
}

static bool is_inside_curl(const struct kube_client *client)
{
    if (client->transport && transport_is_busy(client->transport))
        return true;
    for (size_t i = 0; i < MAX_DRAINING; i++) {
        if (client->draining[i] && transport_is_busy(client->draining[i]))
            return true;
    }
    return false;
}

static void client_enter(void *arg)
{
    struct kube_client *client = arg;

    client->depth++;
}

static void reap_transports(struct kube_client *client)
{
    for (size_t i = 0; i < MAX_DRAINING; i++) {
        if (client->draining[i] && transport_users(client->draining[i]) == 0) {
            transport_free(client->draining[i]);
            client->draining[i] = NULL;
        }
    }
}

static void client_leave(void *arg)
{
    struct kube_client *client = arg;

    if (--client->depth > 0)
        return;
    if (client->dying)
        client_destroy(client);
    else
        reap_transports(client);
}

/* Has new attempts open a connection of their own. With every place taken the suspected one stays
 * in use: there are connections enough that wait for their end. */
static void retire_transport(struct kube_client *client, const struct transport *suspect)
{
    if (!suspect || client->transport != suspect)
        return;
    for (size_t i = 0; i < MAX_DRAINING; i++) {
        if (!client->draining[i]) {
            client->draining[i] = client->transport;
            client->transport = NULL;
            return;
        }
    }
}

/* The last word about a call, which is gone afterwards. */
static void deliver(struct kube_call *call, const struct call_outcome *outcome)
{
    struct kube_client *client = call->client;

    if (call->state == CALL_ACTIVE && takes_place(call))
        client->in_flight--;
    DL_DELETE(client->calls[call->state], call);
    client->count--;
    if (call->streaming)
        call->stream.ended(&outcome->response, call->arg);
    else
        call->fn(&outcome->response, call->arg);
    call_free(call);
}

static bool wants_another_try(struct kube_call *call, const struct call_outcome *outcome,
                              uint64_t *ret_delay_ms)
{
    const struct kube_response *response = &outcome->response;
    uint32_t random = 0;

    if (call->streaming || outcome->final || call_is_late(call))
        return false;
    bool refused = response->status == 401 && call->client->config.token_file;
    if (refused) {
        auth_expire(&call->client->auth);
        if (!call->token_retried) {
            call->token_retried = true;
            *ret_delay_ms = 0;
            return true;
        }
    }
    /* Whoever replaces the file may be late. */
    if (call->give_up_ns == 0 ||
        (!refused && !retry_is_transient(response->status, response->error.text)))
        return false;
    (void)random_bytes(&random, sizeof(random));
    *ret_delay_ms = retry_delay_ms(++call->failures, response->retry_after_ms, random);
    return clock_monotonic_ns() + *ret_delay_ms * NS_PER_MS < call->give_up_ns;
}

static void end_attempt(struct kube_call *call, const struct call_outcome *outcome)
{
    uint64_t delay_ms;

    if (wants_another_try(call, outcome, &delay_ms)) {
        call_reset(call);
        move_call(call, CALL_ASLEEP);
        if (loop_timer_arm(call->timer, delay_ms) == 0)
            return;
    }
    deliver(call, outcome);
}

static void on_done(CURL *easy, CURLcode result, void *arg)
{
    struct call_outcome outcome;
    struct kube_call *call = NULL;
    char *private = NULL;

    (void)arg;
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
    memcpy(&call, &private, sizeof(call));
    struct transport *transport = call->transport;
    call->transport = NULL;
    loop_timer_disarm(call->timer);
    if (result == CURLE_OPERATION_TIMEDOUT)
        retire_transport(call->client, transport);
    if (call->streaming && call->status == 401)
        auth_expire(&call->client->auth);
    call_outcome(call, result, &outcome);
    end_attempt(call, &outcome);
}

static void time_out(struct kube_call *call)
{
    struct call_outcome outcome;

    transport_remove(call->transport, call->easy);
    retire_transport(call->client, call->transport);
    call->transport = NULL;
    call_outcome(call, CURLE_OPERATION_TIMEDOUT, &outcome);
    (void)error_set(&outcome.response.error, ETIMEDOUT,
                    "%s %s: the API server has not answered within %llu ms", call->method,
                    call->url, (unsigned long long)call->timeout_ms);
    end_attempt(call, &outcome);
}

/* The end of an attempt's time, or of the sleep before the next. */
static void on_call_timer(void *arg)
{
    struct kube_call *call = arg;
    struct kube_client *client = call->client;

    client_enter(client);
    if (call->state == CALL_ASLEEP && call->start_error.code != 0) {
        struct call_outcome outcome = {.response = {.body = "", .error = call->start_error}};
        call->start_error.code = 0;
        end_attempt(call, &outcome);
    } else if (call->state == CALL_ASLEEP) {
        move_call(call, CALL_WAITING);
    } else if (call->state == CALL_ACTIVE) {
        time_out(call);
    }
    if (!client->dying)
        pump(client);
    client_leave(client);
}

static bool settle(void *arg)
{
    struct kube_client *client = arg;
    struct kube_call *call;
    struct kube_call *next;

    DL_FOREACH_SAFE (client->calls[CALL_DOOMED], call, next)
        drop_call(call);
    if (!client->dying)
        pump(client);
    return !client->dying;
}

static int begin_attempt(struct kube_call *call, struct error *err)
{
    static const struct transport_hooks hooks = {
        .enter = client_enter, .leave = client_leave, .done = on_done, .settle = settle};
    struct kube_client *client = call->client;
    int r = 0;

    if (call_is_late(call))
        r = error_set(err, ECANCELED, "%s %s: " KUBE_LATE, call->method, call->url);
    if (r == 0)
        r = auth_refresh(&client->auth, clock_monotonic_ns(), err);
    if (r == 0 && !client->transport)
        r = transport_new(client->loop, &hooks, client, &client->transport, err);
    if (r == 0)
        r = call_prepare(call, &client->config, &client->auth, client->user_agent, err);
    if (r == 0 && call->timeout_ms > 0 && loop_timer_arm(call->timer, call->timeout_ms) < 0)
        r = error_set_errno(err, ENOMEM, "can't begin a request to the API server");
    if (r == 0)
        r = transport_add(client->transport, call->easy, err);
    if (r < 0)
        return r;
    call->transport = client->transport;
    return 0;
}

/* A call that can't even be tried ends from the loop, as any other. */
static void start_call(struct kube_call *call)
{
    call->start_error.code = 0;
    if (begin_attempt(call, &call->start_error) == 0) {
        move_call(call, CALL_ACTIVE);
        return;
    }
    call_reset(call);
    move_call(call, CALL_ASLEEP);
    if (loop_timer_arm(call->timer, 0) < 0)
        move_call(call, CALL_WAITING);
}

static void pump(struct kube_client *client)
{
    struct kube_call *call;
    struct kube_call *next;

    if (is_inside_curl(client))
        return;
    DL_FOREACH_SAFE (client->calls[CALL_WAITING], call, next) {
        if (takes_place(call) && client->in_flight >= MAX_KUBE_IN_FLIGHT)
            return;
        start_call(call);
    }
}

static int check_request(const struct kube_client *client, const struct kube_request *request,
                         struct error *err)
{
    if (client->dying)
        return error_set(err, ESHUTDOWN, "the API server client is shutting down");
    if (client->count >= MAX_KUBE_CALLS)
        return error_set(err, EBUSY, "%u requests to the API server are under way already",
                         MAX_KUBE_CALLS);
    if (request->path[0] != '/' ||
        strlen(client->config.server) + strlen(request->path) >= MAX_KUBE_URL)
        return error_set(err, EINVAL, "the request path is not absolute, or longer than %u bytes",
                         MAX_KUBE_URL);
    return 0;
}

/* NULL with what is wrong in *ret_result and err. */
static struct kube_call *new_call(struct kube_client *client, const struct kube_request *request,
                                  void *arg, int *ret_result, struct error *err)
{
    *ret_result = check_request(client, request, err);
    if (*ret_result < 0)
        return NULL;
    struct kube_call *call = call_new(client->config.server, request);
    if (!call || loop_timer_new(client->loop, on_call_timer, call, &call->timer) < 0) {
        call_free(call);
        *ret_result = error_set_errno(err, ENOMEM, "can't make a request to the API server");
        return NULL;
    }
    call->client = client;
    call->clock = &client->clock;
    call->arg = arg;
    call->state = CALL_WAITING;
    return call;
}

int kube_client_send(struct kube_client *client, const struct kube_request *request,
                     kube_response_fn fn, void *arg, struct kube_call **ret_call, struct error *err)
{
    int r;
    struct kube_call *call = new_call(client, request, arg, &r, err);

    if (!call)
        return r;
    call->fn = fn;
    call->timeout_ms = request->timeout_ms > 0 ? request->timeout_ms : KUBE_ATTEMPT_MS;
    if (request->retry_for_ms > 0) {
        uint64_t now_ns = clock_monotonic_ns();
        uint64_t most_ms = (UINT64_MAX - now_ns) / NS_PER_MS;
        call->give_up_ns =
            now_ns +
            NS_PER_MS * (request->retry_for_ms < most_ms ? request->retry_for_ms : most_ms);
    }
    call->urgent = request->urgent;
    client->count++;
    queue_call(call);
    if (ret_call)
        *ret_call = call;
    pump(client);
    return 0;
}

int kube_client_stream(struct kube_client *client, const struct kube_request *request,
                       const struct kube_stream_handlers *handlers, void *arg,
                       struct kube_call **ret_call, struct error *err)
{
    int r;
    struct kube_call *call = new_call(client, request, arg, &r, err);

    if (!call)
        return r;
    call->streaming = true;
    call->stream = *handlers;
    call->timeout_ms = request->timeout_ms;
    client->count++;
    queue_call(call);
    *ret_call = call;
    pump(client);
    return 0;
}

void kube_call_cancel(struct kube_call *call)
{
    if (!call || call->state == CALL_DOOMED)
        return;
    struct kube_client *client = call->client;
    if (call->state == CALL_ACTIVE && is_inside_curl(client)) {
        loop_timer_disarm(call->timer);
        move_call(call, CALL_DOOMED);
        return;
    }
    drop_call(call);
    pump(client);
}

void kube_call_abandon(struct kube_call *call)
{
    if (!call)
        return;
    retire_transport(call->client, call->transport);
    kube_call_cancel(call);
}

static void drop_all(struct kube_client *client)
{
    struct kube_call *call;
    struct kube_call *next;

    for (size_t state = 0; state < CALL_STATE_COUNT; state++) {
        DL_FOREACH_SAFE (client->calls[state], call, next)
            drop_call(call);
    }
}

static void client_destroy(struct kube_client *client)
{
    drop_all(client);
    transport_free(client->transport);
    for (size_t i = 0; i < MAX_DRAINING; i++)
        transport_free(client->draining[i]);
    auth_done(&client->auth);
    kube_config_done(&client->config);
    free(client->user_agent);
    free(client);
    curl_global_cleanup();
}

void kube_client_free(struct kube_client *client)
{
    struct kube_call *call;
    struct kube_call *next;

    if (!client || client->dying)
        return;
    client->dying = true;
    if (client->depth == 0) {
        client_destroy(client);
        return;
    }
    /* Nobody is called back from here on. */
    DL_FOREACH_SAFE (client->calls[CALL_ACTIVE], call, next)
        move_call(call, CALL_DOOMED);
}

int kube_client_new(struct loop *loop, const struct kube_config *config, const char *user_agent,
                    struct kube_client **ret_client, struct error *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return error_set(err, ENOMEM, "can't initialise libcurl");
    struct kube_client *client = calloc(1, sizeof(*client));
    if (!client) {
        curl_global_cleanup();
        return error_set_errno(err, ENOMEM, "can't make an API server client");
    }
    client->loop = loop;
    client->user_agent = strdup(user_agent);
    int r = client->user_agent ? kube_config_copy(config, &client->config) : -ENOMEM;
    if (r == 0)
        r = auth_init(&client->auth, &client->config);
    if (r < 0) {
        client_destroy(client);
        return error_set_errno(err, -r, "can't make an API server client");
    }
    *ret_client = client;
    return 0;
}

int64_t kube_client_server_time_us(const struct kube_client *client)
{
    return server_clock_now_us(&client->clock, clock_monotonic_ns());
}

struct loop *kube_client_loop(struct kube_client *client)
{
    return client->loop;
}
