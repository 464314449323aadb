/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/kube/reflector_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OPENED .status = 200, .opened = true

static const struct reflector_outcome page = {OPENED, .bytes = 4u << 20};

static void list_once(struct reflector_plan *plan)
{
    bool complete = false;

    assert_int_equal(reflector_plan_page(plan, "10", NULL, &page, &complete), 0);
    assert_true(complete);
}

static void test_pages(void **state)
{
    (void)state;
    struct reflector_plan plan;
    bool complete = true;

    reflector_plan_init(&plan, 100);
    assert_int_equal(plan.step, REFLECTOR_LIST);
    assert_int_equal(reflector_plan_page(&plan, "10", "more", &page, &complete), 0);
    assert_false(complete);
    assert_false(plan.synced);
    assert_string_equal(plan.continue_token, "more");
    assert_string_equal(plan.version, "");
    assert_int_equal(reflector_plan_page(&plan, "10", "", &page, &complete), 0);
    assert_true(complete && plan.synced);
    assert_null(plan.continue_token);
    assert_string_equal(plan.version, "10");
    assert_int_equal(plan.step, REFLECTOR_WATCH);
    reflector_plan_done(&plan);
}

static void test_pages_that_can_not_be_right(void **state)
{
    (void)state;
    char version[MAX_KUBE_VERSION + 1];
    char *token = malloc(MAX_REFLECTOR_CONTINUE + 2);
    struct reflector_plan plan;
    bool complete;

    memset(version, '1', sizeof(version) - 1);
    version[sizeof(version) - 1] = '\0';
    memset(token, 't', MAX_REFLECTOR_CONTINUE + 1);
    token[MAX_REFLECTOR_CONTINUE + 1] = '\0';
    reflector_plan_init(&plan, 100);
    assert_int_equal(reflector_plan_page(&plan, NULL, NULL, &page, &complete), -EBADMSG);
    assert_int_equal(reflector_plan_page(&plan, "", NULL, &page, &complete), -EBADMSG);
    assert_int_equal(reflector_plan_page(&plan, version, NULL, &page, &complete), -EBADMSG);
    assert_int_equal(reflector_plan_page(&plan, "1", token, &page, &complete), -EBADMSG);
    /* The same token again would never end. */
    assert_int_equal(reflector_plan_page(&plan, "1", "t", &page, &complete), 0);
    assert_int_equal(reflector_plan_page(&plan, "1", "t", &page, &complete), -EBADMSG);
    assert_int_equal(reflector_plan_page(&plan, "1", "t2", &page, &complete), 0);
    reflector_plan_done(&plan);
    free(token);
}

static void test_pages_are_bounded_in_bytes(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        unsigned int limit;
    } steps[] = {
        {100u << 20, 50}, {100u << 20, 25}, {4u << 20, 25},
        {1u << 20, 50},   {1u << 20, 100},  {1u << 20, 100},
    };
    struct reflector_plan plan;
    bool complete;

    reflector_plan_init(&plan, 100);
    for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
        struct reflector_outcome outcome = {OPENED, .bytes = steps[i].bytes};
        char token[2] = {(char)('a' + i), '\0'};
        assert_int_equal(reflector_plan_page(&plan, "1", token, &outcome, &complete), 0);
        assert_int_equal(plan.limit, steps[i].limit);
    }
    for (int i = 0; i < 10; i++) {
        struct reflector_outcome outcome = {OPENED, .bytes = 1u << 30};
        char token[2] = {(char)('k' + i), '\0'};
        assert_int_equal(reflector_plan_page(&plan, "1", token, &outcome, &complete), 0);
    }
    assert_int_equal(plan.limit, 1);
    reflector_plan_done(&plan);
}

static void test_a_failed_page(void **state)
{
    (void)state;
    static const struct {
        struct reflector_outcome outcome;
        bool keeps_token;
        uint64_t delay_ms;
    } cases[] = {
        {{.status = 0}, true, 500},
        {{.status = 503}, true, 500},
        {{.status = 403}, true, 500},
        {{.status = 429, .retry_after_ms = 9000}, true, 9000},
        {{.status = 410, .gone = true}, false, 500},
        {{.status = 400}, false, 500},
        {{.status = 200, .opened = true, .lost = true}, false, 500},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct reflector_plan plan;
        bool complete;
        reflector_plan_init(&plan, 100);
        assert_int_equal(reflector_plan_page(&plan, "1", "t", &page, &complete), 0);
        assert_int_equal(reflector_plan_failed_page(&plan, &cases[i].outcome, 0),
                         cases[i].delay_ms);
        assert_int_equal(plan.continue_token != NULL, cases[i].keeps_token);
        assert_int_equal(plan.step, REFLECTOR_LIST);
        assert_int_equal(plan.failures, 1);
        assert_int_equal(plan.limit, 100);
        reflector_plan_done(&plan);
    }
}

static void test_a_token_that_always_expires(void **state)
{
    (void)state;
    const struct reflector_outcome gone = {.status = 410, .gone = true};
    struct reflector_plan plan;
    bool complete;

    reflector_plan_init(&plan, 100);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(plan.limit, 100);
        assert_int_equal(reflector_plan_page(&plan, "1", "t", &page, &complete), 0);
        (void)reflector_plan_failed_page(&plan, &gone, 0);
    }
    assert_int_equal(plan.limit, 0);
    list_once(&plan);
    assert_int_equal(plan.limit, 100);
    reflector_plan_done(&plan);
}

static void test_a_token_that_always_fails(void **state)
{
    (void)state;
    const struct reflector_outcome broken = {.status = 500};
    struct reflector_plan plan;
    bool complete;

    reflector_plan_init(&plan, 100);
    assert_int_equal(reflector_plan_page(&plan, "1", "t", &page, &complete), 0);
    for (int i = 0; i < 5; i++)
        (void)reflector_plan_failed_page(&plan, &broken, 0);
    assert_non_null(plan.continue_token);
    (void)reflector_plan_failed_page(&plan, &broken, 0);
    assert_null(plan.continue_token);
    reflector_plan_done(&plan);
}

static void test_the_end_of_a_watch(void **state)
{
    (void)state;
    static const struct {
        struct reflector_outcome outcome;
        enum reflector_step step;
        uint64_t delay_ms;
        unsigned int failures;
    } cases[] = {
        /* Ended as it should. */
        {{OPENED, .lifetime_ms = 300000}, REFLECTOR_WATCH, 0, 0},
        {{OPENED, .lifetime_ms = 300000, .events = 5}, REFLECTOR_WATCH, 0, 0},
        {{OPENED, .lifetime_ms = 3000}, REFLECTOR_WATCH, 0, 0},
        /* Closed at once. */
        {{OPENED, .lifetime_ms = 100, .events = 1}, REFLECTOR_WATCH, 0, 0},
        {{OPENED, .lifetime_ms = 100}, REFLECTOR_WATCH, 500, 1},
        /* Broken off, with and without having been of use. */
        {{.opened = true, .lifetime_ms = 9000}, REFLECTOR_WATCH, 500, 0},
        {{.opened = true, .lifetime_ms = 10, .events = 1}, REFLECTOR_WATCH, 500, 0},
        {{.opened = true, .lifetime_ms = 10}, REFLECTOR_WATCH, 500, 1},
        {{.lifetime_ms = 30000}, REFLECTOR_WATCH, 500, 1},
        /* Refused. */
        {{.status = 429, .retry_after_ms = 3000}, REFLECTOR_WATCH, 3000, 1},
        {{.status = 500}, REFLECTOR_WATCH, 500, 1},
        {{.status = 401}, REFLECTOR_WATCH, 500, 1},
        {{.status = 403}, REFLECTOR_WATCH, 500, 1},
        {{.status = 404}, REFLECTOR_LIST, 500, 1},
        {{.status = 400}, REFLECTOR_LIST, 500, 1},
        /* The version is too old, or something could not be understood. */
        {{.status = 410, .gone = true}, REFLECTOR_LIST, 1000, 0},
        {{OPENED, .gone = true, .lifetime_ms = 60000}, REFLECTOR_LIST, 0, 0},
        {{OPENED, .lost = true, .lifetime_ms = 400, .events = 9}, REFLECTOR_LIST, 0, 0},
        {{OPENED, .error_event = true, .lifetime_ms = 60000, .events = 9}, REFLECTOR_WATCH, 500, 1},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct reflector_plan plan;
        reflector_plan_init(&plan, 100);
        list_once(&plan);
        assert_int_equal(reflector_plan_watch_ended(&plan, &cases[i].outcome, 0),
                         cases[i].delay_ms);
        assert_int_equal(plan.step, cases[i].step);
        assert_int_equal(plan.failures, cases[i].failures);
        reflector_plan_done(&plan);
    }
}

/* Lists that only lead to the next 410 come ever more slowly; an event makes them count anew. */
static void test_no_busy_loop_of_lists(void **state)
{
    (void)state;
    const struct reflector_outcome gone = {.status = 410, .gone = true};
    const struct reflector_outcome after_event = {OPENED, .gone = true, .events = 1,
                                                  .lifetime_ms = 5};
    struct reflector_plan plan;
    uint64_t total_ms = 0;

    reflector_plan_init(&plan, 100);
    for (int i = 0; i < 20; i++) {
        list_once(&plan);
        total_ms += reflector_plan_watch_ended(&plan, &gone, 0);
        assert_int_equal(plan.step, REFLECTOR_LIST);
    }
    /* 1, 1, 2, 4, 8, 16 and then 30 seconds each. */
    assert_int_equal(total_ms, 32000 + 14 * 30000);
    for (int i = 0; i < 5; i++) {
        list_once(&plan);
        assert_int_equal(reflector_plan_watch_ended(&plan, &after_event, 0), i < 3 ? 0 : 995);
    }
    reflector_plan_done(&plan);
}

/* A burst may be cut a few times without a pause; a server that always cuts is asked slowly. */
static void test_short_watches(void **state)
{
    (void)state;
    const struct reflector_outcome cut = {OPENED, .events = 9, .lifetime_ms = 200};
    const struct reflector_outcome whole = {OPENED, .events = 9, .lifetime_ms = 2000};
    struct reflector_plan plan;

    reflector_plan_init(&plan, 100);
    list_once(&plan);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 6; i++)
            assert_int_equal(reflector_plan_watch_ended(&plan, &cut, 0), i < 3 ? 0 : 800);
        assert_int_equal(reflector_plan_watch_ended(&plan, &whole, 0), 0);
    }
    assert_int_equal(plan.failures, 0);
    reflector_plan_done(&plan);
}

static void test_versions_are_opaque(void **state)
{
    (void)state;
    char version[MAX_KUBE_VERSION + 1];
    struct reflector_plan plan;

    memset(version, '9', sizeof(version) - 1);
    version[sizeof(version) - 1] = '\0';
    reflector_plan_init(&plan, 100);
    list_once(&plan);
    reflector_plan_event(&plan, "abc/12");
    assert_string_equal(plan.version, "abc/12");
    reflector_plan_event(&plan, "9");
    assert_string_equal(plan.version, "9");
    reflector_plan_event(&plan, "");
    reflector_plan_event(&plan, version);
    assert_string_equal(plan.version, "9");
    reflector_plan_done(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_pages_that_can_not_be_right),
        cmocka_unit_test(test_pages_are_bounded_in_bytes),
        cmocka_unit_test(test_a_failed_page),
        cmocka_unit_test(test_a_token_that_always_expires),
        cmocka_unit_test(test_a_token_that_always_fails),
        cmocka_unit_test(test_the_end_of_a_watch),
        cmocka_unit_test(test_no_busy_loop_of_lists),
        cmocka_unit_test(test_short_watches),
        cmocka_unit_test(test_versions_are_opaque),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
