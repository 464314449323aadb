/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/jailer/check.h"
#include "tests/unit/common/cmocka_setup.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>

static struct checks checks;

static const struct check_kind required = {"a.required", PROTO_REQUIRED, "do this"};
static const struct check_kind recommended = {"a.recommended", PROTO_RECOMMENDED, "do that"};
static const struct check_kind information = {"some.information", PROTO_INFORMATION, ""};

static int clear(void **state)
{
    (void)state;
    checks.count = 0;
    return 0;
}

static void test_only_required_ones_decide(void **state)
{
    (void)state;
    assert_true(checks_are_met(&checks));
    check_add(&checks, &required, PROTO_OUTCOME_OK, "found %d", 1);
    check_add(&checks, &recommended, PROTO_OUTCOME_FAILED, "found none");
    check_add(&checks, &information, PROTO_OUTCOME_SKIPPED, "found nothing");
    assert_true(checks_are_met(&checks));
    check_add(&checks, &required, PROTO_OUTCOME_FAILED, "found %s", "none");
    assert_false(checks_are_met(&checks));
    checks.results[3].outcome = PROTO_OUTCOME_SKIPPED;
    assert_false(checks_are_met(&checks));
}

static void test_advice_is_for_what_failed(void **state)
{
    (void)state;
    struct error err = {0};
    (void)error_set(&err, EPERM, "was refused");
    check_add_result(&checks, &required, 0, &err, "all is well");
    check_add_result(&checks, &required, -EPERM, &err, "all is well");
    check_add_skipped(&checks, &required, "root");
    assert_int_equal(checks.count, 3);
    assert_int_equal(checks.results[0].outcome, PROTO_OUTCOME_OK);
    assert_string_equal(checks.results[0].figure, "all is well");
    assert_string_equal(checks.results[0].advice, "");
    assert_int_equal(checks.results[1].outcome, PROTO_OUTCOME_FAILED);
    assert_string_equal(checks.results[1].figure, "was refused");
    assert_string_equal(checks.results[1].advice, "do this");
    assert_int_equal(checks.results[2].outcome, PROTO_OUTCOME_SKIPPED);
    assert_non_null(strstr(checks.results[2].figure, "root"));
    assert_string_equal(checks.results[2].advice, "");
}

static void test_names_of_what_failed(void **state)
{
    (void)state;
    char names[64], few[16];
    checks_name_failed(&checks, names, sizeof(names));
    assert_string_equal(names, "");
    assert_int_equal(checks_require(&checks, NULL), 0);
    check_add(&checks, &required, PROTO_OUTCOME_FAILED, "-");
    check_add(&checks, &recommended, PROTO_OUTCOME_FAILED, "-");
    check_add(&checks, &required, PROTO_OUTCOME_SKIPPED, "-");
    struct error cause;
    (void)error_set(&cause, EIO, "the start failed");
    checks_add_start(&checks, &cause);
    checks_name_failed(&checks, names, sizeof(names));
    assert_string_equal(names, "a.required, start");
    assert_int_equal(checks_require(&checks, &cause), -ENOTSUP);
    assert_string_equal(cause.text, "a.required: -; do this");
    checks_name_failed(&checks, few, sizeof(few));
    assert_string_equal(few, "a.required, sta");
    assert_false(checks_are_met(&checks));
}

/* What comes from files of the host can be sent all the same. */
static void test_any_text_can_be_sent(void **state)
{
    (void)state;
    int socks[2];
    char big[2 * PROTO_FIGURE_SIZE];
    struct error err = {0};
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    check_add(&checks, &required, PROTO_OUTCOME_OK, "%s", "\x1b[2J|/bin/\xff\n\x7f");
    check_add(&checks, &required, PROTO_OUTCOME_OK, "%s", big);
    assert_string_equal(checks.results[0].figure, "?[2J|/bin/???");
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks), 0);
    assert_int_equal(checks_send(&checks, socks[0], &err), 0);
    for (size_t i = 0; i < 2; i++) {
        struct proto_message message;
        assert_int_equal(proto_receive(socks[1], &message, NULL, NULL, &err), 1);
        assert_int_equal(message.type, PROTO_CHECK);
        assert_memory_equal(&message.check, &checks.results[i], sizeof(message.check));
    }
    (void)fd_close(socks[1]);
    assert_int_equal(checks_send(&checks, socks[0], &err), -EPIPE);
    assert_non_null(strstr(err.text, "a.required"));
    (void)fd_close(socks[0]);
}

static void test_there_is_a_maximum(void **state)
{
    (void)state;
    for (int i = 0; i < PROTO_MAX_CHECKS + 2; i++)
        check_add(&checks, &required, PROTO_OUTCOME_OK, "%d", i);
    assert_int_equal(checks.count, PROTO_MAX_CHECKS);
    assert_string_equal(checks.results[PROTO_MAX_CHECKS - 1].figure, "95");
}

static int succeed(const void *arg, struct error *err)
{
    (void)err;
    return *(const int *)arg == 7 ? 0 : -EINVAL;
}

static int fail_with_words(const void *arg, struct error *err)
{
    (void)arg;
    return error_set(err, ENOSPC, "no room for %d", 3);
}

static int fail_silently(const void *arg, struct error *err)
{
    (void)arg;
    (void)err;
    return -ENXIO;
}

static int die(const void *arg, struct error *err)
{
    (void)arg;
    (void)err;
    return raise(SIGKILL);
}

static void test_trials_report_from_their_process(void **state)
{
    (void)state;
    struct error err = {0};
    const int argument = 7;
    assert_int_equal(check_trial(succeed, &argument, &err), 0);
    assert_int_equal(check_trial(fail_with_words, NULL, &err), -ENOSPC);
    assert_string_equal(err.text, "no room for 3");
    assert_int_equal(check_trial(fail_silently, NULL, &err), -ENXIO);
    assert_true(err.text[0] != '\0');
    assert_int_equal(check_trial(die, NULL, &err), -ECHILD);
}

static void test_an_obstacle_keeps_a_trial_from_being_made(void **state)
{
    (void)state;
    const int argument = 8;
    struct check_subject subject = {.checks = &checks, .obstacle = "capability.sys-admin"};
    check_try(&subject, &required, die, NULL, "-");
    subject.obstacle = NULL;
    check_try(&subject, &required, succeed, &argument, "-");
    assert_int_equal(checks.results[0].outcome, PROTO_OUTCOME_SKIPPED);
    assert_non_null(strstr(checks.results[0].figure, "capability.sys-admin"));
    assert_int_equal(checks.results[1].outcome, PROTO_OUTCOME_FAILED);
}

static void test_kernel_releases(void **state)
{
    (void)state;
    static const struct {
        const char *release;
        bool new_enough;
    } cases[] = {
        {"5.14.0-427.el9.x86_64", true},
        {"5.14", true},
        {"5.13.19", false},
        {"5.9.1", false},
        {"4.18.0-553.el8", false},
        {"6.1.0-18-cloud-amd64", true},
        {"6.18.44-fc-v857", true},
        {"10.0.0", true},
        {"", false},
        {"6", false},
        {"6.", false},
        {"6.x", false},
        {"x.6", false},
        {"-6.1", false},
        {"99999999999.1", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        if (checks_kernel_is_new_enough(cases[i].release) != cases[i].new_enough)
            fail_msg("%s", cases[i].release);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_only_required_ones_decide, clear),
        cmocka_unit_test_setup(test_advice_is_for_what_failed, clear),
        cmocka_unit_test_setup(test_names_of_what_failed, clear),
        cmocka_unit_test_setup(test_any_text_can_be_sent, clear),
        cmocka_unit_test_setup(test_there_is_a_maximum, clear),
        cmocka_unit_test_setup(test_trials_report_from_their_process, clear),
        cmocka_unit_test_setup(test_an_obstacle_keeps_a_trial_from_being_made, clear),
        cmocka_unit_test_setup(test_kernel_releases, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
