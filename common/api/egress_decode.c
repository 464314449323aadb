/* SPDX-License-Identifier: Apache-2.0 */
#include "common/api/egress.h"
#include "common/api/shape.h"
#include "common/cleanup.h"
#include "common/net/name_pattern.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest is "spec.egress[31].to[15].ipBlock.except[15]"; a list that is too long is refused
 * before an index of its is printed. */
#define FIELD_SIZE 64

#define MAX_PORT 65535

#define NO_POD "a sandbox reaches no Pod of the cluster; use ipBlock or fqdn"

static const struct shape_field ip_block_shape[] = {
    {.name = "cidr", .type = SHAPE_STRING, .required = true},
    {.name = "except", .type = SHAPE_STRING, .list = true},
    {0},
};

static const struct shape_field peer_shape[] = {
    {.name = "ipBlock", .type = SHAPE_OBJECT, .fields = ip_block_shape},
    {.name = "fqdn", .type = SHAPE_STRING},
    {.name = "podSelector", .refused = NO_POD},
    {.name = "namespaceSelector", .refused = NO_POD},
    {0},
};

/* port may be a name in a NetworkPolicy, which has an answer of its own. */
static const struct shape_field port_shape[] = {
    {.name = "protocol", .type = SHAPE_STRING},
    {.name = "port", .type = SHAPE_ANY},
    {.name = "endPort", .type = SHAPE_INTEGER},
    {0},
};

static const struct shape_field rule_shape[] = {
    {.name = "to", .type = SHAPE_OBJECT, .list = true, .fields = peer_shape},
    {.name = "ports", .type = SHAPE_OBJECT, .list = true, .fields = port_shape},
    {0},
};

struct field {
    char text[FIELD_SIZE];
};

/* The path of an entry, below parent. */
static struct field field_at(const struct field *parent, const char *name, int index)
{
    struct field field;
    (void)snprintf(field.text, sizeof(field.text), "%.31s.%s[%d]", parent->text, name, index);
    return field;
}

static int check_count(const char *field, const cJSON *list, const char *what, int max,
                       struct error *err)
{
    int count = cJSON_GetArraySize(list);
    if (count <= max)
        return 0;
    return error_set(err, EINVAL, "%s: %d %s is above the maximum of %d", field, count, what, max);
}

static int no_room(struct error *err)
{
    return error_set(err, EINVAL,
                     "spec.egress: comes to more than %d separate ranges of addresses: an "
                     "exception splits its range in as many as its prefix is longer; use fewer or "
                     "wider exceptions",
                     MAX_EGRESS_PREFIXES);
}

static int no_room_for_name(struct error *err)
{
    return error_set(err, EINVAL,
                     "spec.egress: has more DNS names than the maximum of %d, or of more than %d "
                     "bytes in all; use a name such as *.example.org for several",
                     MAX_EGRESS_NAMES, MAX_EGRESS_NAME_BYTES);
}

/* A name counts as often as it is given, as it does in the CRD's schema. */
static int check_names(const cJSON *list, struct error *err)
{
    size_t count = 0, bytes = 0;
    const cJSON *rule, *peer;
    cJSON_ArrayForEach (rule, list) {
        cJSON_ArrayForEach (peer, json_get(rule, "to")) {
            const char *name = json_get_string(peer, "fqdn");
            count += name != NULL;
            bytes += name ? strlen(name) + 1 : 0;
        }
    }
    return count > MAX_EGRESS_NAMES || bytes > MAX_EGRESS_NAME_BYTES ? no_room_for_name(err) : 0;
}

static int read_range(const char *field, const char *text, struct ip_prefix *ret_prefix,
                      struct error *err)
{
    static const struct ip_prefix mapped = {
        .address = {.family = IP_FAMILY_6, .bytes = {[10] = 0xff, [11] = 0xff}}, .length = 96};
    struct error why;
    if (ip_prefix_parse(text, true, ret_prefix, &why) < 0)
        return error_set(err, EINVAL, "%s: %s", field, why.text);
    if (ip_prefix_contains(&mapped, &ret_prefix->address))
        return error_set(err, EINVAL, "%s: %.64s is an IPv4 range in IPv6 form; write it as IPv4",
                         field, text);
    return 0;
}

/* As in a NetworkPolicy, an exception lies within the range and isn't all of it. */
static int read_holes(const struct field *peer, const struct ip_prefix *range, const cJSON *list,
                      struct ip_prefix holes[static MAX_EGRESS_EXCEPT], struct error *err)
{
    int index = 0;
    const cJSON *item;
    cJSON_ArrayForEach (item, list) {
        struct field field = field_at(peer, "ipBlock.except", index);
        struct ip_prefix *hole = &holes[index++];
        int r = read_range(field.text, item->valuestring, hole, err);
        if (r < 0)
            return r;
        if (hole->length == range->length || !ip_prefix_covers(range, hole)) {
            char text[IP_PREFIX_TEXT_SIZE];
            ip_prefix_print(range, text);
            return error_set(err, EINVAL,
                             "%s: %.64s must lie within cidr, %s, and not be all of it", field.text,
                             item->valuestring, text);
        }
    }
    return 0;
}

static int decode_ip_block(const struct field *peer, const cJSON *block, uint8_t ports,
                           struct egress_rules *rules, struct error *err)
{
    struct ip_prefix range, holes[MAX_EGRESS_EXCEPT], pieces[MAX_EGRESS_PREFIXES];
    const cJSON *except = json_get(block, "except");
    char field[FIELD_SIZE + sizeof(".ipBlock.except")];
    size_t count;
    (void)snprintf(field, sizeof(field), "%s.ipBlock.except", peer->text);
    int r = check_count(field, except, "exceptions", MAX_EGRESS_EXCEPT, err);
    if (r < 0)
        return r;
    (void)snprintf(field, sizeof(field), "%s.ipBlock.cidr", peer->text);
    r = read_range(field, json_get_string(block, "cidr"), &range, err);
    if (r == 0)
        r = read_holes(peer, &range, except, holes, err);
    if (r < 0)
        return r;
    if (ip_prefix_subtract(&range, holes, (size_t)cJSON_GetArraySize(except), pieces,
                           MAX_EGRESS_PREFIXES, &count) < 0)
        return no_room(err);
    for (size_t i = 0; i < count; i++) {
        if (egress_allow_prefix(rules, &pieces[i], ports) < 0)
            return no_room(err);
    }
    return 0;
}

static int decode_peer(const struct field *field, const cJSON *peer, uint8_t ports,
                       struct egress_rules *rules, struct error *err)
{
    const cJSON *block = json_get(peer, "ipBlock");
    const char *name = json_get_string(peer, "fqdn");
    if ((block != NULL) == (name != NULL))
        return error_set(err, EINVAL, "%s: set exactly one of ipBlock and fqdn", field->text);
    if (block)
        return decode_ip_block(field, block, ports, rules, err);
    if (!name_pattern_is_valid(name))
        return error_set(err, EINVAL,
                         "%s.fqdn: \"%.64s\" is no DNS name; write it in lower case and without a "
                         "final dot, as api.example.com or *.example.com",
                         field->text, name);
    return egress_allow_name(rules, name, ports) < 0 ? no_room_for_name(err) : 0;
}

/* A rule without peers allows every address of both families. */
static int allow_everywhere(uint8_t ports, struct egress_rules *rules, struct error *err)
{
    static const struct ip_prefix everything[] = {{.address = {.family = IP_FAMILY_4}},
                                                  {.address = {.family = IP_FAMILY_6}}};
    for (size_t i = 0; i < ARRAY_SIZE(everything); i++) {
        if (egress_allow_prefix(rules, &everything[i], ports) < 0)
            return no_room(err);
    }
    return 0;
}

static int read_port(const char *field, const cJSON *entry, const char *name, int64_t *port,
                     struct error *err)
{
    const cJSON *value = json_get(entry, name);
    if (cJSON_IsString(value))
        return error_set(err, EINVAL,
                         "%s.%s: \"%.64s\" is a named port, and only Pods have those; give the "
                         "number",
                         field, name, value->valuestring);
    int r = json_get_i64(entry, name, port);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return error_set(err, EINVAL, "%s.%s: must be a whole number", field, name);
    if (*port < 1 || *port > MAX_PORT)
        return error_set(err, EINVAL, "%s.%s: %" PRId64 " is no port, which is from 1 to %d", field,
                         name, *port, MAX_PORT);
    return 0;
}

/* The bits of ports that an entry allows; none is no mistake in itself. */
static int decode_port(const struct field *field, const cJSON *entry, uint8_t *ports,
                       struct error *err)
{
    const char *protocol = json_get_string(entry, "protocol");
    int64_t first = 0, last = 0;
    if (protocol && strcmp(protocol, "TCP") != 0 && strcmp(protocol, "UDP") != 0 &&
        strcmp(protocol, "SCTP") != 0)
        return error_set(err, EINVAL, "%s.protocol: \"%.64s\" is no protocol; use TCP", field->text,
                         protocol);
    int r = read_port(field->text, entry, "port", &first, err);
    if (r == 0)
        r = read_port(field->text, entry, "endPort", &last, err);
    if (r < 0)
        return r;
    if (last != 0 && (first == 0 || last < first))
        return error_set(err, EINVAL, "%s: endPort needs a port, and is not below it", field->text);
    if (first == 0)
        last = MAX_PORT;
    else if (last == 0)
        last = first;
    if (protocol && strcmp(protocol, "TCP") != 0)
        return 0;
    if (first <= 80 && last >= 80)
        *ports |= EGRESS_PORT_HTTP;
    if (first <= 443 && last >= 443)
        *ports |= EGRESS_PORT_HTTPS;
    return 0;
}

static int decode_ports(const struct field *rule, const cJSON *list, uint8_t *ret_ports,
                        struct error *err)
{
    uint8_t ports = 0;
    int index = 0;
    const cJSON *entry;
    char field[FIELD_SIZE + sizeof(".ports")];
    (void)snprintf(field, sizeof(field), "%s.ports", rule->text);
    int r = check_count(field, list, "entries", MAX_EGRESS_PORTS, err);
    if (r < 0)
        return r;
    cJSON_ArrayForEach (entry, list) {
        struct field at = field_at(rule, "ports", index++);
        r = decode_port(&at, entry, &ports, err);
        if (r < 0)
            return r;
    }
    if (index > 0 && ports == 0)
        return error_set(err, EINVAL,
                         "%s: has neither TCP 80 nor TCP 443, and a sandbox reaches no other port; "
                         "name one of them, or leave ports out",
                         field);
    *ret_ports = index > 0 ? ports : EGRESS_PORTS_ALL;
    return 0;
}

static int decode_rule(const struct field *field, const cJSON *rule, struct egress_rules *rules,
                       struct error *err)
{
    const cJSON *peers = json_get(rule, "to"), *peer;
    char to[FIELD_SIZE + sizeof(".to")];
    uint8_t ports = 0;
    int index = 0;
    (void)snprintf(to, sizeof(to), "%s.to", field->text);
    int r = shape_check(rule, field->text, rule_shape, true, err);
    if (r == 0)
        r = check_count(to, peers, "peers", MAX_EGRESS_PEERS, err);
    if (r == 0)
        r = decode_ports(field, json_get(rule, "ports"), &ports, err);
    cJSON_ArrayForEach (peer, peers) {
        struct field at = field_at(field, "to", index++);
        if (r == 0)
            r = decode_peer(&at, peer, ports, rules, err);
    }
    if (r == 0 && index == 0)
        r = allow_everywhere(ports, rules, err);
    return r;
}

int egress_decode(const cJSON *list, struct egress_rules **ret_rules, struct error *err)
{
    const cJSON *rule;
    int index = 0;
    if (!cJSON_IsArray(list))
        return error_set(err, EINVAL, "spec.egress: must be a list");
    int r = check_count("spec.egress", list, "rules", MAX_EGRESS_RULES, err);
    if (r < 0)
        return r;
    cleanup_free struct egress_rules *rules = calloc(1, sizeof(*rules));
    if (!rules)
        return error_set(err, ENOMEM, "out of memory while reading a SandboxRun");
    cJSON_ArrayForEach (rule, list) {
        struct field field;
        (void)snprintf(field.text, sizeof(field.text), "spec.egress[%d]", index++);
        r = decode_rule(&field, rule, rules, err);
        if (r < 0)
            return r;
    }
    r = check_names(list, err);
    if (r < 0)
        return r;
    egress_reduce(rules);
    *ret_rules = TAKE_PTR(rules);
    return 0;
}
