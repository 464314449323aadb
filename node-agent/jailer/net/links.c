/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/net/links.h"

#include "common/cleanup.h"

#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <string.h>
#include <sys/socket.h>

static struct nlmsghdr *change_link(struct netlink_batch *batch, uint16_t flags, int index,
                                    unsigned int up)
{
    const struct ifinfomsg header = {
        .ifi_family = AF_UNSPEC, .ifi_index = index, .ifi_flags = up, .ifi_change = up};
    return netlink_add(batch, RTM_NEWLINK, (uint16_t)(NLM_F_ACK | flags), &header, sizeof(header));
}

static void add_pair(struct netlink_batch *batch, const struct net_plan *plan, uint32_t slot,
                     int ns_fd, uint32_t mtu)
{
    char name[NET_IFNAME_SIZE];
    uint8_t outer[NET_MAC_SIZE], inner[NET_MAC_SIZE];
    const struct ifinfomsg peer = {.ifi_family = AF_UNSPEC};
    net_plan_ifname(plan->jailer, slot, name);
    net_plan_mac(plan, slot, NET_GATEWAY, outer);
    net_plan_mac(plan, slot, NET_SANDBOX, inner);
    struct nlmsghdr *message = change_link(batch, NLM_F_CREATE | NLM_F_EXCL, 0, 0);
    netlink_put_text(batch, message, IFLA_IFNAME, name);
    netlink_put(batch, message, IFLA_ADDRESS, outer, sizeof(outer));
    netlink_put_u32(batch, message, IFLA_MTU, mtu);
    struct nlattr *info = netlink_nest(batch, message, IFLA_LINKINFO);
    netlink_put(batch, message, IFLA_INFO_KIND, "veth", 4);
    struct nlattr *data = netlink_nest(batch, message, IFLA_INFO_DATA);
    struct nlattr *other = netlink_nest(batch, message, VETH_INFO_PEER);
    memcpy(mnl_nlmsg_put_extra_header(message, sizeof(peer)), &peer, sizeof(peer));
    netlink_put_text(batch, message, IFLA_IFNAME, NET_INSIDE_NAME);
    netlink_put(batch, message, IFLA_ADDRESS, inner, sizeof(inner));
    netlink_put_u32(batch, message, IFLA_MTU, mtu);
    netlink_put_u32(batch, message, IFLA_NET_NS_FD, (uint32_t)ns_fd);
    netlink_nest_end(message, other);
    netlink_nest_end(message, data);
    netlink_nest_end(message, info);
}

/* Before it is up: no link-local address, and with none no solicitation and no listener report that
 * bears one. */
static void forbid_generated(struct netlink_batch *batch, const char *name)
{
    struct nlmsghdr *message = change_link(batch, 0, 0, 0);
    const uint8_t mode = IN6_ADDR_GEN_MODE_NONE;
    netlink_put_text(batch, message, IFLA_IFNAME, name);
    struct nlattr *spec = netlink_nest(batch, message, IFLA_AF_SPEC);
    struct nlattr *inet6 = netlink_nest(batch, message, AF_INET6);
    netlink_put(batch, message, IFLA_INET6_ADDR_GEN_MODE, &mode, sizeof(mode));
    netlink_nest_end(message, inet6);
    netlink_nest_end(message, spec);
}

static void set_up(struct netlink_batch *batch, const char *name)
{
    struct nlmsghdr *message = change_link(batch, 0, 0, IFF_UP);
    netlink_put_text(batch, message, IFLA_IFNAME, name);
}

static void add_address(struct netlink_batch *batch, uint32_t index,
                        const struct ip_address *address)
{
    const struct ifaddrmsg header = {.ifa_family = (uint8_t)ip_family_af(address->family),
                                     .ifa_prefixlen =
                                         (uint8_t)(ip_family_bits(address->family) - 1),
                                     .ifa_flags = IFA_F_PERMANENT | IFA_F_NODAD,
                                     .ifa_scope = RT_SCOPE_UNIVERSE,
                                     .ifa_index = index};
    struct nlmsghdr *message = netlink_add(
        batch, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &header, sizeof(header));
    netlink_put(batch, message, IFA_LOCAL, address->bytes, ip_family_bytes(address->family));
    netlink_put(batch, message, IFA_ADDRESS, address->bytes, ip_family_bytes(address->family));
}

static void add_neighbour(struct netlink_batch *batch, uint32_t index,
                          const struct ip_address *address, const uint8_t *mac)
{
    const struct ndmsg header = {.ndm_family = (uint8_t)ip_family_af(address->family),
                                 .ndm_ifindex = (int)index,
                                 .ndm_state = NUD_PERMANENT};
    struct nlmsghdr *message = netlink_add(
        batch, RTM_NEWNEIGH, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &header, sizeof(header));
    netlink_put(batch, message, NDA_DST, address->bytes, ip_family_bytes(address->family));
    netlink_put(batch, message, NDA_LLADDR, mac, NET_MAC_SIZE);
}

static void add_default_route(struct netlink_batch *batch, uint32_t index,
                              const struct ip_address *gateway)
{
    const struct rtmsg header = {.rtm_family = (uint8_t)ip_family_af(gateway->family),
                                 .rtm_table = RT_TABLE_MAIN,
                                 .rtm_protocol = RTPROT_STATIC,
                                 .rtm_scope = RT_SCOPE_UNIVERSE,
                                 .rtm_type = RTN_UNICAST};
    struct nlmsghdr *message = netlink_add(
        batch, RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &header, sizeof(header));
    netlink_put(batch, message, RTA_GATEWAY, gateway->bytes, ip_family_bytes(gateway->family));
    netlink_put_u32(batch, message, RTA_OIF, index);
}

static int find_index(const struct nlmsghdr *message, void *arg)
{
    const struct ifinfomsg *link = mnl_nlmsg_get_payload(message);
    if (mnl_nlmsg_get_payload_len(message) >= sizeof(*link))
        *(uint32_t *)arg = (uint32_t)link->ifi_index;
    return 0;
}

/* The index of an interface by name. */
static int look_up(struct netlink *netlink, const char *name, uint32_t *ret_index,
                   struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    const struct ifinfomsg header = {.ifi_family = AF_UNSPEC};
    int r = netlink_batch_init(&batch, netlink);
    if (r < 0)
        return error_set_errno(err, -r, "look up interface %s", name);
    struct nlmsghdr *message = netlink_add(&batch, RTM_GETLINK, NLM_F_ACK, &header, sizeof(header));
    netlink_put_text(&batch, message, IFLA_IFNAME, name);
    *ret_index = 0;
    return netlink_read(&batch, find_index, ret_index, err);
}

/* One end behind its making: addresses, neighbour and, inside, the routes. */
static int set_end(struct netlink *netlink, const char *name, const struct net_plan *plan,
                   uint32_t slot, enum net_end end, bool ipv6, struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    static const enum ip_family families[] = {IP_FAMILY_4, IP_FAMILY_6};
    uint8_t mac[NET_MAC_SIZE];
    uint32_t index = 0;
    int r = look_up(netlink, name, &index, err);
    if (r >= 0)
        r = netlink_batch_init(&batch, netlink);
    if (r < 0)
        return r;
    net_plan_mac(plan, slot, end == NET_GATEWAY ? NET_SANDBOX : NET_GATEWAY, mac);
    if (ipv6)
        forbid_generated(&batch, name);
    set_up(&batch, name);
    if (end == NET_SANDBOX)
        set_up(&batch, "lo");
    for (size_t i = 0; i < (ipv6 ? 2 : 1); i++) {
        struct ip_address own, other;
        net_plan_address(plan, slot, families[i], end, &own);
        net_plan_address(plan, slot, families[i], end == NET_GATEWAY ? NET_SANDBOX : NET_GATEWAY,
                         &other);
        add_address(&batch, index, &own);
        add_neighbour(&batch, index, &other, mac);
        if (end == NET_SANDBOX)
            add_default_route(&batch, index, &other);
    }
    return netlink_talk(&batch, err);
}

int links_make_slot(struct netlink *outside, struct netlink *inside, int ns_fd,
                    const struct net_plan *plan, uint32_t slot, bool ipv6, uint32_t mtu,
                    struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    char name[NET_IFNAME_SIZE];
    net_plan_ifname(plan->jailer, slot, name);
    int r = netlink_batch_init(&batch, outside);
    if (r < 0)
        return error_set_errno(err, -r, "make interface %s", name);
    add_pair(&batch, plan, slot, ns_fd, mtu);
    r = netlink_talk(&batch, err);
    if (r >= 0)
        r = set_end(outside, name, plan, slot, NET_GATEWAY, ipv6, err);
    if (r >= 0)
        r = set_end(inside, NET_INSIDE_NAME, plan, slot, NET_SANDBOX, ipv6, err);
    return r < 0 ? error_wrap(err, "make interface %s", name) : 0;
}
