/* SPDX-License-Identifier: Apache-2.0 */
#include "common/kube/reflector_plan.h"

#include "common/kube/retry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A continue token that fails so often in a row, for whatever reason, is given up. */
#define MAX_PAGE_FAILURES 5u

/* Watches in a row that may follow each other without a pause. */
#define MAX_SHORT_WATCHES 3u

/* With a continue token dying again and again, the list takes longer than the server keeps a
 * version: then it is asked for in one piece, which is read as a stream all the same. */
#define MAX_EXPIRED_PAGES 2u

void reflector_plan_init(struct reflector_plan *plan, unsigned int page_size)
{
    *plan = (struct reflector_plan){.page_size = page_size, .limit = page_size};
}

static void drop_token(struct reflector_plan *plan)
{
    free(plan->continue_token);
    plan->continue_token = NULL;
}

void reflector_plan_done(struct reflector_plan *plan)
{
    drop_token(plan);
}

/* Pages are bounded in bytes too: large objects make the next page shorter, small ones let it
 * grow again up to what was wanted. */
static unsigned int next_limit(const struct reflector_plan *plan, uint64_t bytes)
{
    unsigned int limit = plan->limit;

    if (limit == 0)
        return 0;
    if (bytes > MAX_KUBE_PAGE_BYTES)
        return limit > 1 ? limit / 2 : 1;
    if (bytes < MAX_KUBE_PAGE_BYTES / 4 && limit < plan->page_size)
        return limit * 2 < plan->page_size ? limit * 2 : plan->page_size;
    return limit;
}

int reflector_plan_page(struct reflector_plan *plan, const char *version, const char *token,
                        const struct reflector_outcome *outcome, bool *ret_complete)
{
    bool more = token && token[0];
    char *copy = NULL;

    if (!version || !version[0] || strlen(version) >= sizeof(plan->version) ||
        (more && strlen(token) > MAX_REFLECTOR_CONTINUE))
        return -EBADMSG;
    /* The same token again would never end. */
    if (more && plan->continue_token && strcmp(token, plan->continue_token) == 0)
        return -EBADMSG;
    if (more && !(copy = strdup(token)))
        return -ENOMEM;
    drop_token(plan);
    plan->continue_token = copy;
    plan->limit = next_limit(plan, outcome->bytes);
    plan->failures = 0;
    *ret_complete = !more;
    if (more)
        return 0;
    memcpy(plan->version, version, strlen(version) + 1);
    plan->synced = true;
    plan->expired_pages = 0;
    plan->limit = plan->page_size;
    plan->step = REFLECTOR_WATCH;
    return 0;
}

static uint64_t after_failure(struct reflector_plan *plan, const struct reflector_outcome *outcome,
                              uint32_t random)
{
    plan->failures++;
    return retry_delay_ms(plan->failures, outcome->retry_after_ms, random);
}

/* Client errors that don't pass by themselves. */
static bool is_refusal(int status)
{
    return status >= 400 && status < 500 && status != 401 && status != 403 && status != 429;
}

uint64_t reflector_plan_failed_page(struct reflector_plan *plan,
                                    const struct reflector_outcome *outcome, uint32_t random)
{
    plan->step = REFLECTOR_LIST;
    if (plan->continue_token && (outcome->gone || outcome->lost || is_refusal(outcome->status) ||
                                 plan->failures >= MAX_PAGE_FAILURES)) {
        drop_token(plan);
        if (outcome->gone && ++plan->expired_pages >= MAX_EXPIRED_PAGES)
            plan->limit = 0;
    }
    return after_failure(plan, outcome, random);
}

/* A server that closes or says 410 after every event must not be asked in a loop: watches begin
 * at least the spacing apart. But a loaded server also ends a watch that it can't feed fast
 * enough, in the middle of a burst, and then the next one has to follow at once. */
static uint64_t spacing(struct reflector_plan *plan, const struct reflector_outcome *outcome)
{
    if (outcome->lifetime_ms >= KUBE_WATCH_SPACING_MS) {
        plan->short_watches = 0;
        return 0;
    }
    if (outcome->events > 0 && plan->short_watches++ < MAX_SHORT_WATCHES)
        return 0;
    return KUBE_WATCH_SPACING_MS - outcome->lifetime_ms;
}

/* The first new list is made soon. Lists that only lead to the next come ever more slowly, though
 * each of them succeeds. */
static uint64_t list_anew(struct reflector_plan *plan, const struct reflector_outcome *outcome,
                          uint32_t random)
{
    plan->step = REFLECTOR_LIST;
    plan->failures = plan->relists++;
    if (plan->failures == 0)
        return spacing(plan, outcome);
    return retry_delay_ms(plan->failures + 1, outcome->retry_after_ms, random);
}

uint64_t reflector_plan_watch_ended(struct reflector_plan *plan,
                                    const struct reflector_outcome *outcome, uint32_t random)
{
    bool useful =
        outcome->opened && (outcome->events > 0 || outcome->lifetime_ms >= KUBE_WATCH_SPACING_MS);

    if (outcome->events > 0)
        plan->relists = 0;
    if (outcome->gone || outcome->lost)
        return list_anew(plan, outcome, random);
    plan->step = is_refusal(outcome->status) ? REFLECTOR_LIST : REFLECTOR_WATCH;
    if (outcome->error_event || !useful)
        return after_failure(plan, outcome, random);
    plan->failures = 0;
    plan->relists = 0;
    /* Broken off: all the clients of that server come back now, so each waits a little. */
    uint64_t jitter_ms = outcome->status == 0 ? retry_delay_ms(1, 0, random) : 0;
    uint64_t spacing_ms = spacing(plan, outcome);
    return jitter_ms > spacing_ms ? jitter_ms : spacing_ms;
}

void reflector_plan_relist(struct reflector_plan *plan)
{
    drop_token(plan);
    plan->limit = plan->page_size;
    plan->step = REFLECTOR_LIST;
}

void reflector_plan_event(struct reflector_plan *plan, const char *version)
{
    size_t len = strlen(version);

    if (len > 0 && len < sizeof(plan->version))
        memcpy(plan->version, version, len + 1);
}
