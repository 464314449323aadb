/* SPDX-License-Identifier: Apache-2.0 */

/* Slots and leases: who has which, and who waits. */
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/network_internal.h"

#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

static struct slot *find_state(struct network *network, enum slot_state state)
{
    for (uint32_t i = 0; i < network->plan.slot_count; i++) {
        if (network->slots[i].state == state)
            return &network->slots[i];
    }
    return NULL;
}

static uint32_t count_state(const struct network *network, enum slot_state state)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < network->plan.slot_count; i++)
        count += network->slots[i].state == state;
    return count;
}

bool network_has_leases(const struct network *network)
{
    for (uint32_t i = 0; i < network->plan.slot_count; i++) {
        if (network->slots[i].lease)
            return true;
    }
    return false;
}

/* The one that has been free for the longest: the kernel takes a while to remove an interface. */
static struct slot *find_free(struct network *network, uint64_t now_ns)
{
    struct slot *found = NULL;
    for (uint32_t i = 0; i < network->plan.slot_count; i++) {
        struct slot *slot = &network->slots[i];
        if (slot->state == SLOT_FREE && slot->not_before_ns <= now_ns &&
            (!found || slot->free_since_ns < found->free_since_ns))
            found = slot;
    }
    return found;
}

static void set_free(struct slot *slot)
{
    slot->state = SLOT_FREE;
    slot->ns_fd = fd_close(slot->ns_fd);
    slot->lease = NULL;
    slot->free_since_ns = clock_boottime_ns();
}

static void enqueue(struct network_lease *lease)
{
    struct network *network = lease->network;
    lease->queued = true;
    lease->next = NULL;
    *network->queue_end = lease;
    network->queue_end = &lease->next;
}

static void dequeue(struct network_lease *lease)
{
    struct network *network = lease->network;
    struct network_lease **link = &network->queue;
    while (*link != lease)
        link = &(*link)->next;
    *link = lease->next;
    if (!lease->next)
        network->queue_end = link;
    lease->queued = false;
    lease->next = NULL;
}

static uint32_t count_queue(const struct network *network)
{
    uint32_t count = 0;
    for (const struct network_lease *lease = network->queue; lease; lease = lease->next)
        count++;
    return count;
}

static void pump_again(void *arg)
{
    network_pump(arg);
}

/* Up to what is waited for and wanted ahead. */
static void make_slots(struct network *network)
{
    uint64_t now_ns = clock_boottime_ns();
    uint32_t waiting = count_queue(network);
    uint32_t wanted = waiting + network->ahead;
    uint32_t coming = count_state(network, SLOT_MADE) + count_state(network, SLOT_MAKING);
    while (coming < wanted) {
        struct slot *slot = find_free(network, now_ns);
        if (!slot || !network_ask_maker(network, network_slot_number(network, slot)))
            break;
        slot->state = SLOT_MAKING;
        coming++;
    }
    /* Nobody else will say when it can go on. */
    if (waiting > coming && !deadline_is_armed(&network->again))
        deadline_arm(network->deadlines, &network->again, now_ns + SLOT_AGAIN_MS * NS_PER_MS,
                     pump_again, network);
}

static void give(struct network *network, struct slot *slot)
{
    struct network_lease *lease = network->queue;
    struct net_request request = {.kind = NET_TAKE, .slot = network_slot_number(network, slot)};
    dequeue(lease);
    slot->state = SLOT_TAKING;
    slot->lease = lease;
    slot->generation = ++network->last_generation;
    lease->slot = slot;
    lease->ns_fd = TAKE_FD(slot->ns_fd);
    request.egress = lease->egress;
    /* The resolver first, so that it knows the slot long before the first lookup. */
    network_say_open(network, lease);
    (void)network_say(network, &request);
}

void network_pump(struct network *network)
{
    if (network->queue)
        network_wake(network);
    if (network->state != NETWORK_UP)
        return;
    struct slot *slot = NULL;
    while (network->state == NETWORK_UP && network->queue && network->resolver.ready &&
           (slot = find_state(network, SLOT_MADE)))
        give(network, slot);
    if (network->state == NETWORK_UP && network->queue)
        make_slots(network);
}

void network_refill(struct network *network)
{
    if (network->state == NETWORK_UP)
        make_slots(network);
}

static void say_release(struct network *network, const struct slot *slot)
{
    const struct net_request request = {.kind = NET_RELEASE,
                                        .slot = network_slot_number(network, slot)};
    (void)network_say(network, &request);
}

static void tell_taken(struct network_lease *lease, const struct error *err)
{
    void (*taken)(const struct error *, void *) = lease->taken;
    lease->taken = NULL;
    if (taken)
        taken(err, lease->arg);
}

static void tell_released(struct network_lease *lease)
{
    void (*released)(void *) = lease->released;
    lease->released = NULL;
    if (released)
        released(lease->arg);
}

static void let_go(struct network_lease *lease)
{
    lease->slot = NULL;
    lease->ns_fd = fd_close(lease->ns_fd);
}

static void on_taken(struct network *network, struct slot *slot, const struct error *err)
{
    struct network_lease *lease = slot->lease;
    if (slot->state != SLOT_TAKING)
        return;
    if (err->code != 0) {
        /* All of it or nothing: there is nothing to be removed. */
        network_say_close(network, slot);
        set_free(slot);
        if (lease) {
            let_go(lease);
            tell_taken(lease, err);
        }
        return;
    }
    slot->state = SLOT_HELD;
    if (lease) {
        tell_taken(lease, NULL);
        return;
    }
    slot->state = SLOT_CLOSING;
    network_say_close(network, slot);
    say_release(network, slot);
}

static void on_denied(struct slot *slot, const struct net_answer *answer)
{
    struct network_lease *lease = slot->lease;
    if (slot->state != SLOT_CLOSING || !lease)
        return;
    slot->lease = NULL;
    let_go(lease);
    lease->known = answer->error.code == 0;
    lease->denied = answer->denied;
    if (answer->error.code != 0)
        log_event(LOG_LEVEL_WARN, "what a sandbox was refused can't be read",
                  LOG_TEXT("sandbox", lease->id), LOG_TEXT("error", answer->error.text));
    tell_released(lease);
}

static void on_freed(struct network *network, struct slot *slot, const struct error *err)
{
    if (slot->state != SLOT_CLOSING)
        return;
    if (err->code != 0) {
        slot->state = SLOT_LOST;
        slot->lease = NULL;
        log_event(LOG_LEVEL_ERROR, "a network slot can't be used again",
                  LOG_NUMBER("slot", network_slot_number(network, slot)),
                  LOG_TEXT("error", err->text));
        return;
    }
    set_free(slot);
    network_pump(network);
}

void network_on_answer(struct network *network, const struct net_answer *answer)
{
    struct slot *slot = &network->slots[answer->slot];
    if (answer->kind == NET_TAKEN)
        on_taken(network, slot, &answer->error);
    else if (answer->kind == NET_DENIED)
        on_denied(slot, answer);
    else if (answer->kind == NET_FREED)
        on_freed(network, slot, &answer->error);
    else if (answer->kind == NET_ALLOWED)
        network_on_allowed(network, answer);
}

/* Those that wait would wait in vain. */
static void fail_queue(struct network *network, const struct error *why)
{
    while (network->queue) {
        struct network_lease *lease = network->queue;
        dequeue(lease);
        tell_taken(lease, why);
    }
}

void network_on_made(struct network *network, const struct maker_answer *answer, int ns_fd)
{
    cleanup_close int fd = ns_fd;
    if (answer->slot >= network->plan.slot_count)
        return;
    struct slot *slot = &network->slots[answer->slot];
    if (slot->state != SLOT_MAKING)
        return;
    if (answer->error.code == 0 && fd >= 0) {
        slot->state = SLOT_MADE;
        slot->ns_fd = TAKE_FD(fd);
        network_pump(network);
        return;
    }
    set_free(slot);
    if (answer->error.code == EEXIST) {
        /* Its last interface is on its way out. */
        slot->not_before_ns = clock_boottime_ns() + SLOT_AGAIN_MS * NS_PER_MS;
    } else {
        log_event(LOG_LEVEL_ERROR, "a network slot can't be made",
                  LOG_TEXT("error", answer->error.text));
        fail_queue(network, &answer->error);
    }
    network_pump(network);
}

void network_forget_making(struct network *network)
{
    for (uint32_t i = 0; i < network->plan.slot_count; i++) {
        if (network->slots[i].state == SLOT_MAKING)
            set_free(&network->slots[i]);
    }
}

/* A sandbox that runs keeps its lease: its rules are in the kernel and stay in force. */
void network_fail_all(struct network *network)
{
    fail_queue(network, &network->why);
    for (uint32_t i = 0; i < network->plan.slot_count; i++) {
        struct slot *slot = &network->slots[i];
        struct network_lease *lease = slot->lease;
        enum slot_state state = slot->state;
        if (state == SLOT_HELD)
            continue;
        set_free(slot);
        if (!lease)
            continue;
        let_go(lease);
        if (state == SLOT_TAKING)
            tell_taken(lease, &network->why);
        else
            tell_released(lease);
    }
}

int network_take(struct network *network, const struct proto_create *create,
                 void (*taken)(const struct error *err, void *arg), void (*released)(void *arg),
                 void *arg, struct network_lease **ret_lease, struct error *err)
{
    if (!network_is_offered(network))
        return error_set(err, EOPNOTSUPP, "profile ToolCall is not available on this node: %.400s",
                         network->state == NETWORK_OFF ? network->why.text
                                                       : "its jailer was given no resolver");
    /* One that may come is waited for, as for a slot: it starts when the jailer does, and where it
     * was restarted it is back within a moment. */
    if (network->resolver.connection.fd < 0 && network->resolver.listen_fd < 0)
        return error_set(err, EHOSTDOWN, "the resolver is not running");
    network_wake(network);
    if (network->state == NETWORK_DOWN)
        return error_set(err, ENETDOWN, "sandboxes have no network now: %.400s", network->why.text);
    struct network_lease *lease = calloc(1, sizeof(*lease));
    if (!lease)
        return error_set_errno(err, ENOMEM, "make a lease of a network slot");
    lease->network = network;
    lease->ns_fd = -1;
    lease->egress = create->egress;
    lease->arg = arg;
    memcpy(lease->id, create->id, sizeof(lease->id));
    enqueue(lease);
    network_pump(network);
    if (network->state == NETWORK_DOWN) {
        /* Just now, with nobody to tell yet. */
        free(lease);
        return error_set(err, ENETDOWN, "sandboxes have no network now: %.400s", network->why.text);
    }
    lease->taken = taken;
    lease->released = released;
    *ret_lease = lease;
    return 0;
}

int network_lease_take_fd(struct network_lease *lease)
{
    return TAKE_FD(lease->ns_fd);
}

void network_lease_gateway(const struct network_lease *lease, struct ip_address *ret_address)
{
    const struct network *network = lease->network;
    net_plan_address(&network->plan, network_slot_number(network, lease->slot), IP_FAMILY_4,
                     NET_GATEWAY, ret_address);
}

void network_release(struct network_lease *lease)
{
    struct network *network = lease->network;
    struct slot *slot = lease->slot;
    lease->taken = NULL;
    lease->ns_fd = fd_close(lease->ns_fd);
    if (lease->queued)
        dequeue(lease);
    if (!slot) {
        tell_released(lease);
        return;
    }
    if (slot->state == SLOT_TAKING) {
        /* Released when the answer comes. Nothing was ever in it. */
        slot->lease = NULL;
        lease->slot = NULL;
        tell_released(lease);
        return;
    }
    network_say_close(network, slot);
    if (network->state != NETWORK_UP) {
        set_free(slot);
        lease->slot = NULL;
        tell_released(lease);
        return;
    }
    slot->state = SLOT_CLOSING;
    say_release(network, slot);
}

void network_lease_free(struct network_lease *lease)
{
    if (!lease)
        return;
    lease->released = NULL;
    if (lease->slot && lease->slot->state == SLOT_CLOSING) {
        /* Its answer comes too late for it. */
        lease->slot->lease = NULL;
        lease->slot = NULL;
    }
    if (lease->slot || lease->queued)
        network_release(lease);
    if (lease->slot) {
        lease->slot->lease = NULL;
        lease->slot = NULL;
    }
    lease->ns_fd = fd_close(lease->ns_fd);
    free(lease);
}
