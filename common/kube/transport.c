/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/transport.h"

#include "common/kube/limits.h"

#include <errno.h>
#include <stdlib.h>

struct transport {
    struct loop *loop;
    CURLM *multi;
    struct loop_timer *timer;
    struct transport_hooks hooks;
    void *arg;
    unsigned int users;
    bool busy;
};

/* Removal must happen before `done`, which may free the easy handle; the message dies with it. */
static bool give_done(struct transport *transport)
{
    CURLMsg *msg;
    int left;

    while ((msg = curl_multi_info_read(transport->multi, &left))) {
        if (msg->msg != CURLMSG_DONE)
            continue;
        CURL *easy = msg->easy_handle;
        CURLcode result = msg->data.result;
        transport_remove(transport, easy);
        transport->hooks.done(easy, result, transport->arg);
        if (!transport->hooks.settle(transport->arg))
            return false;
    }
    return true;
}

static void act(struct transport *transport, curl_socket_t fd, int events)
{
    void (*leave)(void *) = transport->hooks.leave;
    void *arg = transport->arg;
    int running;

    transport->hooks.enter(arg);
    transport->busy = true;
    (void)curl_multi_socket_action(transport->multi, fd, events, &running);
    transport->busy = false;
    if (transport->hooks.settle(arg))
        (void)give_done(transport);
    leave(arg);
}

static void on_io(int fd, unsigned int events, void *arg)
{
    int mask = 0;

    if (events & LOOP_READ)
        mask |= CURL_CSELECT_IN;
    if (events & LOOP_WRITE)
        mask |= CURL_CSELECT_OUT;
    act(arg, fd, mask);
}

static void on_timer(void *arg)
{
    act(arg, CURL_SOCKET_TIMEOUT, 0);
}

static int timer_function(CURLM *multi, long timeout_ms, void *arg)
{
    struct transport *transport = arg;

    (void)multi;
    if (timeout_ms < 0) {
        loop_timer_disarm(transport->timer);
        return 0;
    }
    return loop_timer_arm(transport->timer, (uint64_t)timeout_ms) < 0 ? -1 : 0;
}

static int socket_function(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct transport *transport = arg;
    struct loop_io *io = socket_arg;
    unsigned int events = 0;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        loop_io_free(io);
        (void)curl_multi_assign(transport->multi, fd, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN)
        events |= LOOP_READ;
    if (what & CURL_POLL_OUT)
        events |= LOOP_WRITE;
    if (io)
        return loop_io_set(io, events) < 0 ? -1 : 0;
    if (loop_io_new(transport->loop, fd, events, on_io, transport, &io) < 0)
        return -1;
    (void)curl_multi_assign(transport->multi, fd, io);
    return 0;
}

static int set_options(struct transport *transport)
{
    CURLM *multi = transport->multi;

    if (curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_function) != CURLM_OK ||
        curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, transport) != CURLM_OK ||
        curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_function) != CURLM_OK ||
        curl_multi_setopt(multi, CURLMOPT_TIMERDATA, transport) != CURLM_OK ||
        curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX) != CURLM_OK ||
        curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)MAX_KUBE_CONNECTIONS) !=
            CURLM_OK ||
        curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)MAX_KUBE_CONNECTIONS) != CURLM_OK)
        return -ENOMEM;
    return 0;
}

int transport_new(struct loop *loop, const struct transport_hooks *hooks, void *arg,
                  struct transport **ret_transport, struct error *err)
{
    struct transport *transport = calloc(1, sizeof(*transport));
    int r = -ENOMEM;

    if (!transport)
        return error_set_errno(err, ENOMEM, "can't open a connection to the API server");
    transport->loop = loop;
    transport->hooks = *hooks;
    transport->arg = arg;
    transport->multi = curl_multi_init();
    if (transport->multi)
        r = loop_timer_new(loop, on_timer, transport, &transport->timer);
    if (r == 0)
        r = set_options(transport);
    if (r < 0) {
        transport_free(transport);
        return error_set_errno(err, -r, "can't open a connection to the API server");
    }
    *ret_transport = transport;
    return 0;
}

void transport_free(struct transport *transport)
{
    if (!transport)
        return;
    /* Closing what is cached calls socket_function for each socket. */
    if (transport->multi)
        (void)curl_multi_cleanup(transport->multi);
    loop_timer_free(transport->timer);
    free(transport);
}

bool transport_is_busy(const struct transport *transport)
{
    return transport->busy;
}

int transport_add(struct transport *transport, CURL *easy, struct error *err)
{
    CURLMcode code = curl_multi_add_handle(transport->multi, easy);

    if (code != CURLM_OK)
        return error_set(err, ENOMEM, "can't begin a request to the API server: %s",
                         curl_multi_strerror(code));
    transport->users++;
    return 0;
}

void transport_remove(struct transport *transport, CURL *easy)
{
    (void)curl_multi_remove_handle(transport->multi, easy);
    transport->users--;
}

unsigned int transport_users(const struct transport *transport)
{
    return transport->users;
}
