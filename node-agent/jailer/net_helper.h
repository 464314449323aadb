/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/net/net_plan.h"

#include <stdbool.h>

/*
 * The helper "net": has the jailer's nftables table, its conntrack entries and its sysctls. It
 * answers requests of net_messages.h one after the other, each within a millisecond or so, and
 * does what may take longer behind its answers.
 *
 * When its socket ends, because the jailer ends or died, it waits until the last slot is gone, so
 * that no sandbox is ever without its rules, and then puts everything back.
 */
struct net_helper {
    int sock;
    const struct net_plan *plan;
    bool shared; /* the namespace is not the jailer's alone */
};

/* A pidfd, for helper_end_within(), or -errno. */
int net_helper_start(const struct net_helper *helper);
