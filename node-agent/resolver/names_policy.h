/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/proto_egress.h"
#include "node-agent/resolver/dns_name.h"

#include <stdbool.h>
#include <stdint.h>

/* Which names a sandbox may look up. By its rules only the asked name is judged: an allowed name's
 * CNAMEs and addresses are its owner's business, within what no sandbox may reach. */
enum names_verdict {
    NAMES_ALLOWED,
    NAMES_NO_HOST,    /* not one that a host can have */
    NAMES_NOT_PUBLIC, /* a single label, or in a zone that is by definition local */
    NAMES_NOT_LISTED, /* the run's rules don't have it */
};

/* ret_ports: the union of the matching patterns' ports; 0 where the rules have no names, whose
 * addresses needn't be opened. Set with NAMES_ALLOWED. */
enum names_verdict names_policy_judge(const struct proto_egress *egress,
                                      const struct dns_name *name, uint32_t *ret_ports);

/* False for a single label and in a zone that is by definition local. Of the CNAMEs, too: whoever
 * owns a public name could ask by it for one of the node's own network. */
bool names_policy_is_public(const struct dns_name *name);
