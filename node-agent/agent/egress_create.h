/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/egress.h"
#include "node-agent/proto/proto.h"

/* The compiled rules of a run as PROTO_CREATE has them; rules may be NULL: none were given. */
void egress_create(const struct egress_rules *rules, struct proto_egress *ret_egress);
