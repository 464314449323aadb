/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/pass_fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* Room for as many as are told, never more: CMSG_SPACE() rounds up, and the kernel would install a
 * further one in the gap, so that is not what is told to it. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(MAX_PASSED_FDS * sizeof(int))];
};

int pass_fds_send(int sock, const void *record, size_t len, const int *fds, size_t count, int flags)
{
    union {
        const void *in;
        void *out;
    } cast = {.in = record};
    union control control;
    if (count == 0 || count > MAX_PASSED_FDS)
        return -EINVAL;
    memset(&control, 0, sizeof(control));
    struct iovec iov = {.iov_base = cast.out, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    control.align.cmsg_level = SOL_SOCKET;
    control.align.cmsg_type = SCM_RIGHTS;
    control.align.cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(&control.align), fds, count * sizeof(int));
    ssize_t n = 0;
    do {
        n = sendmsg(sock, &msg, MSG_NOSIGNAL | flags);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : 0;
}

int pass_fds_receive(int sock, void *record, size_t size, int *ret_fds, size_t max,
                     size_t *ret_count, int flags)
{
    union control control;
    struct iovec iov = {.iov_base = record, .iov_len = size};
    *ret_count = 0;
    if (max == 0 || max > MAX_PASSED_FDS)
        return -EINVAL;
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = CMSG_LEN(max * sizeof(int))};
    ssize_t n = 0;
    do {
        n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | flags);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    const struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
    if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS &&
        cmsg->cmsg_len >= CMSG_LEN(0) && cmsg->cmsg_len <= CMSG_LEN(max * sizeof(int))) {
        *ret_count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(ret_fds, CMSG_DATA(cmsg), *ret_count * sizeof(int));
    }
    return (int)n;
}

int pass_fd_send(int sock, const void *record, size_t len, int fd)
{
    return pass_fds_send(sock, record, len, &fd, 1, 0);
}

int pass_fd_receive(int sock, void *record, size_t size, int *ret_fd)
{
    size_t count = 0;
    *ret_fd = -1;
    return pass_fds_receive(sock, record, size, ret_fd, 1, &count, MSG_DONTWAIT);
}
