/* SPDX-License-Identifier: Apache-2.0 */

/* Whole outputs in a whole agent: whose are kept, and until when. */
#include "tests/unit/agent_kube/fixture.h"

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "node-agent/agent/retained.h"
#include "tests/unit/common/cmocka_setup.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define PROFILE(profile) ", \"profile\": \"" profile "\""
#define OURS(name, version, id, profile)                                                           \
    RUN(name, version, "Scheduled", "$INSTANCE", id, "", PROFILE(profile))
#define SUCCEEDED(name, version, id, profile)                                                      \
    RUN(name, version, "Succeeded", "$INSTANCE", id, "", PROFILE(profile))

static unsigned int kept(void)
{
    char path[256];
    unsigned int count = 0;

    (void)snprintf(path, sizeof(path), "%s/" RETAINED_DIR, server_path("spool"));
    DIR *dir = opendir(path);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        count += strstr(entry->d_name, ".run") != NULL;
    if (dir)
        (void)closedir(dir);
    return count;
}

static void assert_kept(const char *id, const char *text)
{
    char path[256];
    cleanup_buf struct buf bytes = BUF_INIT(4096);

    (void)snprintf(path, sizeof(path), "%s/" RETAINED_DIR "/%s.stdout", server_path("spool"), id);
    assert_int_equal(fd_read_file(AT_FDCWD, path, true, &bytes), 0);
    assert_string_equal(buf_str(&bytes), text);
}

static void test_tool_calls_are_kept_and_snippets_are_not(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true, .retain_output_ms = 60000};

    fixture_start(
        &f, "[" NODE "," LIST(OURS("a", "4", ID_A, "ToolCall") "," OURS(
                "b", "4", ID_B, "Snippet")) "," PATCHED("a") "," PATCHED("b") "," WATCH("") "]");
    fixture_wait(&f, SAID("phase", "Succeeded"), 2);
    assert_int_equal(kept(), 1);
    assert_kept(ID_A, "hello\n");
    /* Clients know where. */
    assert_true(server_count(&f.server, "\\\"output\\\":{\\\"port\\\":") >= 1);
    assert_true(server_count(&f.server, SAID("address", "10.0.0.7")) >= 1);
    assert_true(server_count(&f.server, "BEGIN CERTIFICATE") >= 1);
    assert_int_equal(server_count(&f.server, "PRIVATE KEY"), 0);
    agent_end(f.agent);
    fixture_wait_end(&f);
    fixture_stop(&f);
    assert_int_equal(kept(), 1);
    /* The next agent keeps it while its object is there. */
    f = (struct fixture){.retain_output_ms = 60000};
    fixture_start(&f, "[" NODE "," LIST(SUCCEEDED("a", "4", ID_A, "ToolCall")) "," WATCH("") "]");
    fixture_wait(&f, "watch=", 1);
    server_run_for(&f.server, 100);
    assert_kept(ID_A, "hello\n");
    fixture_stop(&f);
    f = (struct fixture){.retain_output_ms = 60000};
    fixture_start(&f, "[" NODE "," LIST(OURS("b", "4", ID_B, "Snippet")) "," WATCH("") "]");
    fixture_wait(&f, "watch=", 1);
    server_run_for(&f.server, 100);
    assert_int_equal(kept(), 0);
    fixture_stop(&f);
}

static void test_deletion_ends_it(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true, .retain_output_ms = 60000};

    fixture_start(
        &f, "[" NODE "," LIST(OURS("a", "4", ID_A, "ToolCall")) "," PATCHED("a") "," WATCH(
                "{\"sleep\": 1}," EVENT("DELETED", SUCCEEDED("a", "12", ID_A, "ToolCall"))) "]");
    fixture_wait(&f, SAID("phase", "Succeeded"), 1);
    assert_int_equal(kept(), 1);
    for (int i = 0; i < 100 && kept() > 0; i++)
        server_run_for(&f.server, 30);
    assert_int_equal(kept(), 0);
    fixture_stop(&f);
}

static void test_retention_off(void **state)
{
    (void)state;
    struct fixture f = {.finishes = true};

    fixture_start(
        &f, "[" NODE "," LIST(OURS("a", "4", ID_A, "ToolCall")) "," PATCHED("a") "," WATCH("") "]");
    fixture_wait(&f, SAID("phase", "Succeeded"), 1);
    assert_int_equal(kept(), 0);
    /* And what an earlier agent has told is taken back. */
    assert_true(server_count(&f.server, "\\\"output\\\":null") >= 1);
    fixture_stop(&f);
}

#define LARGE_HEAD                                                                                 \
    "[" NODE "," PATCHED("a") "," WATCH("") ",{\"match\": \"limit=\", \"body\": {\"items\": ["
#define LARGE_TAIL "], \"metadata\": {\"resourceVersion\": \"5\"}}}]"

/* "print(1)" is the code; stdin is so long that both together are so many bytes. */
static void run_large(size_t bytes, const char *said, size_t creates)
{
    struct fixture f = {.finishes = true};
    cleanup_buf struct buf script = BUF_INIT(4 << 20);
    static char text[2 * MAX_REQUEST_BYTES];
    size_t len = bytes - strlen("print(1)");

    memset(text, 'x', len);
    text[len] = '\0';
    assert_int_equal(buf_append_str(&script, LARGE_HEAD), 0);
    assert_int_equal(buf_printf(&script,
                                RUN("a", "4", "Scheduled", "$INSTANCE", ID_A, "",
                                    PROFILE("ToolCall") ", \"stdin\": \"%s\""),
                                text),
                     0);
    assert_int_equal(buf_append_str(&script, LARGE_TAIL), 0);
    fixture_start(&f, buf_str(&script));
    fixture_wait(&f, said, 1);
    assert_int_equal(fake_jailer_count(&f.jailer, PROTO_CREATE), creates);
    fixture_stop(&f);
}

static void test_a_mebibyte_of_request(void **state)
{
    (void)state;
    run_large(MAX_REQUEST_BYTES, SAID("reason", "Completed"), 1);
}

/* As the API server should have refused it; the agent doesn't count on that. */
static void test_a_byte_more(void **state)
{
    (void)state;
    run_large(MAX_REQUEST_BYTES + 1, SAID("reason", "InvalidSpec"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_clean, fixture_clean)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_tool_calls_are_kept_and_snippets_are_not),
        TEST(test_deletion_ends_it),
        TEST(test_retention_off),
        TEST(test_a_mebibyte_of_request),
        TEST(test_a_byte_more),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
