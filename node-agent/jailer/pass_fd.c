/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/pass_fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* Room for exactly one: CMSG_SPACE() rounds up, and the kernel would install a second one in the
 * gap, so that is not what is told to it. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

int pass_fd_send(int sock, const void *record, size_t len, int fd)
{
    union {
        const void *in;
        void *out;
    } cast = {.in = record};
    union control control;
    memset(&control, 0, sizeof(control));
    struct iovec iov = {.iov_base = cast.out, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control)};
    control.align.cmsg_level = SOL_SOCKET;
    control.align.cmsg_type = SCM_RIGHTS;
    control.align.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
    ssize_t n = 0;
    do {
        n = sendmsg(sock, &msg, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : 0;
}

int pass_fd_receive(int sock, void *record, size_t size, int *ret_fd)
{
    union control control;
    struct iovec iov = {.iov_base = record, .iov_len = size};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = CMSG_LEN(sizeof(int))};
    *ret_fd = -1;
    ssize_t n = 0;
    do {
        n = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    const struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
    if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS &&
        cmsg->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(ret_fd, CMSG_DATA(cmsg), sizeof(*ret_fd));
    return (int)n;
}
