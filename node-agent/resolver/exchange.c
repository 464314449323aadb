/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/exchange.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/random.h"
#include "node-agent/resolver/resolver_metrics.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define TCP_TRY_FACTOR 2 /* a handshake more */
#define LENGTH_SIZE    2u

struct exchange {
    struct loop *loop;
    const struct upstreams *upstreams;
    const struct dns_query *query;
    bool tcp;
    exchange_fn fn;
    void *arg;
    struct loop_timer *timer;
    uint64_t ends_ms;
    /* Of the try: */
    unsigned int tries;
    uint64_t began_ms;
    uint16_t id;
    unsigned int strays;
    int sock;
    struct loop_io *io;
    size_t out_len, out_sent;
    uint8_t out[LENGTH_SIZE + DNS_UPSTREAM_SIZE];
    uint8_t *in; /* by TCP, of its longest answer */
    size_t in_len;
};

static uint64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static void end_try(struct exchange *exchange)
{
    loop_io_free(TAKE_PTR(exchange->io));
    exchange->sock = fd_close(exchange->sock);
    exchange->in_len = 0;
}

/* The last thing that is done: the callback may free the exchange. */
static void finish(struct exchange *exchange, const struct dns_answer *answer, size_t bytes)
{
    end_try(exchange);
    loop_timer_disarm(exchange->timer);
    if (answer)
        metrics_observe_upstream(now_ms() - exchange->began_ms);
    exchange->fn(answer, bytes, exchange->arg);
}

/* What a server said or is doesn't change within seconds; only for one that is silent it is worth
 * asking again. The next try is made from the loop. */
static void fail_try(struct exchange *exchange, enum upstream_failure failure)
{
    metrics_count_upstream_failure(failure);
    end_try(exchange);
    bool again = exchange->tries < MAX_UPSTREAM_TRIES && now_ms() < exchange->ends_ms;
    if (failure != UPSTREAM_TIMEOUT && exchange->tries >= exchange->upstreams->count)
        again = false;
    if (!again || loop_timer_arm(exchange->timer, 0) < 0)
        finish(exchange, NULL, 0);
}

/* True if that was the end of the try. */
static bool take_message(struct exchange *exchange, const uint8_t *bytes, size_t len)
{
    struct dns_answer answer;
    int r = dns_answer_parse(bytes, len, exchange->query, exchange->id, &answer);
    if (r == -ENOENT && !exchange->tcp && ++exchange->strays <= MAX_STRAY_ANSWERS)
        return false;
    if (r == -ENOENT)
        fail_try(exchange, UPSTREAM_STRAY);
    else if (r < 0 || (answer.truncated && exchange->tcp))
        fail_try(exchange, UPSTREAM_MALFORMED);
    else if (answer.rcode != DNS_RCODE_OK && answer.rcode != DNS_RCODE_NXDOMAIN)
        fail_try(exchange, UPSTREAM_RCODE);
    else
        finish(exchange, &answer, len);
    return true;
}

static void on_udp(int fd, unsigned int events, void *arg)
{
    (void)events;
    struct exchange *exchange = arg;
    uint8_t bytes[MAX_UPSTREAM_UDP_BYTES + 1];
    for (unsigned int i = 0; i <= MAX_STRAY_ANSWERS; i++) {
        ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            fail_try(exchange, UPSTREAM_UNREACHABLE);
            return;
        }
        if ((size_t)n > MAX_UPSTREAM_UDP_BYTES) {
            fail_try(exchange, UPSTREAM_MALFORMED);
            return;
        }
        if (take_message(exchange, bytes, (size_t)n))
            return;
    }
}

static void send_tcp(struct exchange *exchange)
{
    while (exchange->out_sent < exchange->out_len) {
        ssize_t n = send(exchange->sock, exchange->out + exchange->out_sent,
                         exchange->out_len - exchange->out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            fail_try(exchange, UPSTREAM_UNREACHABLE);
            return;
        }
        exchange->out_sent += (size_t)n;
    }
    (void)loop_io_set(exchange->io, LOOP_READ);
}

static void receive_tcp(struct exchange *exchange)
{
    ssize_t n = recv(exchange->sock, exchange->in + exchange->in_len,
                     LENGTH_SIZE + MAX_UPSTREAM_TCP_BYTES - exchange->in_len, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        fail_try(exchange, UPSTREAM_UNREACHABLE);
        return;
    }
    exchange->in_len += (size_t)n;
    if (exchange->in_len < LENGTH_SIZE)
        return;
    size_t len = dns_get16(exchange->in);
    if (len > MAX_UPSTREAM_TCP_BYTES)
        fail_try(exchange, UPSTREAM_MALFORMED);
    else if (exchange->in_len >= LENGTH_SIZE + len)
        (void)take_message(exchange, exchange->in + LENGTH_SIZE, len);
}

static void on_tcp(int fd, unsigned int events, void *arg)
{
    (void)fd;
    struct exchange *exchange = arg;
    if (exchange->out_sent < exchange->out_len) {
        if (events & LOOP_WRITE)
            send_tcp(exchange);
        return;
    }
    receive_tcp(exchange);
}

static int open_socket(struct exchange *exchange, const union socket_address *server)
{
    int type = exchange->tcp ? SOCK_STREAM : SOCK_DGRAM;
    /* Not bound: the kernel picks a random port. */
    exchange->sock = socket(server->any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (exchange->sock < 0)
        return -errno;
    if (connect(exchange->sock, &server->any, socket_address_len(server)) < 0 &&
        errno != EINPROGRESS)
        return -errno;
    if (!exchange->tcp && send(exchange->sock, exchange->out + LENGTH_SIZE,
                               exchange->out_len - LENGTH_SIZE, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return -errno;
    return loop_io_new(exchange->loop, exchange->sock, exchange->tcp ? LOOP_WRITE : LOOP_READ,
                       exchange->tcp ? on_tcp : on_udp, exchange, &exchange->io);
}

static void begin_try(struct exchange *exchange)
{
    const struct upstreams *upstreams = exchange->upstreams;
    const union socket_address *server = &upstreams->entries[exchange->tries % upstreams->count];
    exchange->tries++;
    exchange->strays = 0;
    exchange->out_sent = 0;
    exchange->began_ms = now_ms();
    uint64_t left = exchange->ends_ms - exchange->began_ms;
    uint64_t wait = exchange->tcp ? UPSTREAM_TRY_MS * TCP_TRY_FACTOR : UPSTREAM_TRY_MS;
    if (random_bytes(&exchange->id, sizeof(exchange->id)) < 0) {
        fail_try(exchange, UPSTREAM_UNREACHABLE);
        return;
    }
    size_t len = dns_query_build(exchange->query, exchange->id, exchange->out + LENGTH_SIZE);
    dns_put16(exchange->out, (uint16_t)len);
    exchange->out_len = LENGTH_SIZE + len;
    if (open_socket(exchange, server) < 0 ||
        loop_timer_arm(exchange->timer, wait < left ? wait : left) < 0)
        fail_try(exchange, UPSTREAM_UNREACHABLE);
}

/* The time of a try is over, or that of the next one has come. */
static void on_timer(void *arg)
{
    struct exchange *exchange = arg;
    if (exchange->sock >= 0)
        fail_try(exchange, UPSTREAM_TIMEOUT);
    else if (now_ms() >= exchange->ends_ms)
        finish(exchange, NULL, 0);
    else
        begin_try(exchange);
}

int exchange_new(struct loop *loop, const struct upstreams *upstreams,
                 const struct dns_query *query, bool tcp, exchange_fn fn, void *arg,
                 struct exchange **ret_exchange, struct error *err)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));
    if (!exchange)
        return error_set_errno(err, ENOMEM, "ask an upstream");
    *exchange = (struct exchange){.loop = loop,
                                  .upstreams = upstreams,
                                  .query = query,
                                  .tcp = tcp,
                                  .fn = fn,
                                  .arg = arg,
                                  .ends_ms = now_ms() + LOOKUP_WITHIN_MS,
                                  .sock = -1};
    if (tcp)
        exchange->in = malloc(LENGTH_SIZE + MAX_UPSTREAM_TCP_BYTES);
    int r =
        tcp && !exchange->in ? -ENOMEM : loop_timer_new(loop, on_timer, exchange, &exchange->timer);
    if (r >= 0)
        r = loop_timer_arm(exchange->timer, 0);
    if (r < 0) {
        exchange_free(exchange);
        return error_set_errno(err, -r, "ask an upstream");
    }
    *ret_exchange = exchange;
    return 0;
}

void exchange_free(struct exchange *exchange)
{
    if (!exchange)
        return;
    end_try(exchange);
    loop_timer_free(exchange->timer);
    free(exchange->in);
    free(exchange);
}
