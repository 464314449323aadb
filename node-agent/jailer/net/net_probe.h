/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/buf.h"
#include "common/error.h"
#include "node-agent/jailer/net/net_plan.h"
#include "node-agent/jailer/net/netlink.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether what sandboxes send gets as far as this node's way out. A forward chain of somebody
 * else's that drops what it doesn't know, as Docker has it, would make every connection hang, and
 * which of all rules would is only told by a packet: so the last slot sends one to a public
 * address for each family, and a chain of the jailer's table notes and drops it behind all forward
 * chains. None ever leaves the node.
 */
struct net_probe_result {
    bool silent4; /* it neither came through nor was answered */
    bool silent6; /* false without ipv6 */
};

/* Appends the chain, for the same transaction as nft_text_print(). -ENOMEM or -EMSGSIZE. */
int net_probe_print(const struct net_plan *plan, struct buf *text);

/* Sends, waits and removes the chain; needs CAP_SYS_ADMIN, and no slot yet. proc_fd is a procfs of
 * the caller's. On failure the chain may be there still. */
int net_probe_run(struct netlink *filter, struct netlink *route, const struct net_plan *plan,
                  int proc_fd, bool ipv6, struct net_probe_result *ret_result, struct error *err);
