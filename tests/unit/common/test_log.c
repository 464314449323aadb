/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/json.h"
#include "common/log.h"
#include "tests/unit/common/cmocka_setup.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* Runs log_write() with stderr as a pipe that keeps packets apart (O_DIRECT): what comes back is
 * what one write(2) wrote. */
static size_t capture(char *ret_line, size_t size, enum log_level level, const char *msg,
                      const struct log_field *fields)
{
    int fds[2];
    assert_int_equal(fd_pipe(fds, O_DIRECT | O_NONBLOCK), 0);
    cleanup_close int in = fds[0];
    cleanup_close int out = fds[1];
    cleanup_close int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    assert_int_equal(dup3(out, STDERR_FILENO, O_CLOEXEC), STDERR_FILENO);
    errno = ENOTTY;
    log_write(level, msg, fields);
    int after = errno;
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    assert_int_equal(after, ENOTTY);
    out = fd_close(out);
    size_t total = 0;
    for (;;) {
        ssize_t n = read(in, ret_line + total, size - 1 - total);
        if (n <= 0)
            break;
        total += (size_t)n;
    }
    ret_line[total] = '\0';
    return total;
}

#define FIELDS(...) ((const struct log_field[MAX_LOG_FIELDS]){__VA_ARGS__})

static void test_json_line(void **state)
{
    (void)state;
    char line[10000];
    log_init("agent", LOG_LEVEL_INFO, LOG_FORMAT_JSON);
    size_t len = capture(
        line, sizeof(line), LOG_LEVEL_WARN, "odd \"run\"\n\x1b[31m",
        FIELDS(LOG_TEXT("run", "a\xFF"), LOG_TEXT("absent", NULL), LOG_NUMBER("ms", LLONG_MIN)));
    assert_int_equal(line[len - 1], '\n');
    assert_ptr_equal(strchr(line, '\n'), line + len - 1);
    cleanup_json cJSON *tree = NULL;
    assert_int_equal(json_parse(line, len, &tree, NULL), 0);
    assert_int_equal(cJSON_GetArraySize(tree), 6);
    assert_string_equal(json_get_string(tree, "level"), "warn");
    assert_string_equal(json_get_string(tree, "component"), "agent");
    assert_string_equal(json_get_string(tree, "msg"), "odd \"run\"\n\x1b[31m");
    assert_string_equal(json_get_string(tree, "run"), "a\xEF\xBF\xBD");
    assert_non_null(strstr(line, "\"ms\":-9223372036854775808}"));
    assert_int_equal(strlen(json_get_string(tree, "time")), 27);
}

static void test_levels(void **state)
{
    (void)state;
    char line[10000];
    for (unsigned int lowest = LOG_LEVEL_DEBUG; lowest <= LOG_LEVEL_ERROR; lowest++) {
        log_init("agent", (enum log_level)lowest, LOG_FORMAT_JSON);
        for (unsigned int level = LOG_LEVEL_DEBUG; level <= LOG_LEVEL_ERROR; level++) {
            size_t len =
                capture(line, sizeof(line), (enum log_level)level, "x", FIELDS(LOG_TEXT("a", "b")));
            assert_int_equal(len > 0, level >= lowest);
        }
    }
}

/* A line that would be too long keeps what fits, says so and stays JSON. */
static void test_long_json_line_is_cut(void **state)
{
    (void)state;
    static char text[20000];
    log_init("agent", LOG_LEVEL_INFO, LOG_FORMAT_JSON);
    for (unsigned int pad = 0; pad < 12; pad++) {
        char line[20000];
        memset(text, 'x', pad);
        for (size_t i = pad; i + 2 < sizeof(text); i += 2)
            memcpy(text + i, i % 4 ? "\xC3\xA4" : "\n<", 2);
        size_t len = capture(
            line, sizeof(line), LOG_LEVEL_INFO, "big",
            FIELDS(LOG_TEXT("first", text), LOG_TEXT("second", "s"), LOG_NUMBER("third", 3)));
        assert_true(len <= 4096 && len > 4000);
        cleanup_json cJSON *tree = NULL;
        assert_int_equal(json_parse(line, len, &tree, NULL), 0);
        assert_true(cJSON_IsTrue(json_get(tree, "truncated")));
        const char *first = json_get_string(tree, "first");
        assert_non_null(first);
        assert_memory_equal(first, text, strlen(first));
    }
}

static void test_message_beyond_the_line(void **state)
{
    (void)state;
    static char text[20000];
    char line[20000];
    memset(text, 'm', sizeof(text) - 1);
    log_init("agent", LOG_LEVEL_INFO, LOG_FORMAT_JSON);
    size_t len = capture(line, sizeof(line), LOG_LEVEL_INFO, text, FIELDS(LOG_NUMBER("number", 1)));
    cleanup_json cJSON *tree = NULL;
    assert_int_equal(json_parse(line, len, &tree, NULL), 0);
    assert_true(cJSON_IsTrue(json_get(tree, "truncated")));
    assert_true(len <= 4096 && strlen(json_get_string(tree, "msg")) > 3900);
}

static void test_text_line(void **state)
{
    (void)state;
    char line[10000];
    log_init("agent", LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
    (void)capture(line, sizeof(line), LOG_LEVEL_ERROR, "no \x1b[31mred\x7F \xC2\x9B and \xC3\xA4",
                  FIELDS(LOG_TEXT("a", "b"), LOG_TEXT("two", "x y\n"), LOG_TEXT("none", NULL),
                         LOG_TEXT("empty", ""), LOG_NUMBER("n", -1)));
    assert_string_equal(line,
                        "error: no ?[31mred? ? and \xC3\xA4 a=b two=\"x y?\" empty=\"\" n=-1\n");
}

static void test_long_text_line_is_cut(void **state)
{
    (void)state;
    static char text[20000];
    char line[20000];
    memset(text, 'm', sizeof(text) - 1);
    log_init("agent", LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
    size_t len = capture(line, sizeof(line), LOG_LEVEL_INFO, text, FIELDS(LOG_TEXT("a", text)));
    assert_int_equal(len, 4096);
    assert_ptr_equal(strchr(line, '\n'), line + len - 1);
}

/* As many fields as the macro takes: there is no end mark then. */
static void test_all_fields_used(void **state)
{
    (void)state;
    struct log_field fields[MAX_LOG_FIELDS + 1];
    char line[10000];
    for (size_t i = 0; i < MAX_LOG_FIELDS + 1; i++)
        fields[i] = LOG_NUMBER("n", (long long)i);
    log_init("agent", LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
    (void)capture(line, sizeof(line), LOG_LEVEL_INFO, "all", fields);
    assert_string_equal(line, "info: all n=0 n=1 n=2 n=3 n=4 n=5 n=6 n=7 n=8 n=9 n=10 n=11 n=12 "
                              "n=13 n=14 n=15\n");
}

/* With nobody reading, the log ends and the program goes on: were it to wait, it would here. */
static void test_a_full_pipe_stops_nobody(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(fd_pipe(fds, 0), 0);
    cleanup_close int in = fds[0];
    cleanup_close int out = fds[1];
    cleanup_close int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    assert_true(fcntl(out, F_SETPIPE_SZ, 1) > 0);
    assert_int_equal(dup3(out, STDERR_FILENO, O_CLOEXEC), STDERR_FILENO);
    log_init("agent", LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
    for (int i = 0; i < 10000; i++)
        log_write(LOG_LEVEL_INFO, "again", FIELDS(LOG_NUMBER("n", i)));
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    char line[16] = "";
    assert_int_equal(read(in, line, 15), 15);
    assert_string_equal(line, "info: again n=0");
}

static void test_level_names(void **state)
{
    (void)state;
    enum log_level level = LOG_LEVEL_INFO;
    static const char *const names[] = {"debug", "info", "warn", "error"};
    for (unsigned int i = 0; i < 4; i++) {
        assert_int_equal(log_level_parse(names[i], &level), 0);
        assert_int_equal(level, i);
    }
    static const char *const wrong[] = {"", "Info", "warning", "debug ", "trace"};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(log_level_parse(wrong[i], &level), -EINVAL);
    assert_int_equal(level, LOG_LEVEL_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_line),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_long_json_line_is_cut),
        cmocka_unit_test(test_message_beyond_the_line),
        cmocka_unit_test(test_text_line),
        cmocka_unit_test(test_long_text_line_is_cut),
        cmocka_unit_test(test_all_fields_used),
        cmocka_unit_test(test_a_full_pipe_stops_nobody),
        cmocka_unit_test(test_level_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
