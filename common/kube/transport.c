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

/*
 * A socket of libcurl's. Before 8.0 libcurl goes on waiting for it to be writable while the peer
 * takes no more of a body (HTTP/2 flow control), which it always is: the loop would spin until the
 * peer says something. So a socket that has been writable many times with nothing to read rests
 * between two times.
 */
struct watch {
    struct transport *transport;
    struct loop_io *io;
    struct loop_timer *timer; /* the end of its rest */
    unsigned int events;      /* what libcurl waits for */
    unsigned int writes;      /* times in a row */
    bool resting;
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

static int set_watch(struct watch *watch)
{
    return loop_io_set(watch->io, watch->events & ~(watch->resting ? LOOP_WRITE : 0u));
}

static void on_rested(void *arg)
{
    struct watch *watch = arg;

    watch->resting = false;
    (void)set_watch(watch);
}

static void rest_if_idle(struct watch *watch, unsigned int events)
{
    bool was_resting = watch->resting;

    watch->writes = events & LOOP_READ ? 0 : watch->writes + 1;
    watch->resting =
        watch->writes > MAX_KUBE_WRITES && loop_timer_arm(watch->timer, KUBE_WRITE_REST_MS) == 0;
    if (watch->resting == was_resting)
        return;
    if (!watch->resting)
        loop_timer_disarm(watch->timer);
    (void)set_watch(watch);
}

static void on_io(int fd, unsigned int events, void *arg)
{
    struct watch *watch = arg;
    int mask = 0;

    rest_if_idle(watch, events);

    if (events & LOOP_READ)
        mask |= CURL_CSELECT_IN;
    if (events & LOOP_WRITE)
        mask |= CURL_CSELECT_OUT;
    /* The watch may be gone afterwards. */
    act(watch->transport, fd, mask);
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

static void free_watch(struct watch *watch)
{
    if (!watch)
        return;
    loop_io_free(watch->io);
    loop_timer_free(watch->timer);
    free(watch);
}

static int new_watch(struct transport *transport, curl_socket_t fd, unsigned int events)
{
    struct watch *watch = calloc(1, sizeof(*watch));

    if (!watch)
        return -ENOMEM;
    watch->transport = transport;
    watch->events = events;
    int r = loop_timer_new(transport->loop, on_rested, watch, &watch->timer);
    if (r == 0)
        r = loop_io_new(transport->loop, fd, events, on_io, watch, &watch->io);
    if (r == 0 && curl_multi_assign(transport->multi, fd, watch) != CURLM_OK)
        r = -ENOMEM;
    if (r < 0)
        free_watch(watch);
    return r;
}

static int socket_function(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct transport *transport = arg;
    struct watch *watch = socket_arg;
    unsigned int events = 0;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        free_watch(watch);
        (void)curl_multi_assign(transport->multi, fd, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN)
        events |= LOOP_READ;
    if (what & CURL_POLL_OUT)
        events |= LOOP_WRITE;
    if (!watch)
        return new_watch(transport, fd, events) < 0 ? -1 : 0;
    watch->events = events;
    return set_watch(watch) < 0 ? -1 : 0;
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
#if LIBCURL_VERSION_NUM >= 0x081400
    /* From 8.20 on the threads that look names up are the multi handle's, and its end waits for
     * them. */
    if (curl_multi_setopt(multi, CURLMOPT_QUICK_EXIT, 1L) != CURLM_OK)
        return -ENOMEM;
#endif
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
