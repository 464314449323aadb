/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What a controller does next about the Lease by which one of several is the leader. Pure, and as
 * client-go's leaderelection does it, so that both can compete for one Lease. No time that another
 * wrote is looked at, only whether the record changes, and how long ago by clocks of our own.
 */
struct leader_times {
    uint64_t lease_ms; /* so long a record must not have changed before another takes the Lease */
    uint64_t renew_ms; /* a leader that could not renew for so long leads no more */
    uint64_t retry_ms; /* between two attempts */
};

#define DEFAULT_LEADER_LEASE_MS 15000u
#define DEFAULT_LEADER_RENEW_MS 10000u
#define DEFAULT_LEADER_RETRY_MS 2000u
#define MIN_LEADER_RETRY_MS     100u
#define MAX_LEADER_LEASE_MS     600000u

/* -EINVAL unless an attempt fits into the deadline, the deadline into the duration, and all are in
 * bounds. err names the options. */
int leader_times_check(const struct leader_times *times, struct error *err);

enum leader_holder {
    LEADER_HOLDER_UNKNOWN, /* what is known may be old: it is to be read */
    LEADER_HOLDER_ABSENT,  /* there is no Lease */
    LEADER_HOLDER_NOBODY,
    LEADER_HOLDER_SELF,
    LEADER_HOLDER_OTHER,
};

struct leader_facts {
    enum leader_holder holder;
    uint32_t record_seconds; /* the duration in the record; 0: none of use */
    uint64_t unchanged_ms;   /* since the record was last seen to change (CLOCK_MONOTONIC) */
    bool leading;            /* as of the last step */
    uint64_t since_renew_ms; /* since the last accepted renewal was sent (CLOCK_BOOTTIME) */
    bool leaving;            /* the process ends */
};

enum leader_step {
    LEADER_STEP_WAIT, /* look again after a pause */
    LEADER_STEP_READ,
    LEADER_STEP_CREATE,
    LEADER_STEP_ACQUIRE, /* write this process as the new holder */
    LEADER_STEP_RENEW,   /* write that it still is */
    LEADER_STEP_RELEASE, /* write that nobody is */
    LEADER_STEP_LOSE,    /* stop leading, then decide again */
    LEADER_STEP_LEAVE,   /* nothing is left to be done */
};

enum leader_step leader_decide(const struct leader_facts *facts, const struct leader_times *times);

/* How long to wait for the next attempt: a leader the whole period, others less by up to a half
 * that random decides, so that not all of them come at once. */
uint64_t leader_pause_ms(bool leading, const struct leader_times *times, uint32_t random);

/* leaseDurationSeconds of what is written: in whole seconds, never less than the duration. */
uint32_t leader_lease_seconds(const struct leader_times *times);
