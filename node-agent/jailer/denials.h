/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/jailer/limits.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>

/* The refused system calls of a run: which, how often, and whether that is all of them. */
struct denials {
    struct proto_denied entries[PROTO_MAX_DENIED];
    uint32_t count;
    uint32_t notices; /* counted calls of any number */
    bool more;        /* there were, or may have been, others than those counted here */
};

/* Counts one. False once MAX_NOTICES are counted and no further one is to come: from then on the
 * figures are lower bounds. Pure. */
bool denials_add(struct denials *denials, int32_t number);
