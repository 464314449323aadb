/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/net_helper.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "node-agent/jailer/caps.h"
#include "node-agent/jailer/helper.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/net/conntrack.h"
#include "node-agent/jailer/net/links.h"
#include "node-agent/jailer/net/net_messages.h"
#include "node-agent/jailer/net/net_probe.h"
#include "node-agent/jailer/net/nft_load.h"
#include "node-agent/jailer/net/nft_text.h"
#include "node-agent/jailer/net/sysctl_record.h"
#include "node-agent/jailer/net/sysctls.h"

#include <linux/netlink.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

struct work {
    const struct net_helper *helper;
    struct netlink filter; /* owns the lock: closed last, by the end of the process */
    struct netlink route;
    struct sysctls sysctls;
    struct sysctl_record record;
    bool loaded;
    uint64_t full_until_ns[NET_MAX_SLOTS]; /* nothing is added to a slot's names till then */
};

static int send_answer(const struct work *work, const struct net_answer *answer)
{
    ssize_t n = send(work->helper->sock, answer, sizeof(*answer), MSG_NOSIGNAL);
    return n == (ssize_t)sizeof(*answer) ? 0 : -EPIPE;
}

static void pause_ms(int timeout_ms)
{
    (void)poll(NULL, 0, timeout_ms);
}

static uint64_t in_ms(uint64_t timeout_ms)
{
    return clock_boottime_ns() + timeout_ms * UINT64_C(1000000);
}

/* An earlier jailer's helper may be about to end. Of a table that is somebody else's the kernel
 * says EPERM; the capability itself was looked at before. */
static int lock(struct work *work, struct error *err)
{
    uint64_t until_ns = in_ms(NET_LOCK_WITHIN_MS);
    uint32_t jailer = work->helper->plan->jailer;
    int r = 0;
    while ((r = nft_elements_lock(&work->filter, jailer, err)) == -EEXIST || r == -EPERM) {
        if (clock_boottime_ns() >= until_ns)
            return error_set(err, EADDRINUSE,
                             "another jailer with number %u has slots in this network namespace: "
                             "end it, or start this one in another namespace",
                             jailer);
        pause_ms(20);
    }
    return r < 0 ? error_wrap(err, "make an nftables table") : 0;
}

/* As long as a slot's interface is there, its sandbox may be. */
static void wait_for_slots(struct work *work, uint64_t timeout_ms)
{
    uint64_t until_ns = in_ms(timeout_ms);
    uint32_t count = 0;
    struct error err = {0};
    while (links_count_slots(&work->route, work->helper->plan->jailer, &count, &err) >= 0 &&
           count > 0 && clock_boottime_ns() < until_ns)
        pause_ms(5);
}

static int load_table(struct work *work, struct error *err)
{
    cleanup_buf struct buf text = BUF_INIT(NFT_MAX_TEXT);
    int r = nft_text_print(work->helper->plan, &text);
    if (r >= 0)
        r = net_probe_print(work->helper->plan, &text);
    if (r < 0)
        return error_set_errno(err, -r, "print the nftables table");
    r = nft_load(buf_str(&text), text.len, err);
    work->loaded = r >= 0;
    return r;
}

/* IPv6 would lose the route that a router has advertised, where the namespace is somebody else's.
 */
static int wants_ipv6(struct work *work, bool *ret_wants, struct error *err)
{
    bool advertised = false;
    int r = links_has_advertised_route(&work->route, &advertised, err);
    *ret_wants = !(advertised && work->helper->shared);
    return r;
}

static int apply_sysctls(struct work *work, bool ipv6, struct error *err)
{
    sysctl_record_open(&work->record, SYSCTL_RECORD_DIR);
    int r = sysctls_apply(&work->sysctls, ipv6, err);
    if (r >= 0)
        sysctl_record_enter(&work->record, &work->sysctls);
    else
        sysctl_record_done(&work->record, false);
    return r;
}

/* With IPv6 alone dropped there are connections yet: those of IPv4. */
static int probe(struct work *work, struct net_started *started, struct error *err)
{
    struct net_probe_result result = {.silent4 = false};
    int r = net_probe_run(&work->filter, &work->route, work->helper->plan, work->sysctls.proc_fd,
                          started->ipv6 != 0, &result, err);
    if (r < 0)
        return r;
    if (result.silent4)
        return error_set(err, EHOSTUNREACH,
                         "another firewall of this node drops what sandboxes send (a forward chain "
                         "with policy drop: nft list chains, iptables -S FORWARD): let pass what "
                         "comes from and goes to interfaces sbr*, with Docker in its chain "
                         "DOCKER-USER");
    if (result.silent6) {
        started->ipv6 = 0;
        started->ipv6_dropped = 1;
    }
    return 0;
}

/* Nothing is forwarded before the table is there. */
static int prepare(struct work *work, struct net_started *ret_started, struct error *err)
{
    const struct net_plan *plan = work->helper->plan;
    bool ipv6 = false;
    int r = netlink_open(&work->filter, NETLINK_NETFILTER, err);
    if (r >= 0)
        r = netlink_open(&work->route, NETLINK_ROUTE, err);
    if (r >= 0)
        r = lock(work, err);
    if (r >= 0)
        r = links_check_ranges(&work->route, plan, err);
    if (r >= 0)
        r = links_delete_slots(&work->route, plan->jailer, err);
    if (r >= 0)
        r = load_table(work, err);
    if (r >= 0)
        r = conntrack_flush(&work->filter, net_plan_mark(plan->jailer, 0), NET_MARK_MASK, err);
    if (r >= 0)
        r = sysctls_open(&work->sysctls, err);
    if (r >= 0)
        r = wants_ipv6(work, &ipv6, err);
    if (r >= 0)
        r = apply_sysctls(work, ipv6, err);
    if (r >= 0)
        *ret_started = (struct net_started){.mtu = links_uplink_mtu(&work->route),
                                            .ipv6 = work->sysctls.ipv6 ? 1 : 0,
                                            .tracked = sysctls_tracked(&work->sysctls)};
    return r < 0 ? r : probe(work, ret_started, err);
}

/* Others that are still there need what was changed, too. */
static void restore_sysctls(struct work *work)
{
    bool others = false;
    struct error err = {0};
    bool recorded = work->record.fd >= 0;
    if (recorded)
        others = !sysctl_record_leave(&work->record);
    else if (nft_elements_find_others(&work->filter, work->helper->plan->jailer, &others, &err) < 0)
        others = true;
    if (!others)
        sysctls_restore(&work->sysctls);
    sysctl_record_done(&work->record, !others);
}

static void undo(struct work *work)
{
    const struct net_plan *plan = work->helper->plan;
    struct error err = {0};
    if (!work->loaded)
        return;
    wait_for_slots(work, NET_SLOTS_GONE_WITHIN_MS);
    (void)links_delete_slots(&work->route, plan->jailer, &err);
    restore_sysctls(work);
    (void)nft_elements_delete_table(&work->filter, plan->jailer, &err);
    (void)conntrack_flush(&work->filter, net_plan_mark(plan->jailer, 0), NET_MARK_MASK, &err);
}

static int take(struct work *work, const struct net_request *request)
{
    struct net_answer answer = {.kind = NET_TAKEN, .slot = request->slot};
    work->full_until_ns[request->slot] = 0;
    (void)nft_elements_take(&work->filter, work->helper->plan->jailer, request->slot,
                            &request->egress, &answer.error);
    return send_answer(work, &answer);
}

/* The answer first: the result of a run waits for it. */
static int release(struct work *work, const struct net_request *request)
{
    uint32_t jailer = work->helper->plan->jailer, slot = request->slot;
    struct net_answer denied = {.kind = NET_DENIED, .slot = slot};
    (void)nft_elements_read_denied(&work->filter, jailer, slot, &denied.denied, &denied.error);
    int r = send_answer(work, &denied);
    if (r < 0)
        return r;
    struct net_answer freed = {.kind = NET_FREED, .slot = slot};
    /* In this order: what comes behind the first finds no policy, and is not tracked again. */
    if (nft_elements_release(&work->filter, jailer, slot, &freed.error) >= 0)
        (void)conntrack_flush(&work->filter, net_plan_mark(jailer, slot), UINT32_MAX, &freed.error);
    return send_answer(work, &freed);
}

/* A transaction that fails waits for a grace period, and everybody with it: of a set that is full
 * the kernel is not asked for each address. */
static int allow(struct work *work, const struct net_request *request)
{
    const struct net_allow *what = &request->allow;
    uint64_t *full_until_ns = &work->full_until_ns[request->slot];
    struct net_answer answer = {
        .kind = NET_ALLOWED, .slot = request->slot, .sequence = what->sequence};
    if (clock_boottime_ns() < *full_until_ns)
        (void)error_set(&answer.error, ENFILE, "network slot %u has no room for an address",
                        request->slot);
    else if (nft_elements_allow(&work->filter, work->helper->plan->jailer, request->slot,
                                &what->address, (uint8_t)what->ports, what->timeout_ms,
                                &answer.error) == -ENFILE)
        *full_until_ns = in_ms(NET_FULL_FOR_MS);
    return send_answer(work, &answer);
}

static int set_resolver(struct work *work, const struct net_request *request)
{
    struct error err = {0};
    return nft_elements_set_resolver(&work->filter, work->helper->plan->jailer,
                                     (uint16_t)request->port, &err);
}

static int (*const handlers[])(struct work *work, const struct net_request *request) = {
    [NET_TAKE] = take,
    [NET_RELEASE] = release,
    [NET_ALLOW] = allow,
    [NET_RESOLVER] = set_resolver,
};

static void serve(struct work *work)
{
    for (;;) {
        struct net_request request = {.kind = 0};
        ssize_t n = recv(work->helper->sock, &request, sizeof(request), 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || (size_t)n < sizeof(request.kind) || (size_t)n != net_request_size(&request) ||
            request.slot >= work->helper->plan->slot_count ||
            handlers[request.kind](work, &request) < 0)
            return;
    }
}

/* From here on no namespace is entered and no file system made. */
static int drop_sys_admin(void)
{
    struct __user_cap_data_struct sets[CAPS_WORDS] = {0};
    sets[CAP_TO_INDEX(CAP_NET_ADMIN)].effective = CAP_TO_MASK(CAP_NET_ADMIN);
    sets[CAP_TO_INDEX(CAP_NET_ADMIN)].permitted = CAP_TO_MASK(CAP_NET_ADMIN);
    return caps_set(sets);
}

static int helper_main(const void *arg)
{
    struct work work = {.helper = arg, .sysctls = SYSCTLS_INIT, .record = SYSCTL_RECORD_INIT};
    struct net_answer started = {.kind = NET_STARTED};
    int r = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
                ? error_set_errno(&started.error, errno, "set no_new_privs")
                : prepare(&work, &started.started, &started.error);
    if (r >= 0 && drop_sys_admin() < 0)
        r = error_set(&started.error, EPERM, "give up CAP_SYS_ADMIN");
    /* A failure is told when nothing of the attempt is left. */
    if (r < 0)
        undo(&work);
    if (send_answer(&work, &started) >= 0 && r >= 0)
        serve(&work);
    if (r >= 0)
        undo(&work);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int net_helper_start(const struct net_helper *helper)
{
    const int keep[] = {helper->sock};
    return helper_start("net", HELPER_NETWORK, keep, ARRAY_SIZE(keep), helper_main, helper);
}
