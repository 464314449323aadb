/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/bench/node/contender.h"

/*
 * A flood of runs of which each keeps one process busy from its start to its end: so many
 * processes, each with one run after the other. What a run leaves behind by way of daemons is the
 * worker's, and counts among what it cost.
 */
typedef int (*worker_run_fn)(struct contender *contender, const char *code, unsigned int worker,
                             struct error *err);

int workers_flood(struct contender *contender, worker_run_fn run, const char *code,
                  unsigned int at_once, uint64_t window_ms, struct flood *ret_flood,
                  struct error *err);
