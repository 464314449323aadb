/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/agent_pools.h"

#include "node-agent/agent/jailer_client.h"

void agent_pools_sum(const struct jailer_client *jailer, struct agent_pools *ret_pools)
{
    size_t count = 0;
    const struct proto_pool *pools = jailer ? jailer_client_pools(jailer, &count) : NULL;

    *ret_pools = (struct agent_pools){0};
    for (size_t i = 0; i < count; i++) {
        ret_pools->waiting += pools[i].waiting;
        ret_pools->size += pools[i].size;
        ret_pools->hits += pools[i].hits;
        ret_pools->misses += pools[i].misses;
        ret_pools->made += pools[i].made;
        ret_pools->forked += pools[i].forked;
        ret_pools->made_us += pools[i].made_us;
    }
}
