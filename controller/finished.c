/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/finished.h"

#include "controller/runs.h"

#include <errno.h>
#include <stddef.h>

const char *const delete_cause_names[DELETE_CAUSE_COUNT + 1] = {
    [DELETE_TTL] = "ttl",
    [DELETE_MAX_RUNS] = "max_runs",
    [DELETE_MAX_NAMESPACE_RUNS] = "max_namespace_runs",
    [DELETE_MAX_BYTES] = "max_bytes",
};

int finished_put(struct finished *finished, struct run_digest *run)
{
    struct wakeups *own = &run->tenant->finished;
    if (run->kept.place > 0)
        return 0;
    if (wakeups_reserve(&finished->oldest, finished->oldest.count + 1) < 0 ||
        wakeups_reserve(own, own->count + 1) < 0)
        return -ENOMEM;
    wakeups_set(&finished->oldest, &run->kept, run->finished_us);
    wakeups_set(own, &run->kept_here, run->finished_us);
    finished->bytes += run->bytes;
    return 0;
}

void finished_remove(struct finished *finished, struct run_digest *run)
{
    if (run->kept.place == 0)
        return;
    wakeups_remove(&finished->oldest, &run->kept);
    wakeups_remove(&run->tenant->finished, &run->kept_here);
    finished->bytes -= run->bytes;
}

void finished_done(struct finished *finished)
{
    wakeups_done(&finished->oldest);
}

static struct run_digest *run_of(struct wakeup *wakeup, size_t offset)
{
    return wakeup ? (struct run_digest *)((char *)wakeup - offset) : NULL;
}

struct run_digest *finished_excess(const struct finished *finished,
                                   const struct finished_limits *limits,
                                   enum delete_cause *ret_cause)
{
    bool too_many = finished->oldest.count > limits->runs;
    if (!too_many && finished->bytes <= limits->bytes)
        return NULL;
    *ret_cause = too_many ? DELETE_MAX_RUNS : DELETE_MAX_BYTES;
    return run_of(wakeups_first(&finished->oldest), offsetof(struct run_digest, kept));
}

struct run_digest *finished_excess_of(const struct tenant *tenant,
                                      const struct finished_limits *limits)
{
    if (tenant->finished.count <= limits->runs_per_namespace)
        return NULL;
    return run_of(wakeups_first(&tenant->finished), offsetof(struct run_digest, kept_here));
}
