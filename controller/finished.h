/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "controller/tenants.h"

/*
 * What finished runs keep in the API server: how many they are and how large, so that the oldest
 * can go before their TTL when they are too many. A run that is being deleted isn't counted, not
 * even while a finalizer holds it: nothing more can be done about it, and others should not go in
 * its stead.
 */
struct finished {
    struct wakeups oldest; /* by when they ended */
    uint64_t bytes;
};

struct finished_limits {
    unsigned int runs;
    unsigned int runs_per_namespace;
    uint64_t bytes; /* as the API server writes them */
};

/* Why a finished run is deleted. */
enum delete_cause {
    DELETE_TTL,
    DELETE_MAX_RUNS,
    DELETE_MAX_NAMESPACE_RUNS,
    DELETE_MAX_BYTES,
    DELETE_CAUSE_COUNT
};
/* For logs, and as labels of a metric: after the last comes NULL. */
extern const char *const delete_cause_names[DELETE_CAUSE_COUNT + 1];

/* Counts run, or takes it out again; neither does harm twice. -ENOMEM. */
int finished_put(struct finished *finished, struct run_digest *run);
void finished_remove(struct finished *finished, struct run_digest *run);
void finished_done(struct finished *finished);

/* The run that is to go, and the bound that is exceeded; NULL if all may stay. Pure. */
struct run_digest *finished_excess(const struct finished *finished,
                                   const struct finished_limits *limits,
                                   enum delete_cause *ret_cause);
/* The same within a namespace. */
struct run_digest *finished_excess_of(const struct tenant *tenant,
                                      const struct finished_limits *limits);
