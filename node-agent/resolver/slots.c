/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/resolver/slots.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

int slots_new(struct slots **ret_slots, struct error *err)
{
    /* Pages of slots that are never used are never touched. */
    struct slots *slots = calloc(1, sizeof(*slots));
    if (!slots)
        return error_set_errno(err, ENOMEM, "table of %d slots", RESOLVER_MAX_SLOTS);
    *ret_slots = slots;
    return 0;
}

void slots_free(struct slots *slots)
{
    if (!slots)
        return;
    for (size_t i = 0; i < RESOLVER_MAX_SLOTS; i++)
        answer_cache_clear(&slots->entries[i].cache);
    free(slots);
}

/* How far behind the range's first address; UINT32_MAX if it isn't in it. */
static uint32_t offset_in_range(const struct resolver_hello *hello, const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        uint32_t base = 0;
        memcpy(&in, address, sizeof(in));
        memcpy(&base, hello->range4, sizeof(base));
        return ntohl(in.sin_addr.s_addr) - ntohl(base);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, address, sizeof(in6));
        const uint8_t *bytes = in6.sin6_addr.s6_addr, *base = hello->range6;
        if (memcmp(bytes, base, 14) != 0)
            return UINT32_MAX;
        return (uint32_t)(bytes[14] << 8 | bytes[15]) - (uint32_t)(base[14] << 8 | base[15]);
    }
    return UINT32_MAX;
}

int slots_find(const struct slots *slots, const struct sockaddr *address)
{
    uint32_t offset = offset_in_range(&slots->hello, address);
    if (offset % 2 == 0 || offset / 2 >= slots->hello.slot_count)
        return -ENOENT;
    return (int)(offset / 2);
}

int slots_open(struct slots *slots, const struct resolver_open *open, struct error *err)
{
    struct slot *slot = open->slot < slots->hello.slot_count ? &slots->entries[open->slot] : NULL;
    if (!slot || slot->is_open)
        return error_set(err, EPROTO, "the jailer opened slot %u, %s", open->slot,
                         slot ? "which is open" : "which it doesn't have");
    if (slot->generation != open->generation || strcmp(slot->id, open->id) != 0)
        memset(&slot->budget, 0, sizeof(slot->budget));
    slot->is_open = true;
    slot->generation = open->generation;
    memcpy(slot->id, open->id, sizeof(slot->id));
    slot->egress = open->egress;
    slots->open_count++;
    return 0;
}

static void close_slot(struct slots *slots, struct slot *slot)
{
    slot->is_open = false;
    slots->open_count--;
    answer_cache_clear(&slot->cache);
}

bool slots_close(struct slots *slots, const struct resolver_close *closing)
{
    struct slot *slot = &slots->entries[closing->slot];
    if (!slot->is_open || slot->generation != closing->generation)
        return false;
    close_slot(slots, slot);
    return true;
}

void slots_close_all(struct slots *slots)
{
    for (size_t i = 0; i < RESOLVER_MAX_SLOTS; i++) {
        if (slots->entries[i].is_open)
            close_slot(slots, &slots->entries[i]);
    }
}
