/* SPDX-License-Identifier: Apache-2.0 */

/* The helpers' lives. */
#include "node-agent/jailer/network.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "node-agent/jailer/caps.h"
#include "node-agent/jailer/helper.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/net/nft_text.h"
#include "node-agent/jailer/net_helper.h"
#include "node-agent/jailer/network_internal.h"
#include "node-agent/jailer/pass_fd.h"
#include "node-agent/jailer/slot_maker.h"

#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define NS_PER_MS UINT64_C(1000000)

/* All that may wait there: a request for each slot, and addresses. */
#define SEND_BUFFER_SIZE (1 << 20)

static void say_port(struct network *network, uint16_t port)
{
    const struct net_request request = {.kind = NET_RESOLVER, .port = port};
    if (network->state == NETWORK_UP)
        (void)network_say(network, &request);
}

static void on_resolver_ready(uint16_t port, void *arg)
{
    struct network *network = arg;
    log_event(LOG_LEVEL_INFO, "resolver connected", LOG_NUMBER("port", port));
    say_port(network, port);
    for (uint32_t i = 0; i < network->plan.slot_count; i++) {
        const struct slot *slot = &network->slots[i];
        if (slot->lease && (slot->state == SLOT_TAKING || slot->state == SLOT_HELD))
            network_say_open(network, slot->lease);
    }
    network_pump(network);
}

static void on_resolver_gone(void *arg)
{
    say_port(arg, 0);
}

void network_init(struct network *network, struct events *events, struct deadlines *deadlines,
                  int proc_fd)
{
    *network = (struct network){.events = events,
                                .deadlines = deadlines,
                                .proc_fd = proc_fd,
                                .rules = {EVENT_SOURCE_INIT, EVENT_SOURCE_INIT},
                                .maker = {EVENT_SOURCE_INIT, EVENT_SOURCE_INIT}};
    network->queue_end = &network->queue;
    for (size_t i = 0; i < NET_MAX_SLOTS; i++)
        network->slots[i].ns_fd = -1;
    const struct resolver_handlers handlers = {
        .ready = on_resolver_ready,
        .gone = on_resolver_gone,
        .allow = network_on_resolver_allow,
        .denied = network_on_resolver_denied,
        .arg = network,
    };
    resolver_link_init(&network->resolver, events, &handlers);
    (void)error_set(&network->why, EOPNOTSUPP, "it was not configured");
}

int network_configure(struct network *network, uint32_t jailer,
                      const struct network_options *options, struct error *err)
{
    int r = net_plan_init(&network->plan, jailer, options->slot_count, &options->range4,
                          &options->range6, err);
    if (r < 0)
        return r;
    network->plan.forbidden_count = options->forbidden_count;
    memcpy(network->plan.forbidden, options->forbidden, sizeof(options->forbidden));
    network->ahead = options->ahead;
    network->shared = options->shared;
    network->state = NETWORK_IDLE;
    return 0;
}

void network_forbid(struct network *network, const struct error *why)
{
    network->state = NETWORK_OFF;
    network->why = *why;
    resolver_link_done(&network->resolver);
}

bool network_is_offered(const struct network *network)
{
    return network->state != NETWORK_OFF && network->resolver.configured;
}

static void close_helper(struct network *network, struct network_helper *helper, int within_ms)
{
    (void)fd_close(events_remove(network->events, &helper->socket));
    helper_end_within(events_remove(network->events, &helper->process), within_ms);
}

static void close_maker(struct network *network)
{
    close_helper(network, &network->maker, 0);
    network_forget_making(network);
}

static void go_down(struct network *network, const struct error *why)
{
    if (network->state != NETWORK_STARTING && network->state != NETWORK_UP)
        return;
    log_event(LOG_LEVEL_ERROR, "no sandbox gets a network any more", LOG_TEXT("error", why->text));
    network->state = NETWORK_DOWN;
    network->why = *why;
    network->not_before_ns = clock_boottime_ns() + NET_AGAIN_MS * NS_PER_MS;
    network->allows = 0;
    /* The maker, too, which is of no use without it. */
    close_maker(network);
    close_helper(network, &network->rules, 0);
    network_fail_all(network);
}

static void on_helper_exit(uint32_t events, void *arg)
{
    (void)events;
    struct error why;
    (void)error_set(&why, ECHILD, "the helper that has the network's rules has ended");
    go_down(arg, &why);
}

bool network_say(struct network *network, const struct net_request *request)
{
    size_t size = net_request_size(request);
    ssize_t n = send(network->rules.socket.fd, request, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n == (ssize_t)size)
        return true;
    struct error why;
    (void)error_set_errno(&why, n < 0 ? errno : EIO, "ask the helper that has the network's rules");
    go_down(network, &why);
    return false;
}

static void on_started(struct network *network, const struct net_answer *answer)
{
    if (answer->error.code != 0) {
        struct error why = answer->error;
        go_down(network, &why);
        return;
    }
    network->state = NETWORK_UP;
    network->started = answer->started;
    log_event(LOG_LEVEL_INFO, "network slots can be made",
              LOG_NUMBER("slots", network->plan.slot_count), LOG_NUMBER("ahead", network->ahead),
              LOG_NUMBER("mtu", network->started.mtu), LOG_NUMBER("ipv6", network->started.ipv6));
    if (network->started.ipv6_dropped)
        log_event(LOG_LEVEL_WARN,
                  "sandboxes get no IPv6: another firewall of this node drops what they send by "
                  "it; let pass what comes from and goes to interfaces sbr*");
    uint32_t most = network->plan.slot_count * (NFT_FLOWS + NFT_LOOKUPS);
    if (network->started.tracked > 0 && network->started.tracked < 2 * most)
        log_event(LOG_LEVEL_WARN,
                  "sandboxes could fill the kernel's table of tracked connections: raise "
                  "net.netfilter.nf_conntrack_max",
                  LOG_NUMBER("now", network->started.tracked),
                  LOG_NUMBER("wanted", (long long)2 * most));
    if (network->resolver.ready)
        say_port(network, network->resolver.port);
    network_pump(network);
    network_refill(network);
}

static void take_answer(struct network *network, const struct net_answer *answer)
{
    if (answer->kind == NET_STARTED && network->state == NETWORK_STARTING)
        on_started(network, answer);
    else if (network->state == NETWORK_UP && answer->slot < network->plan.slot_count)
        network_on_answer(network, answer);
}

static void on_socket(uint32_t events, void *arg)
{
    struct network *network = arg;
    struct net_answer answer;
    ssize_t n = 0;
    while (network->rules.socket.fd >= 0 &&
           (n = recv(network->rules.socket.fd, &answer, sizeof(answer), MSG_DONTWAIT)) ==
               (ssize_t)sizeof(answer))
        take_answer(network, &answer);
    if (network->rules.socket.fd >= 0 && (events & (EPOLLHUP | EPOLLERR)))
        on_helper_exit(events, network);
}

static int make_sockets(int *ret_ours, int *ret_theirs)
{
    int socks[2];
    const int size = SEND_BUFFER_SIZE;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
        return -errno;
    for (size_t i = 0; i < ARRAY_SIZE(socks); i++)
        (void)setsockopt(socks[i], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
    *ret_ours = socks[0];
    *ret_theirs = socks[1];
    return 0;
}

/* Takes both descriptors over. */
static int watch_helper(struct network *network, struct network_helper *helper, int pidfd,
                        event_fn on_exit, int sock, event_fn on_packets)
{
    int r = events_add(network->events, &helper->process, pidfd, EPOLLIN, on_exit, network);
    if (r < 0) {
        helper_end(pidfd);
        (void)fd_close(sock);
        return r;
    }
    r = events_add(network->events, &helper->socket, sock, EPOLLIN, on_packets, network);
    if (r < 0) {
        (void)fd_close(sock);
        helper_end(events_remove(network->events, &helper->process));
    }
    return r;
}

static int start_helper(struct network *network)
{
    cleanup_close int ours = -1;
    cleanup_close int theirs = -1;
    int r = make_sockets(&ours, &theirs);
    if (r < 0)
        return r;
    const struct net_helper helper = {
        .sock = theirs, .plan = &network->plan, .shared = network->shared};
    int pidfd = net_helper_start(&helper);
    if (pidfd < 0)
        return pidfd;
    r = watch_helper(network, &network->rules, pidfd, on_helper_exit, TAKE_FD(ours), on_socket);
    if (r >= 0)
        network->state = NETWORK_STARTING;
    return r;
}

void network_wake(struct network *network)
{
    bool again = network->state == NETWORK_DOWN && !network_has_leases(network) &&
                 clock_boottime_ns() >= network->not_before_ns;
    if (network->state != NETWORK_IDLE && !again)
        return;
    int r = start_helper(network);
    if (r >= 0)
        return;
    network->state = NETWORK_DOWN;
    network->not_before_ns = clock_boottime_ns() + NET_AGAIN_MS * NS_PER_MS;
    (void)error_set_errno(&network->why, -r, "start the helper that has the network's rules");
}

int network_start_and_wait(struct network *network, struct error *err)
{
    network_wake(network);
    struct pollfd answered = {.fd = network->rules.socket.fd, .events = POLLIN};
    if (network->state == NETWORK_STARTING) {
        int n = 0;
        do {
            n = poll(&answered, 1, NET_START_WITHIN_MS);
        } while (n < 0 && errno == EINTR);
        if (n > 0)
            on_socket(0, network);
    }
    if (network->state == NETWORK_UP)
        return 0;
    if (network->state == NETWORK_STARTING) {
        struct error why;
        (void)error_set(&why, ETIMEDOUT, "the network was not ready within %d ms",
                        NET_START_WITHIN_MS);
        go_down(network, &why);
    }
    network->state = NETWORK_OFF;
    *err = network->why;
    return -err->code;
}

static void on_maker_exit(uint32_t events, void *arg)
{
    (void)events;
    struct network *network = arg;
    log_event(LOG_LEVEL_WARN, "the helper that makes network slots has ended");
    close_maker(network);
    network_pump(network);
}

static void on_maker_socket(uint32_t events, void *arg)
{
    struct network *network = arg;
    struct maker_answer answer;
    int ns_fd = -1;
    while (network->maker.socket.fd >= 0 &&
           pass_fd_receive(network->maker.socket.fd, &answer, sizeof(answer), &ns_fd) ==
               (int)sizeof(answer))
        network_on_made(network, &answer, ns_fd);
    if (events & (EPOLLHUP | EPOLLERR))
        (void)fd_close(events_remove(network->events, &network->maker.socket));
}

/* One that has ended is not started again at once, or one that can't live would eat the machine. */
static int start_maker(struct network *network)
{
    cleanup_close int ours = -1;
    cleanup_close int theirs = -1;
    uint64_t now_ns = clock_boottime_ns();
    if (network->maker_since_ns > 0 && now_ns - network->maker_since_ns < NET_AGAIN_MS * NS_PER_MS)
        return -EAGAIN;
    int r = make_sockets(&ours, &theirs);
    if (r < 0)
        return r;
    const struct slot_maker maker = {.sock = theirs,
                                     .proc_fd = network->proc_fd,
                                     .plan = &network->plan,
                                     .ipv6 = network->started.ipv6 != 0,
                                     .mtu = network->started.mtu};
    int pidfd = slot_maker_start(&maker);
    if (pidfd < 0)
        return pidfd;
    network->maker_since_ns = now_ns;
    return watch_helper(network, &network->maker, pidfd, on_maker_exit, TAKE_FD(ours),
                        on_maker_socket);
}

bool network_ask_maker(struct network *network, uint32_t slot)
{
    const struct maker_request request = {.slot = slot};
    if (network->maker.process.fd < 0) {
        int r = start_maker(network);
        if (r < 0 && r != -EAGAIN)
            log_event(LOG_LEVEL_WARN, "no network slots are made: no helper",
                      LOG_NUMBER("errno", -r));
    }
    return network->maker.socket.fd >= 0 &&
           send(network->maker.socket.fd, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT) ==
               (ssize_t)sizeof(request);
}

void network_done(struct network *network)
{
    if (!network->events)
        return;
    resolver_link_done(&network->resolver);
    network_fail_all(network);
    close_maker(network);
    /* The end of its socket tells it to undo what it did. */
    close_helper(network, &network->rules, NET_STOP_WITHIN_MS);
    deadline_disarm(network->deadlines, &network->again);
    network->state = NETWORK_OFF;
}
