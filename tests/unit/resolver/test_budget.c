/* SPDX-License-Identifier: Apache-2.0 */
#include "messages.h"
#include "node-agent/resolver/budget.h"
#include "tests/unit/common/cmocka_setup.h"

#include <stdio.h>
#include <string.h>

#define SLOWLY 1000 /* ms between queries: no rate stands in the way */

static struct budget budget;

static int reset(void **state)
{
    (void)state;
    memset(&budget, 0, sizeof(budget));
    return 0;
}

static void test_a_bucket_gives_its_burst_then_its_rate(void **state)
{
    (void)state;
    struct token_bucket bucket = {0};
    unsigned int taken = 0;
    while (bucket_take(&bucket, 1000, 10, 25))
        taken++;
    assert_int_equal(taken, 25);
    assert_false(bucket_take(&bucket, 1099, 10, 25));
    assert_true(bucket_take(&bucket, 1100, 10, 25));
    assert_false(bucket_take(&bucket, 1100, 10, 25));
    for (taken = 0; bucket_take(&bucket, 2100, 10, 25); taken++)
        continue;
    assert_int_equal(taken, 10);
    /* Never more than the burst, however long it was. */
    for (taken = 0; bucket_take(&bucket, UINT64_MAX, 10, 25); taken++)
        continue;
    assert_int_equal(taken, 25);
}

static void test_a_bucket_and_a_clock_that_stands(void **state)
{
    (void)state;
    struct token_bucket bucket = {0};
    unsigned int taken = 0;
    while (taken < 100 && bucket_take(&bucket, 0, 10, 25))
        taken++;
    assert_int_equal(taken, 25);
    /* Back in time is no time. */
    assert_false(bucket_take(&bucket, 0, 10, 25));
}

static struct dns_name numbered(unsigned int number)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%u.t", number);
    return name_of(text);
}

static void test_distinct_names_are_few(void **state)
{
    (void)state;
    uint64_t now = 1;
    for (unsigned int i = 0; i < MAX_RUN_NAMES; i++, now += SLOWLY) {
        struct dns_name name = numbered(i);
        assert_int_equal(budget_take_upstream(&budget, now, &name), BUDGET_OK);
    }
    struct dns_name more = numbered(MAX_RUN_NAMES), known = numbered(17);
    assert_int_equal(budget_take_upstream(&budget, now, &more), BUDGET_SPENT);
    assert_int_equal(budget_take_upstream(&budget, now, &known), BUDGET_OK);
    assert_int_equal(budget.name_count, MAX_RUN_NAMES);
}

static void test_their_bytes_are_few(void **state)
{
    (void)state;
    char text[240];
    uint64_t now = 1;
    size_t bytes = 0;
    for (unsigned int i = 0;; i++, now += SLOWLY) {
        memset(text, 'x', sizeof(text));
        for (size_t dot = 60; dot < 200; dot += 60)
            text[dot] = '.';
        (void)snprintf(text + 200, sizeof(text) - 200, ".%u.t", i);
        struct dns_name name = name_of(text);
        if (budget_take_upstream(&budget, now, &name) != BUDGET_OK)
            break;
        bytes += name.len;
    }
    assert_true(bytes <= MAX_RUN_NAME_BYTES && bytes > MAX_RUN_NAME_BYTES - 256);
    assert_int_equal(budget.name_bytes, bytes);
}

static void test_questions_are_counted_though_the_name_is_known(void **state)
{
    (void)state;
    struct dns_name name = name_of("example.org");
    uint64_t now = 1;
    for (unsigned int i = 0; i < MAX_RUN_UPSTREAM_QUERIES; i++, now += SLOWLY)
        assert_int_equal(budget_take_upstream(&budget, now, &name), BUDGET_OK);
    assert_int_equal(budget_take_upstream(&budget, now, &name), BUDGET_SPENT);
    assert_int_equal(budget.name_count, 1);
}

static void test_a_rate_takes_nothing_from_the_totals(void **state)
{
    (void)state;
    struct dns_name name = name_of("example.org"), other = name_of("example.net");
    for (unsigned int i = 0; i < UPSTREAM_BURST; i++)
        assert_int_equal(budget_take_upstream(&budget, 5, &name), BUDGET_OK);
    assert_int_equal(budget_take_upstream(&budget, 5, &other), BUDGET_RATE);
    assert_int_equal(budget.upstream_queries, UPSTREAM_BURST);
    assert_int_equal(budget.name_count, 1);
}

static void test_answers_are_bounded(void **state)
{
    (void)state;
    struct dns_name name = name_of("example.org");
    assert_true(budget_take_answer(&budget, MAX_RUN_ANSWER_BYTES - 10));
    assert_int_equal(budget_take_upstream(&budget, 1, &name), BUDGET_OK);
    assert_false(budget_take_answer(&budget, 11));
    assert_int_equal(budget_take_upstream(&budget, 1 + SLOWLY, &name), BUDGET_SPENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_bucket_gives_its_burst_then_its_rate),
        cmocka_unit_test(test_a_bucket_and_a_clock_that_stands),
        cmocka_unit_test_setup(test_distinct_names_are_few, reset),
        cmocka_unit_test_setup(test_their_bytes_are_few, reset),
        cmocka_unit_test_setup(test_questions_are_counted_though_the_name_is_known, reset),
        cmocka_unit_test_setup(test_a_rate_takes_nothing_from_the_totals, reset),
        cmocka_unit_test_setup(test_answers_are_bounded, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
