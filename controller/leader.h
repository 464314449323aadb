/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"
#include "common/kube/client.h"
#include "common/metrics.h"
#include "controller/leader_plan.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Takes part in the election of the one controller that writes: by a Lease of
 * coordination.k8s.io/v1 with the fields and the rules of client-go, each write of which bears the
 * resourceVersion it was decided on.
 *
 * Leadership ends by the own clock, at the latest a renew deadline after the last accepted renewal
 * was sent. The clock is CLOCK_BOOTTIME, which goes on while the process is stopped or the machine
 * sleeps; others wait by CLOCK_MONOTONIC, and longer. So it is over here before another can lead.
 */
struct leader;

#define LEADER_LEASE_NAME "sandboxrun-controller"

/* Where it is counted. */
struct leader_metrics {
    struct metric *leading;     /* 1 or 0 */
    struct metric *transitions; /* by enum leader_transition */
    struct metric *failures;    /* attempts to read or write the Lease that failed */
};

enum leader_transition { LEADER_TRANSITION_STARTED, LEADER_TRANSITION_STOPPED };

struct leader_options {
    const char *name_space; /* of the Lease; outlives the leader */
    struct leader_times times;
    struct leader_metrics metrics;
    /* Leadership begins. */
    void (*started)(void *arg);
    /* It is over, and nothing may be written any more; what is under way is to be cancelled. Called
     * also from leader_leads() and leader_leave(). */
    void (*stopped)(void *arg);
    void *arg;
};

/* Does nothing before leader_join(). */
int leader_new(struct kube_client *client, const struct leader_options *options,
               struct leader **ret_leader, struct error *err);
/* Must go before its client does. NULL is fine. */
void leader_free(struct leader *leader);

/* Competes from now on. Again and again is fine, and NULL. */
void leader_join(struct leader *leader);

/* Whether this process may write now, found out from the clock. Without a leader (NULL) it always
 * may. */
bool leader_leads(struct leader *leader);

/* Until when a request may go out that is made now (CLOCK_BOOTTIME, for kube_request.not_after_ns);
 * 0: for ever. */
uint64_t leader_not_after_ns(const struct leader *leader);

/* Stops leading and gives the Lease back, so that another need not wait. left is called once, when
 * that is done or has taken too long, perhaps from inside this. NULL: at once. */
void leader_leave(struct leader *leader, void (*left)(void *arg), void *arg);
