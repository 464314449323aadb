/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/names_policy.h"

#include "common/cleanup.h"
#include "common/net/name_pattern.h"

#include <string.h>

/* What an upstream may know of such names is of the node's own network: neither the addresses nor
 * whether the name exists is a sandbox's business. */
static const char *const local_zones[] = {
    "localhost", /* RFC 6761 section 6.3 */
    "local",     /* RFC 6762; cluster.local is in it */
    "internal",  /* set aside for private use; the clouds' metadata names are in it */
    "home.arpa", /* RFC 8375 */
    "onion",     /* RFC 7686 */
};

static bool is_in_zone(const char *text, const char *zone)
{
    size_t len = strlen(text), zone_len = strlen(zone);
    if (len < zone_len || strcmp(text + len - zone_len, zone) != 0)
        return false;
    return len == zone_len || text[len - zone_len - 1] == '.';
}

static bool is_public(const char *text)
{
    if (!strchr(text, '.'))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(local_zones); i++) {
        if (is_in_zone(text, local_zones[i]))
            return false;
    }
    return true;
}

bool names_policy_is_public(const struct dns_name *name)
{
    char text[DNS_NAME_TEXT_SIZE];
    dns_name_print(name, text);
    return is_public(text);
}

enum names_verdict names_policy_judge(const struct proto_egress *egress,
                                      const struct dns_name *name, uint32_t *ret_ports)
{
    char text[DNS_NAME_TEXT_SIZE];
    if (!dns_name_is_host(name))
        return NAMES_NO_HOST;
    dns_name_print(name, text);
    if (!is_public(text))
        return NAMES_NOT_PUBLIC;
    if (!egress->has_rules || (egress->name_count == 0 && egress->prefix_count > 0)) {
        *ret_ports = 0;
        return NAMES_ALLOWED;
    }
    uint32_t ports = 0;
    for (size_t i = 0; i < egress->name_count; i++) {
        if (name_pattern_matches(egress->name_text + egress->names[i].offset, text))
            ports |= egress->names[i].ports;
    }
    if (ports == 0)
        return NAMES_NOT_LISTED;
    *ret_ports = ports;
    return NAMES_ALLOWED;
}
