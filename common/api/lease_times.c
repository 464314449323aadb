/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/lease_times.h"

#include "common/parse.h"

#include <errno.h>

int lease_times_check(const struct lease_times *times, struct error *err)
{
    if (times->renew_ms < MIN_LEASE_RENEW_MS)
        return error_set(err, EINVAL, "--lease-renew-interval: is shorter than %u s",
                         MIN_LEASE_RENEW_MS / 1000);
    if (times->duration_ms > MAX_LEASE_DURATION_MS)
        return error_set(err, EINVAL, "--lease-duration: is longer than %u s",
                         MAX_LEASE_DURATION_MS / 1000);
    if (times->duration_ms / 3 < times->renew_ms)
        return error_set(err, EINVAL,
                         "--lease-duration: is shorter than three times --lease-renew-interval, so "
                         "that one lost renewal would take the node out of service");
    return 0;
}

int lease_times_parse(const char *option, const char *text, uint64_t *ret_ms, struct error *err)
{
    if (parse_duration_ms(text, ret_ms) < 0)
        return error_set(err, EINVAL, "--%s: \"%.64s\" is not a duration such as 40s", option,
                         text);
    return 0;
}

uint64_t lease_times_window_ms(const struct lease_times *times)
{
    return times->renew_ms + times->renew_ms / 2;
}

uint64_t lease_times_lost_ms(const struct lease_times *times, uint32_t timeout_seconds)
{
    uint64_t over_ms = lease_times_window_ms(times) + timeout_seconds * 1000ull + LEASE_END_MS;
    return over_ms > times->duration_ms ? over_ms : times->duration_ms;
}
