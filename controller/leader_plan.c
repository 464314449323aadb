/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/leader_plan.h"

#include <errno.h>

int leader_times_check(const struct leader_times *times, struct error *err)
{
    if (times->retry_ms < MIN_LEADER_RETRY_MS)
        return error_set(err, EINVAL, "--leader-elect-retry-period: is shorter than %u ms",
                         MIN_LEADER_RETRY_MS);
    if (times->lease_ms > MAX_LEADER_LEASE_MS)
        return error_set(err, EINVAL, "--leader-elect-lease-duration: is longer than %u s",
                         MAX_LEADER_LEASE_MS / 1000);
    if (times->renew_ms >= times->lease_ms)
        return error_set(err, EINVAL,
                         "--leader-elect-renew-deadline: is not shorter than "
                         "--leader-elect-lease-duration, so that there would be two leaders");
    if (times->renew_ms / 2 < times->retry_ms)
        return error_set(err, EINVAL,
                         "--leader-elect-renew-deadline: is shorter than two times "
                         "--leader-elect-retry-period, so that one lost renewal would end it");
    return 0;
}

/* A record's own duration counts where it is longer than ours, as its holder may have been started
 * with another one; no controller can be given one beyond the maximum. */
static uint64_t expiry_ms(const struct leader_facts *facts, const struct leader_times *times)
{
    uint64_t record_ms = facts->record_seconds * UINT64_C(1000);

    return record_ms > times->lease_ms && record_ms <= MAX_LEADER_LEASE_MS ? record_ms
                                                                           : times->lease_ms;
}

static enum leader_step decide_to_leave(const struct leader_facts *facts)
{
    switch (facts->holder) {
    case LEADER_HOLDER_UNKNOWN:
        return facts->leading ? LEADER_STEP_READ : LEADER_STEP_LEAVE;
    case LEADER_HOLDER_SELF:
        return LEADER_STEP_RELEASE;
    case LEADER_HOLDER_ABSENT:
    case LEADER_HOLDER_NOBODY:
    case LEADER_HOLDER_OTHER:
    default:
        return LEADER_STEP_LEAVE;
    }
}

enum leader_step leader_decide(const struct leader_facts *facts, const struct leader_times *times)
{
    if (facts->leading &&
        (facts->since_renew_ms >= times->renew_ms || facts->holder == LEADER_HOLDER_OTHER))
        return LEADER_STEP_LOSE;
    if (facts->leaving)
        return decide_to_leave(facts);
    switch (facts->holder) {
    case LEADER_HOLDER_ABSENT:
        return LEADER_STEP_CREATE;
    case LEADER_HOLDER_NOBODY:
        return LEADER_STEP_ACQUIRE;
    case LEADER_HOLDER_SELF:
        return LEADER_STEP_RENEW;
    case LEADER_HOLDER_OTHER:
        return facts->unchanged_ms >= expiry_ms(facts, times) ? LEADER_STEP_ACQUIRE
                                                              : LEADER_STEP_WAIT;
    case LEADER_HOLDER_UNKNOWN:
    default:
        return LEADER_STEP_READ;
    }
}

uint64_t leader_pause_ms(bool leading, const struct leader_times *times, uint32_t random)
{
    return leading ? times->retry_ms : times->retry_ms - times->retry_ms / 2 * random / UINT32_MAX;
}

uint32_t leader_lease_seconds(const struct leader_times *times)
{
    return (uint32_t)((times->lease_ms + 999) / 1000);
}
