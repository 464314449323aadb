/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/net/conntrack.h"

#include <arpa/inet.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <sys/socket.h>

int conntrack_flush(struct netlink *netlink, uint32_t mark, uint32_t mask, struct error *err)
{
    cleanup_netlink_batch struct netlink_batch batch = {0};
    const struct nfgenmsg header = {.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0};
    int r = netlink_batch_init(&batch, netlink);
    if (r < 0)
        return error_set_errno(err, -r, "forget tracked connections");
    struct nlmsghdr *message =
        netlink_add(&batch, NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE, NLM_F_ACK, &header,
                    sizeof(header));
    netlink_put_u32(&batch, message, CTA_MARK, htonl(mark));
    netlink_put_u32(&batch, message, CTA_MARK_MASK, htonl(mask));
    r = netlink_talk(&batch, err);
    return r < 0 ? error_wrap(err, "forget tracked connections") : 0;
}
