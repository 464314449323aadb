/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxrun.h"
#include "common/error.h"
#include "node-agent/proto/proto.h"

#include <stdbool.h>

/* What this machine's jailer offers, and what of it is in use. */
struct offer_use {
    uint32_t runs;
    uint64_t memory_bytes;
};

/* -EINVAL names the field that asks for what this machine can't give at all. */
int offer_check(const struct proto_hello *hello, const struct run_spec *spec, struct error *err);

/* Whether spec finds room beside what is in use. CPU may be shared out more than once: whoever
 * asks for many at a time gets slower runs, and no run more than its limit. */
bool offer_has_room(const struct proto_hello *hello, const struct offer_use *use,
                    const struct run_spec *spec);

void offer_take(struct offer_use *use, const struct run_spec *spec);
void offer_give_back(struct offer_use *use, const struct run_spec *spec);
