/* SPDX-License-Identifier: Apache-2.0 */
#include "common/metrics.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char *const results[] = {"ok", "failed", NULL};
static const double bounds[] = {0.005, 0.1, 2.5};

static void test_exposition(void **state)
{
    (void)state;
    struct metric runs = {.name = "sandboxrun_runs_total",
                          .help = "Runs by result.",
                          .type = METRIC_COUNTER,
                          .label = "result",
                          .label_values = results};
    struct metric active = {.name = "sandboxrun_active", .help = "Runs now.", .type = METRIC_GAUGE};
    struct metric seconds = {.name = "sandboxrun_run_seconds",
                             .help = "Time of a run.",
                             .type = METRIC_HISTOGRAM,
                             .buckets = bounds,
                             .bucket_count = 3};
    metric_add(&runs, 1, 2);
    metric_add(&runs, 1, 1);
    metric_set(&active, 0, 3);
    metric_add(&active, 0, -0.5);
    metric_observe(&seconds, 0, 0.005); /* a bound belongs to its bucket */
    metric_observe(&seconds, 0, 0.0051);
    metric_observe(&seconds, 0, 0.1);
    metric_observe(&seconds, 0, 100);

    struct metric *const all[] = {&runs, &active, &seconds};
    cleanup_buf struct buf buf = BUF_INIT(10000);
    assert_int_equal(metrics_print(all, 3, &buf), 0);
    assert_string_equal(buf_str(&buf), "# HELP sandboxrun_runs_total Runs by result.\n"
                                       "# TYPE sandboxrun_runs_total counter\n"
                                       "sandboxrun_runs_total{result=\"ok\"} 0\n"
                                       "sandboxrun_runs_total{result=\"failed\"} 3\n"
                                       "# HELP sandboxrun_active Runs now.\n"
                                       "# TYPE sandboxrun_active gauge\n"
                                       "sandboxrun_active 2.5\n"
                                       "# HELP sandboxrun_run_seconds Time of a run.\n"
                                       "# TYPE sandboxrun_run_seconds histogram\n"
                                       "sandboxrun_run_seconds_bucket{le=\"0.005\"} 1\n"
                                       "sandboxrun_run_seconds_bucket{le=\"0.1\"} 3\n"
                                       "sandboxrun_run_seconds_bucket{le=\"2.5\"} 3\n"
                                       "sandboxrun_run_seconds_bucket{le=\"+Inf\"} 4\n"
                                       "sandboxrun_run_seconds_sum 100.1101\n"
                                       "sandboxrun_run_seconds_count 4\n");
}

static void test_labelled_histogram(void **state)
{
    (void)state;
    struct metric metric = {.name = "s",
                            .help = "h",
                            .type = METRIC_HISTOGRAM,
                            .label = "result",
                            .label_values = results,
                            .buckets = bounds,
                            .bucket_count = 1};
    metric_observe(&metric, 1, 0.001);
    struct metric *const all[] = {&metric};
    cleanup_buf struct buf buf = BUF_INIT(10000);
    assert_int_equal(metrics_print(all, 1, &buf), 0);
    assert_non_null(strstr(buf_str(&buf), "s_bucket{result=\"ok\",le=\"0.005\"} 0\n"));
    assert_non_null(strstr(buf_str(&buf), "s_bucket{result=\"failed\",le=\"0.005\"} 1\n"));
    assert_non_null(strstr(buf_str(&buf), "s_bucket{result=\"failed\",le=\"+Inf\"} 1\n"));
    assert_non_null(strstr(buf_str(&buf), "s_sum{result=\"failed\"} 0.001\n"));
    assert_non_null(strstr(buf_str(&buf), "s_count{result=\"failed\"} 1\n"));
}

/* What has no place counts nowhere. */
static void test_misuse_changes_nothing(void **state)
{
    (void)state;
    struct metric counter = {.name = "c",
                             .help = "h",
                             .type = METRIC_COUNTER,
                             .label = "result",
                             .label_values = results};
    struct metric before = counter;
    metric_add(&counter, 2, 1);
    metric_add(&counter, UINT32_MAX, 1);
    metric_add(&counter, 0, -1);
    metric_add(&counter, 0, (double)NAN);
    metric_add(&counter, 0, HUGE_VAL);
    metric_set(&counter, 0, 5);
    metric_observe(&counter, 0, 5);
    assert_memory_equal(&counter, &before, sizeof(counter));

    struct metric histogram = {.name = "h", .help = "h", .type = METRIC_HISTOGRAM};
    before = histogram;
    metric_add(&histogram, 0, 1);
    metric_set(&histogram, 0, 1);
    metric_observe(&histogram, 1, 1);
    metric_observe(&histogram, 0, (double)NAN);
    assert_memory_equal(&histogram, &before, sizeof(histogram));
}

static void test_too_many_buckets_stay_in_bounds(void **state)
{
    (void)state;
    static double many[MAX_METRIC_BUCKETS + 5];
    for (unsigned int i = 0; i < MAX_METRIC_BUCKETS + 5; i++)
        many[i] = i;
    struct metric metric = {.name = "s",
                            .help = "h",
                            .type = METRIC_HISTOGRAM,
                            .buckets = many,
                            .bucket_count = MAX_METRIC_BUCKETS + 5};
    metric_observe(&metric, 0, 1000);
    assert_int_equal(metric.counts[0][MAX_METRIC_BUCKETS], 1);
    assert_int_equal(metric.counts[1][0], 0);
}

static void test_print_beyond_the_buffer(void **state)
{
    (void)state;
    struct metric metric = {.name = "a", .help = "h", .type = METRIC_GAUGE};
    struct metric *const all[] = {&metric};
    cleanup_buf struct buf buf = BUF_INIT(33);
    assert_int_equal(buf_append_str(&buf, "kept"), 0);
    assert_int_equal(metrics_print(all, 1, &buf), -EMSGSIZE);
    assert_string_equal(buf_str(&buf), "kept");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exposition),
        cmocka_unit_test(test_labelled_histogram),
        cmocka_unit_test(test_misuse_changes_nothing),
        cmocka_unit_test(test_too_many_buckets_stay_in_bounds),
        cmocka_unit_test(test_print_beyond_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
