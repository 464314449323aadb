/* SPDX-License-Identifier: Apache-2.0 */

/* What sandboxes with a network need. Without it the node serves the others. */
#include "common/buf.h"
#include "common/cleanup.h"
#include "node-agent/jailer/caps.h"
#include "node-agent/jailer/check.h"
#include "node-agent/jailer/net/links.h"
#include "node-agent/jailer/net/nft_load.h"
#include "node-agent/jailer/net/nft_text.h"
#include "node-agent/jailer/net/sysctls.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>

/* Enough to see that a table of any number can be loaded. */
#define TRIAL_SLOTS 2u
#define TRIAL_MTU   1500u

static int plan_of(const struct check_subject *subject, struct net_plan *ret_plan,
                   struct error *err)
{
    const struct options *options = subject->options;
    return net_plan_init(ret_plan, 0, TRIAL_SLOTS, &options->slot_range, &options->slot_range6,
                         err);
}

/* Of the trial's own: nothing of it reaches the jailer's. */
static int enter_new(struct error *err)
{
    return unshare(CLONE_NEWNET) < 0 ? error_set_errno(err, errno, "make a network namespace") : 0;
}

static int load_table(const void *arg, struct error *err)
{
    struct net_plan plan;
    struct buf text = BUF_INIT(NFT_MAX_TEXT);
    int r = enter_new(err);
    if (r >= 0)
        r = plan_of(arg, &plan, err);
    if (r >= 0)
        r = nft_text_print(&plan, &text);
    if (r >= 0)
        r = nft_load(buf_str(&text), text.len, err);
    buf_done(&text);
    return r;
}

static int make_pair(const void *arg, struct error *err)
{
    const struct check_subject *subject = arg;
    struct netlink outside = {0}, inside = {0};
    struct net_plan plan;
    int r = enter_new(err);
    if (r >= 0)
        r = plan_of(subject, &plan, err);
    if (r >= 0)
        r = netlink_open(&outside, NETLINK_ROUTE, err);
    if (r >= 0)
        r = enter_new(err);
    if (r >= 0)
        r = netlink_open(&inside, NETLINK_ROUTE, err);
    if (r < 0)
        return r;
    cleanup_close int ns_fd = openat(subject->proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
    if (ns_fd < 0)
        return error_set_errno(err, errno, "open a network namespace");
    return links_make_slot(&outside, &inside, ns_fd, &plan, 0, sysctls_has_ipv6(subject->proc_fd),
                           TRIAL_MTU, err);
}

static int set_forwarding(const void *arg, struct error *err)
{
    struct sysctls sysctls = SYSCTLS_INIT;
    (void)arg;
    int r = enter_new(err);
    if (r >= 0)
        r = sysctls_open(&sysctls, err);
    if (r >= 0)
        r = sysctls_apply(&sysctls, true, err);
    sysctls_close(&sysctls);
    return r;
}

/* In the jailer's own namespace: it only looks. */
static int look_at_ranges(const void *arg, struct error *err)
{
    struct netlink route = {0};
    struct net_plan plan;
    int r = plan_of(arg, &plan, err);
    if (r >= 0)
        r = netlink_open(&route, NETLINK_ROUTE, err);
    return r < 0 ? r : links_check_ranges(&route, &plan, err);
}

static void check_nft(const struct check_subject *subject)
{
    static const struct check_kind kind = {"network.nft", PROTO_RECOMMENDED,
                                           "install the package nftables: without nft there are no "
                                           "runs of profile ToolCall"};
    const char *program = nft_load_find();
    if (program)
        check_add(subject->checks, &kind, PROTO_OUTCOME_OK, "%s", program);
    else
        check_add(subject->checks, &kind, PROTO_OUTCOME_FAILED, "there is no nft");
}

struct network_trial {
    struct check_kind kind;
    check_trial_fn fn;
    const char *figure;
};

static const struct network_trial trials[] = {
    {{"network.table", PROTO_RECOMMENDED,
      "use a kernel with nf_tables, its reject, fib, nat, masq, redir, connlimit and limit modules "
      "and connection tracking with marks; a container can't load modules: load them on the node"},
     load_table,
     "loaded"},
    {{"network.veth", PROTO_RECOMMENDED,
      "use a kernel with CONFIG_VETH, and load the module veth on the node"},
     make_pair,
     "made, with addresses and routes"},
    {{"network.forwarding", PROTO_RECOMMENDED,
      "look for a policy that forbids to mount a procfs or to write to it (AppArmor, SELinux)"},
     set_forwarding,
     "can be set, by a procfs of its own"},
    {{"network.ranges", PROTO_RECOMMENDED,
      "choose another range with --slot-range or --slot-range6"},
     look_at_ranges,
     "no route leads into the ranges of network slots"},
};

void checks_network(struct check_subject *subject)
{
    struct check_subject inner = *subject;
    check_nft(subject);
    if (!inner.obstacle && !caps_has_number(CAP_NET_ADMIN))
        inner.obstacle = "capability.net-admin";
    for (size_t i = 0; i < ARRAY_SIZE(trials); i++) {
        struct check_subject each = inner;
        if (!each.obstacle && trials[i].fn == load_table && !nft_load_find())
            each.obstacle = "network.nft";
        check_try(&each, &trials[i].kind, trials[i].fn, &each, trials[i].figure);
    }
}
