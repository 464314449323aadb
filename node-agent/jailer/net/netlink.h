/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Requests to the kernel's network by netlink(7), one conversation at a time: what a request
 * causes is done when its answer is there. For processes that may wait. A socket belongs for ever
 * to the network namespace in which it was opened.
 */
struct netlink {
    struct mnl_socket *socket; /* NULL: closed */
    uint32_t sequence;
};

#define NETLINK_BUFFER_SIZE 65536

/* A run of messages in one buffer, sent at once. */
struct netlink_batch {
    struct netlink *netlink;
    char *bytes; /* NETLINK_BUFFER_SIZE; NULL: none yet, or not any more */
    size_t len;
    uint32_t first_sequence, last_sequence;
    uint32_t answer_sequence; /* of the message whose answer is the last; 0: the last message */
    int result;               /* of building it */
};

/* bus: NETLINK_ROUTE or NETLINK_NETFILTER. */
int netlink_open(struct netlink *ret_netlink, int bus, struct error *err);
void netlink_close(struct netlink *netlink);

int netlink_batch_init(struct netlink_batch *ret_batch, struct netlink *netlink);
void netlink_batch_done(struct netlink_batch *batch);

#define cleanup_netlink_batch __attribute__((cleanup(netlink_batch_done)))

/* The next message of a batch, to be filled with netlink_put*(); never NULL. flags without
 * NLM_F_REQUEST. What does not fit any more fails the batch when it is sent. */
struct nlmsghdr *netlink_add(struct netlink_batch *batch, uint16_t type, uint16_t flags,
                             const void *header, size_t header_len);

void netlink_put(struct netlink_batch *batch, struct nlmsghdr *message, uint16_t type,
                 const void *bytes, size_t len);
void netlink_put_text(struct netlink_batch *batch, struct nlmsghdr *message, uint16_t type,
                      const char *text);
void netlink_put_u32(struct netlink_batch *batch, struct nlmsghdr *message, uint16_t type,
                     uint32_t value);
struct nlattr *netlink_nest(struct netlink_batch *batch, struct nlmsghdr *message, uint16_t type);
void netlink_nest_end(struct nlmsghdr *message, struct nlattr *nest);

/* Sends a batch, of which the message with answer_sequence must ask for NLM_F_ACK, and reads the
 * answers up to that to it. 0, or the first failure as -errno, with the kernel's own words in err.
 */
int netlink_talk(struct netlink_batch *batch, struct error *err);

/* Sends one request, for a list (NLM_F_DUMP) or for one entry (NLM_F_ACK), and calls each for every
 * entry; -errno of the first that fails. */
typedef int (*netlink_entry_fn)(const struct nlmsghdr *message, void *arg);

int netlink_read(struct netlink_batch *batch, netlink_entry_fn each, void *arg, struct error *err);
