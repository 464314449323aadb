/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/resolver.h"

#include "common/clock.h"
#include "common/log.h"
#include "node-agent/resolver/lookup.h"
#include "node-agent/resolver/resolver_metrics.h"
#include "node-agent/resolver/tcp_server.h"
#include "node-agent/resolver/udp_server.h"

#include <errno.h>
#include <stdlib.h>

uint64_t resolver_now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static int on_serve(const struct resolver_hello *hello, struct error *err, void *arg)
{
    struct resolver *resolver = arg;
    return udp_server_serve(resolver->udp, hello, resolver->port, err);
}

static void on_up(const struct resolver_hello *hello, void *arg)
{
    struct resolver *resolver = arg;
    resolver->slots->hello = *hello;
    address_filter_init(&resolver->filter, hello);
    metrics_count_jailer();
    metrics_set_jailer(1);
    log_event(LOG_LEVEL_INFO, "connected to the jailer", LOG_NUMBER("slots", hello->slot_count),
              LOG_NUMBER("forbidden", hello->forbidden_count));
}

static void check_end(struct resolver *resolver)
{
    if (resolver->ending && resolver->slots->open_count == 0)
        resolver->ended(resolver->arg);
}

static void on_close(struct resolver *resolver, const struct resolver_close *closing)
{
    int slot = (int)closing->slot;
    if (!slots_close(resolver->slots, closing))
        return;
    lookup_cancel_slot(resolver, slot, OUTCOME_GONE);
    tcp_server_end_slot(resolver->tcp, slot);
    check_end(resolver);
}

static int on_message(const struct resolver_message *message, struct error *err, void *arg)
{
    struct resolver *resolver = arg;
    int r = 0;
    if (message->type == RESOLVER_OPEN)
        r = slots_open(resolver->slots, &message->open, err);
    else if (message->type == RESOLVER_CLOSE)
        on_close(resolver, &message->close);
    else
        lookup_take_opened(resolver, &message->opened);
    metrics_set_load(resolver->slots->open_count, resolver->lookup_count, resolver->tcp_count);
    return r;
}

static void on_writable(void *arg)
{
    lookup_resume(arg);
}

/* Nobody can say any more who asks: all wait for the jailer, which tells it anew. */
static void on_down(void *arg)
{
    struct resolver *resolver = arg;
    metrics_set_jailer(0);
    lookup_cancel_slot(resolver, -1, OUTCOME_NO_JAILER);
    tcp_server_end_slot(resolver->tcp, -1);
    slots_close_all(resolver->slots);
    metrics_set_load(0, 0, 0);
    check_end(resolver);
}

static void on_ended(void *arg)
{
    struct resolver *resolver = arg;
    resolver->ended(resolver->arg);
}

int resolver_new(struct loop *loop, const struct upstreams *upstreams, unsigned int port,
                 const char *jailer_socket, int jailer_fd, void (*ended)(void *arg), void *arg,
                 struct resolver **ret_resolver, struct error *err)
{
    static const struct jailer_link_handlers handlers = {.serve = on_serve,
                                                         .up = on_up,
                                                         .message = on_message,
                                                         .writable = on_writable,
                                                         .down = on_down,
                                                         .ended = on_ended};
    struct resolver *resolver = calloc(1, sizeof(*resolver));
    if (!resolver)
        return error_set_errno(err, ENOMEM, "resolver");
    *resolver = (struct resolver){.loop = loop, .upstreams = upstreams, .ended = ended, .arg = arg};
    int r = slots_new(&resolver->slots, err);
    if (r >= 0)
        r = udp_server_new(resolver, &resolver->udp, err);
    if (r >= 0)
        r = tcp_server_new(resolver, port, &resolver->tcp, &resolver->port, err);
    if (r >= 0)
        r = jailer_link_new(loop, jailer_socket, jailer_fd, resolver->port, &handlers, resolver,
                            &resolver->link, err);
    if (r < 0) {
        resolver_free(resolver);
        return r;
    }
    log_event(LOG_LEVEL_INFO, "serving DNS", LOG_NUMBER("port", resolver->port),
              LOG_NUMBER("upstreams", upstreams->count));
    *ret_resolver = resolver;
    return 0;
}

void resolver_free(struct resolver *resolver)
{
    if (!resolver)
        return;
    if (resolver->slots)
        lookup_cancel_slot(resolver, -1, OUTCOME_GONE);
    tcp_server_free(resolver->tcp);
    udp_server_free(resolver->udp);
    jailer_link_free(resolver->link);
    slots_free(resolver->slots);
    free(resolver);
}

void resolver_end(struct resolver *resolver)
{
    resolver->ending = true;
    if (jailer_link_is_given(resolver->link))
        resolver->ended(resolver->arg);
    else
        check_end(resolver);
}

unsigned int resolver_open_slots(const struct resolver *resolver)
{
    return resolver->slots->open_count;
}

const char *resolver_unready(const struct resolver *resolver)
{
    return jailer_link_is_up(resolver->link) ? NULL : "no connection to the jailer";
}
