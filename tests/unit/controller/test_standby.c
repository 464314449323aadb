/* SPDX-License-Identifier: Apache-2.0 */

/* The controller as one of several: what it does while it leads and while it doesn't. Whether it
 * does is said by the tests. */
#include "controller/leader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/log.h"
#include "world.h"

struct leader {
    struct leader_options options;
    bool joined;
    bool leads;
    bool left;
};

static struct leader elected;

int leader_new(struct kube_client *client, const struct leader_options *options,
               struct leader **ret_leader, struct error *err)
{
    (void)client;
    (void)err;
    elected = (struct leader){.options = *options};
    *ret_leader = &elected;
    return 0;
}

void leader_free(struct leader *leader)
{
    assert_ptr_equal(leader, &elected);
}

void leader_join(struct leader *leader)
{
    leader->joined = true;
}

bool leader_leads(struct leader *leader)
{
    return leader && leader->leads;
}

uint64_t leader_not_after_ns(const struct leader *leader)
{
    return leader && leader->leads ? 4711 : 1;
}

void leader_leave(struct leader *leader, void (*left)(void *arg), void *arg)
{
    leader->left = true;
    if (leader->leads)
        leader->options.stopped(leader->options.arg);
    leader->leads = false;
    left(arg);
}

static void lead(void)
{
    elected.leads = true;
    elected.options.started(elected.options.arg);
}

static void lose(void)
{
    elected.leads = false;
    elected.options.stopped(elected.options.arg);
}

static void test_it_takes_part_when_all_is_known(void **state)
{
    struct world *world = *state;
    for (unsigned int i = 0; i < COLLECTIONS; i++) {
        assert_false(elected.joined);
        reflectors[i].handlers.synced(reflectors[i].arg);
    }
    assert_true(elected.joined);
    assert_string_equal(elected.options.name_space, "system");
    turn(world);
    assert_int_equal(world->client.count, 0);
}

static void test_a_standby_writes_nothing_and_plans_at_once_when_it_leads(void **state)
{
    struct world *world = *state;
    sync_all();
    watch_agent("i", 5);
    watch_run("r1", "7", "", "");
    watch_run("done", "1", ",'ttlSecondsAfterFinished':0", "'phase':'Failed'");
    pass(world, 5000);
    assert_int_equal(world->client.count, 0);
    watch_agent("i", 5);
    lead();
    turn(world);
    assert_int_equal(world->client.count, 2);
    for (unsigned int i = 0; i < 2; i++) {
        assert_int_equal(world->client.calls[i].not_after_ns, 4711);
        answer(&world->client.calls[i], 200);
    }
}

/* What was sent and not answered is decided on again when it leads again. */
static void test_what_is_under_way_is_cancelled(void **state)
{
    struct world *world = *state;
    sync_all();
    lead();
    watch_agent("i", 1);
    watch_run("r1", "7", "", "");
    watch_run("r2", "7", "", "");
    turn(world);
    assert_int_equal(world->client.count, 1);
    lose();
    assert_null(world->client.calls[0].fn);
    outwait_backoff(world);
    assert_int_equal(world->client.count, 1);
    /* Another has assigned the first one meanwhile, and it is over. */
    watch_run("r1", "9", "", "'phase':'Succeeded','nodeName':'n','agentInstance':'i'");
    watch_agent("i", 1);
    lead();
    turn(world);
    assert_int_equal(world->client.count, 2);
    assert_non_null(strstr(last_call(world)->path, "/r2/"));
    answer(last_call(world), 200);
    /* Every place is free again. */
    lose();
    watch_run("r2", "9", "", "'phase':'Succeeded','nodeName':'n','agentInstance':'i'");
    watch_run("r3", "1", "", "");
    watch_agent("i", 1);
    lead();
    turn(world);
    assert_int_equal(world->client.count, 3);
    answer(last_call(world), 200);
}

/* Silence from before the take-over doesn't count as loss, but nothing new goes to such a node. */
static void test_a_lost_node_is_counted_from_the_take_over(void **state)
{
    struct world *world = *state;
    sync_all();
    watch_agent("i", 5);
    watch_short_run();
    watch_run("waits", "7", "", "");
    pass(world, 3 * LOST_MS);
    lead();
    turn(world);
    pass(world, LOST_MS - 2 * RENEW_MS);
    /* Why the other one waits. */
    assert_int_equal(world->client.count, 1);
    assert_non_null(strstr(last_call(world)->path, "/waits/status"));
    assert_non_null(strstr(last_call(world)->body, "without a heartbeat"));
    answer(last_call(world), 200);
    assert_int_equal(world->client.count, 2);
    assert_non_null(strstr(last_call(world)->path, "/events"));
    answer(last_call(world), 200);
    pass(world, 3 * RENEW_MS);
    assert_int_equal(world->client.count, 3);
    assert_string_equal(last_call(world)->method, "GET");
    answer(last_call(world), 404);
}

static void test_the_end_gives_the_leadership_back(void **state)
{
    struct world *world = *state;
    bool done = false;
    sync_all();
    lead();
    watch_agent("i", 5);
    watch_run("r1", "7", "", "");
    turn(world);
    assert_int_equal(world->client.count, 1);
    controller_end(world->controller, ended, &done);
    assert_true(done);
    assert_true(elected.left);
    assert_null(world->client.calls[0].fn);
}

int main(void)
{
    log_init("test", LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_it_takes_part_when_all_is_known, setup_election,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_a_standby_writes_nothing_and_plans_at_once_when_it_leads, setup_election,
            teardown),
        cmocka_unit_test_setup_teardown(test_what_is_under_way_is_cancelled, setup_election,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_lost_node_is_counted_from_the_take_over,
                                        setup_election, teardown),
        cmocka_unit_test_setup_teardown(test_the_end_gives_the_leadership_back, setup_election,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
