/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/proto/proto.h"
#include "tests/unit/common/cmocka_setup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#define ID "01234567-89ab-cdef-0123-456789abcdef"

struct pair {
    int jailer, agent;
};

static int setup(void **state)
{
    int fds[2];
    struct pair *pair = malloc(sizeof(*pair));
    if (!pair || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        return -1;
    *pair = (struct pair){.jailer = fds[0], .agent = fds[1]};
    *state = pair;
    return 0;
}

static int teardown(void **state)
{
    struct pair *pair = *state;
    (void)fd_close(pair->jailer);
    (void)fd_close(pair->agent);
    free(pair);
    return 0;
}

static unsigned int count_open_fds(void)
{
    unsigned int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    (void)closedir(dir);
    return count;
}

static struct proto_message created(void)
{
    return (struct proto_message){.type = PROTO_CREATED, .created = {.id = ID}};
}

static struct proto_message killing(void)
{
    return (struct proto_message){.type = PROTO_KILL, .kill = {.id = ID}};
}

/* As a peer that doesn't use proto_send() would. */
static void send_raw(int sock, const void *bytes, size_t len, const int *fds, size_t count)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(8 * sizeof(int))];
    } control = {0};
    struct iovec iov;
    uint8_t copy[2 * PROTO_MAX_MESSAGE] = {0};
    memcpy(copy, bytes, len);
    iov = (struct iovec){.iov_base = copy, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (count > 0) {
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(cmsg), fds, count * sizeof(int));
    }
    assert_int_equal(sendmsg(sock, &msg, 0), len);
}

static void test_descriptors_arrive_with_created(void **state)
{
    struct pair *pair = *state;
    int pipe_fds[2], got[PROTO_CREATED_FDS] = {-1, -1, -1, -1};
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    const int sent[] = {pipe_fds[0], pipe_fds[1], pair->jailer, pair->agent};
    struct proto_message message = created(), out;
    size_t count = 0;
    struct error err = {0};
    assert_int_equal(proto_send(pair->jailer, &message, sent, 4), 0);
    assert_int_equal(proto_receive(pair->agent, &out, got, &count, &err), 1);
    assert_int_equal(out.type, PROTO_CREATED);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(fcntl(got[i], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        (void)fd_close(got[i]);
    }
    (void)fd_close(pipe_fds[0]);
    (void)fd_close(pipe_fds[1]);
}

static void test_empty_socket_and_gone_peer(void **state)
{
    struct pair *pair = *state;
    struct proto_message out;
    struct error err = {0};
    assert_int_equal(proto_receive(pair->jailer, &out, NULL, NULL, &err), -EAGAIN);
    pair->agent = fd_close(pair->agent);
    assert_int_equal(proto_receive(pair->jailer, &out, NULL, NULL, &err), 0);
    struct proto_message message = killing();
    assert_int_equal(proto_send(pair->jailer, &message, NULL, 0), -EPIPE);
}

static void test_full_socket_is_eagain_and_loses_nothing(void **state)
{
    struct pair *pair = *state;
    struct proto_message message = killing(), out;
    unsigned int sent = 0, received = 0;
    struct error err = {0};
    int r = 0;
    while ((r = proto_send(pair->agent, &message, NULL, 0)) == 0)
        sent++;
    assert_int_equal(r, -EAGAIN);
    while (proto_receive(pair->jailer, &out, NULL, NULL, &err) == 1)
        received++;
    assert_true(sent > 10);
    assert_int_equal(received, sent);
}

/* Each leaves as many descriptors open as there were before. */
static void expect_refused(struct pair *pair, const void *bytes, size_t len, const int *fds,
                           size_t count, bool with_room, const char *names)
{
    struct proto_message out = {.type = 99};
    struct error err = {0};
    int got[PROTO_CREATED_FDS] = {-7, -7, -7, -7};
    size_t got_count = 77;
    unsigned int before = count_open_fds();
    send_raw(pair->agent, bytes, len, fds, count);
    int r = proto_receive(pair->jailer, &out, with_room ? got : NULL, with_room ? &got_count : NULL,
                          &err);
    if (r != -EPROTO || !strstr(err.text, names))
        fail_msg("%s: %d \"%s\"", names, r, err.text);
    assert_int_equal(out.type, 99);
    assert_int_equal(got[0], -7);
    assert_int_equal(got_count, 77);
    assert_int_equal(count_open_fds(), before);
}

static void test_descriptors_where_none_belong_are_not_installed(void **state)
{
    struct pair *pair = *state;
    uint8_t bytes[PROTO_MAX_MESSAGE];
    struct proto_message message = killing();
    const int fds[] = {0, 1, 2, 0, 1, 2};
    size_t len = (size_t)proto_encode(&message, bytes);
    expect_refused(pair, bytes, len, fds, 1, false, "descriptors");
    expect_refused(pair, bytes, len, fds, 6, false, "descriptors");
    expect_refused(pair, bytes, len, fds, 1, true, "descriptors");
    message = created();
    len = (size_t)proto_encode(&message, bytes);
    expect_refused(pair, bytes, len, fds, 0, true, "descriptors");
    expect_refused(pair, bytes, len, fds, 3, true, "descriptors");
    /* One more than fits: where the kernel pads, there would be room for it. */
    expect_refused(pair, bytes, len, fds, 5, true, "descriptors");
    expect_refused(pair, bytes, len, fds, 6, true, "descriptors");
}

static void test_malformed_and_oversized_messages(void **state)
{
    struct pair *pair = *state;
    static const uint8_t big[PROTO_MAX_MESSAGE + 1];
    const int fds[] = {0, 1, 2};
    expect_refused(pair, "x", 1, NULL, 0, false, "header");
    expect_refused(pair, big, sizeof(big), NULL, 0, false, "4096");
    expect_refused(pair, big, sizeof(big), fds, 3, true, "4096");
    expect_refused(pair, big, 100, fds, 3, true, "type 0");
    /* The socket is still good for the next one. */
    struct proto_message message = killing(), out;
    struct error err = {0};
    assert_int_equal(proto_send(pair->agent, &message, NULL, 0), 0);
    assert_int_equal(proto_receive(pair->jailer, &out, NULL, NULL, &err), 1);
    assert_string_equal(out.kill.id, ID);
}

static void test_send_of_nonsense(void **state)
{
    struct pair *pair = *state;
    struct proto_message message = {.type = (enum proto_type)42};
    const int fds[] = {0, 1, 2, 0, 1};
    assert_int_equal(proto_send(pair->jailer, &message, NULL, 0), -EINVAL);
    message = created();
    assert_int_equal(proto_send(pair->jailer, &message, fds, 5), -EINVAL);
    assert_int_equal(proto_send(-1, &message, fds, 4), -EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_descriptors_arrive_with_created, setup, teardown),
        cmocka_unit_test_setup_teardown(test_empty_socket_and_gone_peer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full_socket_is_eagain_and_loses_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_descriptors_where_none_belong_are_not_installed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_malformed_and_oversized_messages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_send_of_nonsense, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
