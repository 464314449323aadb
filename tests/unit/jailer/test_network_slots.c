/* SPDX-License-Identifier: Apache-2.0 */

/* Who has which slot and who waits: with helpers and a resolver that only tell what they were
 * asked. */
#include "common/cleanup.h"
#include "node-agent/jailer/network_internal.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define MAX_SAID 64

static struct network network;
static struct net_request said[MAX_SAID];
static size_t said_count;
static uint32_t asked[MAX_SAID];
static size_t asked_count;
static struct resolver_message told[MAX_SAID];
static size_t told_count;
static bool helper_is_gone;
static int armed;

bool network_say(struct network *who, const struct net_request *request)
{
    if (helper_is_gone) {
        who->state = NETWORK_DOWN;
        (void)error_set(&who->why, ECHILD, "gone");
        network_fail_all(who);
        return false;
    }
    said[said_count++ % MAX_SAID] = *request;
    return true;
}

void network_wake(struct network *who)
{
    (void)who;
}

bool network_ask_maker(struct network *who, uint32_t slot)
{
    (void)who;
    asked[asked_count++ % MAX_SAID] = slot;
    return true;
}

bool network_is_offered(const struct network *who)
{
    return who->state != NETWORK_OFF;
}

void resolver_link_say(struct resolver_link *link, const struct resolver_message *message)
{
    (void)link;
    told[told_count++ % MAX_SAID] = *message;
}

int resolver_link_listen(struct resolver_link *link, const char *path, uid_t peer_uid,
                         const struct resolver_hello *hello, struct error *err)
{
    (void)link;
    (void)path;
    (void)peer_uid;
    (void)hello;
    return error_set(err, ENOSYS, "not here");
}

int resolver_link_adopt(struct resolver_link *link, int sock, const struct resolver_hello *hello,
                        struct error *err)
{
    (void)link;
    (void)sock;
    (void)hello;
    return error_set(err, ENOSYS, "not here");
}

void deadline_arm(struct deadlines *deadlines, struct deadline *deadline, uint64_t at_ns,
                  deadline_fn fn, void *arg)
{
    (void)deadlines;
    (void)deadline;
    (void)at_ns;
    (void)fn;
    (void)arg;
    armed++;
}

/* One sandbox. */
struct run {
    struct network_lease *lease;
    int taken, released;
    int errnum; /* with which it was told */
};

static void on_taken(const struct error *err, void *arg)
{
    struct run *run = arg;
    run->taken++;
    run->errnum = err ? err->code : 0;
}

static void on_released(void *arg)
{
    ((struct run *)arg)->released++;
}

static int take(struct run *run)
{
    struct proto_create create = {.profile = 1, .egress.has_rules = 1};
    struct error err = {0};
    *run = (struct run){.errnum = -1};
    return network_take(&network, &create, on_taken, on_released, run, &run->lease, &err);
}

static void made(uint32_t slot, int errnum)
{
    struct maker_answer answer = {.slot = slot};
    if (errnum != 0)
        (void)error_set(&answer.error, errnum, "no");
    network_on_made(&network, &answer, errnum ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC));
}

static void answer(uint32_t kind, uint32_t slot, int errnum)
{
    struct net_answer it = {.kind = kind, .slot = slot};
    if (errnum != 0)
        (void)error_set(&it.error, errnum, "no");
    if (kind == NET_DENIED)
        it.denied.count = 1;
    network_on_answer(&network, &it);
}

static int setup(void **state)
{
    (void)state;
    network = (struct network){.state = NETWORK_UP, .plan.slot_count = 3};
    network.queue_end = &network.queue;
    network.resolver.ready = true;
    network.resolver.connection.fd = 0;
    for (size_t i = 0; i < NET_MAX_SLOTS; i++)
        network.slots[i].ns_fd = -1;
    said_count = asked_count = told_count = 0;
    helper_is_gone = false;
    armed = 0;
    return 0;
}

static void test_a_whole_life(void **state)
{
    (void)state;
    struct run run;
    assert_int_equal(take(&run), 0);
    assert_int_equal(asked_count, 1);
    assert_int_equal(said_count, 0);
    made(asked[0], 0);
    /* The resolver knows before the rules are in force, and they before the sandbox is made. */
    assert_int_equal(told[0].type, RESOLVER_OPEN);
    assert_int_equal(said[0].kind, NET_TAKE);
    assert_int_equal(run.taken, 0);
    answer(NET_TAKEN, asked[0], 0);
    assert_int_equal(run.taken, 1);
    assert_int_equal(run.errnum, 0);
    int fd = network_lease_take_fd(run.lease);
    assert_true(fd >= 0);
    assert_int_equal(network_lease_take_fd(run.lease), -1);
    (void)fd_close(fd);
    network_release(run.lease);
    assert_int_equal(told[1].type, RESOLVER_CLOSE);
    assert_int_equal(told[1].close.generation, told[0].open.generation);
    assert_int_equal(said[1].kind, NET_RELEASE);
    assert_int_equal(run.released, 0);
    answer(NET_DENIED, asked[0], 0);
    assert_int_equal(run.released, 1);
    assert_true(run.lease->known);
    assert_int_equal(run.lease->denied.count, 1);
    network_lease_free(run.lease);
    assert_int_equal(network.slots[asked[0]].state, SLOT_CLOSING);
    answer(NET_FREED, asked[0], 0);
    assert_int_equal(network.slots[asked[0]].state, SLOT_FREE);
    assert_false(network_has_leases(&network));
}

/* A slot is made anew for each sandbox, under the number that has been free for the longest. */
static void test_the_number_comes_again_last(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 7; i++) {
        struct run run;
        assert_int_equal(take(&run), 0);
        assert_int_equal(asked_count, i + 1);
        assert_int_equal(asked[i], i % 3);
        made(asked[i], 0);
        answer(NET_TAKEN, asked[i], 0);
        assert_int_equal(network.slots[asked[i]].generation, i + 1);
        network_release(run.lease);
        answer(NET_DENIED, asked[i], 0);
        network_lease_free(run.lease);
        answer(NET_FREED, asked[i], 0);
    }
}

static void test_more_runs_than_slots_wait_in_their_order(void **state)
{
    (void)state;
    struct run runs[5];
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
        assert_int_equal(take(&runs[i]), 0);
    assert_int_equal(asked_count, 3);
    assert_true(armed > 0);
    for (uint32_t slot = 0; slot < 3; slot++) {
        made(slot, 0);
        answer(NET_TAKEN, slot, 0);
        assert_int_equal(runs[slot].taken, 1);
    }
    assert_int_equal(runs[3].taken, 0);
    network_release(runs[1].lease);
    answer(NET_DENIED, 1, 0);
    network_lease_free(runs[1].lease);
    answer(NET_FREED, 1, 0);
    made(1, 0);
    answer(NET_TAKEN, 1, 0);
    assert_int_equal(runs[3].taken, 1);
    assert_int_equal(runs[4].taken, 0);
    /* The last gives up. */
    network_lease_free(runs[4].lease);
    assert_null(network.queue);
    for (size_t i = 0; i < 4; i++) {
        if (i != 1)
            network_lease_free(runs[i].lease);
    }
}

static void test_one_that_gives_up_while_its_rules_are_set(void **state)
{
    (void)state;
    struct run run;
    assert_int_equal(take(&run), 0);
    made(0, 0);
    network_lease_free(run.lease);
    assert_int_equal(said_count, 1);
    answer(NET_TAKEN, 0, 0);
    assert_int_equal(run.taken, 0);
    assert_int_equal(said[1].kind, NET_RELEASE);
    answer(NET_DENIED, 0, 0);
    answer(NET_FREED, 0, 0);
    assert_int_equal(network.slots[0].state, SLOT_FREE);
}

static void test_one_that_no_longer_waits_for_what_was_refused(void **state)
{
    (void)state;
    struct run run;
    assert_int_equal(take(&run), 0);
    made(0, 0);
    answer(NET_TAKEN, 0, 0);
    network_release(run.lease);
    network_lease_free(run.lease);
    answer(NET_DENIED, 0, 0);
    assert_int_equal(run.released, 0);
    answer(NET_FREED, 0, 0);
    assert_int_equal(network.slots[0].state, SLOT_FREE);
}

static void test_rules_that_can_not_be_set(void **state)
{
    (void)state;
    struct run run;
    assert_int_equal(take(&run), 0);
    made(0, 0);
    answer(NET_TAKEN, 0, EIO);
    assert_int_equal(run.taken, 1);
    assert_int_equal(run.errnum, EIO);
    assert_int_equal(network.slots[0].state, SLOT_FREE);
    assert_int_equal(told[told_count - 1].type, RESOLVER_CLOSE);
    network_lease_free(run.lease);
}

static void test_slots_that_can_not_be_made(void **state)
{
    (void)state;
    struct run run;
    assert_int_equal(take(&run), 0);
    /* An interface that is on its way out: another one, and this one later. */
    made(0, EEXIST);
    assert_int_equal(run.taken, 0);
    assert_int_equal(asked_count, 2);
    assert_int_equal(asked[1], 1);
    made(1, ENOMEM);
    assert_int_equal(run.taken, 1);
    assert_int_equal(run.errnum, ENOMEM);
    assert_int_equal(asked_count, 2);
    network_lease_free(run.lease);
}

static void test_a_slot_that_can_not_be_cleaned_is_never_used_again(void **state)
{
    (void)state;
    struct run run;
    assert_int_equal(take(&run), 0);
    made(0, 0);
    answer(NET_TAKEN, 0, 0);
    network_release(run.lease);
    answer(NET_DENIED, 0, EIO);
    assert_int_equal(run.released, 1);
    assert_false(run.lease->known);
    answer(NET_FREED, 0, EIO);
    assert_int_equal(network.slots[0].state, SLOT_LOST);
    network_lease_free(run.lease);
}

static void test_ahead(void **state)
{
    (void)state;
    struct run run;
    network.ahead = 2;
    network_refill(&network);
    assert_int_equal(asked_count, 2);
    made(0, 0);
    made(1, 0);
    assert_int_equal(asked_count, 2);
    assert_int_equal(take(&run), 0);
    assert_int_equal(said[0].kind, NET_TAKE);
    /* Not before somebody says that nobody waits. */
    assert_int_equal(asked_count, 2);
    network_refill(&network);
    assert_int_equal(asked_count, 3);
    answer(NET_TAKEN, 0, 0);
    network_lease_free(run.lease);
}

/* Those that wait are told, those that run keep what they have. */
static void test_the_helper_ends(void **state)
{
    (void)state;
    struct run runs[4];
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
        assert_int_equal(take(&runs[i]), 0);
    for (uint32_t slot = 0; slot < 3; slot++)
        made(slot, 0);
    answer(NET_TAKEN, 0, 0);
    answer(NET_TAKEN, 1, 0);
    network_release(runs[1].lease);
    network.state = NETWORK_DOWN;
    (void)error_set(&network.why, ECHILD, "gone");
    network_fail_all(&network);
    assert_int_equal(runs[0].errnum, 0);
    assert_int_equal(network.slots[0].state, SLOT_HELD);
    assert_int_equal(runs[1].released, 1);
    assert_false(runs[1].lease->known);
    assert_int_equal(runs[2].errnum, ECHILD);
    assert_int_equal(runs[3].errnum, ECHILD);
    assert_true(network_has_leases(&network));
    network_release(runs[0].lease);
    assert_int_equal(runs[0].released, 1);
    assert_false(network_has_leases(&network));
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
        network_lease_free(runs[i].lease);
}

static void test_the_helper_ends_just_now(void **state)
{
    (void)state;
    struct run run = {0};
    network.ahead = 1;
    network_refill(&network);
    made(0, 0);
    helper_is_gone = true;
    assert_int_equal(take(&run), -ENETDOWN);
    assert_int_equal(run.taken, 0);
    assert_null(network.queue);
}

static void test_no_resolver(void **state)
{
    (void)state;
    struct run run;
    /* One that was given can't come again. */
    network.resolver.connection.fd = network.resolver.listen_fd = -1;
    assert_int_equal(take(&run), -EHOSTDOWN);
    network.resolver.listen_fd = 0;
    network.resolver.ready = false;
    assert_int_equal(take(&run), 0);
    made(0, 0);
    assert_int_equal(said_count, 0);
    network.resolver.ready = true;
    network_pump(&network);
    assert_int_equal(said_count, 1);
    network_lease_free(run.lease);
}

/* Addresses of names. */

static int allow(uint64_t generation, const char *text, uint32_t ports, uint32_t ttl)
{
    struct ip_address address;
    assert_int_equal(ip_address_parse(text, &address), 0);
    struct resolver_allow message = {.sequence = 7,
                                     .slot = 0,
                                     .generation = generation,
                                     .ports = ports,
                                     .family = (uint32_t)address.family,
                                     .ttl_seconds = ttl};
    memcpy(message.address, address.bytes, sizeof(message.address));
    size_t before = told_count;
    network_on_resolver_allow(&message, &network);
    if (told_count == before)
        return 0;
    assert_int_equal(told[before].type, RESOLVER_OPENED);
    assert_int_equal(told[before].opened.sequence, 7);
    return (int)told[before].opened.errnum;
}

static void test_addresses_of_names(void **state)
{
    (void)state;
    struct run run;
    assert_int_equal(take(&run), 0);
    made(0, 0);
    answer(NET_TAKEN, 0, 0);
    assert_int_equal(allow(1, "8.8.8.8", 3, 60), EPERM);
    run.lease->egress.name_count = 1;
    assert_int_equal(allow(2, "8.8.8.8", 3, 60), ESTALE);
    assert_int_equal(allow(1, "10.1.2.3", 3, 60), EACCES);
    assert_int_equal(allow(1, "fd00::1", 3, 60), EACCES);
    assert_int_equal(ip_prefix_parse("8.8.0.0/16", true, &network.plan.forbidden[0], NULL), 0);
    network.plan.forbidden_count = 1;
    assert_int_equal(allow(1, "8.8.8.8", 3, 60), EACCES);
    network.plan.forbidden_count = 0;
    size_t before = said_count;
    assert_int_equal(allow(1, "8.8.8.8", 3, 60), 0);
    assert_int_equal(allow(1, "8.8.8.8", 2, 0), 0);
    assert_int_equal(allow(1, "2600::1", 1, 600000), 0);
    assert_int_equal(said_count, before + 3);
    assert_int_equal(said[before].kind, NET_ALLOW);
    assert_int_equal(said[before].allow.timeout_ms, 65000);
    assert_int_equal(said[before + 1].allow.timeout_ms, 10000);
    assert_int_equal(said[before + 2].allow.timeout_ms, 3605000);
    assert_int_equal(network.allows, 3);
    struct net_answer full = {.kind = NET_ALLOWED, .sequence = 9};
    (void)error_set(&full.error, ENFILE, "full");
    network_on_answer(&network, &full);
    assert_int_equal(told[told_count - 1].opened.errnum, ENOSPC);
    assert_int_equal(network.allows, 2);
    network_lease_free(run.lease);
    assert_int_equal(allow(1, "8.8.8.8", 3, 60), ESTALE);
}

static void test_refused_names(void **state)
{
    (void)state;
    struct run run;
    assert_int_equal(take(&run), 0);
    made(0, 0);
    answer(NET_TAKEN, 0, 0);
    for (unsigned int i = 0; i < 10; i++) {
        struct resolver_denied denied = {.slot = 0, .generation = 1};
        (void)snprintf(denied.name, sizeof(denied.name), "n%u.example.org", i % 9);
        network_on_resolver_denied(&denied, &network);
    }
    struct resolver_denied stale = {.slot = 0, .generation = 9, .name = "late.example.org"};
    network_on_resolver_denied(&stale, &network);
    assert_int_equal(run.lease->name_count, PROTO_MAX_DENIED_NAMES);
    assert_int_equal(run.lease->names[0].count, 2);
    assert_int_equal(run.lease->names[1].count, 1);
    assert_true(run.lease->more_names);
    network_lease_free(run.lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_whole_life, setup),
        cmocka_unit_test_setup(test_the_number_comes_again_last, setup),
        cmocka_unit_test_setup(test_more_runs_than_slots_wait_in_their_order, setup),
        cmocka_unit_test_setup(test_one_that_gives_up_while_its_rules_are_set, setup),
        cmocka_unit_test_setup(test_one_that_no_longer_waits_for_what_was_refused, setup),
        cmocka_unit_test_setup(test_rules_that_can_not_be_set, setup),
        cmocka_unit_test_setup(test_slots_that_can_not_be_made, setup),
        cmocka_unit_test_setup(test_a_slot_that_can_not_be_cleaned_is_never_used_again, setup),
        cmocka_unit_test_setup(test_ahead, setup),
        cmocka_unit_test_setup(test_the_helper_ends, setup),
        cmocka_unit_test_setup(test_the_helper_ends_just_now, setup),
        cmocka_unit_test_setup(test_no_resolver, setup),
        cmocka_unit_test_setup(test_addresses_of_names, setup),
        cmocka_unit_test_setup(test_refused_names, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
