/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/agent/denied.h"

#include "common/cleanup.h"
#include "common/net/ip_prefix.h"
#include "seccomp/syscall_names.h"

#include <assert.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define NAME_SUFFIX " (DNS)"

/* Targets that an Event names; three of the longest have room. */
#define NOTE_TARGETS 3u

static_assert((unsigned int)PROTO_MAX_DENIED + PROTO_MAX_DENIED_NAMES <= MAX_STATUS_DENIED,
              "a status has room for all system calls and names that a jailer tells of");
static_assert(PROTO_NAME_SIZE - 1 + sizeof(NAME_SUFFIX) - 1 <= MAX_DENIED_TARGET,
              "the longest name fits");

static const struct protocol {
    uint8_t number;
    bool has_ports;
    const char *name;
} protocols[] = {
    {IPPROTO_TCP, true, "TCP"},          {IPPROTO_UDP, true, "UDP"},
    {IPPROTO_SCTP, true, "SCTP"},        {IPPROTO_DCCP, true, "DCCP"},
    {IPPROTO_UDPLITE, true, "UDP-Lite"}, {IPPROTO_ICMP, false, "ICMP"},
    {IPPROTO_ICMPV6, false, "ICMPv6"},   {IPPROTO_IGMP, false, "IGMP"},
};

static const struct protocol *find_protocol(uint8_t number)
{
    for (size_t i = 0; i < ARRAY_SIZE(protocols); i++) {
        if (protocols[i].number == number)
            return &protocols[i];
    }
    return NULL;
}

void denied_call_name(int32_t number, char ret_name[static MAX_DENIED_TARGET + 1])
{
    const char *name = NULL;
    if (number >= 0 && (size_t)number < syscall_names_count)
        name = syscall_names[number];
    if (name)
        (void)snprintf(ret_name, MAX_DENIED_TARGET + 1, "%s", name);
    else
        (void)snprintf(ret_name, MAX_DENIED_TARGET + 1, "system call %" PRId32, number);
}

void denied_target(const struct proto_denied_network *denied,
                   char ret_target[static MAX_DENIED_TARGET + 1])
{
    struct ip_address address = {.family = (enum ip_family)denied->family};
    char text[IP_ADDRESS_TEXT_SIZE], protocol_text[sizeof("protocol 255")];
    const struct protocol *protocol = find_protocol(denied->protocol);
    memcpy(address.bytes, denied->bytes, sizeof(address.bytes));
    ip_address_print(&address, text);
    if (protocol)
        (void)snprintf(protocol_text, sizeof(protocol_text), "%s", protocol->name);
    else
        (void)snprintf(protocol_text, sizeof(protocol_text), "protocol %u", denied->protocol);
    if (!protocol || !protocol->has_ports)
        (void)snprintf(ret_target, MAX_DENIED_TARGET + 1, "%s/%s", text, protocol_text);
    else
        (void)snprintf(ret_target, MAX_DENIED_TARGET + 1,
                       address.family == IP_FAMILY_6 ? "[%s]:%u/%s" : "%s:%u/%s", text,
                       denied->port, protocol_text);
}

static struct run_denied *add(struct run_status *status, enum run_denied_kind kind, uint32_t count)
{
    struct run_denied *denied = &status->denied[status->denied_count++];
    *denied = (struct run_denied){.kind = kind, .count = count};
    return denied;
}

void denied_fill(const struct proto_finished *finished, struct run_status *status)
{
    status->denied_count = 0;
    for (uint32_t i = 0; i < finished->denied_count && i < PROTO_MAX_DENIED; i++) {
        const struct proto_denied *call = &finished->denied[i];
        denied_call_name(call->number, add(status, RUN_DENIED_SYSCALL, call->count)->target);
    }
    for (uint32_t i = 0; i < finished->denied_name_count && i < PROTO_MAX_DENIED_NAMES; i++) {
        const struct proto_denied_name *name = &finished->denied_names[i];
        (void)snprintf(add(status, RUN_DENIED_NETWORK, name->count)->target, MAX_DENIED_TARGET + 1,
                       "%.*s" NAME_SUFFIX, PROTO_NAME_SIZE - 1, name->name);
    }
    for (uint32_t i = 0; i < finished->denied_network_count && i < PROTO_MAX_DENIED_NETWORK &&
                         status->denied_count < MAX_STATUS_DENIED;
         i++) {
        const struct proto_denied_network *network = &finished->denied_network[i];
        denied_target(network, add(status, RUN_DENIED_NETWORK, network->count)->target);
    }
}

bool denied_note(const struct run_status *status, char *ret_note, size_t size)
{
    size_t told = 0, left = 0;
    int len = snprintf(ret_note, size, "the sandbox's network refused the program");
    for (size_t i = 0; i < status->denied_count; i++) {
        const struct run_denied *denied = &status->denied[i];
        if (denied->kind != RUN_DENIED_NETWORK)
            continue;
        if (told == NOTE_TARGETS || len < 0 || (size_t)len >= size) {
            left++;
            continue;
        }
        len += snprintf(ret_note + len, size - (size_t)len, "%s%s (%" PRIu64 " time%s)",
                        told++ > 0 ? ", " : " ", denied->target, denied->count,
                        denied->count == 1 ? "" : "s");
    }
    if (left > 0 && len > 0 && (size_t)len < size)
        (void)snprintf(ret_note + len, size - (size_t)len, " and %zu more; see status.denied",
                       left);
    return told > 0;
}

bool denied_network_is_cut(const struct proto_finished *finished)
{
    return finished->denied_network_more ||
           finished->denied_count + finished->denied_name_count + finished->denied_network_count >
               MAX_STATUS_DENIED;
}
