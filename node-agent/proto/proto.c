/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/proto/proto.h"

#include "common/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* Room for exactly the descriptors of one message: CMSG_SPACE() would round up, and the kernel
 * would install a fourth one in the gap. */
#define CONTROL_LEN CMSG_LEN(PROTO_CREATED_FDS * sizeof(int))

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(PROTO_CREATED_FDS * sizeof(int))];
};

int proto_send(int sock, const struct proto_message *message, const int *fds, size_t count)
{
    uint8_t bytes[PROTO_MAX_MESSAGE];
    if (count > PROTO_CREATED_FDS)
        return -EINVAL;
    int len = proto_encode(message, bytes);
    if (len < 0)
        return len;

    union control control = {0};
    struct iovec iov = {.iov_base = bytes, .iov_len = (size_t)len};
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
    ssize_t n = 0;
    do {
        n = sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    return n == len ? 0 : -EIO;
}

static void close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)fd_close(fds[i]);
}

/* Takes over every descriptor that the kernel has installed; -EPROTO for any other control data. */
static int take_fds(struct msghdr *msg, int ret_fds[static PROTO_CREATED_FDS], size_t *ret_count,
                    struct error *err)
{
    size_t count = 0;
    bool strange = false;
    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
        if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS) {
            strange = true;
            continue;
        }
        size_t found = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        const unsigned char *data = CMSG_DATA(cmsg);
        for (size_t i = 0; i < found; i++) {
            int fd = -1;
            memcpy(&fd, data + i * sizeof(int), sizeof(fd));
            if (count < PROTO_CREATED_FDS)
                ret_fds[count++] = fd;
            else
                (void)fd_close(fd);
        }
    }
    if (strange) {
        close_all(ret_fds, count);
        return error_set(err, EPROTO, "message with control data other than descriptors");
    }
    *ret_count = count;
    return 0;
}

static int check_message(const struct msghdr *msg, const uint8_t *bytes, size_t len, size_t count,
                         struct proto_message *ret_message, struct error *err)
{
    if (msg->msg_flags & MSG_TRUNC)
        return error_set(err, EPROTO, "message of more than %d bytes", PROTO_MAX_MESSAGE);
    if (msg->msg_flags & MSG_CTRUNC)
        return error_set(err, EPROTO, "message with descriptors where none belong");
    int r = proto_decode(bytes, len, ret_message, err);
    if (r < 0)
        return r;
    size_t wanted = ret_message->type == PROTO_CREATED ? PROTO_CREATED_FDS : 0;
    if (count != wanted)
        return error_set(err, EPROTO, "message of type %d with %zu descriptors: it has %zu",
                         (int)ret_message->type, count, wanted);
    return 0;
}

int proto_receive(int sock, struct proto_message *ret_message, int *ret_fds, size_t *ret_count,
                  struct error *err)
{
    uint8_t bytes[PROTO_MAX_MESSAGE];
    union control control;
    struct iovec iov = {.iov_base = bytes, .iov_len = sizeof(bytes)};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (ret_fds) {
        msg.msg_control = &control;
        msg.msg_controllen = CONTROL_LEN;
    }
    ssize_t n = 0;
    do {
        n = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return -EAGAIN;
    if (n < 0 && errno == ECONNRESET)
        return 0;
    if (n < 0)
        return error_set_errno(err, errno, "receive a message");

    int fds[PROTO_CREATED_FDS] = {-1, -1, -1};
    size_t count = 0;
    int r = ret_fds ? take_fds(&msg, fds, &count, err) : 0;
    if (r < 0)
        return r;
    if (n == 0) {
        close_all(fds, count);
        return 0;
    }
    struct proto_message message;
    r = check_message(&msg, bytes, (size_t)n, count, &message, err);
    if (r < 0) {
        close_all(fds, count);
        return r;
    }
    *ret_message = message;
    if (ret_fds) {
        memcpy(ret_fds, fds, count * sizeof(int));
        *ret_count = count;
    }
    return 1;
}
