/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/report.h"
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/json.h"
#include "common/yaml.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* What a child that reports to files wrote to its stdout and stderr, and its exit code. */
struct seen {
    struct buf out;
    struct buf err;
    int code;
};

static void seen_done(struct seen *seen)
{
    buf_done(&seen->out);
    buf_done(&seen->err);
}

#define cleanup_seen __attribute__((cleanup(seen_done)))

struct scene {
    size_t count;
    struct run_options options;
    /* one entry a document, in the order of their ends */
    struct {
        size_t index;
        struct run_status status;
    } ends[3];
};

#define COMPLETED                                                                                  \
    .phase = RUN_PHASE_SUCCEEDED, .reason = RUN_REASON_COMPLETED, .message = "exited with code 0", \
    .has_exit_code = true
#define EXITED_3                                                                                   \
    .phase = RUN_PHASE_FAILED, .reason = RUN_REASON_ERROR, .message = "exited with code 3",        \
    .has_exit_code = true, .exit_code = 3
#define DEADLINE                                                                                   \
    .phase = RUN_PHASE_FAILED, .reason = RUN_REASON_DEADLINE_EXCEEDED,                             \
    .message = "killed after 1.0 s, timeoutSeconds is 1", .has_exit_code = true, .exit_code = -1
#define REFUSED                                                                                    \
    .phase = RUN_PHASE_FAILED, .reason = RUN_REASON_SANDBOX_SETUP_FAILED,                          \
    .message = "lock cgroup could not be set: \x1b[1m", .has_exit_code = true, .exit_code = -1

static char out_text[] = "out\xff";
static char err_text[] = "err\n";

static int play(const struct scene *scene)
{
    struct document_list documents = {0};
    for (size_t i = 0; i < scene->count; i++) {
        char yaml[256];
        int len = snprintf(yaml, sizeof(yaml),
                           "apiVersion: sandboxrun.dev/v1alpha1\nkind: SandboxRun\n"
                           "metadata: {name: run-%c}\nspec: {code: x}\n",
                           (char)('a' + i));
        if (documents_add(&documents, "t.yaml", yaml, (size_t)len, NULL) < 0)
            return 99;
    }
    struct report *report;
    struct error err;
    if (report_new(&documents, &scene->options, -1, &report, &err) < 0)
        return 98;
    for (size_t i = 0; i < scene->count; i++) {
        struct run_status status = scene->ends[i].status;
        report_started(report, scene->ends[i].index);
        report_running(report, scene->ends[i].index);
        if (report_output(report, RUN_STDOUT, out_text, 4, &err) < 0 ||
            report_output(report, RUN_STDERR, err_text, 4, &err) < 0)
            return 97;
        status.stdout_text = out_text;
        status.stdout_len = 4;
        status.stderr_text = err_text;
        status.stderr_len = 4;
        if (report_finished(report, scene->ends[i].index, &status, &err) < 0)
            return 96;
    }
    if (report_end(report, &err) < 0)
        return 95;
    int code = report_exit_code(report);
    report_free(report);
    documents_done(&documents);
    return code;
}

static void watch(const struct scene *scene, struct seen *ret_seen)
{
    cleanup_close int out = memfd_create("out", MFD_CLOEXEC);
    cleanup_close int err = memfd_create("err", MFD_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(out, STDOUT_FILENO);
        (void)dup2(err, STDERR_FILENO);
        _exit(play(scene));
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    *ret_seen = (struct seen){
        .out = BUF_INIT(1u << 20), .err = BUF_INIT(1u << 20), .code = WEXITSTATUS(status)};
    assert_int_equal(lseek(out, 0, SEEK_SET), 0);
    assert_int_equal(lseek(err, 0, SEEK_SET), 0);
    assert_int_equal(fd_read_all(out, &ret_seen->out), 0);
    assert_int_equal(fd_read_all(err, &ret_seen->err), 0);
}

static void expect(const struct scene *scene, const char *out, const char *err, int code)
{
    cleanup_seen struct seen seen;
    watch(scene, &seen);
    assert_string_equal(buf_str(&seen.out), out);
    assert_string_equal(buf_str(&seen.err), err);
    assert_int_equal(seen.code, code);
}

static void test_one_run(void **state)
{
    (void)state;
    expect(&(struct scene){.count = 1, .options = {.parallel = 2}, .ends = {{0, {COMPLETED}}}},
           "out\xff", "err\n", 0);
    expect(&(struct scene){.count = 1, .options = {.parallel = 2}, .ends = {{0, {EXITED_3}}}},
           "out\xff", "err\n", 3);
    /* What the platform did is said even where nobody watches, unless --quiet. */
    expect(&(struct scene){.count = 1, .options = {.parallel = 2}, .ends = {{0, {DEADLINE}}}},
           "out\xff",
           "err\nsandboxrun: run-a: DeadlineExceeded: killed after 1.0 s, timeoutSeconds is 1\n",
           124);
    expect(&(struct scene){.count = 1,
                           .options = {.parallel = 2, .quiet = true},
                           .ends = {{0, {DEADLINE}}}},
           "out\xff", "err\n", 124);
    /* A refusal always, and what it quotes can't move the terminal. */
    expect(
        &(struct scene){
            .count = 1, .options = {.parallel = 2, .quiet = true}, .ends = {{0, {REFUSED}}}},
        "out\xff",
        "err\nsandboxrun: run-a: SandboxSetupFailed: lock cgroup could not be set: ^[[1m\n", 125);
}

static void test_one_after_the_other(void **state)
{
    (void)state;
    const struct scene scene = {
        .count = 2, .options = {.parallel = 1}, .ends = {{0, {EXITED_3}}, {1, {DEADLINE}}}};
    expect(&scene,
           "out\xff"
           "out\xff",
           "==> run-a\nerr\n==> run-b\nerr\n"
           "sandboxrun: run-b: DeadlineExceeded: killed after 1.0 s, timeoutSeconds is 1\n",
           3);
}

/* Several at once: in pieces, in the order of their ends; the exit code in the order given. */
static void test_groups(void **state)
{
    (void)state;
    struct scene scene = {.count = 3,
                          .options = {.parallel = 2},
                          .ends = {{2, {DEADLINE}}, {0, {COMPLETED}}, {1, {EXITED_3}}}};
    expect(&scene,
           "out\xff"
           "out\xff"
           "out\xff",
           "==> run-c: DeadlineExceeded: killed after 1.0 s, timeoutSeconds is 1\nerr\n"
           "==> run-a: Completed: exited with code 0\nerr\n"
           "==> run-b: Error: exited with code 3\nerr\n",
           3);
    scene.options.quiet = true;
    expect(&scene,
           "out\xff"
           "out\xff"
           "out\xff",
           "err\nerr\nerr\n", 3);
}

static void test_json(void **state)
{
    (void)state;
    cleanup_seen struct seen one;
    cleanup_seen struct seen two;
    struct scene scene = {
        .count = 1, .options = {.parallel = 2, .format = OUTPUT_JSON}, .ends = {{0, {EXITED_3}}}};
    watch(&scene, &one);
    assert_int_equal(one.code, 3);
    assert_string_equal(buf_str(&one.err), "");
    cleanup_json cJSON *object = NULL;
    assert_int_equal(json_parse(buf_str(&one.out), one.out.len, &object, NULL), 0);
    assert_string_equal(json_get_string(object, "metadata.name"), "run-a");
    assert_string_equal(json_get_string(object, "status.reason"), "Error");
    assert_string_equal(json_get_string(object, "status.stdout"), "out\xef\xbf\xbd");

    scene.count = 2;
    scene.ends[0].index = 1;
    scene.ends[1].status = (struct run_status){COMPLETED};
    watch(&scene, &two);
    cleanup_json cJSON *list = NULL;
    assert_int_equal(json_parse(buf_str(&two.out), two.out.len, &list, NULL), 0);
    assert_string_equal(json_get_string(list, "kind"), "List");
    const cJSON *items = json_get(list, "items");
    assert_int_equal(cJSON_GetArraySize(items), 2);
    assert_string_equal(json_get_string(cJSON_GetArrayItem(items, 0), "metadata.name"), "run-a");
    assert_string_equal(json_get_string(cJSON_GetArrayItem(items, 1), "status.reason"), "Error");
    assert_int_equal(two.code, 3);
    assert_int_equal(two.out.data[two.out.len - 1], '\n');
}

/* What is printed can be read again, as many documents. */
static void test_yaml(void **state)
{
    (void)state;
    cleanup_seen struct seen seen;
    struct scene scene = {.count = 2,
                          .options = {.parallel = 2, .format = OUTPUT_YAML},
                          .ends = {{1, {COMPLETED}}, {0, {DEADLINE}}}};
    watch(&scene, &seen);
    struct yaml_documents documents;
    assert_int_equal(yaml_parse(buf_str(&seen.out), seen.out.len, &documents, NULL), 0);
    assert_int_equal(documents.count, 2);
    assert_string_equal(json_get_string(documents.trees[0], "status.reason"), "DeadlineExceeded");
    assert_string_equal(json_get_string(documents.trees[1], "metadata.name"), "run-b");
    yaml_documents_done(&documents);
    assert_int_equal(seen.code, 124);

    struct document_list again = {0};
    assert_int_equal(documents_add(&again, "again", buf_str(&seen.out), seen.out.len, NULL), 0);
    assert_int_equal(again.count, 2);
    documents_done(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_run), cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_groups),  cmocka_unit_test(test_json),
        cmocka_unit_test(test_yaml),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
