/* SPDX-License-Identifier: Apache-2.0 */

/* The reading half of nft_elements.h. */
#include "common/cleanup.h"
#include "node-agent/jailer/net/nft_elements.h"
#include "node-agent/jailer/net/nft_text.h"

#include <endian.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

/* Attributes by type, for one level of nesting; of the size that is looked at. */
#define MAX_ATTRIBUTES 16

struct attributes {
    const struct nlattr *at[MAX_ATTRIBUTES];
};

static int note(const struct nlattr *attribute, void *arg)
{
    struct attributes *attributes = arg;
    uint16_t type = mnl_attr_get_type(attribute);
    if (type < MAX_ATTRIBUTES)
        attributes->at[type] = attribute;
    return MNL_CB_OK;
}

static const struct nlattr *find(const struct nlattr *nest, uint16_t type)
{
    struct attributes attributes = {0};
    if (!nest || mnl_attr_parse_nested(nest, note, &attributes) < 0)
        return NULL;
    return attributes.at[type];
}

struct reading {
    struct nft_denied *denied;
    uint8_t family;
    uint32_t entries;
    /* All of both sets, before the most frequent are chosen. */
    uint32_t count;
    struct proto_denied_network found[2 * NFT_DENIED_SIZE];
};

static bool has_port(uint8_t protocol)
{
    return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE ||
           protocol == IPPROTO_SCTP || protocol == IPPROTO_DCCP;
}

static void note_target(struct reading *reading, const struct proto_denied_network *target)
{
    for (uint32_t i = 0; i < reading->count; i++) {
        struct proto_denied_network *other = &reading->found[i];
        if (other->family == target->family && other->protocol == target->protocol &&
            other->port == target->port &&
            memcmp(other->bytes, target->bytes, sizeof(target->bytes)) == 0) {
            other->count += target->count;
            return;
        }
    }
    if (reading->count < ARRAY_SIZE(reading->found))
        reading->found[reading->count++] = *target;
}

/* Address, protocol and port, each in registers of 4 bytes. Without ports in its protocol the third
 * is what else stands there: those are one target. */
static void read_element(struct reading *reading, const struct nlattr *element)
{
    const struct nlattr *key = find(find(element, NFTA_SET_ELEM_KEY), NFTA_DATA_VALUE);
    const struct nlattr *counter =
        find(find(find(element, NFTA_SET_ELEM_EXPR), NFTA_EXPR_DATA), NFTA_COUNTER_PACKETS);
    size_t address_len = reading->family == 4 ? 4 : 16;
    if (!key || mnl_attr_get_payload_len(key) < address_len + 8)
        return;
    const uint8_t *bytes = mnl_attr_get_payload(key);
    struct proto_denied_network target = {
        .family = reading->family, .protocol = bytes[address_len], .count = 1};
    memcpy(target.bytes, bytes, address_len);
    if (has_port(target.protocol))
        target.port = (uint16_t)(bytes[address_len + 4] << 8 | bytes[address_len + 5]);
    if (counter && mnl_attr_get_payload_len(counter) == sizeof(uint64_t)) {
        uint64_t packets = 0;
        memcpy(&packets, mnl_attr_get_payload(counter), sizeof(packets));
        packets = be64toh(packets);
        target.count = packets > UINT32_MAX ? UINT32_MAX : (uint32_t)packets;
    }
    reading->entries++;
    /* Noted, and not counted yet, is a packet that is being looked at just now. */
    if (target.count == 0)
        target.count = 1;
    note_target(reading, &target);
}

static int each_element(const struct nlattr *element, void *arg)
{
    read_element(arg, element);
    return MNL_CB_OK;
}

static int read_entry(const struct nlmsghdr *message, void *arg)
{
    struct attributes attributes = {0};
    if (mnl_attr_parse(message, sizeof(struct nfgenmsg), note, &attributes) < 0)
        return -EBADMSG;
    const struct nlattr *list = attributes.at[NFTA_SET_ELEM_LIST_ELEMENTS];
    return list && mnl_attr_parse_nested(list, each_element, arg) < 0 ? -EBADMSG : 0;
}

static int start_list(struct netlink_batch *batch, struct netlink *netlink, uint16_t type,
                      struct nlmsghdr **ret_message)
{
    const struct nfgenmsg header = {.nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0};
    int r = netlink_batch_init(batch, netlink);
    if (r >= 0)
        *ret_message = netlink_add(batch, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), NLM_F_DUMP,
                                   &header, sizeof(header));
    return r;
}

static int read_set(struct netlink *netlink, uint32_t jailer, uint32_t slot,
                    struct reading *reading, struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    char table[NET_TABLE_SIZE], set[32];
    struct nlmsghdr *message = NULL;
    int r = start_list(&batch, netlink, NFT_MSG_GETSETELEM, &message);
    if (r < 0)
        return error_set_errno(err, -r, "list a set");
    net_plan_table(jailer, table);
    (void)snprintf(set, sizeof(set), "denied%u_%u", reading->family, slot);
    netlink_put_text(&batch, message, NFTA_SET_ELEM_LIST_TABLE, table);
    netlink_put_text(&batch, message, NFTA_SET_ELEM_LIST_SET, set);
    reading->entries = 0;
    r = netlink_read(&batch, read_entry, reading, err);
    if (reading->entries >= NFT_DENIED_SIZE)
        reading->denied->more = true;
    return r;
}

static int compare(const void *a, const void *b)
{
    const struct proto_denied_network *left = a, *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return memcmp(left, right, sizeof(*left));
}

int nft_elements_read_denied(struct netlink *netlink, uint32_t jailer, uint32_t slot,
                             struct nft_denied *ret_denied, struct error *err)
{
    struct nft_denied denied = {0};
    struct reading reading = {.denied = &denied};
    static const uint8_t families[] = {4, 6};
    for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
        reading.family = families[i];
        int r = read_set(netlink, jailer, slot, &reading, err);
        if (r < 0)
            return error_wrap(err, "read what network slot %u was refused", slot);
    }
    qsort(reading.found, reading.count, sizeof(reading.found[0]), compare);
    denied.count = reading.count;
    if (denied.count > PROTO_MAX_DENIED_NETWORK) {
        denied.count = PROTO_MAX_DENIED_NETWORK;
        denied.more = true;
    }
    memcpy(denied.entries, reading.found, denied.count * sizeof(denied.entries[0]));
    *ret_denied = denied;
    return 0;
}

struct others {
    char own[NET_TABLE_SIZE];
    bool found;
};

static int look_at_table(const struct nlmsghdr *message, void *arg)
{
    struct others *others = arg;
    struct attributes attributes = {0};
    static const char prefix[] = "sandboxrun_lock_";
    if (mnl_attr_parse(message, sizeof(struct nfgenmsg), note, &attributes) < 0)
        return -EBADMSG;
    const struct nlattr *name = attributes.at[NFTA_TABLE_NAME];
    if (!name || mnl_attr_validate(name, MNL_TYPE_NUL_STRING) < 0)
        return 0;
    const char *text = mnl_attr_get_str(name);
    if (strncmp(text, prefix, sizeof(prefix) - 1) == 0 && strcmp(text, others->own) != 0)
        others->found = true;
    return 0;
}

int nft_elements_find_others(struct netlink *netlink, uint32_t jailer, bool *ret_found,
                             struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    struct others others = {.found = false};
    struct nlmsghdr *message = NULL;
    net_plan_lock_table(jailer, others.own);
    int r = start_list(&batch, netlink, NFT_MSG_GETTABLE, &message);
    if (r >= 0)
        r = netlink_read(&batch, look_at_table, &others, err);
    if (r >= 0)
        *ret_found = others.found;
    return r;
}
