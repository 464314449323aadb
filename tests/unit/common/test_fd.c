/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/fd.h"
#include "scratch_dir.h"
#include "tests/unit/common/cmocka_setup.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

static void put(const struct scratch_dir *dir, const char *name, const char *text)
{
    cleanup_close int fd = openat(dir->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_full(fd, text, strlen(text)), 0);
}

static void test_pipe_is_cloexec_and_nonblocking(void **state)
{
    (void)state;
    int fds[2];
    char bytes[8];
    assert_int_equal(fd_pipe(fds, O_NONBLOCK), 0);
    cleanup_close int in = fds[0];
    cleanup_close int out = fds[1];
    assert_int_equal(fcntl(in, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(out, F_GETFD), FD_CLOEXEC);

    assert_int_equal(fd_read_full(in, bytes, 8), -EAGAIN);
    assert_int_equal(fd_write_full(out, "abc", 3), 0);
    assert_int_equal(fd_read_full(in, bytes, 8), 3);
    assert_memory_equal(bytes, "abc", 3);
    out = fd_close(out);
    assert_int_equal(fd_read_full(in, bytes, 8), 0);
    assert_int_equal(fd_read_full(-1, bytes, 8), -EBADF);
}

static void test_nonblock_can_be_set_and_taken(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(fd_pipe(fds, 0), 0);
    cleanup_close int in = fds[0];
    cleanup_close int out = fds[1];
    assert_int_equal(fd_set_nonblock(in, true), 0);
    assert_true(fcntl(in, F_GETFL) & O_NONBLOCK);
    assert_false(fcntl(out, F_GETFL) & O_NONBLOCK);
    assert_int_equal(fd_set_nonblock(in, false), 0);
    assert_false(fcntl(in, F_GETFL) & O_NONBLOCK);
    assert_int_equal(fd_set_nonblock(-1, false), -EBADF);
}

static void test_write_to_a_closed_or_full_pipe(void **state)
{
    (void)state;
    int fds[2];
    static char big[1 << 20];
    assert_int_equal(fd_pipe(fds, O_NONBLOCK), 0);
    cleanup_close int in = fds[0];
    cleanup_close int out = fds[1];
    assert_int_equal(fd_write_full(out, big, sizeof(big)), -EAGAIN);
    in = fd_close(in);
    assert_int_equal(fd_write_full(out, "x", 1), -EPIPE);
}

static void test_read_file_up_to_the_maximum(void **state)
{
    const struct scratch_dir *dir = *state;
    put(dir, "file", "0123456789");
    for (size_t max = 0; max < 13; max++) {
        cleanup_buf struct buf buf = BUF_INIT(max);
        int r = fd_read_file(dir->fd, "file", false, &buf);
        assert_int_equal(r, max < 10 ? -EFBIG : 0);
        if (r == 0)
            assert_string_equal(buf_str(&buf), "0123456789");
    }
    put(dir, "empty", "");
    cleanup_buf struct buf none = BUF_INIT(0);
    assert_int_equal(fd_read_file(dir->fd, "empty", true, &none), 0);
    assert_int_equal(none.len, 0);
}

static void test_read_file_of_many_chunks(void **state)
{
    const struct scratch_dir *dir = *state;
    cleanup_buf struct buf text = BUF_INIT(1 << 20), back = BUF_INIT(1 << 20);
    for (unsigned int i = 0; i < 50000; i++)
        assert_int_equal(buf_append_u32le(&text, i), 0);
    assert_int_equal(fd_write_file_durable(dir->fd, "big", text.data, text.len, 0600), 0);
    assert_int_equal(fd_read_file(dir->fd, "big", true, &back), 0);
    assert_int_equal(back.len, text.len);
    assert_memory_equal(back.data, text.data, text.len);
}

static void test_read_file_refuses_what_is_no_file(void **state)
{
    const struct scratch_dir *dir = *state;
    cleanup_buf struct buf buf = BUF_INIT(100);
    put(dir, "file", "x");
    assert_int_equal(symlinkat("file", dir->fd, "link"), 0);
    assert_int_equal(mkfifoat(dir->fd, "fifo", 0600), 0);
    assert_int_equal(fd_read_file(dir->fd, "absent", false, &buf), -ENOENT);
    assert_int_equal(fd_read_file(dir->fd, ".", false, &buf), -EISDIR);
    assert_int_equal(fd_read_file(AT_FDCWD, "/dev/zero", false, &buf), -EINVAL);
    assert_int_equal(fd_read_file(dir->fd, "link", true, &buf), -ELOOP);
    assert_int_equal(fd_read_file(dir->fd, "link", false, &buf), 0);
    assert_string_equal(buf_str(&buf), "x");
    /* Must not hang, though nobody writes. */
    assert_int_equal(fd_read_file(dir->fd, "fifo", false, &buf), 0);
}

static void test_read_file_takes_a_pipe(void **state)
{
    (void)state;
    int fds[2];
    char path[32];
    assert_int_equal(fd_pipe(fds, 0), 0);
    cleanup_close int in = fds[0];
    cleanup_close int out = fds[1];
    assert_int_equal(fd_write_full(out, "piped", 5), 0);
    out = fd_close(out);
    (void)snprintf(path, sizeof(path), "/dev/fd/%d", in);
    cleanup_buf struct buf buf = BUF_INIT(100);
    assert_int_equal(fd_read_file(AT_FDCWD, path, false, &buf), 0);
    assert_string_equal(buf_str(&buf), "piped");
}

static unsigned int count_entries(const struct scratch_dir *dir)
{
    DIR *stream = opendir(dir->path);
    unsigned int count = 0;
    assert_non_null(stream);
    while (readdir(stream))
        count++;
    closedir(stream);
    return count;
}

static void test_durable_write_replaces(void **state)
{
    const struct scratch_dir *dir = *state;
    cleanup_buf struct buf buf = BUF_INIT(100);
    struct stat st;
    mode_t before = umask(0077);
    assert_int_equal(fd_write_file_durable(dir->fd, "state", "one", 3, 0644), 0);
    assert_int_equal(fd_write_file_durable(dir->fd, "state", "two!", 4, 0640), 0);
    (void)umask(before);
    assert_int_equal(fd_read_file(dir->fd, "state", true, &buf), 0);
    assert_string_equal(buf_str(&buf), "two!");
    assert_int_equal(fstatat(dir->fd, "state", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(count_entries(dir), 3);

    cleanup_close int path_only = open(dir->path, O_PATH | O_CLOEXEC);
    assert_int_equal(fd_write_file_durable(path_only, "state", "three", 5, 0600), 0);
}

static void test_durable_write_that_fails_leaves_nothing(void **state)
{
    const struct scratch_dir *dir = *state;
    char name[300];
    assert_int_equal(mkdirat(dir->fd, "dir", 0700), 0);
    assert_int_equal(fd_write_file_durable(dir->fd, "dir", "x", 1, 0600), -EISDIR);
    assert_int_equal(fd_write_file_durable(dir->fd, "dir/a", "x", 1, 0600), -EINVAL);
    assert_int_equal(fd_write_file_durable(dir->fd, "", "x", 1, 0600), -EINVAL);
    assert_int_equal(fd_write_file_durable(-1, "a", "x", 1, 0600), -EBADF);
    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(fd_write_file_durable(dir->fd, name, "x", 1, 0600), -ENAMETOOLONG);
    assert_int_equal(count_entries(dir), 3);
}

static void test_attributes(void **state)
{
    const struct scratch_dir *dir = *state;
    char text[6];
    put(dir, "attr", "12345\n");
    assert_int_equal(fd_read_attr(dir->fd, "attr", text, sizeof(text)), 0);
    assert_string_equal(text, "12345");
    put(dir, "attr", "123456\n");
    assert_int_equal(fd_read_attr(dir->fd, "attr", text, sizeof(text)), -EMSGSIZE);
    put(dir, "attr", "123456");
    assert_int_equal(fd_read_attr(dir->fd, "attr", text, sizeof(text)), -EMSGSIZE);
    put(dir, "attr", "");
    assert_int_equal(fd_read_attr(dir->fd, "attr", text, sizeof(text)), 0);
    assert_string_equal(text, "");
    put(dir, "attr", "a\nb\n");
    assert_int_equal(fd_read_attr(dir->fd, "attr", text, sizeof(text)), 0);
    assert_string_equal(text, "a\nb");
    assert_int_equal(fd_read_attr(dir->fd, "attr", text, 0), -EINVAL);
    assert_int_equal(fd_read_attr(dir->fd, "absent", text, sizeof(text)), -ENOENT);

    put(dir, "attr", "");
    assert_int_equal(fd_write_attr(dir->fd, "attr", "max"), 0);
    assert_int_equal(fd_read_attr(dir->fd, "attr", text, sizeof(text)), 0);
    assert_string_equal(text, "max");
    assert_int_equal(fd_write_attr(dir->fd, "absent", "max"), -ENOENT); /* never created */
    assert_int_equal(fd_write_attr(AT_FDCWD, "/dev/full", "max"), -ENOSPC);
}

int main(void)
{
    /* A broken pipe is an error code here, as in the programs. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (sigaction(SIGPIPE, &ignore, NULL) < 0)
        return 1;
#define WITH_DIR(test)                                                                             \
    cmocka_unit_test_setup_teardown(test, scratch_dir_setup, scratch_dir_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipe_is_cloexec_and_nonblocking),
        cmocka_unit_test(test_nonblock_can_be_set_and_taken),
        cmocka_unit_test(test_write_to_a_closed_or_full_pipe),
        WITH_DIR(test_read_file_up_to_the_maximum),
        WITH_DIR(test_read_file_of_many_chunks),
        WITH_DIR(test_read_file_refuses_what_is_no_file),
        cmocka_unit_test(test_read_file_takes_a_pipe),
        WITH_DIR(test_durable_write_replaces),
        WITH_DIR(test_durable_write_that_fails_leaves_nothing),
        WITH_DIR(test_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
