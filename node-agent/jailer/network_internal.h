/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What network*.c share. */
#include "node-agent/jailer/network.h"

static inline uint32_t network_slot_number(const struct network *network, const struct slot *slot)
{
    return (uint32_t)(slot - network->slots);
}

/* network.c: sends to the helper; false if that was not possible, and it is down then. */
bool network_say(struct network *network, const struct net_request *request);

/* network.c: starts what isn't started and may be. */
void network_wake(struct network *network);

/* network.c: false if there is no maker, or it does not listen. */
bool network_ask_maker(struct network *network, uint32_t slot);

/* network_slots.c: does what can be done: slots for those that wait, and ahead. */
void network_pump(struct network *network);

/* network_slots.c: what the helpers said. */
void network_on_answer(struct network *network, const struct net_answer *answer);
void network_on_made(struct network *network, const struct maker_answer *answer, int ns_fd);

/* network_slots.c: the helper is gone: whoever waits for it is told, with network->why. */
void network_fail_all(struct network *network);

/* network_slots.c: the maker is gone. */
void network_forget_making(struct network *network);

bool network_has_leases(const struct network *network);

/* network_resolver.c: handlers of the resolver's link, and what it is told. */
void network_on_resolver_allow(const struct resolver_allow *allow, void *arg);
void network_on_resolver_denied(const struct resolver_denied *denied, void *arg);
void network_on_allowed(struct network *network, const struct net_answer *answer);
void network_say_open(struct network *network, const struct network_lease *lease);
void network_say_close(struct network *network, const struct slot *slot);
