/* SPDX-License-Identifier: Apache-2.0 */

/* When a pool makes one, with sandboxes that a test makes wait, die, or can't make. */
#include "node-agent/jailer/pool.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/sandbox.h"
#include "tests/unit/common/cmocka_setup.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

static bool fake_fails;
static unsigned int fake_made, fake_forked, fake_ended;
static struct sandbox fake_sandboxes[4];

/* In place of a process: what the pool asks and tells. */
static struct {
    struct zygote *zygote;
    bool refuses;
    unsigned int succeeded;
} fake_zygote;

void zygote_init(struct zygote *zygote)
{
    *zygote = (struct zygote){.state = ZYGOTE_NONE};
    fake_zygote.zygote = zygote;
}

int zygote_prepare(struct zygote *zygote, struct jailer *jailer, unsigned int number,
                   const struct zygote_options *options, void (*changed)(void *arg), void *arg,
                   struct error *err)
{
    (void)err;
    assert_int_equal(number, 0);
    zygote->jailer = jailer;
    zygote->options = options;
    zygote->changed = changed;
    zygote->arg = arg;
    zygote->state = ZYGOTE_DOWN;
    return 0;
}

void zygote_start(struct zygote *zygote)
{
    if (zygote->state != ZYGOTE_NONE)
        zygote->state = ZYGOTE_STARTING;
}

void zygote_stop(struct zygote *zygote)
{
    zygote->state = ZYGOTE_NONE;
}

void zygote_done(struct zygote *zygote)
{
    (void)zygote;
}

bool zygote_is_ready(const struct zygote *zygote)
{
    return zygote->state == ZYGOTE_READY;
}

bool zygote_is_coming(const struct zygote *zygote)
{
    return zygote->state == ZYGOTE_STARTING || zygote->state == ZYGOTE_RETIRING;
}

void zygote_fail(struct zygote *zygote, const char *why)
{
    assert_non_null(why);
    zygote->state = ZYGOTE_DOWN;
    zygote->changed(zygote->arg);
}

void zygote_succeeded(struct zygote *zygote)
{
    (void)zygote;
    fake_zygote.succeeded++;
}

static void become(enum zygote_state state)
{
    fake_zygote.zygote->state = state;
    fake_zygote.zygote->changed(fake_zygote.zygote->arg);
}

int sandbox_create_ahead(struct pool *pool, struct zygote *zygote,
                         const struct proto_create *create, struct error *err)
{
    if (fake_fails || (zygote && fake_zygote.refuses))
        return error_set(err, ENOSPC, "no room for it");
    fake_forked += zygote ? 1 : 0;
    assert_true(fake_made < ARRAY_SIZE(fake_sandboxes));
    struct sandbox *sandbox = &fake_sandboxes[fake_made++];
    *sandbox = (struct sandbox){.jailer = pool->jailer, .pool = pool, .state = SANDBOX_WARMING};
    memcpy(sandbox->id, create->id, sizeof(sandbox->id));
    return 0;
}

void sandbox_end(struct sandbox *sandbox, enum proto_end end)
{
    sandbox->facts.decided = end;
    fake_ended++;
}

static void on_changed(void *arg)
{
    (void)arg;
}

static const struct proto_create create = {.profile = 0, .runtime = "python3.12"};

static int setup(void **state)
{
    struct jailer *jailer = calloc(1, sizeof(*jailer));
    fake_fails = false;
    fake_made = fake_forked = fake_ended = 0;
    fake_zygote.refuses = false;
    fake_zygote.succeeded = 0;
    jailer->cpu_capacity_milli = 2000;
    jailer->runtimes.count = 1;
    memcpy(jailer->runtimes.entries[0].name, "python3.12", 11);
    assert_int_equal(events_init(&jailer->events, NULL), 0);
    assert_int_equal(deadlines_init(&jailer->deadlines, &jailer->events, NULL), 0);
    pools_init(&jailer->pools, jailer, 1, 2, on_changed, NULL);
    *state = jailer;
    return 0;
}

static int teardown(void **state)
{
    struct jailer *jailer = *state;
    pools_stop(&jailer->pools);
    deadlines_done(&jailer->deadlines);
    events_done(&jailer->events);
    free(jailer);
    return 0;
}

/* Turns the loop until as many have been made. */
static void turn_until_made(struct jailer *jailer, unsigned int count)
{
    while (fake_made < count)
        assert_int_equal(events_turn(&jailer->events, NULL), 0);
}

static void become_warm(struct sandbox *sandbox)
{
    sandbox->state = SANDBOX_WARM;
    sandbox->ready_ns = clock_boottime_ns();
    pool_on_warm(sandbox->pool, sandbox);
}

static void expect_totals(const struct jailer *jailer, uint32_t waiting, uint32_t size,
                          uint64_t hits, uint64_t misses)
{
    struct proto_pool totals;
    pools_totals(&jailer->pools, 0, &totals);
    assert_string_equal(totals.runtime, "python3.12");
    assert_int_equal(totals.waiting, waiting);
    assert_int_equal(totals.size, size);
    assert_int_equal(totals.hits, hits);
    assert_int_equal(totals.misses, misses);
}

static void test_one_is_taken_once_and_its_place_filled(void **state)
{
    struct jailer *jailer = *state;
    struct pools *pools = &jailer->pools;
    pools_start(pools);
    turn_until_made(jailer, 1);
    /* One in the making is none that waits. */
    assert_null(pools_take(pools, &create));
    become_warm(&fake_sandboxes[0]);
    turn_until_made(jailer, 2);
    expect_totals(jailer, 1, 2, 0, 1);
    assert_ptr_equal(pools_take(pools, &create), &fake_sandboxes[0]);
    assert_null(fake_sandboxes[0].pool);
    assert_null(pools_take(pools, &create));
    expect_totals(jailer, 0, 2, 1, 2);
    turn_until_made(jailer, 3);
    assert_int_equal(pools->sandboxes, 2);
}

static void test_what_is_asked_for_must_be_what_waits(void **state)
{
    struct jailer *jailer = *state;
    struct proto_create other = create;
    pools_start(&jailer->pools);
    turn_until_made(jailer, 1);
    become_warm(&fake_sandboxes[0]);
    other.profile = 1;
    assert_null(pools_take(&jailer->pools, &other));
    other = create;
    other.runtime[0] = 'x';
    assert_null(pools_take(&jailer->pools, &other));
    expect_totals(jailer, 1, 1, 0, 0);
    /* One whose end was decided is dead already. */
    sandbox_end(&fake_sandboxes[0], PROTO_END_DEADLINE);
    assert_null(pools_take(&jailer->pools, &create));
    expect_totals(jailer, 1, 2, 0, 1);
    pool_on_gone(fake_sandboxes[0].pool, &fake_sandboxes[0]);
    expect_totals(jailer, 0, 2, 0, 1);
    assert_int_equal(jailer->pools.sandboxes, 0);
}

/* Each run finds none, and none of them shortens the wait. */
static void test_demand_does_not_hurry_what_has_failed(void **state)
{
    struct jailer *jailer = *state;
    struct pool *pool = &jailer->pools.entries[0];
    uint64_t begun_ns = clock_boottime_ns();
    fake_fails = true;
    pools_start(&jailer->pools);
    while (pool->failures == 0)
        assert_int_equal(events_turn(&jailer->events, NULL), 0);
    uint64_t at_ns = pool->refill.at_ns;
    assert_true(at_ns >= begun_ns + POOL_RETRY_MS * NS_PER_MS);
    assert_null(pools_take(&jailer->pools, &create));
    pools_run_ended(&jailer->pools);
    assert_int_equal(pool->refill.at_ns, at_ns);
    /* It goes on by itself. */
    fake_fails = false;
    turn_until_made(jailer, 1);
    assert_true(clock_boottime_ns() >= at_ns);
    /* One that dies before it waits has failed, too. */
    pool_on_gone(pool, &fake_sandboxes[0]);
    assert_int_equal(pool->failures, 2);
    assert_true(pool->refill.at_ns >= at_ns + 2 * POOL_RETRY_MS * NS_PER_MS);
}

/* Not while a run starts, nor while a short one ends. */
static void test_a_place_is_filled_behind_the_run(void **state)
{
    struct jailer *jailer = *state;
    struct pools *pools = &jailer->pools;
    struct pool *pool = &pools->entries[0];
    pools_start(pools);
    turn_until_made(jailer, 1);
    become_warm(&fake_sandboxes[0]);
    while (deadline_is_armed(&pool->refill))
        assert_int_equal(events_turn(&jailer->events, NULL), 0);
    uint64_t taken_ns = clock_boottime_ns();
    assert_non_null(pools_take(pools, &create));
    assert_true(pool->refill.at_ns >= taken_ns + POOL_REFILL_WITHIN_MS * NS_PER_MS);
    uint64_t within_ns = pool->refill.at_ns;
    pools_run_ended(pools);
    uint64_t behind_ns = clock_boottime_ns() + POOL_REFILL_BEHIND_MS * NS_PER_MS;
    assert_true(pool->refill.at_ns <= (behind_ns < within_ns ? behind_ns : within_ns));
    turn_until_made(jailer, 2);
    /* With nothing to fill the end of a run is none of a pool's business. */
    become_warm(&fake_sandboxes[1]);
    while (deadline_is_armed(&pool->refill))
        assert_int_equal(events_turn(&jailer->events, NULL), 0);
    pools_run_ended(pools);
    assert_false(deadline_is_armed(&pool->refill));
}

static const struct zygote_options zygotes = {.modules = "", .max_forks = 1};

static void start_with_zygote(struct jailer *jailer)
{
    pools_prepare_zygotes(&jailer->pools, &zygotes);
    pools_start(&jailer->pools);
}

/* A zygote that starts is waited for, and what it is asked for are forks. */
static void test_what_can_be_forked_is(void **state)
{
    struct jailer *jailer = *state;
    start_with_zygote(jailer);
    while (deadline_is_armed(&jailer->pools.entries[0].refill))
        assert_int_equal(events_turn(&jailer->events, NULL), 0);
    assert_int_equal(fake_made, 0);
    assert_null(pools_zygote(&jailer->pools, &create));
    become(ZYGOTE_READY);
    turn_until_made(jailer, 1);
    assert_int_equal(fake_forked, 1);
    assert_ptr_equal(pools_zygote(&jailer->pools, &create), fake_zygote.zygote);
    fake_sandboxes[0].forked = true;
    become_warm(&fake_sandboxes[0]);
    assert_int_equal(fake_zygote.succeeded, 1);
    struct proto_pool totals;
    pools_totals(&jailer->pools, 0, &totals);
    assert_int_equal(totals.made, 1);
    assert_int_equal(totals.forked, 1);
}

/* None of these waits for a back-off: an interpreter that starts afresh is there at once. */
static void test_without_a_zygote_they_start_afresh(void **state)
{
    struct jailer *jailer = *state;
    start_with_zygote(jailer);
    become(ZYGOTE_DOWN);
    turn_until_made(jailer, 1);
    assert_int_equal(fake_forked, 0);
    become_warm(&fake_sandboxes[0]);

    become(ZYGOTE_READY);
    fake_zygote.refuses = true;
    assert_non_null(pools_take(&jailer->pools, &create));
    turn_until_made(jailer, 2);
    assert_int_equal(fake_forked, 0);
    assert_false(zygote_is_ready(fake_zygote.zygote));
    assert_int_equal(jailer->pools.entries[0].failures, 0);
}

static void test_a_fork_that_fails_is_made_afresh(void **state)
{
    struct jailer *jailer = *state;
    start_with_zygote(jailer);
    become(ZYGOTE_READY);
    turn_until_made(jailer, 1);
    fake_sandboxes[0].forked = true;
    pool_on_gone(&jailer->pools.entries[0], &fake_sandboxes[0]);
    assert_false(zygote_is_ready(fake_zygote.zygote));
    turn_until_made(jailer, 2);
    assert_int_equal(fake_forked, 1);
    assert_int_equal(jailer->pools.entries[0].failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_is_taken_once_and_its_place_filled, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_what_is_asked_for_must_be_what_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_place_is_filled_behind_the_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_demand_does_not_hurry_what_has_failed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_what_can_be_forked_is, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_a_zygote_they_start_afresh, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_fork_that_fails_is_made_afresh, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
