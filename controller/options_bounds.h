/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "controller/finished.h"
#include "controller/namespace_limits.h"

/* What operators bound, as read by options_parse(). */
#define DEFAULT_FINISHED_RUNS               10000
#define DEFAULT_FINISHED_RUNS_PER_NAMESPACE 1000
#define DEFAULT_FINISHED_BYTES              (UINT64_C(256) << 20)

extern struct namespace_limits arg_limits;
extern struct finished_limits arg_finished;

/* One of OPTIONS_BOUNDS, name without its dashes. 1; -EINVAL with one line in err. */
int options_set_bound(const char *name, const char *value, struct error *err);

/* Rows of struct option that share one value; and their help. */
#define OPTIONS_BOUNDS(option)                                                                     \
    {"max-runs-per-namespace", required_argument, NULL, option},                                   \
        {"max-memory-per-namespace", required_argument, NULL, option},                             \
        {"max-cpu-per-namespace", required_argument, NULL, option},                                \
        {"max-queued-per-namespace", required_argument, NULL, option},                             \
        {"max-finished-runs", required_argument, NULL, option},                                    \
        {"max-finished-runs-per-namespace", required_argument, NULL, option},                      \
        {"max-finished-bytes", required_argument, NULL, option},

#define OPTIONS_BOUNDS_HELP                                                                        \
    "  --max-runs-per-namespace N\n"                                                               \
    "  --max-memory-per-namespace QUANTITY\n"                                                      \
    "  --max-cpu-per-namespace QUANTITY\n"                                                         \
    "                          what the scheduled and running runs of one namespace may be and\n"  \
    "                          have together; further ones wait and hold up no other namespace;\n" \
    "                          default: 0, no limit\n"                                             \
    "  --max-queued-per-namespace N\n"                                                             \
    "                          how many runs of one namespace may wait; further ones fail at\n"    \
    "                          once, as QueueFull; default: 0, no limit\n"                         \
    "  --max-finished-runs N   how many finished runs are kept; the oldest are deleted before\n"   \
    "                          their TTL; default: 10000\n"                                        \
    "  --max-finished-runs-per-namespace N\n"                                                      \
    "                          the same of one namespace; default: 1000\n"                         \
    "  --max-finished-bytes QUANTITY\n"                                                            \
    "                          how large these may be together, as the API server writes them;\n"  \
    "                          default: 256Mi\n"
