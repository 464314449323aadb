/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/descriptors.h"

#include "common/cleanup.h"
#include "node-agent/jailer/payload.h"

#include <fcntl.h>
#include <limits.h>

/* Above every target, so that no move overwrites what another one still needs. */
#define PARKING_FD 16

static int close_span(int first, int last, struct error *err)
{
    if (first > last)
        return 0;
    if (close_range((unsigned int)first, (unsigned int)last, 0) < 0)
        return error_set(err, errno, "close the descriptors %d to %d", first, last);
    return 0;
}

int descriptors_keep(int lowest, const int *keep, size_t count, struct error *err)
{
    int sorted[MAX_KEPT_DESCRIPTORS] = {0};
    if (count > MAX_KEPT_DESCRIPTORS)
        return error_set(err, EINVAL, "keep more than %d descriptors", MAX_KEPT_DESCRIPTORS);
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && sorted[at - 1] > keep[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = keep[i];
    }
    int next = lowest;
    for (size_t i = 0; i < count; i++) {
        if (sorted[i] < next)
            continue;
        int r = close_span(next, sorted[i] - 1, err);
        if (r < 0)
            return r;
        next = sorted[i] + 1;
    }
    return close_span(next, INT_MAX, err);
}

int descriptors_place(const int *from, size_t count, size_t inherited, struct error *err)
{
    int parked[PARKING_FD];
    if (count > ARRAY_SIZE(parked))
        return error_set(err, EINVAL, "place more than %d descriptors", PARKING_FD);
    for (size_t i = 0; i < count; i++) {
        parked[i] = fcntl(from[i], F_DUPFD_CLOEXEC, PARKING_FD);
        if (parked[i] < 0)
            return error_set(err, errno, "duplicate a descriptor");
    }
    for (size_t i = 0; i < count; i++) {
        if (dup3(parked[i], (int)i, i < inherited ? 0 : O_CLOEXEC) < 0)
            return error_set(err, errno, "set descriptor %zu", i);
    }
    return 0;
}

int descriptors_arrange(int request_fd, int stdout_fd, int stderr_fd, int *status_fd,
                        struct error *err)
{
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null_fd < 0)
        return error_set(err, errno, "open /dev/null");
    const int from[] = {null_fd, stdout_fd, stderr_fd, request_fd, *status_fd};
    const int status_target = PAYLOAD_REQUEST_FD + 1;
    int r = descriptors_place(from, ARRAY_SIZE(from), (size_t)status_target, err);
    if (r < 0)
        return r;
    *status_fd = status_target;
    return close_span(status_target + 1, INT_MAX, err);
}
