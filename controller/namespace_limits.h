/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/api/sandboxnode.h"
#include "controller/request.h"

/* What the runs of one namespace may use and queue; 0: no limit. */
struct namespace_limits {
    struct node_resources used; /* by those that are scheduled or running */
    unsigned int queued;
};

enum limit_verdict {
    LIMIT_NONE,
    LIMIT_RUNS,   /* as many as may be are scheduled or running */
    LIMIT_MEMORY, /* together they would have more memory */
    LIMIT_CPU,
    LIMIT_TOO_LARGE /* the run alone asks for more than all may have: it holds up nobody */
};

/* Whether a run that asks for request may join those that use used. Pure. */
enum limit_verdict limits_check(const struct namespace_limits *limits,
                                const struct node_resources *used,
                                const struct run_request *request);

/* The limit, the figure and the flag that sets it, for people. */
void limits_explain(const struct namespace_limits *limits, const struct node_resources *used,
                    const struct run_request *request, char *text, size_t size);
/* The same for a run behind so many that wait already. */
void limits_explain_queue(const struct namespace_limits *limits, unsigned int queued, char *text,
                          size_t size);
