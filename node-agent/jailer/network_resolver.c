/* SPDX-License-Identifier: Apache-2.0 */

/* What the resolver is told of slots, and what it asks for. */
#include "common/net/forbidden.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/network_internal.h"

#include <errno.h>
#include <string.h>

static void fill_hello(const struct network *network, struct resolver_hello *ret_hello)
{
    const struct net_plan *plan = &network->plan;
    *ret_hello = (struct resolver_hello){.version = RESOLVER_PROTO_VERSION,
                                         .slot_count = plan->slot_count,
                                         .forbidden_count = plan->forbidden_count};
    memcpy(ret_hello->range4, plan->part4.address.bytes, sizeof(ret_hello->range4));
    memcpy(ret_hello->range6, plan->part6.address.bytes, sizeof(ret_hello->range6));
    for (uint32_t i = 0; i < plan->forbidden_count; i++) {
        const struct ip_prefix *from = &plan->forbidden[i];
        struct resolver_prefix *to = &ret_hello->forbidden[i];
        to->family = from->address.family;
        to->length = from->length;
        memcpy(to->bytes, from->address.bytes, sizeof(to->bytes));
    }
}

int network_listen_resolver(struct network *network, const char *path, uid_t peer_uid,
                            struct error *err)
{
    struct resolver_hello hello;
    fill_hello(network, &hello);
    return resolver_link_listen(&network->resolver, path, peer_uid, &hello, err);
}

int network_adopt_resolver(struct network *network, int sock, struct error *err)
{
    struct resolver_hello hello;
    fill_hello(network, &hello);
    return resolver_link_adopt(&network->resolver, sock, &hello, err);
}

void network_say_open(struct network *network, const struct network_lease *lease)
{
    struct resolver_message message = {.type = RESOLVER_OPEN};
    message.open.slot = network_slot_number(network, lease->slot);
    message.open.generation = lease->slot->generation;
    message.open.egress = lease->egress;
    memcpy(message.open.id, lease->id, sizeof(message.open.id));
    resolver_link_say(&network->resolver, &message);
}

void network_say_close(struct network *network, const struct slot *slot)
{
    const struct resolver_message message = {
        .type = RESOLVER_CLOSE,
        .close = {.slot = network_slot_number(network, slot), .generation = slot->generation}};
    resolver_link_say(&network->resolver, &message);
}

static void say_opened(struct network *network, uint64_t sequence, int errnum)
{
    const struct resolver_message message = {
        .type = RESOLVER_OPENED,
        .opened = {.sequence = sequence, .errnum = (uint32_t)(errnum > 0 ? errnum : 0)}};
    resolver_link_say(&network->resolver, &message);
}

/* The lease of a slot, if it is still that sandbox's. */
static struct network_lease *find_lease(struct network *network, uint32_t number,
                                        uint64_t generation)
{
    if (number >= network->plan.slot_count)
        return NULL;
    const struct slot *slot = &network->slots[number];
    bool live = slot->state == SLOT_TAKING || slot->state == SLOT_HELD;
    return live && slot->generation == generation ? slot->lease : NULL;
}

static bool is_forbidden(const struct net_plan *plan, const struct ip_address *address)
{
    return forbidden_with(address, plan->forbidden, plan->forbidden_count) ||
           ip_prefix_contains(&plan->range4, address) || ip_prefix_contains(&plan->range6, address);
}

static uint64_t clamp_ms(uint32_t ttl_seconds)
{
    uint64_t seconds = ttl_seconds;
    if (seconds < MIN_ALLOW_SECONDS)
        seconds = MIN_ALLOW_SECONDS;
    if (seconds > MAX_ALLOW_SECONDS)
        seconds = MAX_ALLOW_SECONDS;
    return (seconds + ALLOW_GRACE_SECONDS) * 1000;
}

/* 0, or the errno that the resolver is told. */
static int check_allow(const struct network *network, const struct network_lease *lease,
                       const struct ip_address *address, uint32_t ports)
{
    if (!lease)
        return ESTALE;
    if (!lease->egress.has_rules || lease->egress.name_count == 0)
        return EPERM;
    if (ports == 0 || (ports & ~(PROTO_PORT_HTTP | PROTO_PORT_HTTPS)) != 0)
        return EINVAL;
    if (is_forbidden(&network->plan, address))
        return EACCES;
    if (network->allows >= MAX_ALLOWS)
        return ENOSPC;
    return network->state == NETWORK_UP ? 0 : ENETDOWN;
}

void network_on_resolver_allow(const struct resolver_allow *allow, void *arg)
{
    struct network *network = arg;
    struct ip_address address = {.family = allow->family == 4 ? IP_FAMILY_4 : IP_FAMILY_6};
    memcpy(address.bytes, allow->address, ip_family_bytes(address.family));
    const struct network_lease *lease = find_lease(network, allow->slot, allow->generation);
    int failure = check_allow(network, lease, &address, allow->ports);
    if (failure != 0) {
        say_opened(network, allow->sequence, failure);
        return;
    }
    const struct net_request request = {.kind = NET_ALLOW,
                                        .slot = allow->slot,
                                        .allow = {.sequence = allow->sequence,
                                                  .timeout_ms = clamp_ms(allow->ttl_seconds),
                                                  .address = address,
                                                  .ports = allow->ports}};
    if (network_say(network, &request))
        network->allows++;
    else
        say_opened(network, allow->sequence, ENETDOWN);
}

void network_on_allowed(struct network *network, const struct net_answer *answer)
{
    if (network->allows > 0)
        network->allows--;
    /* The set of the slot is full. */
    say_opened(network, answer->sequence,
               answer->error.code == ENFILE ? ENOSPC : answer->error.code);
}

void network_on_resolver_denied(const struct resolver_denied *denied, void *arg)
{
    struct network *network = arg;
    struct network_lease *lease = find_lease(network, denied->slot, denied->generation);
    if (!lease)
        return;
    for (uint32_t i = 0; i < lease->name_count; i++) {
        struct proto_denied_name *name = &lease->names[i];
        if (strncmp(name->name, denied->name, sizeof(name->name)) == 0) {
            name->count += name->count < UINT32_MAX;
            return;
        }
    }
    if (lease->name_count == PROTO_MAX_DENIED_NAMES) {
        lease->more_names = true;
        return;
    }
    struct proto_denied_name *name = &lease->names[lease->name_count++];
    name->count = 1;
    memcpy(name->name, denied->name, sizeof(name->name));
}
