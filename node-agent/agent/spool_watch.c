/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/spool_watch.h"

#include "common/log.h"
#include "node-agent/agent/agent_limits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct spool_watch {
    struct spool *spool;
    struct loop_timer *timer;
    spool_watch_fn changed;
    void *arg;
    bool failing; /* as it was told last */
};

static void on_timer(void *arg)
{
    struct spool_watch *watch = arg;

    if (spool_probe(watch->spool, NULL) < 0) {
        (void)loop_timer_arm(watch->timer, SPOOL_PROBE_MS);
        return;
    }
    watch->failing = false;
    log_event(LOG_LEVEL_INFO, "the spool can be written to again");
    watch->changed(watch->arg);
}

void spool_watch_look(struct spool_watch *watch)
{
    const struct error *failure = spool_failure(watch->spool);

    if (!failure || watch->failing)
        return;
    watch->failing = true;
    log_event(LOG_LEVEL_ERROR, "the spool can't be written to, no run is started",
              LOG_TEXT("error", failure->text));
    (void)loop_timer_arm(watch->timer, SPOOL_PROBE_MS);
    watch->changed(watch->arg);
}

int spool_watch_new(struct loop *loop, struct spool *spool, spool_watch_fn changed, void *arg,
                    struct spool_watch **ret_watch, struct error *err)
{
    struct spool_watch *watch = calloc(1, sizeof(*watch));

    if (!watch || loop_timer_new(loop, on_timer, watch, &watch->timer) < 0) {
        free(watch);
        return error_set_errno(err, ENOMEM, "can't watch the spool");
    }
    watch->spool = spool;
    watch->changed = changed;
    watch->arg = arg;
    *ret_watch = watch;
    return 0;
}

void spool_watch_free(struct spool_watch *watch)
{
    if (!watch)
        return;
    loop_timer_free(watch->timer);
    free(watch);
}
