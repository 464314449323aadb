/* SPDX-License-Identifier: Apache-2.0 */

/* The half of links.h that looks at what is there. */
#include "common/cleanup.h"
#include "node-agent/jailer/net/links.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#define USUAL_MTU 1500u

/* Interfaces of all jailers. */
#define SLOT_PREFIX "sbr"

struct route {
    struct ip_prefix to;
    uint32_t oif;
    uint32_t priority;
    uint8_t type, table, protocol;
};

struct route_walk {
    int (*each)(const struct route *route, void *arg);
    void *arg;
};

struct route_attributes {
    const struct nlattr *dst, *oif, *priority;
};

static int note_route_attribute(const struct nlattr *attribute, void *arg)
{
    struct route_attributes *attributes = arg;
    uint16_t type = mnl_attr_get_type(attribute);
    if (type == RTA_DST)
        attributes->dst = attribute;
    else if (type == RTA_OIF)
        attributes->oif = attribute;
    else if (type == RTA_PRIORITY)
        attributes->priority = attribute;
    return MNL_CB_OK;
}

static int read_route(const struct nlmsghdr *message, void *arg)
{
    const struct route_walk *walk = arg;
    const struct rtmsg *header = mnl_nlmsg_get_payload(message);
    struct route_attributes attributes = {0};
    if (mnl_nlmsg_get_payload_len(message) < sizeof(*header) ||
        mnl_attr_parse(message, sizeof(*header), note_route_attribute, &attributes) < 0)
        return -EBADMSG;
    if (header->rtm_family != AF_INET && header->rtm_family != AF_INET6)
        return 0;
    struct route route = {
        .to.address.family = header->rtm_family == AF_INET ? IP_FAMILY_4 : IP_FAMILY_6,
        .to.length = header->rtm_dst_len,
        .type = header->rtm_type,
        .table = header->rtm_table,
        .protocol = header->rtm_protocol,
    };
    size_t len = header->rtm_family == AF_INET ? 4 : 16;
    if (attributes.dst && mnl_attr_get_payload_len(attributes.dst) == len)
        memcpy(route.to.address.bytes, mnl_attr_get_payload(attributes.dst), len);
    if (attributes.oif && mnl_attr_validate(attributes.oif, MNL_TYPE_U32) >= 0)
        route.oif = mnl_attr_get_u32(attributes.oif);
    if (attributes.priority && mnl_attr_validate(attributes.priority, MNL_TYPE_U32) >= 0)
        route.priority = mnl_attr_get_u32(attributes.priority);
    return walk->each(&route, walk->arg);
}

static int walk_routes(struct netlink *netlink, int family,
                       int (*each)(const struct route *route, void *arg), void *arg,
                       struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    const struct rtmsg header = {.rtm_family = (uint8_t)family};
    struct route_walk walk = {.each = each, .arg = arg};
    int r = netlink_batch_init(&batch, netlink);
    if (r < 0)
        return error_set_errno(err, -r, "list the routes");
    (void)netlink_add(&batch, RTM_GETROUTE, NLM_F_DUMP, &header, sizeof(header));
    return netlink_read(&batch, read_route, &walk, err);
}

struct uplink {
    uint32_t oif, priority;
};

static int find_uplink(const struct route *route, void *arg)
{
    struct uplink *uplink = arg;
    if (route->to.length == 0 && route->type == RTN_UNICAST && route->table == RT_TABLE_MAIN &&
        route->oif != 0 && (uplink->oif == 0 || route->priority < uplink->priority))
        *uplink = (struct uplink){.oif = route->oif, .priority = route->priority};
    return 0;
}

static int note_mtu(const struct nlattr *attribute, void *arg)
{
    if (mnl_attr_get_type(attribute) == IFLA_MTU && mnl_attr_validate(attribute, MNL_TYPE_U32) >= 0)
        *(uint32_t *)arg = mnl_attr_get_u32(attribute);
    return MNL_CB_OK;
}

static int read_mtu(const struct nlmsghdr *message, void *arg)
{
    return mnl_attr_parse(message, sizeof(struct ifinfomsg), note_mtu, arg) < 0 ? -EBADMSG : 0;
}

uint32_t links_uplink_mtu(struct netlink *netlink)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    struct error err = {0};
    struct uplink uplink = {0};
    uint32_t mtu = 0;
    (void)walk_routes(netlink, AF_INET, find_uplink, &uplink, &err);
    if (uplink.oif == 0)
        (void)walk_routes(netlink, AF_INET6, find_uplink, &uplink, &err);
    const struct ifinfomsg header = {.ifi_family = AF_UNSPEC, .ifi_index = (int)uplink.oif};
    if (uplink.oif == 0 || netlink_batch_init(&batch, netlink) < 0)
        return USUAL_MTU;
    (void)netlink_add(&batch, RTM_GETLINK, NLM_F_ACK, &header, sizeof(header));
    if (netlink_read(&batch, read_mtu, &mtu, &err) < 0)
        return USUAL_MTU;
    /* What IPv6 needs at the least, and what veth takes at the most. */
    return mtu >= 1280 && mtu <= 65535 ? mtu : USUAL_MTU;
}

struct range_check {
    const struct net_plan *plan;
    struct error *err;
};

static bool is_slot(uint32_t oif)
{
    char name[IF_NAMESIZE] = "";
    return if_indextoname(oif, name) && strncmp(name, SLOT_PREFIX, sizeof(SLOT_PREFIX) - 1) == 0;
}

static int check_route(const struct route *route, void *arg)
{
    const struct range_check *check = arg;
    const struct net_plan *plan = check->plan;
    bool ipv4 = route->to.address.family == IP_FAMILY_4;
    const struct ip_prefix *range = ipv4 ? &plan->range4 : &plan->range6;
    char range_text[IP_PREFIX_TEXT_SIZE], route_text[IP_PREFIX_TEXT_SIZE];
    char name[IF_NAMESIZE] = "no interface";
    if (route->to.length == 0 || !ip_prefix_overlaps(&route->to, range) || is_slot(route->oif))
        return 0;
    (void)if_indextoname(route->oif, name);
    ip_prefix_print(range, range_text);
    ip_prefix_print(&route->to, route_text);
    return error_set(check->err, EADDRINUSE,
                     "the range of network slots, %s, overlaps the route to %s by %s: choose "
                     "another with %s",
                     range_text, route_text, name, ipv4 ? "--slot-range" : "--slot-range6");
}

int links_check_ranges(struct netlink *netlink, const struct net_plan *plan, struct error *err)
{
    struct range_check check = {.plan = plan, .err = err};
    int r = walk_routes(netlink, AF_INET, check_route, &check, err);
    return r < 0 ? r : walk_routes(netlink, AF_INET6, check_route, &check, err);
}

static int find_advertised(const struct route *route, void *arg)
{
    if (route->to.length == 0 && route->protocol == RTPROT_RA)
        *(bool *)arg = true;
    return 0;
}

int links_has_advertised_route(struct netlink *netlink, bool *ret_has, struct error *err)
{
    *ret_has = false;
    return walk_routes(netlink, AF_INET6, find_advertised, ret_has, err);
}

struct link_walk {
    char prefix[NET_IFNAME_SIZE];
    uint32_t count;
    uint32_t indexes[NET_MAX_SLOTS];
};

static int note_name(const struct nlattr *attribute, void *arg)
{
    if (mnl_attr_get_type(attribute) == IFLA_IFNAME &&
        mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) >= 0)
        *(const char **)arg = mnl_attr_get_str(attribute);
    return MNL_CB_OK;
}

static int note_link(const struct nlmsghdr *message, void *arg)
{
    struct link_walk *walk = arg;
    const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);
    const char *name = NULL;
    if (mnl_nlmsg_get_payload_len(message) < sizeof(*header) ||
        mnl_attr_parse(message, sizeof(*header), note_name, &name) < 0)
        return -EBADMSG;
    if (name && strncmp(name, walk->prefix, strlen(walk->prefix)) == 0 &&
        walk->count < NET_MAX_SLOTS)
        walk->indexes[walk->count++] = (uint32_t)header->ifi_index;
    return 0;
}

static int list_slots(struct netlink *netlink, uint32_t jailer, struct link_walk *ret_walk,
                      struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    const struct ifinfomsg header = {.ifi_family = AF_UNSPEC};
    *ret_walk = (struct link_walk){.count = 0};
    (void)snprintf(ret_walk->prefix, sizeof(ret_walk->prefix), SLOT_PREFIX "%u-", jailer);
    int r = netlink_batch_init(&batch, netlink);
    if (r < 0)
        return error_set_errno(err, -r, "list the interfaces");
    (void)netlink_add(&batch, RTM_GETLINK, NLM_F_DUMP, &header, sizeof(header));
    return netlink_read(&batch, note_link, ret_walk, err);
}

int links_count_slots(struct netlink *netlink, uint32_t jailer, uint32_t *ret_count,
                      struct error *err)
{
    struct link_walk walk;
    int r = list_slots(netlink, jailer, &walk, err);
    if (r >= 0)
        *ret_count = walk.count;
    return r;
}

int links_delete_slots(struct netlink *netlink, uint32_t jailer, struct error *err)
{
    struct link_walk walk;
    int r = list_slots(netlink, jailer, &walk, err);
    for (uint32_t i = 0; i < walk.count && r >= 0; i++) {
        cleanup_netlink_batch struct netlink_batch batch = {0};
        const struct ifinfomsg header = {.ifi_family = AF_UNSPEC,
                                         .ifi_index = (int)walk.indexes[i]};
        r = netlink_batch_init(&batch, netlink);
        if (r < 0)
            return error_set_errno(err, -r, "delete an interface");
        (void)netlink_add(&batch, RTM_DELLINK, NLM_F_ACK, &header, sizeof(header));
        r = netlink_talk(&batch, err);
        /* Gone with its namespace meanwhile. */
        if (r == -ENODEV)
            r = 0;
    }
    return r < 0 ? error_wrap(err, "delete the interfaces of earlier slots") : 0;
}
