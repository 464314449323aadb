/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/proto/resolver_proto.h"

#include <errno.h>
#include <sys/socket.h>

int resolver_proto_send(int sock, const struct resolver_message *message)
{
    uint8_t bytes[RESOLVER_MAX_MESSAGE];
    int len = resolver_proto_encode(message, bytes);
    if (len < 0)
        return len;
    ssize_t n = 0;
    do {
        n = send(sock, bytes, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    return n == len ? 0 : -EIO;
}

int resolver_proto_receive(int sock, struct resolver_message *ret_message, struct error *err)
{
    uint8_t bytes[RESOLVER_MAX_MESSAGE];
    struct iovec iov = {.iov_base = bytes, .iov_len = sizeof(bytes)};
    /* Without room for control data no descriptor of the peer's is ever installed. */
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t n = 0;
    do {
        n = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return -EAGAIN;
    if (n == 0 || (n < 0 && errno == ECONNRESET))
        return 0;
    if (n < 0)
        return error_set_errno(err, errno, "receive a message");
    if (msg.msg_flags & MSG_TRUNC)
        return error_set(err, EPROTO, "message of more than %d bytes", RESOLVER_MAX_MESSAGE);
    if (msg.msg_flags & MSG_CTRUNC)
        return error_set(err, EPROTO, "message with descriptors where none belong");
    int r = resolver_proto_decode(bytes, (size_t)n, ret_message, err);
    return r < 0 ? r : 1;
}
