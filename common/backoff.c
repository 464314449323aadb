/* SPDX-License-Identifier: Apache-2.0 */
#include "common/backoff.h"

uint64_t backoff_ms(unsigned int failures, uint64_t base_ms, uint64_t max_ms, uint32_t random)
{
    uint64_t delay_ms = base_ms;

    if (failures == 0)
        return 0;
    for (unsigned int i = 1; i < failures && delay_ms < max_ms; i++)
        delay_ms *= 2;
    if (delay_ms > max_ms)
        delay_ms = max_ms;
    return delay_ms - delay_ms / 2 * random / UINT32_MAX;
}
