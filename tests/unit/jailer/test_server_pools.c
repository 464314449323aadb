/* SPDX-License-Identifier: Apache-2.0 */

/* Who gets a sandbox that waits, and what an agent hears of the pools. */
#include "server_fixture.h"

#include "common/cleanup.h"

#include <string.h>

static void test_one_that_waits_is_taken(void **state)
{
    (void)state;
    struct sandbox waiting = {.jailer = &fixture.jailer, .id = "made-ahead"};
    (void)fixture_receive(PROTO_HELLO);
    struct proto_message message = fixture_create_message();
    /* What is not granted takes none. */
    fake_waiting = &waiting;
    message.create.memory_bytes = 1ull << 40;
    fixture_tell(&message);
    (void)fixture_receive(PROTO_REFUSED);
    assert_ptr_equal(fake_waiting, &waiting);
    message = fixture_create_message();
    fixture_tell(&message);
    assert_true(fake_adopted);
    assert_string_equal(waiting.id, ID);
    assert_string_equal(fake.id, "");
}

static void test_one_that_can_not_be_used_is_made_anew(void **state)
{
    (void)state;
    struct sandbox waiting = {.jailer = &fixture.jailer};
    (void)fixture_receive(PROTO_HELLO);
    struct proto_message message = fixture_create_message();
    fake_waiting = &waiting;
    fake_adopt_fails = true;
    fixture_tell(&message);
    assert_string_equal(fake.id, ID);
    assert_true(connection_is_open(&fixture.server.connection));
}

static void test_those_that_wait_take_no_place_and_outlive_an_agent(void **state)
{
    (void)state;
    struct pool pool = {.jailer = &fixture.jailer};
    (void)fixture_receive(PROTO_HELLO);
    fixture.jailer.sandbox_count = fixture.jailer.max_runs;
    fixture.jailer.pools.sandboxes = 1;
    struct proto_message message = fixture_create_message();
    fixture_tell(&message);
    assert_string_equal(fake.id, ID);
    fake.pool = &pool;
    fixture.agent = fd_close(fixture.agent);
    fixture_be_listening();
    assert_int_equal(events_turn(&fixture.jailer.events, NULL), 0);
    assert_false(connection_is_open(&fixture.server.connection));
    assert_int_equal(fake_end, 0);
    assert_false(fixture.jailer.pools.stopped);
}

static void make_one_that_waits(struct pool *pool)
{
    struct proto_message message = fixture_create_message();
    (void)fixture_receive(PROTO_HELLO);
    fixture_tell(&message);
    fake.pool = pool;
}

static void test_a_single_runs_jailer_ends_those_that_wait(void **state)
{
    (void)state;
    struct pool pool = {.jailer = &fixture.jailer};
    make_one_that_waits(&pool);
    fixture.agent = fd_close(fixture.agent);
    assert_int_equal(events_turn(&fixture.jailer.events, NULL), 0);
    assert_true(fixture.jailer.pools.stopped);
    assert_int_equal(fake_end, PROTO_END_SHUTDOWN);
}

/* No further run is made in one. */
static void test_a_jailer_that_leaves_ends_those_that_wait(void **state)
{
    (void)state;
    struct pool pool = {.jailer = &fixture.jailer};
    make_one_that_waits(&pool);
    fixture_be_listening();
    server_leave(&fixture.server);
    assert_true(fixture.jailer.pools.stopped);
    assert_int_equal(fake_end, PROTO_END_SHUTDOWN);
    assert_int_equal(fixture.server.phase, SERVER_LEAVING);
}

static void test_the_agent_hears_of_the_pools(void **state)
{
    (void)state;
    (void)fixture_receive(PROTO_HELLO);
    struct pools *pools = &fixture.jailer.pools;
    pools->count = 2;
    pools->entries[0].totals = (struct proto_pool){.runtime = "a", .waiting = 1, .hits = 2};
    pools->entries[1].totals = (struct proto_pool){.runtime = "b", .size = 3, .made_us = 4};
    server_say_pools(&fixture.server);
    struct proto_message message = fixture_receive(PROTO_POOL);
    assert_string_equal(message.pool.runtime, "a");
    assert_int_equal(message.pool.hits, 2);
    message = fixture_receive(PROTO_POOL);
    assert_string_equal(message.pool.runtime, "b");
    assert_int_equal(message.pool.made_us, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_that_waits_is_taken, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_one_that_can_not_be_used_is_made_anew, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_those_that_wait_take_no_place_and_outlive_an_agent,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_single_runs_jailer_ends_those_that_wait,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_jailer_that_leaves_ends_those_that_wait,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_the_agent_hears_of_the_pools, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
