/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/doctor_report.h"
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/json.h"
#include "common/yaml.h"

#include <string.h>

static struct doctor_report report;

static void add(enum proto_level level, enum proto_outcome outcome, const char *name,
                const char *figure, const char *advice)
{
    doctor_report_add(&report, name, outcome, figure, advice);
    report.checks[report.count - 1].level = level;
}

static int clear(void **state)
{
    (void)state;
    report.count = 0;
    return 0;
}

static int fill(void **state)
{
    (void)clear(state);
    add(PROTO_REQUIRED, PROTO_OUTCOME_OK, "root", "uid 0", "");
    add(PROTO_REQUIRED, PROTO_OUTCOME_FAILED, "cgroup.writable", "mounted read-only", "remount it");
    add(PROTO_REQUIRED, PROTO_OUTCOME_SKIPPED, "memory", "not tried", "");
    add(PROTO_RECOMMENDED, PROTO_OUTCOME_FAILED, "apparmor", "docker-default", "start unconfined");
    add(PROTO_INFORMATION, PROTO_OUTCOME_FAILED, "landlock", "none", "");
    return 0;
}

static void test_verdict(void **state)
{
    (void)state;
    assert_false(doctor_report_is_ok(&report));
    add(PROTO_RECOMMENDED, PROTO_OUTCOME_FAILED, "apparmor", "-", "");
    assert_true(doctor_report_is_ok(&report));
    add(PROTO_REQUIRED, PROTO_OUTCOME_OK, "root", "-", "");
    assert_true(doctor_report_is_ok(&report));
    add(PROTO_REQUIRED, PROTO_OUTCOME_SKIPPED, "trial", "-", "");
    assert_false(doctor_report_is_ok(&report));
    report.checks[2].outcome = PROTO_OUTCOME_FAILED;
    assert_false(doctor_report_is_ok(&report));
}

static void test_text(void **state)
{
    (void)state;
    cleanup_buf struct buf text = BUF_INIT(4096);
    assert_int_equal(doctor_report_print_text(&report, false, &text), 0);
    assert_string_equal(buf_str(&text),
                        "ok   root             uid 0\n"
                        "FAIL cgroup.writable  mounted read-only\n"
                        "     -> remount it\n"
                        "skip memory           not tried\n"
                        "warn apparmor         docker-default\n"
                        "     -> start unconfined\n"
                        "info landlock         none\n"
                        "\n"
                        "5 checks: 1 ok, 3 failed, 1 skipped. This machine can't make sandboxes "
                        "yet.\n");
}

static void test_text_with_ticks_and_crosses(void **state)
{
    (void)state;
    cleanup_buf struct buf text = BUF_INIT(4096);
    report.count = 2;
    assert_int_equal(doctor_report_print_text(&report, true, &text), 0);
    assert_string_equal(buf_str(&text),
                        "✓ root             uid 0\n"
                        "✗ cgroup.writable  mounted read-only\n"
                        "  → remount it\n"
                        "\n"
                        "2 checks: 1 ok, 1 failed, 0 skipped. This machine can't make sandboxes "
                        "yet.\n");
    buf_reset(&text);
    report.count = 1;
    assert_int_equal(doctor_report_print_text(&report, true, &text), 0);
    assert_non_null(strstr(buf_str(&text), "This machine can make sandboxes.\n"));
}

static void check_tree(const cJSON *tree)
{
    bool ok = true;
    assert_int_equal(json_get_bool(tree, "ok", &ok), 0);
    assert_false(ok);
    const cJSON *list = json_get(tree, "checks");
    assert_int_equal(cJSON_GetArraySize(list), 5);
    const cJSON *item = cJSON_GetArrayItem(list, 1);
    assert_string_equal(json_get_string(cJSON_GetArrayItem(list, 0), "outcome"), "ok");
    assert_null(json_get(cJSON_GetArrayItem(list, 0), "advice"));
    assert_string_equal(json_get_string(item, "name"), "cgroup.writable");
    assert_string_equal(json_get_string(item, "level"), "required");
    assert_string_equal(json_get_string(item, "outcome"), "failed");
    assert_string_equal(json_get_string(item, "figure"), "mounted read-only");
    assert_string_equal(json_get_string(item, "advice"), "remount it");
    assert_string_equal(json_get_string(cJSON_GetArrayItem(list, 2), "outcome"), "skipped");
    assert_string_equal(json_get_string(cJSON_GetArrayItem(list, 3), "level"), "recommended");
    assert_string_equal(json_get_string(cJSON_GetArrayItem(list, 4), "level"), "information");
}

static void test_json(void **state)
{
    (void)state;
    cleanup_buf struct buf text = BUF_INIT(4096);
    cleanup_json cJSON *tree = NULL;
    assert_int_equal(doctor_report_print_object(&report, OUTPUT_JSON, &text), 0);
    assert_int_equal(json_parse(buf_str(&text), text.len, &tree, NULL), 0);
    check_tree(tree);
    assert_int_equal(text.data[text.len - 1], '\n');
}

static void test_yaml(void **state)
{
    (void)state;
    cleanup_buf struct buf text = BUF_INIT(4096);
    cleanup_yaml_documents struct yaml_documents documents = {0};
    assert_int_equal(doctor_report_print_object(&report, OUTPUT_YAML, &text), 0);
    assert_int_equal(yaml_parse(buf_str(&text), text.len, &documents, NULL), 0);
    assert_int_equal(documents.count, 1);
    check_tree(documents.trees[0]);
}

static void test_what_does_not_fit(void **state)
{
    (void)state;
    struct buf text = BUF_INIT(100);
    assert_int_equal(doctor_report_print_text(&report, false, &text), -EMSGSIZE);
    buf_done(&text);
    text = BUF_INIT(100);
    assert_int_equal(doctor_report_print_object(&report, OUTPUT_JSON, &text), -EMSGSIZE);
    buf_done(&text);
}

/* A trial's message may quote what a program of the host said. */
static void test_what_is_added_is_plain_and_bounded(void **state)
{
    (void)state;
    char big[2 * PROTO_ADVICE_SIZE];
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    doctor_report_add(&report, "trial.x", PROTO_OUTCOME_FAILED, "a\x1b[2J\nb", big);
    assert_string_equal(report.checks[0].figure, "a^[[2J b");
    assert_int_equal(strlen(report.checks[0].advice), PROTO_ADVICE_SIZE - 1);
    for (unsigned int i = 0; i < MAX_DOCTOR_CHECKS + 2; i++)
        doctor_report_add(&report, "trial", PROTO_OUTCOME_OK, "-", "");
    assert_int_equal(report.count, MAX_DOCTOR_CHECKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_verdict, clear),
        cmocka_unit_test_setup(test_text, fill),
        cmocka_unit_test_setup(test_text_with_ticks_and_crosses, fill),
        cmocka_unit_test_setup(test_json, fill),
        cmocka_unit_test_setup(test_yaml, fill),
        cmocka_unit_test_setup(test_what_does_not_fit, fill),
        cmocka_unit_test_setup(test_what_is_added_is_plain_and_bounded, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
