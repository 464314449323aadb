/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/egress.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/cleanup.h"
#include "common/net/name_pattern.h"
#include "common/parse.h"

static int decode(const char *json, struct egress_rules **ret_rules, struct error *err)
{
    cleanup_json cJSON *tree = NULL;
    struct error why = {0};
    if (json_parse(json, strlen(json), &tree, &why) < 0)
        fail_msg("%s: %s", json, why.text);
    return egress_decode(tree, ret_rules, err);
}

static struct egress_rules *compile(const char *json)
{
    struct egress_rules *rules = NULL;
    struct error err = {0};
    if (decode(json, &rules, &err) < 0)
        fail_msg("%s: %s", json, err.text);
    return rules;
}

static unsigned int ports_of(const struct egress_rules *rules, const char *target)
{
    struct ip_address address;
    unsigned int ports = 0;
    bool is_address = ip_address_parse(target, &address) == 0;
    for (size_t i = 0; is_address && i < rules->prefix_count; i++) {
        if (ip_prefix_contains(&rules->prefixes[i].prefix, &address))
            ports |= rules->prefixes[i].ports;
    }
    for (size_t i = 0; !is_address && i < rules->name_count; i++) {
        if (name_pattern_matches(rules->name_text + rules->names[i].offset, target))
            ports |= rules->names[i].ports;
    }
    return ports;
}

#define BLOCK(cidr)         "{\"ipBlock\":{\"cidr\":\"" cidr "\"}}"
#define EXCEPT(cidr, holes) "{\"ipBlock\":{\"cidr\":\"" cidr "\",\"except\":[" holes "]}}"
#define NAME(name)          "{\"fqdn\":\"" name "\"}"
#define TO(peers)           "{\"to\":[" peers "]}"
#define PORTS(ports)        "{\"ports\":[" ports "]}"
#define RULE(peers, ports)  "{\"to\":[" peers "],\"ports\":[" ports "]}"
#define PORT(port)          "{\"port\":" port "}"
#define RANGE(port, end)    "{\"port\":" port ",\"endPort\":" end "}"

#define NONE  0u
#define HTTP  EGRESS_PORT_HTTP
#define HTTPS EGRESS_PORT_HTTPS
#define BOTH  EGRESS_PORTS_ALL

#define MAX_PROBES 5

/*
 * What networking.k8s.io/v1 says of NetworkPolicyEgressRule, NetworkPolicyPeer, IPBlock and
 * NetworkPolicyPort, sentence by sentence, as far as it is about TCP 80 and 443.
 */
static const struct {
    const char *says;
    const char *json;
    struct {
        const char *target;
        unsigned int ports;
    } probes[MAX_PROBES];
} meaning[] = {
    {"an empty list allows nothing", "[]", {{"9.9.9.9", NONE}, {"2600::1", NONE}}},
    {"an empty rule allows everything", "[{}]", {{"9.9.9.9", BOTH}, {"2600::1", BOTH}}},
    {"to empty or missing: all destinations",
     "[{\"to\":[],\"ports\":[" PORT("443") "]}]",
     {{"9.9.9.9", HTTPS}, {"2600::1", HTTPS}}},
    {"to null is to missing",
     "[{\"to\":null,\"ports\":[" PORT("80") "]}]",
     {{"9.9.9.9", HTTP}, {"2600::1", HTTP}}},
    {"ports empty or missing: all ports",
     "[{\"to\":[" BLOCK("9.0.0.0/8") "],\"ports\":[]}]",
     {{"9.9.9.9", BOTH}, {"8.8.8.8", NONE}}},
    {"ports null is ports missing",
     "[{\"to\":[" BLOCK("9.0.0.0/8") "],\"ports\":null}]",
     {{"9.9.9.9", BOTH}}},
    {"to and ports both must match",
     "[" RULE(BLOCK("9.0.0.0/8"), PORT("443")) "]",
     {{"9.9.9.9", HTTPS}, {"8.8.8.8", NONE}}},
    {"entries of to are combined by or",
     "[" TO(BLOCK("9.0.0.0/8") "," BLOCK("8.8.8.0/24") "," BLOCK("2600::/12")) "]",
     {{"9.9.9.9", BOTH},
      {"8.8.8.8", BOTH},
      {"8.8.9.8", NONE},
      {"2600::1", BOTH},
      {"2700::", NONE}}},
    {"entries of ports are combined by or",
     "[" PORTS(PORT("80") "," PORT("443")) "]",
     {{"9.9.9.9", BOTH}}},
    {"rules are combined by or",
     "[" RULE(BLOCK("9.0.0.0/8"), PORT("443")) "," RULE(BLOCK("8.0.0.0/8"), PORT("80")) "]",
     {{"9.9.9.9", HTTPS}, {"8.8.8.8", HTTP}, {"7.7.7.7", NONE}}},
    {"two rules for one range add up",
     "[" RULE(BLOCK("9.0.0.0/8"), PORT("443")) "," RULE(BLOCK("9.0.0.0/8"), PORT("80")) "]",
     {{"9.9.9.9", BOTH}}},
    {"a rule never takes away what another allows",
     "[" TO(BLOCK("9.0.0.0/8")) "," TO(EXCEPT("9.0.0.0/8", "\"9.9.0.0/16\"")) "]",
     {{"9.9.9.9", BOTH}}},
    {"IPv4 and IPv6 ranges say nothing of each other",
     "[" TO(BLOCK("0.0.0.0/0")) "]",
     {{"9.9.9.9", BOTH}, {"2600::1", NONE}}},
    {"a range of one address",
     "[" TO(BLOCK("9.9.9.9/32")) "]",
     {{"9.9.9.9", BOTH}, {"9.9.9.8", NONE}, {"9.9.9.10", NONE}}},
    {"except: not allowed by this rule",
     "[" TO(EXCEPT("9.0.0.0/8", "\"9.9.0.0/16\",\"9.1.2.3/32\"")) "]",
     {{"9.9.9.9", NONE},
      {"9.1.2.3", NONE},
      {"9.1.2.4", BOTH},
      {"9.8.255.255", BOTH},
      {"9.10.0.0", BOTH}}},
    {"except belongs to its own range only",
     "[" TO(EXCEPT("9.0.0.0/8", "\"9.9.0.0/16\"") "," BLOCK("9.9.9.0/24")) "]",
     {{"9.9.9.9", BOTH}, {"9.9.8.9", NONE}}},
    {"except of IPv6",
     "[" TO(EXCEPT("2600::/12", "\"2600:1::/32\"")) "]",
     {{"2600:1::1", NONE}, {"2600:2::", BOTH}, {"2600:0:ffff::", BOTH}}},
    {"protocol is TCP where it is missing", "[" PORTS("{\"port\":443}") "]", {{"9.9.9.9", HTTPS}}},
    {"a protocol without a port: all of its ports",
     "[" PORTS("{\"protocol\":\"TCP\"}") "]",
     {{"9.9.9.9", BOTH}}},
    {"an empty entry is every port of TCP", "[" PORTS("{}") "]", {{"9.9.9.9", BOTH}}},
    {"UDP beside TCP adds nothing",
     "[" PORTS("{\"protocol\":\"UDP\",\"port\":443}," PORT("80")) "]",
     {{"9.9.9.9", HTTP}}},
    {"SCTP beside TCP adds nothing",
     "[" PORTS("{\"protocol\":\"SCTP\"}," PORT("443")) "]",
     {{"9.9.9.9", HTTPS}}},
    {"endPort: both ends belong to it", "[" PORTS(RANGE("80", "443")) "]", {{"9.9.9.9", BOTH}}},
    {"endPort may be the port", "[" PORTS(RANGE("443", "443")) "]", {{"9.9.9.9", HTTPS}}},
    {"a range ends before 443", "[" PORTS(RANGE("1", "442")) "]", {{"9.9.9.9", HTTP}}},
    {"a range begins behind 80", "[" PORTS(RANGE("81", "65535")) "]", {{"9.9.9.9", HTTPS}}},
    {"a range of everything narrows nothing",
     "[" PORTS(RANGE("1", "65535")) "]",
     {{"9.9.9.9", BOTH}}},
    {"port null is port missing", "[" PORTS("{\"port\":null}") "]", {{"9.9.9.9", BOTH}}},
    /* Beyond NetworkPolicy */
    {"a name allows no address",
     "[" TO(NAME("api.example.org")) "]",
     {{"api.example.org", BOTH}, {"www.example.org", NONE}, {"9.9.9.9", NONE}, {"2600::1", NONE}}},
    {"a pattern allows the names below",
     "[" RULE(NAME("*.example.org"), PORT("443")) "]",
     {{"a.b.example.org", HTTPS}, {"example.org", NONE}}},
    {"names and ranges are combined by or",
     "[" TO(NAME("api.example.org") "," BLOCK("9.0.0.0/8")) "]",
     {{"api.example.org", BOTH}, {"9.9.9.9", BOTH}, {"8.8.8.8", NONE}}},
    {"two rules for one name add up",
     "[" RULE(NAME("a.example.org"), PORT("443")) "," RULE(NAME("a.example.org"), PORT("80")) "]",
     {{"a.example.org", BOTH}}},
    {"a name and its pattern add up",
     "[" RULE(NAME("*.example.org"), PORT("443")) "," RULE(NAME("a.example.org"), PORT("80")) "]",
     {{"a.example.org", BOTH}, {"b.example.org", HTTPS}}},
    {"a rule without to allows addresses and no name beside", "[{}]", {{"a.example.org", NONE}}},
};

static void test_meaning_is_that_of_a_network_policy(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(meaning); i++) {
        cleanup_free struct egress_rules *rules = compile(meaning[i].json);
        for (size_t j = 0; j < MAX_PROBES && meaning[i].probes[j].target; j++) {
            const char *target = meaning[i].probes[j].target;
            unsigned int ports = ports_of(rules, target);
            if (ports != meaning[i].probes[j].ports)
                fail_msg("%s: %s: %u", meaning[i].says, target, ports);
        }
    }
}

/* "<text*n>" stands for n times the text. */
static void expand(const char *text, struct buf *buf)
{
    while (*text) {
        const char *star = *text == '<' ? strchr(text, '*') : NULL;
        if (!star) {
            assert_int_equal(buf_append(buf, text++, 1), 0);
            continue;
        }
        const char *end = strchr(star, '>');
        char digits[8] = "";
        uint64_t count = 0;
        memcpy(digits, star + 1, (size_t)(end - star - 1));
        assert_int_equal(parse_u64(digits, 1, 1000, &count), 0);
        for (uint64_t i = 0; i < count; i++)
            assert_int_equal(buf_append(buf, text + 1, (size_t)(star - text - 1)), 0);
        text = end + 1;
    }
}

static const struct {
    const char *json, *message;
} refused[] = {
    {"{}", "spec.egress: must be a list"},
    {"[7]", "spec.egress[0]: must be an object, got number"},
    {"[{},null]", "spec.egress[1]: must be an object, got null"},
    {"[{}<,{}*32>]", "spec.egress: 33 rules is above the maximum of 32"},
    {"[{\"from\":[]}]", "spec.egress[0].from: unknown field"},
    {"[{\"port\":[]}]", "spec.egress[0].port: unknown field; did you mean ports?"},
    {"[{\"to\":{}}]", "spec.egress[0].to: must be a list, got object"},
    {"[{\"ports\":443}]", "spec.egress[0].ports: must be a list, got number"},
    {"[{},{\"to\":[{}<,{}*16>]}]", "spec.egress[1].to: 17 peers is above the maximum of 16"},
    {"[" TO("{}") "]", "spec.egress[0].to[0]: set exactly one of ipBlock and fqdn"},
    {"[" TO("null") "]", "spec.egress[0].to[0]: must be an object, got null"},
    {"[" TO("{\"ipBlock\":{\"cidr\":\"9.0.0.0/8\"},\"fqdn\":\"a.example.org\"}") "]",
     "spec.egress[0].to[0]: set exactly one of ipBlock and fqdn"},
    {"[" TO("{\"podSelector\":{}}") "]",
     "spec.egress[0].to[0].podSelector: unknown field; a sandbox reaches no Pod of the cluster; "
     "use ipBlock or fqdn"},
    {"[" TO("{\"namespaceSelector\":{}}") "]",
     "spec.egress[0].to[0].namespaceSelector: unknown field; a sandbox reaches no Pod"},
    {"[" TO("{\"ipBlock\":{\"cidr\":\"9.0.0.0/8\",\"exept\":[]}}") "]",
     "spec.egress[0].to[0].ipBlock.exept: unknown field; did you mean except?"},
    {"[" TO("{\"ipBlock\":{}}") "]", "spec.egress[0].to[0].ipBlock.cidr: is required"},
    {"[" TO("{\"ipBlock\":{\"cidr\":null}}") "]", "spec.egress[0].to[0].ipBlock.cidr: is required"},
    {"[" TO(BLOCK("9.9.9.9")) "]",
     "spec.egress[0].to[0].ipBlock.cidr: \"9.9.9.9\" has no prefix length; write it as "
     "203.0.113.0/24"},
    {"[" TO(BLOCK("9.9.9.9/24")) "]",
     "spec.egress[0].to[0].ipBlock.cidr: 9.9.9.9/24 has bits beyond its prefix length; write it as "
     "9.9.9.0/24"},
    {"[" TO(BLOCK("9.9.9.0/33")) "]", "spec.egress[0].to[0].ipBlock.cidr: \"9.9.9.0/33\" is no "
                                      "address range: its prefix length is no number from 0 to 32"},
    {"[" TO(BLOCK("api.example.org/8")) "]", "\"api.example.org\" is no address"},
    {"[" TO(BLOCK("::ffff:9.9.9.0/120")) "]",
     "spec.egress[0].to[0].ipBlock.cidr: ::ffff:9.9.9.0/120 is an IPv4 range in IPv6 form; write it "
     "as IPv4"},
    {"[{},{\"to\":[" EXCEPT("9.0.0.0/8", "\"9.1.0.0/16\",\"9.2.0.0/16\",\"9.3/16\"") "]}]",
     "spec.egress[1].to[0].ipBlock.except[2]: \"9.3/16\" is no address range: \"9.3\" is no "
     "address"},
    {"[" TO(EXCEPT("9.0.0.0/8", "\"8.0.0.0/16\"")) "]",
     "spec.egress[0].to[0].ipBlock.except[0]: 8.0.0.0/16 must lie within cidr, 9.0.0.0/8, and not "
     "be all of it"},
    {"[" TO(EXCEPT("9.0.0.0/8", "\"8.0.0.0/7\"")) "]",
     "spec.egress[0].to[0].ipBlock.except[0]: 8.0.0.0/7 must lie within cidr"},
    {"[" TO(EXCEPT("8.0.0.0/8", "\"8.0.0.0/7\"")) "]", "except[0]: 8.0.0.0/7 must lie within cidr"},
    {"[" TO(EXCEPT("9.0.0.0/8", "\"9.0.0.0/8\"")) "]",
     "spec.egress[0].to[0].ipBlock.except[0]: 9.0.0.0/8 must lie within cidr, 9.0.0.0/8, and not be "
     "all of it"},
    {"[" TO(EXCEPT("9.0.0.0/8", "\"::/8\"")) "]", "except[0]: ::/8 must lie within cidr"},
    {"[" TO(EXCEPT("9.0.0.0/8", "7")) "]",
     "spec.egress[0].to[0].ipBlock.except[0]: must be a string, got number"},
    {"[" TO(EXCEPT("9.0.0.0/8", "\"9.1.0.0/16\"<,\"9.1.0.0/16\"*16>")) "]",
     "spec.egress[0].to[0].ipBlock.except: 17 exceptions is above the maximum of 16"},
    {"[" TO(NAME("API.example.org")) "]",
     "spec.egress[0].to[0].fqdn: \"API.example.org\" is no DNS name; write it in lower case and "
     "without a final dot, as api.example.com or *.example.com"},
    {"[" TO(NAME("a.example.org") "," NAME("")) "]", "spec.egress[0].to[1].fqdn: \"\" is no DNS "},
    {"[" TO(NAME("10.0.0.1")) "]", "spec.egress[0].to[0].fqdn: \"10.0.0.1\" is no DNS name"},
    {"[" TO("{\"fqdn\":1}") "]", "spec.egress[0].to[0].fqdn: must be a string, got number"},
    {"[" PORTS("{\"port\":\"https\"}") "]",
     "spec.egress[0].ports[0].port: \"https\" is a named port, and only Pods have those; give the "
     "number"},
    {"[" PORTS(PORT("0")) "]", "spec.egress[0].ports[0].port: 0 is no port, which is from 1 to"},
    {"[" PORTS(PORT("65536")) "]", "spec.egress[0].ports[0].port: 65536 is no port"},
    {"[" PORTS(PORT("-1")) "]", "spec.egress[0].ports[0].port: -1 is no port"},
    {"[" PORTS(PORT("1.5")) "]", "spec.egress[0].ports[0].port: must be a whole number"},
    {"[" PORTS(PORT("true")) "]", "spec.egress[0].ports[0].port: must be a whole number"},
    {"[" PORTS(RANGE("80", "65536")) "]", "spec.egress[0].ports[0].endPort: 65536 is no port"},
    {"[" PORTS(RANGE("443", "80")) "]",
     "spec.egress[0].ports[0]: endPort needs a port, and is not below it"},
    {"[" PORTS("{\"endPort\":443}") "]",
     "spec.egress[0].ports[0]: endPort needs a port, and is not below it"},
    {"[" PORTS("{\"protocol\":\"tcp\"}") "]",
     "spec.egress[0].ports[0].protocol: \"tcp\" is no protocol; use TCP"},
    {"[" PORTS(PORT("22")) "]",
     "spec.egress[0].ports: has neither TCP 80 nor TCP 443, and a sandbox reaches no other port; "
     "name one of them, or leave ports out"},
    {"[" PORTS("{\"protocol\":\"UDP\",\"port\":443}") "]", "spec.egress[0].ports: has neither TCP"},
    {"[" PORTS("{\"protocol\":\"SCTP\"}") "]", "spec.egress[0].ports: has neither TCP 80"},
    {"[{},{\"ports\":[" RANGE("81", "442") "," RANGE("444", "65535") "]}]",
     "spec.egress[1].ports: has neither TCP 80 nor TCP 443"},
    {"[{\"ports\":[{}<,{}*16>]}]", "spec.egress[0].ports: 17 entries is above the maximum of 16"},
    {"[" TO(EXCEPT("::/0", "\"5555::1/128\"")) "]",
     "spec.egress: comes to more than 64 separate ranges of addresses"},
    {"[" TO(EXCEPT("0.0.0.0/0", "\"85.85.85.85/32\",\"170.170.170.170/32\"") "," EXCEPT(
         "::/0", "\"5555::/16\"")) "]",
     "spec.egress: comes to more than 64 separate ranges of addresses"},
};

static void test_what_is_wrong_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        cleanup_buf struct buf json = BUF_INIT(1 << 16);
        struct egress_rules *rules = NULL;
        struct error err = {0};
        expand(refused[i].json, &json);
        int r = decode(buf_str(&json), &rules, &err);
        if (r != -EINVAL || !strstr(err.text, refused[i].message) ||
            strncmp(err.text, "spec.egress", 11) != 0)
            fail_msg("%s: %d %s", buf_str(&json), r, err.text);
        assert_null(rules);
    }
}

static void check_prefixes(const char *json, const char *const *expected)
{
    cleanup_free struct egress_rules *rules = compile(json);
    for (size_t i = 0; i < rules->prefix_count; i++) {
        char prefix[IP_PREFIX_TEXT_SIZE], text[IP_PREFIX_TEXT_SIZE + 8];
        ip_prefix_print(&rules->prefixes[i].prefix, prefix);
        (void)snprintf(text, sizeof(text), "%s %u", prefix, rules->prefixes[i].ports);
        if (!expected[i] || strcmp(expected[i], text) != 0)
            fail_msg("%s: %zu is %s", json, i, text);
    }
    assert_null(expected[rules->prefix_count]);
}

static void test_prefixes_of_one_port_do_not_overlap(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *expected[8];
    } cases[] = {
        {"[]", {NULL}},
        {"[{}<,{}*31>]", {"0.0.0.0/0 3", "::/0 3"}},
        {"[" TO(BLOCK("2600::/12") "," BLOCK("9.0.0.0/8") "," BLOCK("8.0.0.0/8")) "]",
         {"8.0.0.0/8 3", "9.0.0.0/8 3", "2600::/12 3"}},
        {"[" TO(BLOCK("9.9.0.0/16") "," BLOCK("9.0.0.0/8")) "]", {"9.0.0.0/8 3"}},
        {"[" TO(BLOCK("9.0.0.0/8") "," BLOCK("9.9.0.0/16")) "]", {"9.0.0.0/8 3"}},
        {"[" RULE(BLOCK("9.0.0.0/8"), PORT("80")) "," TO(BLOCK("9.9.0.0/16")) "]",
         {"9.0.0.0/8 1", "9.9.0.0/16 2"}},
        {"[" RULE(BLOCK("9.0.0.0/8"), PORT("80")) "," RULE(
             BLOCK("9.9.0.0/16"), PORT("443")) "," RULE(BLOCK("9.9.9.0/24"),
                                                        PORT("80") "," PORT("443")) "]",
         {"9.0.0.0/8 1", "9.9.0.0/16 2"}},
        {"[" RULE(BLOCK("9.0.0.0/8"), PORT("80")) "," RULE(BLOCK("9.0.0.0/8"), PORT("443")) "]",
         {"9.0.0.0/8 3"}},
        {"[" TO(EXCEPT("9.0.0.0/30", "\"9.0.0.1/32\"")) "]", {"9.0.0.0/32 3", "9.0.0.2/31 3"}},
        /* What people write to keep out of private networks. */
        {"[" TO(EXCEPT("10.0.0.0/7", "\"10.0.0.0/8\"")) "]", {"11.0.0.0/8 3"}},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        cleanup_buf struct buf json = BUF_INIT(1 << 16);
        expand(cases[i].json, &json);
        check_prefixes(buf_str(&json), cases[i].expected);
    }
}

/* The usual "all but private networks" has room. */
static void test_the_usual_exceptions_fit(void **state)
{
    (void)state;
    cleanup_free struct egress_rules *rules = compile("[" TO(EXCEPT(
        "0.0.0.0/0",
        "\"10.0.0.0/8\",\"172.16.0.0/12\",\"192.168.0.0/16\","
        "\"169.254.0.0/16\",\"100.64.0.0/10\"") "," EXCEPT("::/0",
                                                           "\"fc00::/7\",\"fe80::/10\"")) "]");
    assert_int_equal(ports_of(rules, "10.0.0.1"), NONE);
    assert_int_equal(ports_of(rules, "172.31.255.255"), NONE);
    assert_int_equal(ports_of(rules, "169.254.169.254"), NONE);
    assert_int_equal(ports_of(rules, "9.9.9.9"), BOTH);
    assert_int_equal(ports_of(rules, "fd00::1"), NONE);
    assert_int_equal(ports_of(rules, "2600::1"), BOTH);
}

static void test_names_are_bounded(void **state)
{
    (void)state;
    struct egress_rules *rules = NULL;
    struct error err = {0};
    cleanup_buf struct buf json = BUF_INIT(1 << 16), more = BUF_INIT(1 << 16);
    assert_int_equal(buf_append_str(&json, "[{\"to\":["), 0);
    for (unsigned int i = 0; i < 16; i++)
        assert_int_equal(buf_printf(&json, "%s" NAME("n%u.example.org"), i ? "," : "", i), 0);
    assert_int_equal(buf_append_str(&json, "]}"), 0);
    assert_int_equal(buf_printf(&more, "%s]", buf_str(&json)), 0);
    cleanup_free struct egress_rules *full = compile(buf_str(&more));
    assert_int_equal(full->name_count, MAX_EGRESS_NAMES);

    buf_reset(&more);
    assert_int_equal(buf_printf(&more, "%s," TO(NAME("n0.example.org")) "]", buf_str(&json)), 0);
    assert_int_equal(decode(buf_str(&more), &rules, &err), -EINVAL);
    assert_string_equal(err.text,
                        "spec.egress: has more DNS names than the maximum of 16, or of more than "
                        "1024 bytes in all; use a name such as *.example.org for several");

    buf_reset(&more);
    expand("[" TO("{\"fqdn\":\"a.<b.*124>org\"},{\"fqdn\":\"b.<b.*124>org\"},"
                  "{\"fqdn\":\"c.<b.*124>org\"},{\"fqdn\":\"d.<b.*124>org\"},"
                  "{\"fqdn\":\"eee.example.org\"}") "]",
           &more);
    assert_int_equal(decode(buf_str(&more), &rules, &err), -EINVAL);
    assert_null(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meaning_is_that_of_a_network_policy),
        cmocka_unit_test(test_what_is_wrong_is_named),
        cmocka_unit_test(test_prefixes_of_one_port_do_not_overlap),
        cmocka_unit_test(test_the_usual_exceptions_fit),
        cmocka_unit_test(test_names_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
