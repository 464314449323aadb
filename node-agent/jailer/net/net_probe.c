/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/net/net_probe.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "node-agent/jailer/net/links.h"
#include "node-agent/jailer/net/nft_elements.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#define CHAIN "probe"

/* A root name server's: public, and nobody's cloud. */
#define TARGET4     "198.41.0.4"
#define TARGET6     "2001:503:ba3e::2:30"
#define TARGET_PORT 443

/* A packet that is lost for another reason is sent again after a second, and after two more. */
#define WITHIN_NS UINT64_C(3500000000)

enum { FAMILY4, FAMILY6, FAMILIES };

struct probe {
    uint32_t slot;
    int ns_fd;
    struct netlink inside;
    int socks[FAMILIES];
    bool heard[FAMILIES];
};

static uint32_t slot_of(const struct net_plan *plan)
{
    return plan->slot_count - 1;
}

int net_probe_print(const struct net_plan *plan, struct buf *text)
{
    char table[NET_TABLE_SIZE], chain[512];
    uint32_t slot = slot_of(plan);
    uint32_t mark = net_plan_mark(plan->jailer, slot);
    net_plan_table(plan->jailer, table);
    int len = snprintf(chain, sizeof(chain),
                       "table inet %s {\n"
                       "chain " CHAIN " {\n"
                       "  type filter hook postrouting priority -300; policy accept;\n"
                       "  ct mark %u add @denied4_%u { ip daddr . meta l4proto . th dport }\n"
                       "  ct mark %u add @denied6_%u { ip6 daddr . meta l4proto . th dport }\n"
                       "  ct mark %u drop\n"
                       "}\n"
                       "}\n",
                       table, mark, slot, mark, slot, mark);
    return len < 0 || (size_t)len >= sizeof(chain) ? -EMSGSIZE
                                                   : buf_append(text, chain, (size_t)len);
}

/* In the new namespace: what belongs to it for ever. */
static int furnish(struct probe *probe, int proc_fd, bool ipv6, struct error *err)
{
    static const int families[FAMILIES] = {AF_INET, AF_INET6};
    probe->ns_fd = openat(proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
    if (probe->ns_fd < 0)
        return error_set_errno(err, errno, "open the network namespace of a probe");
    for (size_t i = 0; i < (ipv6 ? FAMILIES : 1); i++) {
        probe->socks[i] = socket(families[i], SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (probe->socks[i] < 0)
            return error_set_errno(err, errno, "open a socket for a probe");
    }
    return netlink_open(&probe->inside, NETLINK_ROUTE, err);
}

static int make_namespace(struct probe *probe, int proc_fd, bool ipv6, struct error *err)
{
    cleanup_close int home_fd = openat(proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home_fd < 0)
        return error_set_errno(err, errno, "open the own network namespace");
    if (unshare(CLONE_NEWNET) < 0)
        return error_set_errno(err, errno, "make the network namespace of a probe");
    int r = furnish(probe, proc_fd, ipv6, err);
    /* Elsewhere nothing that follows would make sense. */
    if (setns(home_fd, CLONE_NEWNET) < 0)
        _exit(EXIT_FAILURE);
    return r;
}

/* What is refused at once, by a rule or for want of a route, is no silence. */
static bool is_under_way(int sock, const void *address, socklen_t len)
{
    return connect(sock, address, len) < 0 && errno == EINPROGRESS;
}

static void send_packets(struct probe *probe)
{
    struct sockaddr_in to4 = {.sin_family = AF_INET, .sin_port = htons(TARGET_PORT)};
    struct sockaddr_in6 to6 = {.sin6_family = AF_INET6, .sin6_port = htons(TARGET_PORT)};
    (void)inet_pton(AF_INET, TARGET4, &to4.sin_addr);
    (void)inet_pton(AF_INET6, TARGET6, &to6.sin6_addr);
    probe->heard[FAMILY4] = !is_under_way(probe->socks[FAMILY4], &to4, sizeof(to4));
    probe->heard[FAMILY6] =
        probe->socks[FAMILY6] < 0 || !is_under_way(probe->socks[FAMILY6], &to6, sizeof(to6));
}

static int listen_once(struct probe *probe, struct netlink *filter, uint32_t jailer,
                       struct error *err)
{
    struct nft_denied noted;
    int r = nft_elements_read_denied(filter, jailer, probe->slot, &noted, err);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < noted.count; i++)
        probe->heard[noted.entries[i].family == 4 ? FAMILY4 : FAMILY6] = true;
    for (size_t i = 0; i < FAMILIES; i++) {
        struct pollfd answer = {.fd = probe->socks[i], .events = POLLOUT};
        probe->heard[i] = probe->heard[i] || poll(&answer, 1, 0) > 0;
    }
    return 0;
}

static int listen_for_it(struct probe *probe, struct netlink *filter, uint32_t jailer,
                         struct error *err)
{
    uint64_t until_ns = clock_boottime_ns() + WITHIN_NS;
    for (;;) {
        int r = listen_once(probe, filter, jailer, err);
        if (r < 0 || (probe->heard[FAMILY4] && probe->heard[FAMILY6]) ||
            clock_boottime_ns() >= until_ns)
            return r;
        (void)poll(NULL, 0, 1);
    }
}

/* With the last descriptor goes the namespace, and the interface with it. */
static void close_namespace(struct probe *probe)
{
    for (size_t i = 0; i < FAMILIES; i++)
        probe->socks[i] = fd_close(probe->socks[i]);
    netlink_close(&probe->inside);
    probe->ns_fd = fd_close(probe->ns_fd);
}

int net_probe_run(struct netlink *filter, struct netlink *route, const struct net_plan *plan,
                  int proc_fd, bool ipv6, struct net_probe_result *ret_result, struct error *err)
{
    static const struct proto_egress everything_public = {.has_rules = 0};
    struct probe probe = {.slot = slot_of(plan), .ns_fd = -1, .socks = {-1, -1}};
    int r = make_namespace(&probe, proc_fd, ipv6, err);
    if (r >= 0)
        r = links_make_slot(route, &probe.inside, probe.ns_fd, plan, probe.slot, ipv6,
                            links_uplink_mtu(route), err);
    if (r >= 0)
        r = nft_elements_take(filter, plan->jailer, probe.slot, &everything_public, err);
    if (r >= 0) {
        send_packets(&probe);
        r = listen_for_it(&probe, filter, plan->jailer, err);
    }
    close_namespace(&probe);
    if (r >= 0)
        r = nft_elements_release(filter, plan->jailer, probe.slot, err);
    if (r >= 0)
        r = nft_elements_delete_chain(filter, plan->jailer, CHAIN, err);
    if (r < 0)
        return r;
    *ret_result = (struct net_probe_result){.silent4 = !probe.heard[FAMILY4],
                                            .silent6 = !probe.heard[FAMILY6]};
    return 0;
}
