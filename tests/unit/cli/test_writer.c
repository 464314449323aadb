/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/writer.h"
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

struct pipes {
    int data[2];
    int interrupt[2];
    struct writer writer;
};

static int setup(void **state)
{
    struct pipes *pipes = calloc(1, sizeof(*pipes));
    assert_int_equal(fd_pipe(pipes->data, 0), 0);
    assert_int_equal(fd_pipe(pipes->interrupt, 0), 0);
    assert_int_equal(sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL), 0);
    writer_init(&pipes->writer, pipes->data[1], pipes->interrupt[0], false);
    *state = pipes;
    return 0;
}

static int teardown(void **state)
{
    struct pipes *pipes = *state;
    for (size_t i = 0; i < 2; i++) {
        (void)fd_close(pipes->data[i]);
        (void)fd_close(pipes->interrupt[i]);
    }
    free(pipes);
    return 0;
}

static void expect(struct pipes *pipes, const char *text)
{
    char bytes[256];
    ssize_t n = read(pipes->data[0], bytes, sizeof(bytes));
    assert_int_equal(n, strlen(text));
    assert_memory_equal(bytes, text, strlen(text));
}

/* No terminal: bytes are passed on as they are. */
static void test_bytes_and_lines(void **state)
{
    struct pipes *pipes = *state;
    struct writer *writer = &pipes->writer;
    assert_false(writer->filtered);
    assert_int_equal(writer_begin_line(writer), 0);
    assert_int_equal(writer_write(writer, "\x1b[1m\xff", 5), 0);
    assert_int_equal(writer_finish(writer), 0);
    expect(pipes, "\x1b[1m\xff");
    assert_int_equal(writer_begin_line(writer), 0);
    assert_int_equal(writer_begin_line(writer), 0);
    assert_int_equal(writer_write_own(writer, "own\n", 4), 0);
    expect(pipes, "\nown\n");
}

static void test_filter(void **state)
{
    struct pipes *pipes = *state;
    struct writer *writer = &pipes->writer;
    writer->filtered = true;
    assert_int_equal(writer_write(writer, "\x1b[1m\xe2", 5), 0);
    assert_int_equal(writer_write(writer, "\x82\xac!\xe2", 4), 0);
    assert_int_equal(writer_finish(writer), 0);
    assert_int_equal(writer_finish(writer), 0);
    expect(pipes, "^[[1m\xe2\x82\xac!\xef\xbf\xbd");
}

static void test_reader_gone(void **state)
{
    struct pipes *pipes = *state;
    pipes->data[0] = fd_close(pipes->data[0]);
    assert_int_equal(writer_write(&pipes->writer, "x", 1), -EPIPE);
}

/* More than the pipe holds: the write waits for the reader. */
static void test_slow_reader(void **state)
{
    struct pipes *pipes = *state;
    static char bytes[1 << 20];
    memset(bytes, 'b', sizeof(bytes));
    pid_t pid = fork();
    if (pid == 0) {
        static char sink[1000];
        size_t total = 0;
        ssize_t n;
        (void)fd_close(pipes->data[1]);
        while ((n = read(pipes->data[0], sink, sizeof(sink))) > 0)
            total += (size_t)n;
        _exit(total == sizeof(bytes) ? 0 : 1);
    }
    assert_int_equal(writer_write(&pipes->writer, bytes, sizeof(bytes)), 0);
    pipes->data[1] = fd_close(pipes->data[1]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Nobody reads and a signal comes: the wait is over, now and from then on. */
static void test_interrupt(void **state)
{
    struct pipes *pipes = *state;
    static char bytes[1 << 20];
    assert_int_equal(fd_write_full(pipes->interrupt[1], "!", 1), 0);
    assert_int_equal(writer_write(&pipes->writer, bytes, sizeof(bytes)), 0);
    char byte;
    assert_int_equal(read(pipes->interrupt[0], &byte, 1), 1);
    assert_int_equal(writer_write(&pipes->writer, bytes, sizeof(bytes)), 0);
    /* What can be written without waiting still is. */
    assert_int_equal(fd_set_nonblock(pipes->data[0], true), 0);
    while (read(pipes->data[0], bytes, sizeof(bytes)) > 0)
        continue;
    assert_int_equal(writer_write(&pipes->writer, "end", 3), 0);
    expect(pipes, "end");
}

static void test_nonblocking_descriptor(void **state)
{
    struct pipes *pipes = *state;
    static char bytes[60000];
    assert_int_equal(fd_set_nonblock(pipes->data[1], true), 0);
    assert_int_equal(writer_write(&pipes->writer, bytes, sizeof(bytes)), 0);
    assert_int_equal(fd_read_full(pipes->data[0], bytes, sizeof(bytes)), sizeof(bytes));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bytes_and_lines), TEST(test_filter),    TEST(test_reader_gone),
        TEST(test_slow_reader),     TEST(test_interrupt), TEST(test_nonblocking_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
