/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The decisions about output that is kept on the node, without any I/O. */

/* What len bytes of a file take on disk: whole blocks. */
uint64_t retained_plan_disk_bytes(uint64_t len);

/* How many of len further bytes of a run are kept when kept are there already and max may be. */
size_t retained_plan_take(uint64_t kept, uint64_t max, size_t len);

/* What is on disk, against what may be. */
struct retained_load {
    uint64_t bytes;
    uint64_t max_bytes;
    size_t runs;
    size_t max_runs;
};

/* Whether the oldest ended run must be dropped before need bytes (or a further run) are added. */
bool retained_plan_is_full(const struct retained_load *load, uint64_t need, bool further_run);

/* Milliseconds until what ended at ended_us expires; 0: it has. A clock that was set back
 * keeps it longer. */
uint64_t retained_plan_wait_ms(int64_t ended_us, int64_t now_us, uint64_t keep_ms);
