/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/controller_metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"

static void test_outcomes(void **state)
{
    (void)state;
    static const struct {
        int status;
        enum write_outcome outcome;
    } cases[] = {
        {200, WRITE_OUTCOME_OK},        {201, WRITE_OUTCOME_OK},
        {299, WRITE_OUTCOME_OK},        {302, WRITE_OUTCOME_REFUSED},
        {400, WRITE_OUTCOME_REFUSED},   {403, WRITE_OUTCOME_REFUSED},
        {404, WRITE_OUTCOME_GONE},      {409, WRITE_OUTCOME_CONFLICT},
        {422, WRITE_OUTCOME_REFUSED},   {429, WRITE_OUTCOME_THROTTLED},
        {500, WRITE_OUTCOME_SERVER},    {504, WRITE_OUTCOME_SERVER},
        {0, WRITE_OUTCOME_UNREACHABLE}, {600, WRITE_OUTCOME_UNREACHABLE},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        assert_int_equal(write_outcome(cases[i].status), cases[i].outcome);
}

static void test_print(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "\nsandboxrun_controller_queue_length 3\n",
        "\nsandboxrun_controller_runs{phase=\"Running\"} 4\n",
        "\nsandboxrun_controller_runs{phase=\"Failed\"} 0\n",
        "\nsandboxrun_controller_nodes{state=\"ready\"} 0\n",
        "\nsandboxrun_controller_runs_failed_total{reason=\"QueueTimeout\"} 2\n",
        "\nsandboxrun_controller_runs_failed_total{reason=\"NodeLost\"} 1\n",
        "\nsandboxrun_controller_runs_deleted_total{cause=\"ttl\"} 1\n",
        "\nsandboxrun_controller_writes_total{outcome=\"conflict\"} 1\n",
        "\nsandboxrun_controller_watch_errors_total{collection=\"sandboxnodes\"} 1\n",
        "\nsandboxrun_controller_assign_duration_seconds_count 1\n",
        "\nsandboxrun_controller_queue_duration_seconds_bucket{le=\"0.05\"} 1\n",
        "\nsandboxrun_controller_total_duration_seconds_bucket{le=\"0.5\"} 1\n",
    };
    static struct controller_metrics metrics;
    struct nodes nodes = {0};
    struct runs runs = {.nodes = &nodes, .waiting = 3, .counts = {[RUN_PHASE_RUNNING] = 4}};
    cleanup_buf struct buf text = BUF_INIT(1 << 16);
    controller_metrics_init(&metrics);
    controller_metrics_count_failed(&metrics, RUN_REASON_QUEUE_TIMEOUT);
    controller_metrics_count_failed(&metrics, RUN_REASON_QUEUE_TIMEOUT);
    controller_metrics_count_failed(&metrics, RUN_REASON_NODE_LOST);
    controller_metrics_count_failed(&metrics, RUN_REASON_COMPLETED);
    metric_add(&metrics.deleted, 0, 1);
    metric_add(&metrics.writes, WRITE_OUTCOME_CONFLICT, 1);
    metric_add(&metrics.watch_errors, WATCHED_AGENTS, 1);
    metric_observe(&metrics.assign_seconds, 0, 0.003);
    metric_observe(&metrics.queue_seconds, 0, 0.03);
    metric_observe(&metrics.total_seconds, 0, 0.3);
    assert_int_equal(controller_metrics_print(&metrics, &runs, &nodes, &text), 0);
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
        if (!strstr(buf_str(&text), lines[i]))
            fail_msg("%s is not in:\n%s", lines[i], buf_str(&text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
