/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/address_filter.h"

#include "common/net/forbidden.h"

#include <string.h>

void address_filter_init(struct address_filter *filter, const struct resolver_hello *hello)
{
    *filter = (struct address_filter){.extra_count = hello->forbidden_count};
    for (unsigned int i = 0; i < hello->forbidden_count; i++) {
        const struct resolver_prefix *from = &hello->forbidden[i];
        struct ip_prefix *to = &filter->extra[i];
        to->address.family = from->family == 4 ? IP_FAMILY_4 : IP_FAMILY_6;
        memcpy(to->address.bytes, from->bytes, sizeof(to->address.bytes));
        to->length = from->length;
    }
}

unsigned int address_filter_apply(const struct address_filter *filter, struct dns_answer *answer)
{
    unsigned int kept = 0, total = answer->address_count;
    for (unsigned int i = 0; i < total; i++) {
        if (!forbidden_with(&answer->addresses[i].address, filter->extra, filter->extra_count))
            answer->addresses[kept++] = answer->addresses[i];
    }
    answer->address_count = kept;
    return total - kept;
}
