/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/net/nft_elements.h"

#include "common/cleanup.h"
#include "node-agent/jailer/net/nft_text.h"
#include "node-agent/jailer/net/slot_rules.h"

#include <arpa/inet.h>
#include <endian.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>
#include <sys/socket.h>

#define NAME_SIZE 32

/* In a key each part fills whole registers of 4 bytes. */
#define KEY_SIZE 24

struct element {
    const void *key;
    const void *key_end; /* of an interval, else NULL */
    size_t key_len;
    const void *data; /* of a map, else NULL */
    size_t data_len;
    const char *chain; /* of a map of verdicts: go to this chain; else NULL */
    uint64_t timeout_ms;
};

static struct nlmsghdr *add_message(struct netlink_batch *batch, uint16_t type, uint16_t flags)
{
    const struct nfgenmsg header = {.nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0};
    return netlink_add(batch, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), flags, &header,
                       sizeof(header));
}

static void add_bracket(struct netlink_batch *batch, uint16_t type)
{
    const struct nfgenmsg header = {.version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)};
    (void)netlink_add(batch, type, 0, &header, sizeof(header));
}

static int begin(struct netlink_batch *batch, struct netlink *netlink, struct error *err)
{
    int r = netlink_batch_init(batch, netlink);
    if (r < 0)
        return error_set_errno(err, -r, "build an nftables transaction");
    add_bracket(batch, NFNL_MSG_BATCH_BEGIN);
    return 0;
}

/* The last change has NLM_F_ACK; the kernel acknowledges the end of a batch by nothing. */
static int commit(struct netlink_batch *batch, struct error *err)
{
    uint32_t acknowledged = batch->last_sequence;
    add_bracket(batch, NFNL_MSG_BATCH_END);
    batch->answer_sequence = acknowledged;
    return netlink_talk(batch, err);
}

static void put_value(struct netlink_batch *batch, struct nlmsghdr *message, uint16_t type,
                      const void *bytes, size_t len)
{
    struct nlattr *nest = netlink_nest(batch, message, type);
    netlink_put(batch, message, NFTA_DATA_VALUE, bytes, len);
    netlink_nest_end(message, nest);
}

static void put_verdict(struct netlink_batch *batch, struct nlmsghdr *message, const char *chain)
{
    struct nlattr *data = netlink_nest(batch, message, NFTA_SET_ELEM_DATA);
    struct nlattr *verdict = netlink_nest(batch, message, NFTA_DATA_VERDICT);
    netlink_put_u32(batch, message, NFTA_VERDICT_CODE, htonl((uint32_t)NFT_GOTO));
    netlink_put_text(batch, message, NFTA_VERDICT_CHAIN, chain);
    netlink_nest_end(message, verdict);
    netlink_nest_end(message, data);
}

static void put_element(struct netlink_batch *batch, struct nlmsghdr *message,
                        const struct element *element)
{
    struct nlattr *entry = netlink_nest(batch, message, NFTA_LIST_ELEM);
    put_value(batch, message, NFTA_SET_ELEM_KEY, element->key, element->key_len);
    if (element->key_end)
        put_value(batch, message, NFTA_SET_ELEM_KEY_END, element->key_end, element->key_len);
    if (element->data)
        put_value(batch, message, NFTA_SET_ELEM_DATA, element->data, element->data_len);
    if (element->chain)
        put_verdict(batch, message, element->chain);
    if (element->timeout_ms > 0) {
        uint64_t timeout = htobe64(element->timeout_ms);
        netlink_put(batch, message, NFTA_SET_ELEM_TIMEOUT, &timeout, sizeof(timeout));
    }
    netlink_nest_end(message, entry);
}

/* A change of a set: of count elements, or with none its emptying. */
static void change(struct netlink_batch *batch, uint16_t type, uint32_t jailer, const char *set,
                   const struct element *elements, size_t count)
{
    char table[NET_TABLE_SIZE];
    uint16_t flags = NLM_F_ACK;
    net_plan_table(jailer, table);
    if (type == NFT_MSG_NEWSETELEM)
        flags |= NLM_F_CREATE;
    struct nlmsghdr *message = add_message(batch, type, flags);
    netlink_put_text(batch, message, NFTA_SET_ELEM_LIST_TABLE, table);
    netlink_put_text(batch, message, NFTA_SET_ELEM_LIST_SET, set);
    if (count == 0)
        return;
    struct nlattr *list = netlink_nest(batch, message, NFTA_SET_ELEM_LIST_ELEMENTS);
    for (size_t i = 0; i < count; i++)
        put_element(batch, message, &elements[i]);
    netlink_nest_end(message, list);
}

static void name_set(char ret_name[static NAME_SIZE], const char *kind, unsigned int family,
                     uint32_t slot)
{
    (void)snprintf(ret_name, NAME_SIZE, "%s%u_%u", kind, family, slot);
}

static void empty_set(struct netlink_batch *batch, uint32_t jailer, uint32_t slot, const char *kind)
{
    char name[NAME_SIZE];
    for (unsigned int family = 4; family <= 6; family += 2) {
        name_set(name, kind, family, slot);
        change(batch, NFT_MSG_DELSETELEM, jailer, name, NULL, 0);
    }
}

/* Address, then port, as the sets of a slot have it; the length. */
static size_t make_key(uint8_t ret_key[static KEY_SIZE], unsigned int family,
                       const uint8_t *address, uint16_t port)
{
    size_t len = family == 4 ? 4 : 16;
    uint16_t wire = htons(port);
    memset(ret_key, 0, KEY_SIZE);
    memcpy(ret_key, address, len);
    memcpy(ret_key + len, &wire, sizeof(wire));
    return len + 4;
}

static void put_rules(struct netlink_batch *batch, uint32_t jailer, uint32_t slot,
                      const struct proto_egress *egress)
{
    struct slot_rule rules[SLOT_MAX_RULES];
    uint8_t firsts[SLOT_MAX_RULES][KEY_SIZE], lasts[SLOT_MAX_RULES][KEY_SIZE];
    struct element elements[SLOT_MAX_RULES];
    size_t count = slot_rules_list(egress, rules);
    for (unsigned int family = 4; family <= 6; family += 2) {
        size_t used = 0;
        for (size_t i = 0; i < count; i++) {
            if (rules[i].family != family)
                continue;
            size_t len = make_key(firsts[used], family, rules[i].first, rules[i].port);
            (void)make_key(lasts[used], family, rules[i].last, rules[i].port);
            elements[used] =
                (struct element){.key = firsts[used], .key_end = lasts[used], .key_len = len};
            used++;
        }
        char name[NAME_SIZE];
        name_set(name, "allow", family, slot);
        if (used > 0)
            change(batch, NFT_MSG_NEWSETELEM, jailer, name, elements, used);
    }
}

int nft_elements_take(struct netlink *netlink, uint32_t jailer, uint32_t slot,
                      const struct proto_egress *egress, struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    char ifname[NET_IFNAME_SIZE], chain[NAME_SIZE] = "public";
    int r = begin(&batch, netlink, err);
    if (r < 0)
        return r;
    /* What the last packets of an earlier sandbox may have left behind its release. */
    empty_set(&batch, jailer, slot, "denied");
    if (egress->has_rules) {
        (void)snprintf(chain, sizeof(chain), "rules_%u", slot);
        put_rules(&batch, jailer, slot, egress);
    }
    net_plan_ifname(jailer, slot, ifname);
    const struct element policy = {.key = ifname, .key_len = sizeof(ifname), .chain = chain};
    change(&batch, NFT_MSG_NEWSETELEM, jailer, "policies", &policy, 1);
    r = commit(&batch, err);
    return r < 0 ? error_wrap(err, "set the rules of network slot %u", slot) : 0;
}

int nft_elements_release(struct netlink *netlink, uint32_t jailer, uint32_t slot, struct error *err)
{
    static const char *const counts[] = {"flows", "lookups"};
    cleanup_netlink_batch struct netlink_batch batch = {0};
    char ifname[NET_IFNAME_SIZE];
    int r = begin(&batch, netlink, err);
    if (r < 0)
        return r;
    net_plan_ifname(jailer, slot, ifname);
    const struct element policy = {.key = ifname, .key_len = sizeof(ifname)};
    change(&batch, NFT_MSG_DELSETELEM, jailer, "policies", &policy, 1);
    empty_set(&batch, jailer, slot, "allow");
    empty_set(&batch, jailer, slot, "names");
    empty_set(&batch, jailer, slot, "denied");
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
        /* It is there only if something was ever counted, and a transaction that fails waits for a
         * grace period: so it is made to be there first. */
        change(&batch, NFT_MSG_NEWSETELEM, jailer, counts[i], &policy, 1);
        change(&batch, NFT_MSG_DELSETELEM, jailer, counts[i], &policy, 1);
    }
    r = commit(&batch, err);
    return r < 0 ? error_wrap(err, "remove the rules of network slot %u", slot) : 0;
}

int nft_elements_allow(struct netlink *netlink, uint32_t jailer, uint32_t slot,
                       const struct ip_address *address, uint8_t ports, uint64_t timeout_ms,
                       struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    static const uint8_t bits[] = {PROTO_PORT_HTTP, PROTO_PORT_HTTPS};
    uint8_t keys[ARRAY_SIZE(bits)][KEY_SIZE];
    struct element elements[ARRAY_SIZE(bits)];
    unsigned int family = address->family;
    char name[NAME_SIZE];
    size_t count = 0;
    int r = begin(&batch, netlink, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
        if (!(ports & bits[i]))
            continue;
        size_t len = make_key(keys[count], family, address->bytes, slot_rules_port(bits[i]));
        elements[count] =
            (struct element){.key = keys[count], .key_len = len, .timeout_ms = timeout_ms};
        count++;
    }
    if (count == 0)
        return error_set(err, EINVAL, "allow an address without a port");
    name_set(name, "names", family, slot);
    /* An element that is there keeps its time, and one that isn't can't be deleted: so all three,
     * of which packets only ever see the outcome. */
    change(&batch, NFT_MSG_NEWSETELEM, jailer, name, elements, count);
    change(&batch, NFT_MSG_DELSETELEM, jailer, name, elements, count);
    change(&batch, NFT_MSG_NEWSETELEM, jailer, name, elements, count);
    r = commit(&batch, err);
    return r < 0 ? error_wrap(err, "allow an address in network slot %u", slot) : 0;
}

int nft_elements_set_resolver(struct netlink *netlink, uint32_t jailer, uint16_t port,
                              struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    const uint16_t dns = htons(53), wire = htons(port);
    int r = begin(&batch, netlink, err);
    if (r < 0)
        return r;
    change(&batch, NFT_MSG_DELSETELEM, jailer, "resolver", NULL, 0);
    const struct element to = {
        .key = &dns, .key_len = sizeof(dns), .data = &wire, .data_len = sizeof(wire)};
    if (port != 0)
        change(&batch, NFT_MSG_NEWSETELEM, jailer, "resolver", &to, 1);
    r = commit(&batch, err);
    return r < 0 ? error_wrap(err, "set the resolver's port") : 0;
}

int nft_elements_lock(struct netlink *netlink, uint32_t jailer, struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    char table[NET_TABLE_SIZE];
    int r = begin(&batch, netlink, err);
    if (r < 0)
        return r;
    net_plan_lock_table(jailer, table);
    struct nlmsghdr *message =
        add_message(&batch, NFT_MSG_NEWTABLE, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);
    netlink_put_text(&batch, message, NFTA_TABLE_NAME, table);
    netlink_put_u32(&batch, message, NFTA_TABLE_FLAGS, htonl(NFT_TABLE_F_OWNER));
    return commit(&batch, err);
}

int nft_elements_delete_chain(struct netlink *netlink, uint32_t jailer, const char *chain,
                              struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    char table[NET_TABLE_SIZE];
    int r = begin(&batch, netlink, err);
    if (r < 0)
        return r;
    net_plan_table(jailer, table);
    struct nlmsghdr *rules = add_message(&batch, NFT_MSG_DELRULE, NLM_F_ACK);
    netlink_put_text(&batch, rules, NFTA_RULE_TABLE, table);
    netlink_put_text(&batch, rules, NFTA_RULE_CHAIN, chain);
    struct nlmsghdr *message = add_message(&batch, NFT_MSG_DELCHAIN, NLM_F_ACK);
    netlink_put_text(&batch, message, NFTA_CHAIN_TABLE, table);
    netlink_put_text(&batch, message, NFTA_CHAIN_NAME, chain);
    r = commit(&batch, err);
    return r < 0 ? error_wrap(err, "remove the chain %s", chain) : 0;
}

int nft_elements_delete_table(struct netlink *netlink, uint32_t jailer, struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    char table[NET_TABLE_SIZE];
    int r = begin(&batch, netlink, err);
    if (r < 0)
        return r;
    net_plan_table(jailer, table);
    struct nlmsghdr *message = add_message(&batch, NFT_MSG_DELTABLE, NLM_F_ACK);
    netlink_put_text(&batch, message, NFTA_TABLE_NAME, table);
    r = commit(&batch, err);
    return r == -ENOENT ? 0 : r;
}
