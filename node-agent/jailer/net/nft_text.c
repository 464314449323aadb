/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How a packet from a slot is judged, in prerouting: behind connection tracking, before any address
 * is rewritten or any route is looked up, so that also what could not be routed is answered.
 *
 *   judge     options -> refused; DNS to the gateway -> dns;
 *             forbidden or local destination -> refused; known connection -> on;
 *             caps -> refused; map policies: public or rules_N, by the slot; else refused
 *   public    TCP 80 and 443
 *   rules_N   the sets of the run's own rules and names
 *   refuse_N  notes the target in the slot's own set, then answers at once
 *
 * Before that, and before connection tracking sees it, a forged source is dropped: what claims to
 * be another's connection must not change what is known of it.
 *
 * Fragments are put together by connection tracking first, so that what is judged is whole.
 * Towards slots only answers pass, whoever sends them.
 */
#include "node-agent/jailer/net/nft_text.h"

#include "common/cleanup.h"
#include "common/net/forbidden.h"

#include <errno.h>
#include <stdbool.h>

/* Keeps the first failure, so that printing needs no check at each line. */
struct printer {
    struct buf *text;
    int result;
};

static void print(struct printer *printer, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void print(struct printer *printer, const char *fmt, ...)
{
    char line[512];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    int r = len < 0 || (size_t)len >= sizeof(line) ? -EMSGSIZE
                                                   : buf_append(printer->text, line, (size_t)len);
    if (r < 0 && printer->result >= 0)
        printer->result = r;
}

static void print_prefix(struct printer *printer, const struct ip_prefix *prefix)
{
    char text[IP_PREFIX_TEXT_SIZE];
    ip_prefix_print(prefix, text);
    print(printer, "%s, ", text);
}

/* Both ranges of slots are in it, whoever chose them: no sandbox reaches another one. */
static void print_forbidden(struct printer *printer, const struct net_plan *plan,
                            enum ip_family family)
{
    print(printer, "set forbidden%u { type ipv%u_addr; flags interval; auto-merge; elements = { ",
          family, family);
    const struct forbidden_range *range = NULL;
    for (size_t i = 0; (range = forbidden_range(i)); i++) {
        struct ip_prefix prefix;
        if (ip_prefix_parse(range->prefix, true, &prefix, NULL) < 0)
            printer->result = -EINVAL;
        else if (prefix.address.family == family)
            print_prefix(printer, &prefix);
    }
    for (uint32_t i = 0; i < plan->forbidden_count; i++) {
        if (plan->forbidden[i].address.family == family)
            print_prefix(printer, &plan->forbidden[i]);
    }
    print_prefix(printer, family == IP_FAMILY_4 ? &plan->range4 : &plan->range6);
    print(printer, "} }\n");
}

/* { "sbrK-0", "sbrK-1", ... }, for each slot, with what print_value() puts behind its name. */
static void print_slots(struct printer *printer, const struct net_plan *plan,
                        void (*print_value)(struct printer *, const struct net_plan *, uint32_t))
{
    for (uint32_t slot = 0; slot < plan->slot_count; slot++) {
        print(printer, "%s\"sbr%u-%u\"", slot > 0 ? ", " : "", plan->jailer, slot);
        if (print_value)
            print_value(printer, plan, slot);
    }
}

static void print_address(struct printer *printer, const struct net_plan *plan, uint32_t slot,
                          enum ip_family family, enum net_end end)
{
    struct ip_address address;
    char text[IP_ADDRESS_TEXT_SIZE];
    net_plan_address(plan, slot, family, end, &address);
    ip_address_print(&address, text);
    print(printer, " . %s", text);
}

static void print_source4(struct printer *printer, const struct net_plan *plan, uint32_t slot)
{
    print_address(printer, plan, slot, IP_FAMILY_4, NET_SANDBOX);
}

static void print_source6(struct printer *printer, const struct net_plan *plan, uint32_t slot)
{
    print_address(printer, plan, slot, IP_FAMILY_6, NET_SANDBOX);
}

static void print_gateway4(struct printer *printer, const struct net_plan *plan, uint32_t slot)
{
    print_address(printer, plan, slot, IP_FAMILY_4, NET_GATEWAY);
}

static void print_gateway6(struct printer *printer, const struct net_plan *plan, uint32_t slot)
{
    print_address(printer, plan, slot, IP_FAMILY_6, NET_GATEWAY);
}

static void print_mark(struct printer *printer, const struct net_plan *plan, uint32_t slot)
{
    print(printer, " : %u", net_plan_mark(plan->jailer, slot));
}

static void print_refusal(struct printer *printer, const struct net_plan *plan, uint32_t slot)
{
    (void)plan;
    print(printer, " : goto refuse_%u", slot);
}

struct slot_set {
    const char *head; /* up to the elements, one for each slot */
    void (*print_value)(struct printer *, const struct net_plan *, uint32_t);
};

static void print_slot_sets(struct printer *printer, const struct net_plan *plan,
                            const struct slot_set *sets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        print(printer, "%s elements = { ", sets[i].head);
        print_slots(printer, plan, sets[i].print_value);
        print(printer, " } }\n");
    }
}

#define TEXT(number)    TEXT_OF(number)
#define TEXT_OF(number) #number

static void print_sets(struct printer *printer, const struct net_plan *plan)
{
    static const struct slot_set sets[] = {
        {"set sources4 { type ifname . ipv4_addr;", print_source4},
        {"set sources6 { type ifname . ipv6_addr;", print_source6},
        {"set gateways4 { type ifname . ipv4_addr;", print_gateway4},
        {"set gateways6 { type ifname . ipv6_addr;", print_gateway6},
        {"map marks { type ifname : mark;", print_mark},
        {"set starts { type ifname; size " TEXT(128) "; flags dynamic; limit rate over " TEXT(
             NFT_STARTS_A_SECOND) "/second burst " TEXT(NFT_STARTS_BURST) " packets;",
         NULL},
        {"set questions { type ifname; size " TEXT(128) "; flags dynamic; limit rate over " TEXT(
             NFT_QUESTIONS_A_SECOND) "/second burst " TEXT(NFT_QUESTIONS_BURST) " packets;",
         NULL},
        {"set answers { type ifname; size " TEXT(128) "; flags dynamic; limit rate over " TEXT(
             NFT_ANSWERS_A_SECOND) "/second burst " TEXT(NFT_ANSWERS_BURST) " packets;",
         NULL},
    };
    print(printer, "counter forged { }\n");
    print_forbidden(printer, plan, IP_FAMILY_4);
    print_forbidden(printer, plan, IP_FAMILY_6);
    /* The sources that nobody accepts a RST from. */
    print(printer, "set martian4 { type ipv4_addr; flags interval; elements = { 0.0.0.0/8, "
                   "127.0.0.0/8, 224.0.0.0/4, 255.255.255.255 } }\n"
                   "set martian6 { type ipv6_addr; flags interval; elements = { ::/127, "
                   "::ffff:0.0.0.0/96, ff00::/8 } }\n");
    /* The slots that are taken, and the port that the resolver serves. */
    print(printer, "map policies { type ifname : verdict; }\n"
                   "map resolver { type inet_service : inet_service; }\n");
    print_slot_sets(printer, plan, sets, ARRAY_SIZE(sets));
    /* These fill up by themselves, to one for each slot, and say in the rules what they count: a
     * rule that takes it from its set gives back a reference to connection tracking at its end that
     * it never took (nft_dynset, nft_connlimit), and the next table would be without. */
    print(printer,
          "set flows { type ifname; size %u; flags dynamic; }\n"
          "set lookups { type ifname; size %u; flags dynamic; }\n",
          NET_MAX_SLOTS, NET_MAX_SLOTS);
}

static void print_answer(struct printer *printer)
{
    print(printer, "chain answer {\n"
                   "  iifname @answers drop\n"
                   "  meta l4proto tcp ip daddr != @martian4 reject with tcp reset\n"
                   "  meta l4proto tcp ip6 daddr != @martian6 reject with tcp reset\n"
                   "  reject with icmpx port-unreachable\n"
                   "}\n");
}

/* What a slot has of its own. The sets of names are swept by hand, at the end of a run: the
 * kernel's sweeping is for one that lasts. */
static void print_slot(struct printer *printer, uint32_t n)
{
    for (unsigned int family = 4; family <= 6; family += 2)
        print(printer,
              "set allow%u_%u { type ipv%u_addr . inet_service; flags interval; }\n"
              "set names%u_%u { type ipv%u_addr . inet_service; flags timeout; size %u; "
              "gc-interval 1m; }\n"
              "set denied%u_%u { type ipv%u_addr . inet_proto . inet_service; flags dynamic; "
              "size %u; counter; }\n",
              family, n, family, family, n, family, NFT_NAMES_SIZE, family, n, family,
              NFT_DENIED_SIZE);
    print(printer,
          "chain refuse_%u {\n"
          "  add @denied4_%u { ip daddr . meta l4proto . th dport }\n"
          "  add @denied6_%u { ip6 daddr . meta l4proto . th dport }\n"
          "  goto answer\n"
          "}\n",
          n, n, n);
    print(printer,
          "chain rules_%u {\n"
          "  ip daddr . tcp dport @allow4_%u accept\n"
          "  ip daddr . tcp dport @names4_%u accept\n"
          "  ip6 daddr . tcp dport @allow6_%u accept\n"
          "  ip6 daddr . tcp dport @names6_%u accept\n"
          "  goto refuse_%u\n"
          "}\n",
          n, n, n, n, n, n);
}

static void print_refuse(struct printer *printer, const struct net_plan *plan)
{
    static const struct slot_set refusals = {"map refusals { type ifname : verdict;",
                                             print_refusal};
    print_slot_sets(printer, plan, &refusals, 1);
    print(printer, "chain refuse {\n"
                   "  iifname vmap @refusals\n"
                   "  drop\n"
                   "}\n");
}

static void print_judgement(struct printer *printer)
{
    print(printer, "chain public {\n"
                   "  tcp dport { 80, 443 } accept\n"
                   "  goto refuse\n"
                   "}\n");
    /* First of all, so that nobody has the resolver work more than its own limits let it. */
    print(printer, "chain dns {\n"
                   "  add @questions { iifname } goto refuse\n"
                   "  ct state established accept\n"
                   "  ct state != new drop\n"
                   "  add @starts { iifname } goto refuse\n"
                   "  add @lookups { iifname ct count over " TEXT(
                       NFT_LOOKUPS) " } goto refuse\n"
                                    "  ct mark set iifname map @marks accept\n"
                                    "}\n");
    /* The routers on the way are nobody's business: none sees the last hop of a packet. An error
     * about the resolver's word, which came too late, was never the program's. */
    print(printer, "chain judge {\n"
                   "  ip ttl set 64\n"
                   "  ip6 hoplimit set 64\n"
                   "  meta nfproto ipv4 ip hdrlength != 5 goto refuse\n"
                   "  meta nfproto ipv6 ip6 nexthdr != { tcp, udp, icmpv6 } goto refuse\n");
    for (unsigned int family = 4; family <= 6; family += 2)
        print(printer,
              "  iifname . ip%s daddr @gateways%u meta l4proto { tcp, udp } th dport 53 goto dns\n"
              "  iifname . ip%s daddr @gateways%u ct state related drop\n",
              family == 4 ? "" : "6", family, family == 4 ? "" : "6", family);
    print(printer, "  ip daddr @forbidden4 goto refuse\n"
                   "  ip6 daddr @forbidden6 goto refuse\n"
                   "  fib daddr type { local, broadcast, anycast, multicast } goto refuse\n"
                   "  ct state established,related accept\n"
                   "  ct state invalid drop\n"
                   "  meta l4proto != tcp goto refuse\n"
                   "  add @starts { iifname } goto refuse\n");
    print(printer, "  add @flows { iifname ct count over " TEXT(
                       NFT_FLOWS) " } goto refuse\n"
                                  "  ct mark set iifname map @marks\n"
                                  "  iifname vmap @policies\n"
                                  "  goto refuse\n"
                                  "}\n");
}

/* Whoever else sends as a sandbox would be taken for it, by the resolver first of all. */
static void print_sources(struct printer *printer, const struct net_plan *plan)
{
    const struct ip_prefix *parts[] = {&plan->part4, &plan->part6};
    print(printer, "chain sources {\n"
                   "  type filter hook prerouting priority raw; policy accept;\n");
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        unsigned int family = parts[i]->address.family;
        const char *six = family == IP_FAMILY_4 ? "" : "6";
        char part[IP_PREFIX_TEXT_SIZE];
        ip_prefix_print(parts[i], part);
        print(printer,
              "  iifname \"sbr%u-*\" meta nfproto ipv%u iifname . ip%s saddr != @sources%u "
              "counter name forged drop\n"
              "  iifname != \"sbr%u-*\" iifname != \"lo\" ip%s saddr %s counter name forged drop\n",
              plan->jailer, family, six, family, plan->jailer, six, part);
    }
    print(printer, "}\n");
}

/* What another table has sent elsewhere was judged by an address where it doesn't go. */
static void print_hooks(struct printer *printer, uint32_t k)
{
    print(printer,
          "chain prerouting {\n"
          "  type filter hook prerouting priority -150; policy accept;\n"
          "  iifname \"sbr%u-*\" goto judge\n"
          "}\n",
          k);
    print(printer,
          "chain input {\n"
          "  type filter hook input priority filter; policy accept;\n"
          "  ct status dnat iifname . ct original ip daddr @gateways4 accept\n"
          "  ct status dnat iifname . ct original ip6 daddr @gateways6 accept\n"
          "  iifname \"sbr%u-*\" goto refuse\n"
          "}\n",
          k);
    print(printer,
          "chain forward {\n"
          "  type filter hook forward priority filter; policy accept;\n"
          "  iifname \"sbr%u-*\" ct status dnat goto refuse\n"
          "  oifname \"sbr%u-*\" ct state established,related accept\n"
          "  oifname \"sbr%u-*\" drop\n"
          "}\n",
          k, k, k);
    /* The answers of chain answer are connected to nothing that is tracked, in part. */
    print(printer,
          "chain output {\n"
          "  type filter hook output priority filter; policy accept;\n"
          "  oifname != \"sbr%u-*\" accept\n"
          "  ct state established,related accept\n"
          "  icmp type { destination-unreachable, time-exceeded } accept\n"
          "  icmpv6 type { destination-unreachable, packet-too-big, time-exceeded } accept\n"
          "  drop\n"
          "}\n",
          k);
}

static void print_nat(struct printer *printer, const struct net_plan *plan)
{
    char part4[IP_PREFIX_TEXT_SIZE], part6[IP_PREFIX_TEXT_SIZE];
    ip_prefix_print(&plan->part4, part4);
    ip_prefix_print(&plan->part6, part6);
    print(printer, "chain dns_nat {\n"
                   "  type nat hook prerouting priority dstnat; policy accept;\n"
                   "  iifname . ip daddr @gateways4 meta l4proto { tcp, udp } th dport 53 redirect "
                   "to :th dport map @resolver\n"
                   "  iifname . ip6 daddr @gateways6 meta l4proto { tcp, udp } th dport 53 "
                   "redirect to :th dport map @resolver\n"
                   "}\n");
    print(printer,
          "chain source_nat {\n"
          "  type nat hook postrouting priority srcnat; policy accept;\n"
          "  ip saddr %s oifname != \"sbr%u-*\" masquerade\n"
          "  ip6 saddr %s oifname != \"sbr%u-*\" masquerade\n"
          "}\n",
          part4, plan->jailer, part6, plan->jailer);
}

int nft_text_print(const struct net_plan *plan, struct buf *text)
{
    struct printer printer = {.text = text};
    char table[NET_TABLE_SIZE];
    net_plan_table(plan->jailer, table);
    /* Made to be there, so that it can be deleted; all of it in one step. */
    print(&printer, "table inet %s { }\ndelete table inet %s\ntable inet %s {\n", table, table,
          table);
    print_sets(&printer, plan);
    print_answer(&printer);
    for (uint32_t slot = 0; slot < plan->slot_count; slot++)
        print_slot(&printer, slot);
    print_refuse(&printer, plan);
    print_judgement(&printer);
    print_sources(&printer, plan);
    print_hooks(&printer, plan->jailer);
    print_nat(&printer, plan);
    print(&printer, "}\n");
    return printer.result;
}
