/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/admission.h"

#include "node-agent/jailer/ceilings.h"

#include <errno.h>
#include <inttypes.h>

int admission_check(const struct jailer *jailer, const struct proto_create *create,
                    struct error *err)
{
    int r = ceilings_check_create(create, err);
    if (r < 0)
        return r;
    if (!runtimes_find(&jailer->runtimes, create->runtime))
        return error_set(err, EINVAL, "there is no runtime %s on this node", create->runtime);
    if (create->memory_bytes > jailer->memory_capacity_bytes)
        return error_set(err, EINVAL,
                         "memory in bytes of %" PRIu64 " is more than this node's %" PRIu64
                         " for sandboxes",
                         create->memory_bytes, jailer->memory_capacity_bytes);
    if (create->cpu_milli > jailer->cpu_capacity_milli)
        return error_set(err, EINVAL,
                         "CPU in thousandths of %" PRIu32 " is more than this node's %" PRIu64
                         " for sandboxes",
                         create->cpu_milli, jailer->cpu_capacity_milli);
    if (jailer->sandbox_count - jailer->pools.sandboxes >= jailer->max_runs)
        return error_set(err, ENOSPC, "all of the %" PRIu32 " places for sandboxes are taken",
                         jailer->max_runs);
    if (create->memory_bytes > jailer->memory_capacity_bytes - jailer->memory_in_use_bytes)
        return error_set(err, ENOSPC,
                         "memory for sandboxes is taken: %" PRIu64 " of %" PRIu64
                         " bytes are in use, %" PRIu64 " were asked for",
                         jailer->memory_in_use_bytes, jailer->memory_capacity_bytes,
                         create->memory_bytes);
    return 0;
}
