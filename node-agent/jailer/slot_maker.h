/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/net/net_plan.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The helper "slots": makes network namespaces and the interfaces that join them to the jailer's
 * own, at a request each. It keeps none: a slot lives by whoever has its namespace open or is in
 * it, and the kernel takes the interfaces with the last of these.
 */
struct slot_maker {
    int sock;
    int proc_fd; /* /proc */
    const struct net_plan *plan;
    bool ipv6;
    uint32_t mtu;
};

/* A pidfd, for helper_end(), or -errno. */
int slot_maker_start(const struct slot_maker *maker);
