/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "node-agent/proto/proto_messages.h"

/* Every bound of the jailer, each with its answer when it is hit. */

/* Live sandboxes of one jailer, those in the making and in the sweeping included; beyond it
 * PROTO_CREATE is refused with ENOSPC. */
#define MAX_SANDBOXES     512u
#define DEFAULT_SANDBOXES 64u

/* Descriptors that one sandbox takes at its peak, and those that the jailer itself needs: the
 * limit on open files bounds the number of sandboxes too. */
#define MAX_SANDBOX_FDS 22u
#define RESERVED_FDS    384u

/* Jailers that share a cgroup parent on one machine. Each has its part of the uid range; those
 * below their own cgroup, as in a Pod, can't see those at the root of the hierarchy, and draw from
 * another half. */
#define MAX_JAILERS   64u
#define MAX_UID_PARTS (2u * MAX_JAILERS)

/* Messages taken from the agent in one turn of the loop; the rest waits for the next. */
#define MAX_MESSAGES_PER_TURN 32u

/* Messages that wait for room in the agent's socket; beyond it the connection ends. Each live
 * sandbox can have two on the way. */
#define MAX_OUTGOING (2u * MAX_SANDBOXES + 64u)

/* Events taken from the kernel in one turn. */
#define MAX_EVENTS_PER_TURN 64

/* Timers: one for each sandbox, one for the shutdown, one for the network, three for each pool, two
 * for all of these. */
#define MAX_DEADLINES (MAX_SANDBOXES + 4u + 3u * PROTO_MAX_RUNTIMES)

/* A cgroup that is not empty yet is tried again after 1 ms, 2 ms, ... up to this, until it is
 * gone; only then the run is reported. Once it took longer than the second, that is logged. */
#define MAX_SWEEP_RETRY_MS 1000u
#define SWEEP_WARN_MS      5000u

/* How long a jailer that was told to stop waits for its sandboxes to go; and a starting one for
 * the processes that an earlier jailer left. */
#define SHUTDOWN_WITHIN_MS     10000u
#define MAX_SWEEP_AT_START_MS  5000u
#define MAX_SWEPT_PIDS_A_ROUND 256u

/* How often a jailer that stands by for another one tries the lock. */
#define STANDBY_AGAIN_MS 50u

/* Sandboxes made ahead, for each runtime: how many are in the making at a time, and the memory that
 * one may use until a run takes it. */
#define MAX_POOL_MAKING   2u
#define POOL_MEMORY_BYTES (64ull << 20)

/* Of the memory for sandboxes all pools together take one part in so many. */
#define MAX_POOL_SHARE 4u

/* The place of one that was taken is filled so long after that, or sooner: so long after a run has
 * ended. Making one keeps the loop busy for half a millisecond, in which no run that is short
 * should have to start or to end. A pool is made smaller once a period, and one that has waited so
 * long is replaced. */
#define POOL_REFILL_WITHIN_MS 5u
#define POOL_REFILL_BEHIND_MS 1u
#define POOL_PERIOD_MS        60000u
#define POOL_AGE_MS           600000u

/* After one that could not be made; doubled for each further one in a row, up to the second. */
#define POOL_RETRY_MS     1000u
#define MAX_POOL_RETRY_MS 60000u

/* Of zygotes: as many sandboxes are forked from one unless told otherwise, and for so long, before
 * it is replaced. The modules that it imports by default, and the length of their names. How long
 * one has to start, and to fork; and how soon what is left of one is looked at again. */
#define DEFAULT_ZYGOTE_FORKS    10000u
#define DEFAULT_ZYGOTE_MODULES  ""
#define MAX_ZYGOTE_MODULES      4096u
#define ZYGOTE_AGE_MS           3600000u
#define ZYGOTE_START_WITHIN_MS  20000u
#define ZYGOTE_ANSWER_WITHIN_MS 3000u
#define ZYGOTE_AGAIN_MS         20u
#define ZYGOTE_STRAYS_AGAIN_MS  1000u
#define ZYGOTE_CGROUP_TRIES     1000

/* What a zygote may use: memory, and for each child what the kernel keeps of that; processes. */
#define ZYGOTE_MEMORY_BYTES       (64ull << 20)
#define ZYGOTE_CHILD_MEMORY_BYTES (256ull << 10)
#define MAX_ZYGOTE_PIDS           32u

/* How soon the agent is told that a pool has changed. */
#define POOL_TELL_MS 100u

/* Network namespaces made ahead; a burst of more sandboxes makes its own. */
#define MAX_READY_NETNS 4u

/* Network slots: those that exist, and those made ahead where nothing else is said. At the start of
 * a single run none is made ahead, and the table has room for fewer. */
#define DEFAULT_SLOTS       16u
#define DEFAULT_LOCAL_SLOTS 16u

/* How long a run waits for a slot before it is refused, and its result for the list of what it was
 * refused before it is told without. */
#define SLOT_WITHIN_MS   5000u
#define DENIED_WITHIN_MS 500u

/* The network's helper: how long a starting jailer waits for it; it for an earlier one's end, and
 * for the last slot's; and an ending jailer for it. A new one is tried so often. */
#define NET_START_WITHIN_MS      20000
#define NET_LOCK_WITHIN_MS       4000u
#define NET_SLOTS_GONE_WITHIN_MS 5000u
#define NET_STOP_WITHIN_MS       8000
#define NET_AGAIN_MS             10000u

/* A slot with as many addresses of names as it can have is given no further one for so long. */
#define NET_FULL_FOR_MS 5000u

/* A slot whose last interface isn't gone yet is tried again so often. */
#define SLOT_AGAIN_MS 20u

/* Addresses of names that are on their way into the table at a time, for all slots; a further one
 * is refused with ENOSPC. And the bounds of their time, with what is added to it. */
#define MAX_ALLOWS          256u
#define MIN_ALLOW_SECONDS   5u
#define MAX_ALLOW_SECONDS   3600u
#define ALLOW_GRACE_SECONDS 5u

/* Refused system calls of one run that are counted; beyond it the listener is closed and the kernel
 * refuses by itself, uncounted. */
#define MAX_NOTICES 256u

/* A trial of the checks that takes longer counts as failed; checks that nobody reads are given up.
 * A jailer without what it requires looks again so often. */
#define TRIAL_WITHIN_MS       5000
#define CHECKS_SEND_WITHIN_MS 5000
#define CHECK_AGAIN_MS        10000u

/* Files of /proc that are read at start. */
#define MAX_PROC_FILE (1u << 20)

/* What the kernel keeps for the TCP connections of a sandbox where that is no part of its memory,
 * in the first version of cgroups; beyond it windows shrink, and senders wait. */
#define MAX_TCP_BYTES (64ull << 20)

/* Smallest limits a sandbox can live with, the same as the API's. */
#define MIN_SANDBOX_MEMORY_BYTES (32ull << 20)
#define MIN_SANDBOX_CPU_MILLI    10u

/* What the node keeps for itself where the capacity is not given. */
#define RESERVED_MEMORY_BYTES (256ull << 20)
