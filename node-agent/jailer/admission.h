/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "node-agent/jailer/jailer.h"
#include "node-agent/proto/proto.h"

/* Is this sandbox within the profile's ceilings, of a runtime that is here, and is there room for
 * it beside the live ones? Memory is never promised twice; CPU may be, the cgroups share it out.
 * -EINVAL or the like for what can never be, -ENOSPC for what could later. */
int admission_check(const struct jailer *jailer, const struct proto_create *create,
                    struct error *err);
