/* SPDX-License-Identifier: Apache-2.0 */

/* Events that are told again and again, against a client that the test plays. */
#include "common/kube/event_recorder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/json.h"
#include "common/kube/limits.h"
#include "tests/unit/kube/fake_client.h"

#define SECOND_NS UINT64_C(1000000000)
#define TIME_US   1795990634000000

static uint64_t now_ns;

/* The names that the linker's --wrap goes by are reserved, so they are given as labels. */
uint64_t wrap_clock(void) __asm__("__wrap_clock_monotonic_ns");
int64_t wrap_wall(void) __asm__("__wrap_clock_realtime_us");

uint64_t wrap_clock(void)
{
    return now_ns;
}

int64_t wrap_wall(void)
{
    return TIME_US + (int64_t)(now_ns / 1000);
}

struct world {
    struct kube_client client;
    struct event_recorder *recorder;
};

static int setup(void **state)
{
    static struct world world;
    static const struct event_reporter reporter = {"sandboxrun.dev/controller", "pod"};
    struct error err = {0};
    world = (struct world){0};
    now_ns = SECOND_NS;
    assert_int_equal(event_recorder_new(&world.client, &reporter, &world.recorder, &err), 0);
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    event_recorder_free(world->recorder);
    fake_client_done(&world->client);
    return 0;
}

static int tell(struct world *world, const char *name, const char *reason)
{
    struct error err = {0};
    const struct event event = {.api_version = "sandboxrun.dev/v1alpha1",
                                .kind = "SandboxRun",
                                .name_space = "team-a",
                                .name = name,
                                .uid = name,
                                .type = EVENT_WARNING,
                                .reason = reason,
                                .action = "Scheduling",
                                .note = "0 of 3 nodes can take it"};
    return event_recorder_tell(world->recorder, &event, &err);
}

static struct kube_call *last(struct world *world)
{
    return fake_client_last(&world->client);
}

static void check_count(const struct kube_call *call, int64_t count)
{
    cleanup_json cJSON *tree = NULL;
    int64_t told;
    assert_string_equal(call->method, "PATCH");
    assert_int_equal(json_parse(call->body, strlen(call->body), &tree, NULL), 0);
    assert_int_equal(json_get_i64(tree, "series.count", &told), 0);
    assert_int_equal(told, count);
    assert_non_null(json_get_string(tree, "series.lastObservedTime"));
    /* Everything else of an Event is immutable. */
    assert_int_equal(cJSON_GetArraySize(tree), 1);
}

static void test_what_is_told_again_becomes_a_series(void **state)
{
    struct world *world = *state;
    char path[600];
    assert_int_equal(tell(world, "r", "NoRoom"), 0);
    assert_string_equal(last(world)->method, "POST");
    cleanup_json cJSON *tree = NULL;
    assert_int_equal(json_parse(last(world)->body, strlen(last(world)->body), &tree, NULL), 0);
    (void)snprintf(path, sizeof(path), "%s/%s", last(world)->path,
                   json_get_string(tree, "metadata.name"));
    answer(last(world), 200);
    now_ns += 300 * SECOND_NS;
    assert_int_equal(tell(world, "r", "NoRoom"), 0);
    assert_string_equal(last(world)->path, path);
    check_count(last(world), 2);
    answer(last(world), 200);
    /* From the last time on, not from the first. */
    now_ns += 300 * SECOND_NS;
    assert_int_equal(tell(world, "r", "NoRoom"), 0);
    check_count(last(world), 3);
    answer(last(world), 200);
    now_ns += EVENT_SERIES_NS;
    assert_int_equal(tell(world, "r", "NoRoom"), 0);
    assert_string_equal(last(world)->method, "POST");
    answer(last(world), 200);
    assert_int_equal(event_recorder_count(world->recorder, EVENT_CREATED), 2);
    assert_int_equal(event_recorder_count(world->recorder, EVENT_REPEATED), 2);
}

static void test_another_reason_or_object_is_another_event(void **state)
{
    struct world *world = *state;
    static const char *const told[][2] = {{"r", "NoRoom"}, {"r", "NoNodes"}, {"s", "NoRoom"}};
    for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
        assert_int_equal(tell(world, told[i][0], told[i][1]), 0);
        assert_string_equal(last(world)->method, "POST");
        answer(last(world), 200);
    }
    assert_int_equal(world->client.count, 3);
}

/* One request at a time for a series: what is told meanwhile is in the next count. */
static void test_told_again_while_a_request_is_under_way(void **state)
{
    struct world *world = *state;
    for (unsigned int i = 0; i < 4; i++)
        assert_int_equal(tell(world, "r", "NoRoom"), 0);
    assert_int_equal(world->client.count, 1);
    answer(last(world), 200);
    assert_int_equal(world->client.count, 2);
    check_count(last(world), 4);
    assert_int_equal(tell(world, "r", "NoRoom"), 0);
    assert_int_equal(world->client.count, 2);
    answer(last(world), 200);
    check_count(last(world), 5);
    answer(last(world), 200);
    assert_int_equal(world->client.count, 3);
}

static void test_refused(void **state)
{
    struct world *world = *state;
    /* It isn't there: told again it is a new one. */
    assert_int_equal(tell(world, "r", "NoRoom"), 0);
    answer(last(world), 403);
    assert_int_equal(tell(world, "r", "NoRoom"), 0);
    assert_string_equal(last(world)->method, "POST");
    answer(last(world), 200);
    assert_int_equal(tell(world, "r", "NoRoom"), 0);
    answer(last(world), 503);
    assert_int_equal(tell(world, "r", "NoRoom"), 0);
    check_count(last(world), 3);
    /* Somebody has deleted it. */
    answer(last(world), 404);
    assert_int_equal(tell(world, "r", "NoRoom"), 0);
    assert_string_equal(last(world)->method, "POST");
    answer(last(world), 200);
    world->client.send_error = EBUSY;
    assert_int_equal(tell(world, "s", "NoRoom"), -EBUSY);
    world->client.send_error = 0;
    assert_int_equal(tell(world, "s", "NoRoom"), 0);
    assert_string_equal(last(world)->method, "POST");
}

static void test_rate(void **state)
{
    struct world *world = *state;
    char name[16];
    for (unsigned int i = 0; i < EVENT_BURST; i++) {
        (void)snprintf(name, sizeof(name), "r%u", i);
        assert_int_equal(tell(world, name, "NoRoom"), 0);
        answer(last(world), 200);
    }
    assert_int_equal(tell(world, "more", "NoRoom"), -EBUSY);
    assert_int_equal(event_recorder_count(world->recorder, EVENT_LEFT_OUT), 1);
    /* The series share the tokens; a count that waits isn't lost. */
    assert_int_equal(tell(world, "r0", "NoRoom"), 0);
    assert_int_equal(world->client.count, EVENT_BURST);
    now_ns += EVENT_SPACE_NS;
    assert_int_equal(tell(world, "r0", "NoRoom"), 0);
    check_count(last(world), 3);
    assert_int_equal(tell(world, "more", "NoRoom"), -EBUSY);
    now_ns += EVENT_SPACE_NS;
    assert_int_equal(tell(world, "more", "NoRoom"), 0);
    assert_string_equal(last(world)->method, "POST");
}

/* Of more than may be remembered, the one that was told of longest ago is forgotten. */
static void test_bounded(void **state)
{
    struct world *world = *state;
    char name[16];
    for (unsigned int i = 0; i <= MAX_EVENT_SERIES; i++) {
        (void)snprintf(name, sizeof(name), "r%u", i);
        now_ns += EVENT_SPACE_NS;
        assert_int_equal(tell(world, name, "NoRoom"), 0);
        answer(last(world), 200);
        now_ns += EVENT_SPACE_NS;
        if (i == MAX_EVENT_SERIES / 2)
            assert_int_equal(tell(world, "r0", "NoRoom"), 0);
        if (i == MAX_EVENT_SERIES / 2)
            answer(last(world), 200);
    }
    now_ns += EVENT_SPACE_NS;
    assert_int_equal(tell(world, "r0", "NoRoom"), 0);
    check_count(last(world), 3);
    answer(last(world), 200);
    now_ns += EVENT_SPACE_NS;
    assert_int_equal(tell(world, "r1", "NoRoom"), 0);
    assert_string_equal(last(world)->method, "POST");
}

/* Nothing that waits for its answer is forgotten for another. */
static void test_all_under_way(void **state)
{
    struct world *world = *state;
    char name[16];
    for (unsigned int i = 0; i < MAX_EVENT_SERIES; i++) {
        (void)snprintf(name, sizeof(name), "r%u", i);
        now_ns += EVENT_SPACE_NS;
        assert_int_equal(tell(world, name, "NoRoom"), 0);
    }
    now_ns += EVENT_SPACE_NS;
    assert_int_equal(tell(world, "more", "NoRoom"), -EBUSY);
    assert_int_equal(event_recorder_count(world->recorder, EVENT_LEFT_OUT), 1);
    answer(&world->client.calls[MAX_EVENT_SERIES / 2], 200);
    now_ns += EVENT_SPACE_NS;
    assert_int_equal(tell(world, "more", "NoRoom"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_told_again_becomes_a_series, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_reason_or_object_is_another_event, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_told_again_while_a_request_is_under_way, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rate, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_under_way, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
