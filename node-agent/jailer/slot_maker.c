/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/slot_maker.h"

#include "common/cleanup.h"
#include "node-agent/jailer/helper.h"
#include "node-agent/jailer/net/links.h"
#include "node-agent/jailer/net/net_messages.h"
#include "node-agent/jailer/net/sysctls.h"
#include "node-agent/jailer/pass_fd.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/socket.h>

struct workshop {
    const struct slot_maker *maker;
    int home_fd;
    struct sysctls sysctls; /* for its procfs, which shows the namespace of whoever looks */
    struct netlink outside;
};

/* In the new namespace: what can only be done from within. */
static int furnish(struct workshop *workshop, struct netlink *ret_inside, int *ret_ns_fd,
                   struct error *err)
{
    *ret_ns_fd = openat(workshop->maker->proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
    if (*ret_ns_fd < 0)
        return error_set_errno(err, errno, "open the network namespace of a slot");
    int r = sysctls_seal_slot(workshop->sysctls.proc_fd, workshop->maker->ipv6, err);
    if (r < 0)
        return r;
    return netlink_open(ret_inside, NETLINK_ROUTE, err);
}

static int make(struct workshop *workshop, uint32_t slot, int *ret_ns_fd, struct error *err)
{
    const struct slot_maker *maker = workshop->maker;
    struct netlink inside = {0};
    if (unshare(CLONE_NEWNET) < 0)
        return error_set_errno(err, errno, "make the network namespace of a slot");
    int r = furnish(workshop, &inside, ret_ns_fd, err);
    /* Back home whatever happened: the next slot's other end belongs there. */
    if (setns(workshop->home_fd, CLONE_NEWNET) < 0)
        _exit(EXIT_FAILURE);
    if (r >= 0)
        r = links_make_slot(&workshop->outside, &inside, *ret_ns_fd, maker->plan, slot, maker->ipv6,
                            maker->mtu, err);
    netlink_close(&inside);
    if (r < 0)
        *ret_ns_fd = fd_close(*ret_ns_fd);
    return r;
}

static int answer(struct workshop *workshop, uint32_t slot)
{
    struct maker_answer answer = {.slot = slot};
    int ns_fd = -1;
    int r = make(workshop, slot, &ns_fd, &answer.error);
    if (r >= 0) {
        r = pass_fd_send(workshop->maker->sock, &answer, sizeof(answer), ns_fd);
        (void)fd_close(ns_fd);
        return r;
    }
    ssize_t n = send(workshop->maker->sock, &answer, sizeof(answer), MSG_NOSIGNAL);
    return n == (ssize_t)sizeof(answer) ? 0 : -EPIPE;
}

static int maker_main(const void *arg)
{
    struct workshop workshop = {.maker = arg, .sysctls = SYSCTLS_INIT};
    struct error err = {0};
    struct maker_request request;
    workshop.home_fd = openat(workshop.maker->proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
    if (workshop.home_fd < 0 || sysctls_open(&workshop.sysctls, &err) < 0 ||
        netlink_open(&workshop.outside, NETLINK_ROUTE, &err) < 0)
        return EXIT_FAILURE;
    while (recv(workshop.maker->sock, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
        if (request.slot >= workshop.maker->plan->slot_count || answer(&workshop, request.slot) < 0)
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

int slot_maker_start(const struct slot_maker *maker)
{
    const int keep[] = {maker->sock, maker->proc_fd};
    return helper_start("slots", HELPER_SLOTS, keep, ARRAY_SIZE(keep), maker_main, maker);
}
