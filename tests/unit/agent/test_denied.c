/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node-agent/agent/denied.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/syscall.h>

static void test_names(void **state)
{
    (void)state;
    static const struct {
        int32_t number;
        const char *name;
    } cases[] = {
        {SYS_read, "read"},
        {SYS_ptrace, "ptrace"},
        {SYS_io_uring_setup, "io_uring_setup"},
        {SYS_kexec_load, "kexec_load"},
        {SYS_openat2, "openat2"},
        {462, "mseal"},
        /* Gaps in the table, and what is outside of it. */
        {350, "system call 350"},
        {600, "system call 600"},
        {INT32_MAX, "system call 2147483647"},
        {-1, "system call -1"},
        {INT32_MIN, "system call -2147483648"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[MAX_DENIED_TARGET + 1];
        denied_call_name(cases[i].number, name);
        assert_string_equal(name, cases[i].name);
    }
}

static void test_fill(void **state)
{
    (void)state;
    const struct proto_finished finished = {.denied_count = 3,
                                            .denied = {{SYS_ptrace, 7}, {-1, 1}, {SYS_mount, 256}}};
    struct run_status status = {.denied_count = 5};
    denied_fill(&finished, &status);
    assert_int_equal(status.denied_count, 3);
    assert_int_equal(status.denied[0].kind, RUN_DENIED_SYSCALL);
    assert_string_equal(status.denied[0].target, "ptrace");
    assert_int_equal(status.denied[0].count, 7);
    assert_string_equal(status.denied[1].target, "system call -1");
    assert_string_equal(status.denied[2].target, "mount");
    assert_int_equal(status.denied[2].count, 256);
}

static void test_targets(void **state)
{
    (void)state;
    static const struct {
        struct proto_denied_network denied;
        const char *target;
    } cases[] = {
        {{4, IPPROTO_TCP, 22, 1, {203, 0, 113, 5}}, "203.0.113.5:22/TCP"},
        {{6, IPPROTO_UDP, 443, 1, {0x20, 1, 0xd, 0xb8, [15] = 1}}, "[2001:db8::1]:443/UDP"},
        {{4, IPPROTO_ICMP, 0, 1, {10, 0, 0, 1}}, "10.0.0.1/ICMP"},
        /* What a rule reads where ICMP has its checksum is no port. */
        {{4, IPPROTO_ICMP, 4711, 1, {10, 0, 0, 1}}, "10.0.0.1/ICMP"},
        {{6, IPPROTO_ICMPV6, 0, 1, {0xfe, 0x80, [15] = 1}}, "fe80::1/ICMPv6"},
        {{4, IPPROTO_UDP, 0, 1, {169, 254, 169, 254}}, "169.254.169.254:0/UDP"},
        {{4, IPPROTO_SCTP, 65535, 1, {255, 255, 255, 255}}, "255.255.255.255:65535/SCTP"},
        {{4, 47, 0, 1, {0}}, "0.0.0.0/protocol 47"},
        {{6, 255, 0, 1, {[10] = 0xff, 0xff, 10, 0, 0, 1}}, "::ffff:10.0.0.1/protocol 255"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[MAX_DENIED_TARGET + 1];
        denied_target(&cases[i].denied, target);
        assert_string_equal(target, cases[i].target);
    }
}

static void test_fill_from_the_network(void **state)
{
    (void)state;
    static struct proto_finished finished = {
        .denied_count = 1,
        .denied = {{SYS_ptrace, 7}},
        .denied_name_count = 2,
        .denied_names = {{3, "metadata.google.internal"}, {1, ""}},
        .denied_network_count = 1,
        .denied_network = {{4, IPPROTO_TCP, 80, 5, {10, 0, 0, 1}}}};
    struct run_status status = {0};
    memset(finished.denied_names[1].name, 'a', PROTO_NAME_SIZE - 1);
    denied_fill(&finished, &status);
    assert_int_equal(status.denied_count, 4);
    assert_string_equal(status.denied[0].target, "ptrace");
    assert_int_equal(status.denied[1].kind, RUN_DENIED_NETWORK);
    assert_string_equal(status.denied[1].target, "metadata.google.internal (DNS)");
    assert_int_equal(status.denied[1].count, 3);
    assert_int_equal(strlen(status.denied[2].target), MAX_DENIED_TARGET);
    assert_string_equal(status.denied[2].target + 255, " (DNS)");
    assert_int_equal(status.denied[3].kind, RUN_DENIED_NETWORK);
    assert_string_equal(status.denied[3].target, "10.0.0.1:80/TCP");
    assert_int_equal(status.denied[3].count, 5);
    assert_false(denied_network_is_cut(&finished));
}

static void test_note(void **state)
{
    (void)state;
    static const struct {
        struct run_status status;
        const char *note; /* NULL: none */
    } cases[] = {
        {{.denied_count = 0}, NULL},
        {{.denied_count = 1, .denied = {{RUN_DENIED_SYSCALL, "ptrace", 1}}}, NULL},
        {{.denied_count = 2,
          .denied = {{RUN_DENIED_SYSCALL, "ptrace", 1},
                     {RUN_DENIED_NETWORK, "10.0.0.1:80/TCP", 1}}},
         "the sandbox's network refused the program 10.0.0.1:80/TCP (1 time)"},
        {{.denied_count = 3,
          .denied = {{RUN_DENIED_NETWORK, "a.example (DNS)", 2},
                     {RUN_DENIED_NETWORK, "b:1/TCP", 1},
                     {RUN_DENIED_NETWORK, "c:1/TCP", 9}}},
         "the sandbox's network refused the program a.example (DNS) (2 times), b:1/TCP (1 time), "
         "c:1/TCP (9 times)"},
        {{.denied_count = 6,
          .denied = {{RUN_DENIED_NETWORK, "a:1/TCP", 1},
                     {RUN_DENIED_NETWORK, "b:1/TCP", 1},
                     {RUN_DENIED_NETWORK, "c:1/TCP", 1},
                     {RUN_DENIED_NETWORK, "d:1/TCP", 1},
                     {RUN_DENIED_SYSCALL, "ptrace", 1},
                     {RUN_DENIED_NETWORK, "e:1/TCP", 1}}},
         "the sandbox's network refused the program a:1/TCP (1 time), b:1/TCP (1 time), c:1/TCP (1 "
         "time) and 2 more; see status.denied"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char note[1024];
        assert_int_equal(denied_note(&cases[i].status, note, sizeof(note)), cases[i].note != NULL);
        if (cases[i].note)
            assert_string_equal(note, cases[i].note);
    }
    /* A small room is no matter. */
    for (size_t size = 1; size < 120; size++) {
        char note[120];
        (void)denied_note(&cases[4].status, note, size);
        assert_true(strlen(note) < size);
    }
}

static void test_nothing_and_everything(void **state)
{
    (void)state;
    struct proto_finished finished = {.denied_count = 0};
    struct run_status status = {.denied_count = 5};
    denied_fill(&finished, &status);
    assert_int_equal(status.denied_count, 0);

    /* The codec doesn't let it come to this. */
    finished.denied_count = UINT32_MAX;
    denied_fill(&finished, &status);
    assert_int_equal(status.denied_count, PROTO_MAX_DENIED);
    finished.denied_name_count = UINT32_MAX;
    finished.denied_network_count = UINT32_MAX;
    denied_fill(&finished, &status);
    assert_int_equal(status.denied_count, MAX_STATUS_DENIED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),   cmocka_unit_test(test_fill),
        cmocka_unit_test(test_targets), cmocka_unit_test(test_fill_from_the_network),
        cmocka_unit_test(test_note),    cmocka_unit_test(test_nothing_and_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
