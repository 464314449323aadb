/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/jailer/pass_fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

static int pair(void **state)
{
    static int socks[2];
    *state = socks;
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks);
}

static int unpair(void **state)
{
    const int *socks = *state;
    (void)fd_close(socks[0]);
    (void)fd_close(socks[1]);
    return 0;
}

static size_t count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t count = 0;
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    (void)closedir(dir);
    return count;
}

static void test_a_record_with_a_descriptor(void **state)
{
    const int *socks = *state;
    char text[8] = "";
    int fd = -1;
    cleanup_close int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_int_equal(pass_fd_send(socks[0], "record", 7, null_fd), 0);
    assert_int_equal(pass_fd_receive(socks[1], text, sizeof(text), &fd), 7);
    assert_string_equal(text, "record");
    assert_true(fd >= 0 && fd != null_fd);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    struct stat one, other;
    assert_int_equal(fstat(fd, &one), 0);
    assert_int_equal(fstat(null_fd, &other), 0);
    assert_int_equal(one.st_ino, other.st_ino);
    (void)close(fd);
}

static void test_a_record_without_one(void **state)
{
    const int *socks = *state;
    char text[8] = "";
    int fd = 99;
    assert_int_equal(write(socks[0], "plain", 6), 6);
    assert_int_equal(pass_fd_receive(socks[1], text, sizeof(text), &fd), 6);
    assert_int_equal(fd, -1);
    fd = 99;
    assert_int_equal(pass_fd_receive(socks[1], text, sizeof(text), &fd), -EAGAIN);
    assert_int_equal(fd, -1);
}

static void test_the_end(void **state)
{
    int *socks = *state;
    char text[8] = "";
    int fd = -1;
    socks[0] = fd_close(socks[0]);
    assert_int_equal(pass_fd_receive(socks[1], text, sizeof(text), &fd), 0);
    assert_int_equal(pass_fd_send(socks[1], "x", 1, STDIN_FILENO), -EPIPE);
}

/* Whoever sends more than one gets none of the others into this process. */
static void test_no_second_descriptor_is_installed(void **state)
{
    const int *socks = *state;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(4 * sizeof(int))];
    } control = {0};
    struct iovec iov = {.iov_base = (char[]){"x"}, .iov_len = 1};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control)};
    const int fds[4] = {0, 0, 0, 0};
    control.align.cmsg_level = SOL_SOCKET;
    control.align.cmsg_type = SCM_RIGHTS;
    control.align.cmsg_len = CMSG_LEN(sizeof(fds));
    memcpy(CMSG_DATA(&control.align), fds, sizeof(fds));
    assert_int_equal(sendmsg(socks[0], &msg, 0), 1);

    size_t before = count_fds();
    char byte = 0;
    int fd = -1;
    assert_int_equal(pass_fd_receive(socks[1], &byte, 1, &fd), 1);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(count_fds(), before);
}

static void test_several_descriptors_in_their_order(void **state)
{
    const int *socks = *state;
    int pipe_fds[2], got[MAX_PASSED_FDS];
    char byte = 0;
    size_t count = 0;
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    assert_int_equal(pass_fds_send(socks[0], "x", 1, pipe_fds, 2, MSG_DONTWAIT), 0);
    assert_int_equal(
        pass_fds_receive(socks[1], &byte, 1, got, MAX_PASSED_FDS, &count, MSG_DONTWAIT), 1);
    assert_int_equal(count, 2);
    assert_int_equal(write(got[1], "y", 1), 1);
    assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_int_equal(fcntl(got[0], F_GETFD), FD_CLOEXEC);
    assert_int_equal(pass_fds_send(socks[0], "x", 1, pipe_fds, MAX_PASSED_FDS + 1, 0), -EINVAL);
    assert_int_equal(pass_fds_send(socks[0], "x", 1, pipe_fds, 0, 0), -EINVAL);
    for (size_t i = 0; i < 2; i++) {
        (void)close(got[i]);
        (void)close(pipe_fds[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_record_with_a_descriptor, pair, unpair),
        cmocka_unit_test_setup_teardown(test_a_record_without_one, pair, unpair),
        cmocka_unit_test_setup_teardown(test_the_end, pair, unpair),
        cmocka_unit_test_setup_teardown(test_no_second_descriptor_is_installed, pair, unpair),
        cmocka_unit_test_setup_teardown(test_several_descriptors_in_their_order, pair, unpair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
