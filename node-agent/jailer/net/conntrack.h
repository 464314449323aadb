/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/net/netlink.h"

#include <stdint.h>

/* Forgets the tracked connections of this namespace whose mark has this value under the mask. */
int conntrack_flush(struct netlink *netlink, uint32_t mark, uint32_t mask, struct error *err);
