/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/dns_answer.h"

#include <errno.h>
#include <string.h>

#define RECORD_HEAD 10u /* type, class, TTL, length of the data */
#define TTL_SIGN    0x80000000u

/* A record of the answer section that may matter. */
struct record {
    uint16_t type;
    uint32_t ttl;
    size_t owner; /* where they begin */
    size_t data;
};

struct records {
    const uint8_t *bytes;
    size_t len;
    size_t count;
    struct record entries[MAX_ANSWER_RECORDS];
};

/* RFC 2181 section 8: a TTL with its highest bit set counts as 0. */
static uint32_t clamp_ttl(uint32_t ttl)
{
    if (ttl & TTL_SIGN)
        return 0;
    return ttl > MAX_REPLY_TTL ? MAX_REPLY_TTL : ttl;
}

static bool is_wanted(uint16_t type, uint16_t class, size_t size, uint16_t asked)
{
    if (class != DNS_CLASS_IN)
        return false;
    if (type == DNS_TYPE_CNAME)
        return true;
    return type == asked && size == (type == DNS_TYPE_A ? 4u : 16u);
}

static int read_record(struct records *records, size_t *at, uint16_t asked)
{
    struct dns_name name;
    size_t owner = *at;
    if (dns_name_read(records->bytes, records->len, at, true, &name) < 0 ||
        records->len - *at < RECORD_HEAD)
        return -EBADMSG;
    const uint8_t *head = records->bytes + *at;
    size_t size = dns_get16(head + 8), data = *at + RECORD_HEAD;
    if (size > records->len - data)
        return -EBADMSG;
    *at = data + size;
    if (!is_wanted(dns_get16(head), dns_get16(head + 2), size, asked))
        return 0;
    if (dns_get16(head) == DNS_TYPE_CNAME) {
        size_t end = data;
        if (dns_name_read(records->bytes, records->len, &end, true, &name) < 0 || end != *at)
            return -EBADMSG;
    }
    records->entries[records->count++] = (struct record){.type = dns_get16(head),
                                                         .ttl = clamp_ttl(dns_get32(head + 4)),
                                                         .owner = owner,
                                                         .data = data};
    return 0;
}

static bool is_owned_by(const struct records *records, const struct record *record,
                        const struct dns_name *name)
{
    struct dns_name owner;
    size_t at = record->owner;
    return dns_name_read(records->bytes, records->len, &at, true, &owner) == 0 &&
           dns_name_equal(&owner, name);
}

/* 1: the name is an alias, 0: it is not, -EBADMSG: it is one of two names. */
static int find_cname(const struct records *records, const struct dns_name *name,
                      struct dns_cname *ret_cname)
{
    int found = 0;
    for (size_t i = 0; i < records->count; i++) {
        const struct record *record = &records->entries[i];
        struct dns_name target;
        size_t at = record->data;
        if (record->type != DNS_TYPE_CNAME || !is_owned_by(records, record, name))
            continue;
        if (dns_name_read(records->bytes, records->len, &at, true, &target) < 0)
            return -EBADMSG;
        if (found && !dns_name_equal(&target, &ret_cname->target))
            return -EBADMSG;
        *ret_cname = (struct dns_cname){.target = target, .ttl = record->ttl};
        found = 1;
    }
    return found;
}

static bool goes_round(const struct dns_answer *answer, const struct dns_name *asked,
                       const struct dns_name *next)
{
    if (dns_name_equal(asked, next))
        return true;
    for (unsigned int i = 0; i < answer->cname_count; i++) {
        if (dns_name_equal(&answer->cnames[i].target, next))
            return true;
    }
    return false;
}

/* From the asked name to the last one, whose addresses count. */
static int follow(const struct records *records, const struct dns_name *asked,
                  struct dns_answer *answer, const struct dns_name **ret_last)
{
    const struct dns_name *name = asked;
    for (;;) {
        struct dns_cname cname;
        int r = find_cname(records, name, &cname);
        if (r < 0)
            return r;
        if (r == 0)
            break;
        if (answer->cname_count == MAX_ANSWER_CNAMES || goes_round(answer, asked, &cname.target))
            return -EBADMSG;
        answer->cnames[answer->cname_count] = cname;
        name = &answer->cnames[answer->cname_count++].target;
    }
    *ret_last = name;
    return 0;
}

static void collect(const struct records *records, const struct dns_name *name,
                    struct dns_answer *answer)
{
    for (size_t i = 0; i < records->count; i++) {
        const struct record *record = &records->entries[i];
        if (record->type == DNS_TYPE_CNAME || !is_owned_by(records, record, name))
            continue;
        if (answer->address_count == MAX_ANSWER_ADDRESSES) {
            answer->left_out++;
            continue;
        }
        struct dns_address *entry = &answer->addresses[answer->address_count++];
        bool four = record->type == DNS_TYPE_A;
        entry->address.family = four ? IP_FAMILY_4 : IP_FAMILY_6;
        memcpy(entry->address.bytes, records->bytes + record->data, four ? 4 : 16);
        entry->ttl = record->ttl;
    }
}

static bool is_answer_to(const uint8_t *bytes, size_t len, const struct dns_query *query,
                         uint16_t id, size_t *ret_at)
{
    struct dns_name name;
    size_t at = DNS_HEADER_SIZE;
    if (len < DNS_HEADER_SIZE || dns_get16(bytes) != id)
        return false;
    uint16_t flags = dns_get16(bytes + 2);
    if (!(flags & DNS_FLAG_RESPONSE) || (flags & DNS_FLAG_OPCODE) || dns_get16(bytes + 4) != 1 ||
        dns_name_read(bytes, len, &at, false, &name) < 0 || len - at < 4)
        return false;
    if (!dns_name_equal(&name, &query->name) || dns_get16(bytes + at) != query->type ||
        dns_get16(bytes + at + 2) != DNS_CLASS_IN)
        return false;
    *ret_at = at + 4;
    return true;
}

int dns_answer_parse(const uint8_t *bytes, size_t len, const struct dns_query *query, uint16_t id,
                     struct dns_answer *ret_answer)
{
    size_t at = 0;
    if (!is_answer_to(bytes, len, query, id, &at))
        return -ENOENT;
    uint16_t flags = dns_get16(bytes + 2);
    memset(ret_answer, 0, sizeof(*ret_answer));
    ret_answer->rcode = (enum dns_rcode)(flags & DNS_FLAG_RCODE);
    if (flags & DNS_FLAG_TRUNCATED) {
        ret_answer->truncated = true;
        return 0;
    }
    unsigned int total = dns_get16(bytes + 6);
    if (total > MAX_ANSWER_RECORDS)
        return -EBADMSG;
    struct records records = {.bytes = bytes, .len = len};
    for (unsigned int i = 0; i < total; i++) {
        if (read_record(&records, &at, query->type) < 0)
            return -EBADMSG;
    }
    const struct dns_name *last = NULL;
    int r = follow(&records, &query->name, ret_answer, &last);
    if (r == 0)
        collect(&records, last, ret_answer);
    return r;
}

uint32_t dns_answer_ttl(const struct dns_answer *answer)
{
    uint32_t ttl = MAX_REPLY_TTL;
    for (unsigned int i = 0; i < answer->cname_count; i++)
        ttl = answer->cnames[i].ttl < ttl ? answer->cnames[i].ttl : ttl;
    for (unsigned int i = 0; i < answer->address_count; i++)
        ttl = answer->addresses[i].ttl < ttl ? answer->addresses[i].ttl : ttl;
    return ttl;
}
