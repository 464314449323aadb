/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/cli/input.h"
#include "tests/unit/common/cmocka_setup.h"
#include "tests/unit/common/scratch_dir.h"

#include "common/cleanup.h"
#include "common/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static void put_file(const struct scratch_dir *dir, const char *name, const char *bytes)
{
    cleanup_close int fd = openat(dir->fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_full(fd, bytes, strlen(bytes)), 0);
}

static void test_read(void **state)
{
    struct scratch_dir *dir = *state;
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/four", dir->path);
    put_file(dir, "four", "1234");

    struct error err;
    struct input input = INPUT_NONE;
    cleanup_buf struct buf whole = BUF_INIT(4);
    assert_int_equal(input_open(path, &input, &err), 0);
    assert_true(fcntl(input.fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(input_read(&input, &whole, &err), 0);
    assert_string_equal(buf_str(&whole), "1234");
    input_close(&input);
    assert_int_equal(input.fd, -1);

    cleanup_buf struct buf small = BUF_INIT(3);
    char expected[192];
    (void)snprintf(expected, sizeof(expected), "%s: longer than 3 bytes, which is the limit", path);
    assert_int_equal(input_open(path, &input, &err), 0);
    assert_int_equal(input_read(&input, &small, &err), -EFBIG);
    assert_string_equal(err.text, expected);
    input_close(&input);
}

static void test_refusals(void **state)
{
    struct scratch_dir *dir = *state;
    struct error err;
    struct input input = INPUT_NONE;
    char path[128];
    char expected[192];
    assert_int_equal(input_open(dir->path, &input, &err), -EISDIR);
    (void)snprintf(expected, sizeof(expected), "%s: is a directory; name the files in it",
                   dir->path);
    assert_string_equal(err.text, expected);
    (void)snprintf(path, sizeof(path), "%s/none", dir->path);
    assert_int_equal(input_open(path, &input, &err), -ENOENT);
    (void)snprintf(expected, sizeof(expected), "%s: No such file or directory", path);
    assert_string_equal(err.text, expected);
    assert_int_equal(input.fd, -1);
}

static void test_stdin_is_not_closed(void **state)
{
    (void)state;
    struct input input = INPUT_NONE;
    assert_int_equal(input_open("-", &input, NULL), 0);
    assert_int_equal(input.fd, STDIN_FILENO);
    assert_string_equal(input.name, "stdin");
    int before = fcntl(STDIN_FILENO, F_GETFD);
    input_close(&input);
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read, scratch_dir_setup, scratch_dir_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, scratch_dir_setup, scratch_dir_teardown),
        cmocka_unit_test(test_stdin_is_not_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
