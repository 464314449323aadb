/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/retained_plan.h"

#define DISK_BLOCK 4096u
#define US_PER_MS  1000

uint64_t retained_plan_disk_bytes(uint64_t len)
{
    return (len + DISK_BLOCK - 1) / DISK_BLOCK * DISK_BLOCK;
}

size_t retained_plan_take(uint64_t kept, uint64_t max, size_t len)
{
    if (kept >= max)
        return 0;
    return len < max - kept ? len : (size_t)(max - kept);
}

bool retained_plan_is_full(const struct retained_load *load, uint64_t need, bool further_run)
{
    if (further_run && load->runs >= load->max_runs)
        return true;
    return load->bytes > load->max_bytes || need > load->max_bytes - load->bytes;
}

uint64_t retained_plan_wait_ms(int64_t ended_us, int64_t now_us, uint64_t keep_ms)
{
    uint64_t passed_ms = now_us > ended_us ? (uint64_t)(now_us - ended_us) / US_PER_MS : 0;

    return passed_ms < keep_ms ? keep_ms - passed_ms : 0;
}
