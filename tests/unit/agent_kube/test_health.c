/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/agent/agent_metrics.h"
#include "node-agent/agent/health.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

struct fixture {
    struct loop *loop;
    struct loop_timer *timer;
    struct health *health;
    struct agent_metrics metrics;
    const char *unready;
    unsigned int port;
};

static bool ready(const char **ret_text, void *arg)
{
    const struct fixture *fixture = arg;

    if (fixture->unready)
        *ret_text = fixture->unready;
    return !fixture->unready;
}

static int print_metrics(struct buf *body, void *arg)
{
    struct fixture *fixture = arg;
    const struct agent_counts counts = {.active = 2, .held = 1, .writes = 3, .spooled = 4};

    return agent_metrics_print(&fixture->metrics, &counts, body);
}

static void on_timer(void *arg)
{
    struct fixture *fixture = arg;

    loop_stop(fixture->loop);
}

static struct sockaddr_in loopback(unsigned int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/* One that was free a moment ago. */
static unsigned int free_port(void)
{
    struct sockaddr_in address = loopback(0);
    socklen_t len = sizeof(address);
    cleanup_close int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(sock >= 0);
    assert_int_equal(bind(sock, (const struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(sock, (struct sockaddr *)&address, &len), 0);
    return ntohs(address.sin_port);
}

static int setup(void **state)
{
    static struct fixture fixture;
    static const struct health_sources sources = {.ready = ready, .metrics = print_metrics};
    char address[32];
    struct error err = {0};

    fixture = (struct fixture){.port = free_port()};
    agent_metrics_init(&fixture.metrics);
    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", fixture.port);
    assert_int_equal(loop_new(&fixture.loop, &err), 0);
    assert_int_equal(loop_timer_new(fixture.loop, on_timer, &fixture, &fixture.timer), 0);
    if (health_new(fixture.loop, address, &sources, &fixture, &fixture.health, &err) < 0)
        fail_msg("%s", err.text);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    health_free(fixture->health);
    loop_timer_free(fixture->timer);
    loop_free(fixture->loop);
    return 0;
}

static void get(struct fixture *fixture, const char *path, struct buf *answer)
{
    struct sockaddr_in address = loopback(fixture->port);
    cleanup_close int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char request[128];

    assert_true(sock >= 0);
    assert_int_equal(connect(sock, (const struct sockaddr *)&address, sizeof(address)), 0);
    (void)snprintf(request, sizeof(request),
                   "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
    assert_int_equal(fd_write_full(sock, request, strlen(request)), 0);
    assert_int_equal(fd_set_nonblock(sock, true), 0);
    buf_init(answer, 1u << 20);
    for (int turn = 0; turn < 200; turn++) {
        assert_int_equal(loop_timer_arm(fixture->timer, 20), 0);
        assert_int_equal(loop_run(fixture->loop, NULL), 0);
        int r = fd_read_all(sock, answer);
        if (r == 0 && answer->len > 0)
            return;
        assert_true(r == 0 || r == -EAGAIN);
    }
    fail_msg("no answer to %s", path);
}

static void expect(struct fixture *fixture, const char *path, const char *first, const char *body)
{
    cleanup_buf struct buf answer = {0};

    get(fixture, path, &answer);
    if (strncmp(buf_str(&answer), first, strlen(first)) != 0 || !strstr(buf_str(&answer), body))
        fail_msg("%s: %s", path, buf_str(&answer));
}

static void test_answers(void **state)
{
    struct fixture *fixture = *state;

    expect(fixture, "/healthz", "HTTP/1.1 200", "ok\n");
    expect(fixture, "/readyz", "HTTP/1.1 200", "ok\n");
    fixture->unready = "the jailer has not answered yet";
    expect(fixture, "/readyz", "HTTP/1.1 503", "the jailer has not answered yet\n");
    expect(fixture, "/healthz", "HTTP/1.1 200", "ok\n");
    expect(fixture, "/", "HTTP/1.1 404", "");
}

static void test_metrics(void **state)
{
    struct fixture *fixture = *state;

    agent_metrics_finished(&fixture->metrics, RUN_REASON_OOM_KILLED);
    agent_metrics_stage(&fixture->metrics, AGENT_STAGE_MARK, 300);
    agent_metrics_stage(&fixture->metrics, AGENT_STAGE_DELIVER, -300);
    agent_metrics_written(&fixture->metrics, STATUS_WRITE_GIVE_BACK, STATUS_STEP_WRITTEN);
    agent_metrics_written(&fixture->metrics, STATUS_WRITE_GIVE_BACK, STATUS_STEP_GONE);
    agent_metrics_written(&fixture->metrics, STATUS_WRITE_RESULT, STATUS_STEP_WRITTEN);
    agent_metrics_written(&fixture->metrics, STATUS_WRITE_RESULT, STATUS_STEP_TOO_LATE);
    const struct run_status status = {
        .denied_count = 3,
        .denied = {{.kind = RUN_DENIED_NETWORK, .count = 5},
                   {.kind = RUN_DENIED_SYSCALL, .count = 1},
                   {.kind = RUN_DENIED_NETWORK, .count = 2}},
    };
    agent_metrics_denied(&fixture->metrics, &status);
    static const char *const lines[] = {
        "sandboxrun_denied_total{kind=\"Network\"} 7\n",
        "sandboxrun_denied_total{kind=\"Syscall\"} 1\n",
        "sandboxrun_agent_runs_finished_total{reason=\"OOMKilled\"} 1\n",
        "sandboxrun_agent_stage_duration_seconds_bucket{stage=\"mark\",le=\"0.0002\"} 0\n",
        "sandboxrun_agent_stage_duration_seconds_bucket{stage=\"mark\",le=\"0.0005\"} 1\n",
        "sandboxrun_agent_stage_duration_seconds_sum{stage=\"deliver\"} 0\n",
        "sandboxrun_agent_runs_given_back_total 1\n",
        "sandboxrun_agent_results_too_late_total 1\n",
        "sandboxrun_agent_runs_active 2\n",
        "sandboxrun_agent_runs_held 1\n",
        "sandboxrun_agent_writes_pending 3\n",
        "sandboxrun_agent_spool_entries 4\n",
    };
    for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
        expect(fixture, "/metrics", "HTTP/1.1 200", lines[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_answers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_metrics, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
