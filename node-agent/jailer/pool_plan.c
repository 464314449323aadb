/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/pool_plan.h"

#include "common/backoff.h"
#include "node-agent/jailer/limits.h"

void pool_plan_miss(struct pool_size *size)
{
    size->lowest = 0;
    if (size->target < size->max)
        size->target++;
}

void pool_plan_taken(struct pool_size *size, uint32_t left)
{
    if (left < size->lowest)
        size->lowest = left;
}

void pool_plan_period(struct pool_size *size, uint32_t waiting)
{
    uint32_t unused = size->lowest < size->target ? size->lowest : size->target;
    size->target = size->target - unused > size->min ? size->target - unused : size->min;
    size->lowest = waiting;
}

int32_t pool_plan_refill(const struct pool_size *size, uint32_t waiting, uint32_t making)
{
    if (waiting > size->target)
        return -(int32_t)(waiting - size->target);
    uint32_t missing = size->target - waiting;
    uint32_t wanted = missing < MAX_POOL_MAKING ? missing : MAX_POOL_MAKING;
    return wanted > making ? (int32_t)(wanted - making) : 0;
}

uint32_t pool_plan_backoff_ms(uint32_t failures)
{
    return (uint32_t)backoff_ms(failures, POOL_RETRY_MS, MAX_POOL_RETRY_MS, 0);
}
