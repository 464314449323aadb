/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Every bound of the controller; what happens at each is said where it is used. */
#define MAX_ASSIGNS_IN_FLIGHT 64u /* assignments have room of their own: */
#define MAX_WRITES_IN_FLIGHT  32u /* a thousand deletions don't hold them up */
#define MAX_PLAN_ACTIONS      (MAX_ASSIGNS_IN_FLIGHT + MAX_WRITES_IN_FLIGHT)
#define MAX_PLAN_SCANS        256u /* looks at all nodes in one plan; the rest is for the next */
#define MAX_ACTION_MESSAGE    512
#define MAX_RUN_KEY           512   /* "namespace/name", each at most MAX_RUN_NAME bytes */
#define MAX_PLACEMENT_KEY     16384 /* of a lane; larger than what the API takes */
#define MAX_QUEUE_STEPS       64 /* to a run's place in line from either end; then it is sorted */
#define MAX_RUN_MEMORY        (1ull << 44) /* of an assigned run; beyond it is counted as so much */
#define MAX_NODE_LABELS       256 /* of one core Node; a node with more takes no new work */
#define MAX_LEASE_ASKS        16  /* reads of Leases under way; the others' runs wait a little */
#define MAX_TIMER_MS          60000
#define MAX_OPTION_RUNS       1000000 /* of the flags that bound a number of runs */

#define WAITING_AFTER_US  2000000  /* a run that waits longer is told why */
#define WAITING_AGAIN_US  5000000  /* and so often it is looked whether the reason is another */
#define WAITING_COUNT_US  1000000  /* counts that are told may be so old */
#define BACKOFF_FIRST_MS  500      /* after a write that failed, doubled each time */
#define BACKOFF_LAST_MS   30000    /* up to this */
#define WRITE_RETRY_MS    5000     /* by the client, before the planner hears of it */
#define ORPHAN_MIN_US     40000000 /* how long a lost agent's runs may still be reported: */
#define ORPHAN_GRACE_US   20000000 /* the longer of both, this one added to the timeout */
#define LEASE_ASK_US      1000000  /* after a read of a Lease that told nothing, it is read again */
#define LEASE_LOOK_MS     5000     /* so long such a read may take */
#define TICKS_PER_RENEWAL 5        /* the lease clock is advanced so often in a renewal interval */
#define MAX_LEASE_STEPS   2        /* intervals; who did nothing for longer was stopped */
#define MAX_LEASE_PATH    1024     /* of Leases, or of one */
#define MIN_STEADY_US     100000   /* looks at a clock that may stand still are so far apart */

#define LEADER_QUICK_RETRIES 3    /* after a conflict about the leader's Lease, without a pause */
#define LEADER_LEAVE_MS      3000 /* for giving it back at the end */
#define MAX_LEADER_BODY      (2u << 10)
