/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/resolver/slots.h"
#include "tests/unit/common/cmocka_setup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#define ID    "01234567-89ab-cdef-0123-456789abcdef"
#define OTHER "11234567-89ab-cdef-0123-456789abcdef"

static struct slots *slots;

static int set_up(void **state)
{
    (void)state;
    if (slots_new(&slots, NULL) < 0)
        return -1;
    slots->hello = (struct resolver_hello){.slot_count = 128};
    return inet_pton(AF_INET, "198.19.192.0", slots->hello.range4) == 1 &&
                   inet_pton(AF_INET6, "fd53:6272::400", slots->hello.range6) == 1
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    slots_free(slots);
    return 0;
}

static int find(const char *text)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } address = {0};
    if (inet_pton(AF_INET, text, &address.in.sin_addr) == 1) {
        address.any.sa_family = AF_INET;
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &address.in6.sin6_addr), 1);
        address.any.sa_family = AF_INET6;
    }
    return slots_find(slots, &address.any);
}

static void test_who_asks_by_the_address(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        int slot;
    } cases[] = {
        {"198.19.192.1", 0},
        {"198.19.192.3", 1},
        {"198.19.192.255", 127},
        {"198.19.192.0", -ENOENT},
        {"198.19.192.2", -ENOENT},
        {"198.19.193.1", -ENOENT},
        {"198.19.191.255", -ENOENT},
        {"127.0.0.1", -ENOENT},
        {"255.255.255.255", -ENOENT},
        {"0.0.0.0", -ENOENT},
        {"fd53:6272::401", 0},
        {"fd53:6272::4ff", 127},
        {"fd53:6272::400", -ENOENT},
        {"fd53:6272::501", -ENOENT},
        {"fd53:6272::3ff", -ENOENT},
        {"fd53:6273::401", -ENOENT},
        {"::ffff:198.19.192.1", -ENOENT},
        {"::1", -ENOENT},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        if (find(cases[i].address) != cases[i].slot)
            fail_msg("%s: %d", cases[i].address, find(cases[i].address));
    }
    slots->hello.slot_count = 2;
    assert_int_equal(find("198.19.192.3"), 1);
    assert_int_equal(find("198.19.192.5"), -ENOENT);
    slots->hello.slot_count = 0;
    assert_int_equal(find("198.19.192.1"), -ENOENT);
}

static void test_open_and_close(void **state)
{
    (void)state;
    struct error err = {0};
    struct resolver_open open = {.slot = 5, .generation = 9, .id = ID};
    assert_int_equal(slots_open(slots, &open, &err), 0);
    assert_int_equal(slots->open_count, 1);
    assert_int_equal(slots_open(slots, &open, &err), -EPROTO);
    open.slot = 127;
    assert_int_equal(slots_open(slots, &open, &err), 0);
    slots->hello.slot_count = 100;
    open.slot = 100;
    assert_int_equal(slots_open(slots, &open, &err), -EPROTO);

    assert_false(slots_close(slots, &(struct resolver_close){5, 8}));
    assert_true(slots->entries[5].is_open);
    assert_true(slots_close(slots, &(struct resolver_close){5, 9}));
    assert_false(slots->entries[5].is_open);
    assert_false(slots_close(slots, &(struct resolver_close){5, 9}));
    assert_int_equal(slots->open_count, 1);
    slots_close_all(slots);
    assert_int_equal(slots->open_count, 0);
}

/* A budget is one sandbox's: not another's, and not anew after a lost connection. */
static void test_budgets_are_a_sandbox_s(void **state)
{
    (void)state;
    struct resolver_open open = {.slot = 5, .generation = 9, .id = ID};
    assert_int_equal(slots_open(slots, &open, NULL), 0);
    slots->entries[5].budget.upstream_queries = 3;
    slots_close_all(slots);
    assert_int_equal(slots_open(slots, &open, NULL), 0);
    assert_int_equal(slots->entries[5].budget.upstream_queries, 3);

    slots_close_all(slots);
    open.generation = 10;
    assert_int_equal(slots_open(slots, &open, NULL), 0);
    assert_int_equal(slots->entries[5].budget.upstream_queries, 0);

    /* A jailer that counts from the start again has other sandboxes. */
    slots->entries[5].budget.upstream_queries = 3;
    slots_close_all(slots);
    memcpy(open.id, OTHER, sizeof(OTHER));
    assert_int_equal(slots_open(slots, &open, NULL), 0);
    assert_int_equal(slots->entries[5].budget.upstream_queries, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_who_asks_by_the_address, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_open_and_close, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_budgets_are_a_sandbox_s, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
