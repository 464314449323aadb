/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/pool.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/random.h"
#include "node-agent/jailer/ceilings.h"
#include "node-agent/jailer/sandbox.h"

#include <stdio.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

/* The one profile without a network of its own. */
#define POOL_PROFILE 0u

static void on_refill(void *arg);
static void on_tell(void *arg);

static void refill_at(struct pool *pool, uint64_t at_ns)
{
    if (!pool->jailer->pools.stopped)
        deadline_arm(&pool->jailer->deadlines, &pool->refill, at_ns, on_refill, pool);
}

/* Not put off once it is armed, or what happens often would do so for ever; and not brought forward
 * where what has failed waits for its next try. */
static void refill_within(struct pool *pool, uint64_t ms)
{
    uint64_t at_ns = clock_boottime_ns() + ms * NS_PER_MS;
    if (!deadline_is_armed(&pool->refill) || (pool->failures == 0 && pool->refill.at_ns > at_ns))
        refill_at(pool, at_ns);
}

static void tell_soon(struct pools *pools)
{
    if (!pools->stopped && !deadline_is_armed(&pools->tell))
        deadline_arm(&pools->jailer->deadlines, &pools->tell,
                     clock_boottime_ns() + POOL_TELL_MS * NS_PER_MS, on_tell, pools);
}

static void on_tell(void *arg)
{
    struct pools *pools = arg;
    pools->changed(pools->arg);
}

/* A zygote that doesn't take the request is none; what it has to say stands in the log already. */
static int make_by_any(struct pool *pool, const struct proto_create *create, struct error *err)
{
    if (zygote_is_ready(&pool->zygote)) {
        if (sandbox_create_ahead(pool, &pool->zygote, create, err) >= 0)
            return 0;
        zygote_fail(&pool->zygote, err->text);
    }
    return sandbox_create_ahead(pool, NULL, create, err);
}

static int make_one(struct pool *pool, struct error *err)
{
    const struct ceiling *ceiling = ceilings_of(POOL_PROFILE);
    struct proto_create create = {.profile = POOL_PROFILE,
                                  .memory_bytes = ceiling->memory_bytes,
                                  .cpu_milli = ceiling->cpu_milli};
    if (create.cpu_milli > pool->jailer->cpu_capacity_milli)
        create.cpu_milli = (uint32_t)pool->jailer->cpu_capacity_milli;
    (void)snprintf(create.runtime, sizeof(create.runtime), "%s", pool->runtime);
    int r = random_uuid(create.id);
    if (r < 0)
        return error_set_errno(err, -r, "random sandbox id");
    r = make_by_any(pool, &create, err);
    if (r < 0)
        return r;
    pool->making++;
    pool->jailer->pools.sandboxes++;
    return 0;
}

static void fail(struct pool *pool, const char *why)
{
    pool->failures++;
    uint32_t wait_ms = pool_plan_backoff_ms(pool->failures);
    log_event(LOG_LEVEL_WARN, "can't make a sandbox ahead, runs start without",
              LOG_TEXT("runtime", pool->runtime), LOG_TEXT("error", why),
              LOG_NUMBER("again_ms", wait_ms));
    refill_at(pool, clock_boottime_ns() + wait_ms * NS_PER_MS);
}

static void on_refill(void *arg)
{
    struct pool *pool = arg;
    int32_t wanted = pool_plan_refill(&pool->size, pool->waiting, pool->making);
    struct sandbox *sandbox = pool->oldest;
    for (; wanted < 0 && sandbox; wanted++, sandbox = sandbox->pool_next)
        sandbox_end(sandbox, PROTO_END_KILLED);
    /* Which is sooner there than a fresh one, and says so when it is or can't be. */
    if (zygote_is_coming(&pool->zygote))
        return;
    for (; wanted > 0; wanted--) {
        struct error err;
        if (make_one(pool, &err) < 0) {
            fail(pool, err.text);
            return;
        }
    }
}

static void on_period(void *arg)
{
    struct pools *pools = arg;
    for (uint32_t i = 0; i < pools->count; i++) {
        struct pool *pool = &pools->entries[i];
        pool_plan_period(&pool->size, pool->waiting);
        if (pool->waiting > pool->size.target)
            refill_within(pool, 0);
    }
    deadline_arm(&pools->jailer->deadlines, &pools->period,
                 clock_boottime_ns() + POOL_PERIOD_MS * NS_PER_MS, on_period, pools);
}

void pools_init(struct pools *pools, struct jailer *jailer, uint32_t min, uint32_t max,
                void (*changed)(void *arg), void *arg)
{
    *pools = (struct pools){.jailer = jailer, .changed = changed, .arg = arg, .stopped = true};
    for (size_t i = 0; max > 0 && i < jailer->runtimes.count; i++) {
        struct pool *pool = &pools->entries[pools->count++];
        zygote_init(&pool->zygote);
        pool->jailer = jailer;
        pool->runtime = jailer->runtimes.entries[i].name;
        pool->size = (struct pool_size){.min = min, .max = max, .target = min};
        pool->totals.profile = POOL_PROFILE;
        (void)snprintf(pool->totals.runtime, sizeof(pool->totals.runtime), "%s", pool->runtime);
    }
}

static void on_zygote_changed(void *arg)
{
    refill_within(arg, 0);
}

void pools_prepare_zygotes(struct pools *pools, const struct zygote_options *options)
{
    struct error err;
    for (uint32_t i = 0; i < pools->count; i++) {
        struct pool *pool = &pools->entries[i];
        if (zygote_prepare(&pool->zygote, pools->jailer, i, options, on_zygote_changed, pool,
                           &err) < 0)
            log_event(LOG_LEVEL_WARN, "sandboxes can't be forked here, all start afresh",
                      LOG_TEXT("runtime", pool->runtime), LOG_TEXT("error", err.text));
    }
}

uint32_t pools_max(const struct pools *pools)
{
    return pools->count > 0 ? pools->count * pools->entries[0].size.max : 0;
}

void pools_start(struct pools *pools)
{
    if (pools->count == 0)
        return;
    pools->stopped = false;
    for (uint32_t i = 0; i < pools->count; i++) {
        zygote_start(&pools->entries[i].zygote);
        refill_within(&pools->entries[i], 0);
    }
    on_period(pools);
}

void pools_stop(struct pools *pools)
{
    bool idle = pools->stopped || pools->count == 0;
    pools->stopped = true;
    if (idle)
        return;
    deadline_disarm(&pools->jailer->deadlines, &pools->period);
    deadline_disarm(&pools->jailer->deadlines, &pools->tell);
    for (uint32_t i = 0; i < pools->count; i++) {
        deadline_disarm(&pools->jailer->deadlines, &pools->entries[i].refill);
        zygote_stop(&pools->entries[i].zygote);
    }
}

void pools_done(struct pools *pools)
{
    for (uint32_t i = 0; i < pools->count; i++)
        zygote_done(&pools->entries[i].zygote);
}

static struct pool *find(struct pools *pools, const struct proto_create *create)
{
    for (uint32_t i = 0; create->profile == POOL_PROFILE && i < pools->count; i++) {
        if (strcmp(pools->entries[i].runtime, create->runtime) == 0)
            return &pools->entries[i];
    }
    return NULL;
}

static void unlink_waiting(struct pool *pool, struct sandbox *sandbox)
{
    struct sandbox **link = &pool->oldest;
    while (*link && *link != sandbox)
        link = &(*link)->pool_next;
    if (!*link)
        return;
    *link = sandbox->pool_next;
    sandbox->pool_next = NULL;
    pool->waiting--;
}

struct sandbox *pools_take(struct pools *pools, const struct proto_create *create)
{
    struct pool *pool = find(pools, create);
    if (!pool || pools->stopped)
        return NULL;
    tell_soon(pools);
    struct sandbox *sandbox = pool->oldest;
    /* One that is dying already is in the list until it is dead. */
    while (sandbox && (sandbox->state != SANDBOX_WARM || sandbox->facts.decided != 0))
        sandbox = sandbox->pool_next;
    if (!sandbox) {
        pool->totals.misses++;
        pool_plan_miss(&pool->size);
        refill_within(pool, POOL_REFILL_WITHIN_MS);
        return NULL;
    }
    unlink_waiting(pool, sandbox);
    sandbox->pool = NULL;
    pools->sandboxes--;
    pool->totals.hits++;
    pool_plan_taken(&pool->size, pool->waiting);
    refill_within(pool, POOL_REFILL_WITHIN_MS);
    return sandbox;
}

struct zygote *pools_zygote(struct pools *pools, const struct proto_create *create)
{
    struct pool *pool = find(pools, create);
    return pool && !pools->stopped && zygote_is_ready(&pool->zygote) ? &pool->zygote : NULL;
}

void pools_run_ended(struct pools *pools)
{
    for (uint32_t i = 0; i < pools->count; i++) {
        if (deadline_is_armed(&pools->entries[i].refill))
            refill_within(&pools->entries[i], POOL_REFILL_BEHIND_MS);
    }
}

void pools_totals(const struct pools *pools, uint32_t index, struct proto_pool *ret_totals)
{
    const struct pool *pool = &pools->entries[index];
    *ret_totals = pool->totals;
    ret_totals->waiting = pool->waiting;
    ret_totals->size = pool->size.target;
}

void pool_on_warm(struct pool *pool, struct sandbox *sandbox)
{
    struct sandbox **link = &pool->oldest;
    while (*link)
        link = &(*link)->pool_next;
    *link = sandbox;
    pool->making--;
    pool->waiting++;
    pool->failures = 0;
    if (sandbox->forked) {
        zygote_succeeded(&pool->zygote);
        pool->totals.forked++;
    }
    pool->totals.made++;
    pool->totals.made_us += (clock_boottime_ns() - sandbox->created_ns) / 1000;
    tell_soon(&pool->jailer->pools);
    refill_within(pool, 0);
}

void pool_on_gone(struct pool *pool, struct sandbox *sandbox)
{
    bool was_warm = sandbox->ready_ns > 0;
    pool->jailer->pools.sandboxes--;
    if (was_warm)
        unlink_waiting(pool, sandbox);
    else
        pool->making--;
    if (pool->jailer->pools.stopped)
        return;
    tell_soon(&pool->jailer->pools);
    if (sandbox->forked && !was_warm)
        zygote_fail(&pool->zygote, sandbox->refused ? sandbox->refusal.text
                                                    : "what it forked ended before it was ready");
    if (was_warm || sandbox->forked)
        refill_within(pool, 0);
    else
        fail(pool, sandbox->refused ? sandbox->refusal.text : "it ended before it was ready");
}
