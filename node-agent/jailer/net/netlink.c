/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/net/netlink.h"

#include "common/cleanup.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

/* The kernel answers within the request: this is for what nobody has thought of. */
#define ANSWER_WITHIN_SECONDS 10

int netlink_open(struct netlink *ret_netlink, int bus, struct error *err)
{
    struct mnl_socket *sock = mnl_socket_open2(bus, SOCK_CLOEXEC);
    if (!sock)
        return error_set_errno(err, errno, "open a netlink socket");
    const struct timeval within = {.tv_sec = ANSWER_WITHIN_SECONDS};
    const int on = 1;
    /* Extended errors say which attribute the kernel did not like; without them it is a number. */
    (void)mnl_socket_setsockopt(sock, NETLINK_EXT_ACK, (void *)(uintptr_t)&on, sizeof(on));
    (void)mnl_socket_setsockopt(sock, NETLINK_CAP_ACK, (void *)(uintptr_t)&on, sizeof(on));
    if (setsockopt(mnl_socket_get_fd(sock), SOL_SOCKET, SO_RCVTIMEO, &within, sizeof(within)) < 0 ||
        mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0) {
        int failure = errno;
        (void)mnl_socket_close(sock);
        return error_set_errno(err, failure, "bind a netlink socket");
    }
    *ret_netlink = (struct netlink){.socket = sock, .sequence = 1};
    return 0;
}

void netlink_close(struct netlink *netlink)
{
    if (netlink->socket)
        (void)mnl_socket_close(netlink->socket);
    netlink->socket = NULL;
}

int netlink_batch_init(struct netlink_batch *ret_batch, struct netlink *netlink)
{
    *ret_batch = (struct netlink_batch){.netlink = netlink, .bytes = malloc(NETLINK_BUFFER_SIZE)};
    if (!ret_batch->bytes)
        return -ENOMEM;
    ret_batch->first_sequence = netlink->sequence;
    return 0;
}

void netlink_batch_done(struct netlink_batch *batch)
{
    free(batch->bytes);
    batch->bytes = NULL;
}

/* Closes the message before, whose attributes are in. */
static void finish_last(struct netlink_batch *batch, struct nlmsghdr *last)
{
    size_t end = (size_t)((char *)last - batch->bytes) + NLMSG_ALIGN(last->nlmsg_len);
    batch->len = end;
}

static struct nlmsghdr *message_at(struct netlink_batch *batch, size_t at)
{
    return (struct nlmsghdr *)(void *)(batch->bytes + at);
}

/* The offset of the message that is being filled; batch->len is behind the one before. */
struct nlmsghdr *netlink_add(struct netlink_batch *batch, uint16_t type, uint16_t flags,
                             const void *header, size_t header_len)
{
    if (batch->last_sequence != 0)
        finish_last(batch, message_at(batch, batch->len));
    /* Half of a message is kept free: what would not fit is written over and never sent. */
    if (batch->len + NETLINK_BUFFER_SIZE / 2 > NETLINK_BUFFER_SIZE) {
        batch->result = -EMSGSIZE;
        batch->len = 0;
    }
    struct nlmsghdr *message = mnl_nlmsg_put_header(batch->bytes + batch->len);
    message->nlmsg_type = type;
    message->nlmsg_flags = NLM_F_REQUEST | flags;
    message->nlmsg_seq = batch->last_sequence = batch->netlink->sequence++;
    memcpy(mnl_nlmsg_put_extra_header(message, header_len), header, header_len);
    return message;
}

static size_t room(const struct netlink_batch *batch, const struct nlmsghdr *message)
{
    return NETLINK_BUFFER_SIZE - (size_t)((const char *)message - batch->bytes);
}

void netlink_put(struct netlink_batch *batch, struct nlmsghdr *message, uint16_t type,
                 const void *bytes, size_t len)
{
    if (!mnl_attr_put_check(message, room(batch, message), type, len, bytes))
        batch->result = -EMSGSIZE;
}

void netlink_put_text(struct netlink_batch *batch, struct nlmsghdr *message, uint16_t type,
                      const char *text)
{
    netlink_put(batch, message, type, text, strlen(text) + 1);
}

void netlink_put_u32(struct netlink_batch *batch, struct nlmsghdr *message, uint16_t type,
                     uint32_t value)
{
    netlink_put(batch, message, type, &value, sizeof(value));
}

struct nlattr *netlink_nest(struct netlink_batch *batch, struct nlmsghdr *message, uint16_t type)
{
    struct nlattr *nest = mnl_attr_nest_start_check(message, room(batch, message), type);
    if (!nest)
        batch->result = -EMSGSIZE;
    return nest;
}

void netlink_nest_end(struct nlmsghdr *message, struct nlattr *nest)
{
    if (nest)
        mnl_attr_nest_end(message, nest);
}

static int send_all(struct netlink_batch *batch, struct error *err)
{
    if (batch->result < 0)
        return error_set_errno(err, -batch->result, "build a netlink request");
    finish_last(batch, message_at(batch, batch->len));
    if (mnl_socket_sendto(batch->netlink->socket, batch->bytes, batch->len) < 0)
        return error_set_errno(err, errno, "send a netlink request");
    return 0;
}

static int on_error_attribute(const struct nlattr *attribute, void *arg)
{
    const char **text = arg;
    if (mnl_attr_get_type(attribute) == NLMSGERR_ATTR_MSG &&
        mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) >= 0)
        *text = mnl_attr_get_str(attribute);
    return MNL_CB_OK;
}

/* 0 for an acknowledgement, else the kernel's errno and words. */
static int read_error(const struct nlmsghdr *message, struct error *err)
{
    if (mnl_nlmsg_get_payload_len(message) < sizeof(struct nlmsgerr))
        return error_set(err, EBADMSG, "the kernel's netlink answer is too short");
    const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);
    if (error->error == 0)
        return 0;
    const char *text = NULL;
    /* NETLINK_CAP_ACK: behind the header of the request, whose payload isn't repeated. */
    if (message->nlmsg_flags & NLM_F_ACK_TLVS)
        (void)mnl_attr_parse(message, sizeof(*error), on_error_attribute, &text);
    int errnum = error->error < 0 ? -error->error : error->error;
    return error_set_errno(err, errnum, "%s", text ? text : "the kernel refuses it");
}

static ssize_t receive(struct netlink *netlink, char *bytes, struct error *err)
{
    ssize_t len = 0;
    do {
        len = mnl_socket_recvfrom(netlink->socket, bytes, NETLINK_BUFFER_SIZE);
    } while (len < 0 && errno == EINTR);
    return len < 0 ? error_set_errno(err, errno, "read a netlink answer") : len;
}

int netlink_talk(struct netlink_batch *batch, struct error *err)
{
    uint32_t last = batch->answer_sequence ? batch->answer_sequence : batch->last_sequence;
    int result = send_all(batch, err);
    if (result < 0)
        return result;
    for (;;) {
        ssize_t len = receive(batch->netlink, batch->bytes, err);
        if (len < 0)
            return (int)len;
        int left = (int)len;
        const struct nlmsghdr *message = (const struct nlmsghdr *)(void *)batch->bytes;
        for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
            if (message->nlmsg_type != NLMSG_ERROR ||
                message->nlmsg_seq - batch->first_sequence >
                    batch->last_sequence - batch->first_sequence)
                continue; /* left over of an earlier request that was cut short */
            struct error *first = result < 0 ? NULL : err;
            int r = read_error(message, first);
            if (r < 0 && result >= 0)
                result = r;
            /* A refused beginning of a transaction is the last word, too. */
            if (message->nlmsg_seq == last ||
                (r < 0 && message->nlmsg_seq == batch->first_sequence))
                return result;
        }
    }
}

/* Up to its end (NLMSG_DONE) or its acknowledgement, whichever the request gets. */
static int read_entries(struct netlink_batch *batch, netlink_entry_fn each, void *arg,
                        struct error *err)
{
    int r = 0;
    for (;;) {
        ssize_t len = receive(batch->netlink, batch->bytes, err);
        if (len < 0)
            return (int)len;
        int left = (int)len;
        const struct nlmsghdr *message = (const struct nlmsghdr *)(void *)batch->bytes;
        for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
            if (message->nlmsg_seq != batch->last_sequence)
                continue;
            if (message->nlmsg_type == NLMSG_DONE)
                return r;
            if (message->nlmsg_type == NLMSG_ERROR)
                return r < 0 ? r : read_error(message, err);
            if (r >= 0)
                r = each(message, arg);
        }
    }
}

int netlink_read(struct netlink_batch *batch, netlink_entry_fn each, void *arg, struct error *err)
{
    int r = send_all(batch, err);
    if (r < 0)
        return r;
    err->code = 0;
    r = read_entries(batch, each, arg, err);
    return r < 0 && err->code == 0 ? error_set_errno(err, -r, "read a netlink answer") : r;
}
