/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/json.h"
#include "common/kube/event.h"
#include "common/kube/limits.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

#define TIME_US 1764454634123456 /* 2025-11-29T22:17:14.123456Z */

static const struct event_reporter reporter = {"sandboxrun.dev/node-agent", "node-a"};

static struct event example(void)
{
    return (struct event){.api_version = "sandboxrun.dev/v1alpha1",
                          .kind = "SandboxRun",
                          .name_space = "team-a",
                          .name = "fetch",
                          .uid = "0b1c",
                          .type = EVENT_WARNING,
                          .reason = "EgressDenied",
                          .action = "Connect",
                          .note = "refused \"10.0.0.1:80/TCP\""};
}

static cJSON *encode(const struct event *event)
{
    cleanup_buf struct buf path = BUF_INIT(MAX_EVENT_PATH);
    cleanup_buf struct buf body = BUF_INIT(MAX_EVENT_BODY);
    struct error err = {0};
    cJSON *tree = NULL;
    assert_int_equal(event_encode(event, &reporter, TIME_US, &path, &body, &err), 0);
    assert_string_equal(buf_str(&path), "/apis/events.k8s.io/v1/namespaces/team-a/events");
    if (json_parse(buf_str(&body), body.len, &tree, &err) < 0)
        fail_msg("%s: %s", buf_str(&body), err.text);
    return tree;
}

static void test_encode(void **state)
{
    (void)state;
    const struct event event = example();
    cleanup_json cJSON *tree = encode(&event);
    static const struct {
        const char *path, *text;
    } fields[] = {
        {"apiVersion", "events.k8s.io/v1"},
        {"kind", "Event"},
        {"metadata.name", "fetch.644c31bb070c0"},
        {"metadata.namespace", "team-a"},
        {"regarding.apiVersion", "sandboxrun.dev/v1alpha1"},
        {"regarding.kind", "SandboxRun"},
        {"regarding.namespace", "team-a"},
        {"regarding.name", "fetch"},
        {"regarding.uid", "0b1c"},
        {"eventTime", "2025-11-29T22:17:14.123456Z"},
        {"type", "Warning"},
        {"reason", "EgressDenied"},
        {"action", "Connect"},
        {"note", "refused \"10.0.0.1:80/TCP\""},
        {"reportingController", "sandboxrun.dev/node-agent"},
        {"reportingInstance", "node-a"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        const char *text = json_get_string(tree, fields[i].path);
        if (!text || strcmp(text, fields[i].text) != 0)
            fail_msg("%s is %s", fields[i].path, text ? text : "absent");
    }
    assert_int_equal(cJSON_GetArraySize(tree), 11);
}

static void test_normal(void **state)
{
    (void)state;
    struct event event = example();
    event.type = EVENT_NORMAL;
    cleanup_json cJSON *tree = encode(&event);
    assert_string_equal(json_get_string(tree, "type"), "Normal");
}

/* The name of an event has room for the time behind the object's, and no label ends in '-'. */
static void test_long_names_are_cut(void **state)
{
    (void)state;
    char name[MAX_EVENT_NAME + 1];
    struct event event = example();
    memset(name, 'a', MAX_EVENT_NAME);
    name[MAX_EVENT_NAME] = '\0';
    memcpy(name + 230, ".-.-.", 5);
    event.name = name;
    cleanup_json cJSON *tree = encode(&event);
    const char *cut = json_get_string(tree, "metadata.name");
    assert_true(strlen(cut) <= MAX_EVENT_NAME);
    assert_int_equal(strspn(cut, "a"), 230);
    assert_string_equal(cut + 230, ".644c31bb070c0");
    assert_string_equal(json_get_string(tree, "regarding.name"), name);
}

static void test_long_notes_are_cut(void **state)
{
    (void)state;
    char note[MAX_EVENT_NOTE + 16];
    struct event event = example();
    memset(note, 'n', sizeof(note));
    note[sizeof(note) - 1] = '\0';
    event.note = note;
    cleanup_json cJSON *tree = encode(&event);
    assert_int_equal(strlen(json_get_string(tree, "note")), MAX_EVENT_NOTE);

    memcpy(note + MAX_EVENT_NOTE - 1, "\xc3\xa4", 2);
    cleanup_json cJSON *other = encode(&event);
    assert_int_equal(strlen(json_get_string(other, "note")), MAX_EVENT_NOTE - 1);
}

static void test_no_room(void **state)
{
    (void)state;
    struct event event = example();
    cleanup_buf struct buf path = BUF_INIT(MAX_EVENT_PATH);
    cleanup_buf struct buf body = BUF_INIT(100);
    struct error err = {0};
    assert_int_equal(event_encode(&event, &reporter, TIME_US, &path, &body, &err), -EMSGSIZE);
    assert_true(err.text[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_long_names_are_cut),
        cmocka_unit_test(test_long_notes_are_cut),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
