/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/proto/proto.h"
#include "spoiled.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define ID "01234567-89ab-cdef-0123-456789abcdef"

/* Where the fields lie on the wire, counted by hand and not by the codec's own table. */
#define AT_CREATE_ID      8
#define AT_CREATE_PROFILE 48
#define AT_CREATE_RUNTIME 52
#define AT_CREATE_CPU     116
#define AT_CREATE_MEMORY  120
#define CREATE_LEN        2432
#define AT_START_TIMEOUT  48
#define AT_START_INSTANT  52
#define START_LEN         60
#define ID_ONLY_LEN       48
#define AT_REFUSED_ERRNUM 48
#define AT_REFUSED_LOCK   52
#define AT_REFUSED_TEXT   84
#define REFUSED_LEN       596
#define AT_FINISHED_END   48
#define AT_FINISHED_WAIT  52
#define AT_FINISHED_HAS   56
#define AT_FINISHED_WALL  64
#define AT_FINISHED_CALL  92
#define AT_FINISHED_MORE  96
#define AT_FINISHED_COUNT 100
#define AT_FINISHED_CALLS 104
#define AT_FINISHED_NETS  232
#define FINISHED_LEN      2900
#define AT_CHECK_LEVEL    8
#define AT_CHECK_OUTCOME  12
#define AT_CHECK_NAME     16
#define AT_CHECK_FIGURE   96
#define AT_CHECK_ADVICE   352
#define CHECK_LEN         864
#define AT_CREATED_WARM   48
#define CREATED_LEN       52
#define AT_POOL_RUNTIME   8
#define AT_POOL_PROFILE   72
#define AT_POOL_WAITING   76
#define AT_POOL_SIZE      80
#define AT_POOL_HITS      84
#define POOL_LEN          124
#define AT_NOTICE_KIND    8
#define NOTICE_LEN        12
#define AT_HELLO_VERSION  8
#define AT_HELLO_CGROUP   12
#define AT_HELLO_PROFILES 16
#define AT_HELLO_RUNS     20
#define AT_HELLO_MEMORY   24
#define AT_HELLO_CPU      32
#define AT_HELLO_COUNT    40
#define AT_HELLO_RUNTIMES 44
#define AT_HELLO_KERNEL   1708
#define AT_HELLO_LANDLOCK 1780
#define HELLO_LEN         1784

static struct proto_message hello_message(void)
{
    return (struct proto_message){
        .type = PROTO_HELLO,
        .hello = {.version = PROTO_VERSION,
                  .cgroup_version = 2,
                  .profiles = 1,
                  .max_runs = 64,
                  .memory_bytes = 8ull << 30,
                  .cpu_milli = 4000,
                  .runtime_count = 2,
                  .runtimes = {{"python3.12", "3.12.1"}, {"python3.12-science", "3.12.1 numpy"}},
                  .kernel = "6.1.0-18-cloud-amd64",
                  .landlock_abi = 2},
    };
}

static struct proto_message create_message(void)
{
    return (struct proto_message){.type = PROTO_CREATE,
                                  .create = {.id = ID,
                                             .profile = 1,
                                             .runtime = "python3.12",
                                             .cpu_milli = 1500,
                                             .memory_bytes = 0x0102030405060708}};
}

static struct proto_message start_message(void)
{
    return (struct proto_message){
        .type = PROTO_START,
        .start = {.id = ID, .timeout_ms = 20000, .not_after_boottime_ns = 0x0102030405060708}};
}

static struct proto_message refused_message(void)
{
    return (struct proto_message){
        .type = PROTO_REFUSED,
        .refused = {.id = ID, .errnum = EPERM, .lock = "seccomp", .text = "load the filter"}};
}

static struct proto_message finished_message(void)
{
    return (struct proto_message){.type = PROTO_FINISHED,
                                  .finished = {.id = ID,
                                               .end = PROTO_END_EXITED,
                                               .wait_status = 0x0300,
                                               .has_status = 1,
                                               .wall_us = 1234567,
                                               .cpu_us = 89,
                                               .peak_memory_bytes = 1 << 20,
                                               .timeout_ms = 20000,
                                               .denied_more = 1,
                                               .denied_count = 3,
                                               .denied = {{425, 7}, {-1, 2}, {0, 1}}}};
}

static struct proto_message forbidden_message(void)
{
    return (struct proto_message){.type = PROTO_FINISHED,
                                  .finished = {.id = ID,
                                               .end = PROTO_END_FORBIDDEN,
                                               .forbidden_call = 246,
                                               .denied_count = 1,
                                               .denied = {{246, 1}}}};
}

static struct proto_message created_message(void)
{
    return (struct proto_message){.type = PROTO_CREATED, .created = {.id = ID, .warm = 1}};
}

static struct proto_message check_message(void)
{
    return (struct proto_message){.type = PROTO_CHECK,
                                  .check = {.level = PROTO_REQUIRED,
                                            .outcome = PROTO_OUTCOME_FAILED,
                                            .name = "cgroup.memory",
                                            .figure = "neither in v2 nor in v1",
                                            .advice = "boot with cgroup_enable=memory"}};
}

static struct proto_message notice_message(void)
{
    return (struct proto_message){.type = PROTO_NOTICE, .notice = {.kind = PROTO_NOTICE_STOPPING}};
}

static struct proto_message pool_message(void)
{
    return (struct proto_message){.type = PROTO_POOL,
                                  .pool = {.runtime = "python3.12",
                                           .waiting = 2,
                                           .size = 3,
                                           .hits = 4,
                                           .misses = 5,
                                           .made = 6,
                                           .forked = 1,
                                           .made_us = 7}};
}

static struct proto_message kill_message(void)
{
    return (struct proto_message){.type = PROTO_KILL, .kill = {.id = ID}};
}

struct example {
    const char *name;
    struct proto_message (*make)(void);
    int len;
};

static const struct example examples[] = {
    {"hello", hello_message, HELLO_LEN},
    {"create", create_message, CREATE_LEN},
    {"created", created_message, CREATED_LEN},
    {"start", start_message, START_LEN},
    {"refused", refused_message, REFUSED_LEN},
    {"kill", kill_message, ID_ONLY_LEN},
    {"finished", finished_message, FINISHED_LEN},
    {"forbidden", forbidden_message, FINISHED_LEN},
    {"check", check_message, CHECK_LEN},
    {"notice", notice_message, NOTICE_LEN},
    {"pool", pool_message, POOL_LEN},
};

static void test_encode_decode_gives_the_same_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
        struct proto_message in = examples[i].make(), out = {0};
        uint8_t bytes[PROTO_MAX_MESSAGE], again[PROTO_MAX_MESSAGE];
        struct error err = {0};
        int len = proto_encode(&in, bytes);
        assert_int_equal(len, examples[i].len);
        assert_int_equal(proto_decode(bytes, (size_t)len, &out, &err), 0);
        assert_int_equal(out.type, in.type);
        assert_int_equal(proto_encode(&out, again), len);
        assert_memory_equal(bytes, again, (size_t)len);
    }
}

static void test_denied_calls_come_back(void **state)
{
    (void)state;
    struct proto_message in = finished_message(), out = {0};
    uint8_t bytes[PROTO_MAX_MESSAGE];
    int len = proto_encode(&in, bytes);
    assert_int_equal(proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_int_equal(out.finished.denied_count, 3);
    assert_int_equal(out.finished.denied_more, 1);
    assert_memory_equal(out.finished.denied, in.finished.denied, sizeof(in.finished.denied));
}

static void test_wire_is_little_endian_and_packed(void **state)
{
    (void)state;
    struct proto_message message = create_message();
    uint8_t bytes[PROTO_MAX_MESSAGE];
    static const uint8_t head[8] = {PROTO_CREATE, 0, 0, 0, CREATE_LEN & 0xff, CREATE_LEN >> 8};
    static const uint8_t cpu[4] = {0xdc, 0x05, 0, 0};
    static const uint8_t memory[8] = {8, 7, 6, 5, 4, 3, 2, 1};
    assert_int_equal(proto_encode(&message, bytes), CREATE_LEN);
    assert_memory_equal(bytes, head, sizeof(head));
    assert_string_equal((char *)bytes + AT_CREATE_ID, ID);
    assert_int_equal(bytes[AT_CREATE_PROFILE], 1);
    assert_string_equal((char *)bytes + AT_CREATE_RUNTIME, "python3.12");
    assert_memory_equal(bytes + AT_CREATE_CPU, cpu, sizeof(cpu));
    assert_memory_equal(bytes + AT_CREATE_MEMORY, memory, sizeof(memory));
}

static void test_encode_leaves_nothing_of_the_struct_behind_strings(void **state)
{
    (void)state;
    struct proto_message message = kill_message();
    message.kill.id[sizeof(ID)] = 's';
    uint8_t bytes[PROTO_MAX_MESSAGE];
    assert_int_equal(proto_encode(&message, bytes), ID_ONLY_LEN);
    assert_int_equal(bytes[8 + sizeof(ID)], 0);
}

static void test_decode_of_any_other_length_fails(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
        struct proto_message in = examples[i].make();
        uint8_t bytes[PROTO_MAX_MESSAGE] = {0};
        int len = proto_encode(&in, bytes);
        for (size_t wrong = 0; wrong <= (size_t)len + 1; wrong++) {
            struct proto_message out = {.type = 99};
            struct error err = {0};
            if (wrong == (size_t)len)
                continue;
            assert_int_equal(proto_decode(bytes, wrong, &out, &err), -EPROTO);
            assert_int_equal(err.code, EPROTO);
            assert_int_equal(out.type, 99);
        }
    }
}

#define U64_MAX   "\xff\xff\xff\xff\xff\xff\xff\xff"
#define FULL_LOCK "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct spoiled spoiled[] = {
    {created_message, AT_CREATED_WARM, BYTES("\x03"), "warm"},
    {pool_message, AT_POOL_RUNTIME, BYTES("/"), "runtime"},
    {pool_message, AT_POOL_PROFILE, BYTES("\x02"), "profile"},
    {pool_message, AT_POOL_WAITING, BYTES(U32_MAX), "waiting"},
    {pool_message, AT_POOL_SIZE, BYTES(U32_MAX), "size"},
    {pool_message, AT_POOL_HITS, BYTES(U64_MAX), "hits"},
    {create_message, 0, BYTES("\0"), "type"},
    {create_message, 0, BYTES("\x08"), "type"},
    {create_message, 0, BYTES(U32_MAX), "type"},
    {create_message, 1, BYTES("\x01"), "type"},
    {create_message, 4, BYTES("\x7f"), "length"},
    {create_message, 7, BYTES("\x80"), "length"},
    {create_message, AT_CREATE_ID, BYTES("A"), "id"},
    {create_message, AT_CREATE_ID, BYTES("g"), "id"},
    {create_message, AT_CREATE_ID, BYTES("\0"), "id"},
    {create_message, AT_CREATE_ID, BYTES("../"), "id"},
    {create_message, AT_CREATE_ID + 8, BYTES("0"), "id"},
    {create_message, AT_CREATE_ID + 36, BYTES("0"), "id"},
    {create_message, AT_CREATE_ID + 36, BYTES("0000"), "id"},
    {create_message, AT_CREATE_ID + 39, BYTES("0"), "id"},
    {create_message, AT_CREATE_PROFILE, BYTES("\x02"), "profile"},
    {create_message, AT_CREATE_PROFILE, BYTES(U32_MAX), "profile"},
    {create_message, AT_CREATE_RUNTIME, BYTES("\0"), "runtime"},
    {create_message, AT_CREATE_RUNTIME, BYTES("/"), "runtime"},
    {create_message, AT_CREATE_RUNTIME, BYTES("P"), "runtime"},
    {create_message, AT_CREATE_RUNTIME, BYTES("\n"), "runtime"},
    {create_message, AT_CREATE_RUNTIME, BYTES(".."), "runtime"},
    {create_message, AT_CREATE_RUNTIME + 63, BYTES("x"), "runtime"},
    {create_message, AT_CREATE_CPU, BYTES("\0\0\0\0"), "cpu_milli"},
    {create_message, AT_CREATE_CPU, BYTES(U32_MAX), "cpu_milli"},
    {create_message, AT_CREATE_MEMORY, BYTES("\0\0\0\0\0\0\0\0"), "memory_bytes"},
    {create_message, AT_CREATE_MEMORY, BYTES(U64_MAX), "memory_bytes"},
    {start_message, AT_START_TIMEOUT, BYTES("\0\0\0\0"), "timeout_ms"},
    {start_message, AT_START_INSTANT, BYTES(U64_MAX), "not_after_boottime_ns"},
    {start_message, 8, BYTES("x"), "id"},
    {kill_message, 8, BYTES("x"), "id"},
    {created_message, 8, BYTES("x"), "id"},
    {refused_message, 8, BYTES("x"), "id"},
    {refused_message, AT_REFUSED_ERRNUM, BYTES("\0\0"), "errnum"},
    {refused_message, AT_REFUSED_ERRNUM, BYTES(U32_MAX), "errnum"},
    {refused_message, AT_REFUSED_LOCK, BYTES("\0"), "lock"},
    {refused_message, AT_REFUSED_LOCK, BYTES(FULL_LOCK), "lock"},
    {refused_message, AT_REFUSED_TEXT, BYTES("\x1b[2J"), "text"},
    {refused_message, AT_REFUSED_TEXT, BYTES("\x7f"), "text"},
    {refused_message, AT_REFUSED_TEXT, BYTES("\xff"), "text"},
    {refused_message, AT_REFUSED_TEXT, BYTES("\xc0\x80"), "text"},
    {refused_message, AT_REFUSED_TEXT + 511, BYTES("x"), "text"},
    {finished_message, 8, BYTES("x"), "id"},
    {finished_message, AT_FINISHED_END, BYTES("\0"), "end"},
    {finished_message, AT_FINISHED_END, BYTES("\x08"), "end"},
    {finished_message, AT_FINISHED_WAIT, BYTES(U32_MAX), "wait_status"},
    {finished_message, AT_FINISHED_WAIT, BYTES("\0\0\x01\0"), "wait_status"},
    {finished_message, AT_FINISHED_HAS, BYTES("\x02"), "has_status"},
    {finished_message, AT_FINISHED_HAS, BYTES("\0"), "wait_status"},
    {finished_message, AT_FINISHED_WALL, BYTES(U64_MAX), "wall_us"},
    {finished_message, AT_FINISHED_WALL + 8, BYTES(U64_MAX), "cpu_us"},
    {finished_message, AT_FINISHED_WALL + 16, BYTES(U64_MAX), "peak_memory_bytes"},
    {finished_message, AT_FINISHED_CALL, BYTES("\x01"), "forbidden_call"},
    {forbidden_message, AT_FINISHED_END, BYTES("\x01"), "forbidden_call"},
    {forbidden_message, AT_FINISHED_CALL, BYTES(U32_MAX), "forbidden_call"},
    {finished_message, AT_FINISHED_MORE, BYTES("\x02"), "denied_more"},
    {finished_message, AT_FINISHED_COUNT, BYTES("\x11"), "denied_count"},
    {finished_message, AT_FINISHED_COUNT, BYTES(U32_MAX), "denied_count"},
    {finished_message, AT_FINISHED_COUNT, BYTES("\x02"), "denied has entries"},
    {finished_message, AT_FINISHED_COUNT, BYTES("\x04"), "denied has a call that"},
    {finished_message, AT_FINISHED_CALLS + 4, BYTES("\0"), "denied has a call that"},
    {finished_message, AT_FINISHED_CALLS + 8, BYTES("\xa9\x01\0\0"), "denied has a call twice"},
    {finished_message, AT_FINISHED_NETS - 1, BYTES("x"), "denied has entries"},
    {check_message, AT_CHECK_LEVEL, BYTES("\0"), "level"},
    {check_message, AT_CHECK_LEVEL, BYTES("\x04"), "level"},
    {check_message, AT_CHECK_OUTCOME, BYTES("\0"), "outcome"},
    {check_message, AT_CHECK_OUTCOME, BYTES("\x04"), "outcome"},
    {check_message, AT_CHECK_NAME, BYTES("\0"), "name"},
    {check_message, AT_CHECK_NAME, BYTES("."), "name"},
    {check_message, AT_CHECK_NAME, BYTES("C"), "name"},
    {check_message, AT_CHECK_NAME + 79, BYTES("x"), "name"},
    {check_message, AT_CHECK_FIGURE, BYTES("\x1b[2J"), "figure"},
    {check_message, AT_CHECK_FIGURE, BYTES("\xff"), "figure"},
    {check_message, AT_CHECK_FIGURE + 255, BYTES("x"), "figure"},
    {check_message, AT_CHECK_ADVICE, BYTES("\n"), "advice"},
    {check_message, AT_CHECK_ADVICE + 511, BYTES("x"), "advice"},
    {notice_message, AT_NOTICE_KIND, BYTES("\0"), "kind"},
    {notice_message, AT_NOTICE_KIND, BYTES("\x03"), "kind"},
    {hello_message, AT_HELLO_VERSION, BYTES("\0"), "version"},
    {hello_message, AT_HELLO_CGROUP, BYTES("\x03"), "cgroup_version"},
    {hello_message, AT_HELLO_PROFILES, BYTES("\x04"), "profiles"},
    {hello_message, AT_HELLO_RUNS, BYTES("\0\0\x01"), "max_runs"},
    {hello_message, AT_HELLO_MEMORY, BYTES(U64_MAX), "memory_bytes"},
    {hello_message, AT_HELLO_CPU, BYTES(U64_MAX), "cpu_milli"},
    {hello_message, AT_HELLO_COUNT, BYTES("\x11"), "runtime_count"},
    {hello_message, AT_HELLO_COUNT, BYTES("\x03"), "runtimes"},
    {hello_message, AT_HELLO_COUNT, BYTES("\x01"), "runtimes"},
    {hello_message, AT_HELLO_RUNTIMES, BYTES("/"), "runtimes"},
    {hello_message, AT_HELLO_RUNTIMES + 63, BYTES("x"), "runtimes"},
    {hello_message, AT_HELLO_RUNTIMES + 64, BYTES("\t"), "runtimes"},
    {hello_message, AT_HELLO_RUNTIMES + 64 + 39, BYTES("x"), "runtimes"},
    {hello_message, AT_HELLO_KERNEL, BYTES("\r"), "kernel"},
    {hello_message, AT_HELLO_KERNEL + 71, BYTES("x"), "kernel"},
    {hello_message, AT_HELLO_LANDLOCK + 1, BYTES("\x01"), "landlock_abi"},
};

static void test_decode_of_a_bad_field_names_it(void **state)
{
    (void)state;
    spoiled_check(spoiled, ARRAY_SIZE(spoiled));
}

static void test_encode_refuses_what_decode_would(void **state)
{
    (void)state;
    uint8_t bytes[PROTO_MAX_MESSAGE];
    struct proto_message message = {.type = (enum proto_type)0};
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);
    message.type = (enum proto_type)1000;
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);

    message = refused_message();
    memset(message.refused.text, 'x', sizeof(message.refused.text));
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);
    message = refused_message();
    message.refused.text[0] = '\n';
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);
    message = finished_message();
    message.finished.wait_status = -1;
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);
    message = finished_message();
    message.finished.denied_count = PROTO_MAX_DENIED + 1;
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);
    message = finished_message();
    message.finished.forbidden_call = 246;
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);
    message = hello_message();
    message.hello.runtime_count = PROTO_MAX_RUNTIMES + 1;
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);
    message = start_message();
    message.start.timeout_ms = 0;
    assert_int_equal(proto_encode(&message, bytes), -EINVAL);
}

static void test_decode_takes_the_bounds_themselves(void **state)
{
    (void)state;
    struct proto_message in = start_message(), out;
    uint8_t bytes[PROTO_MAX_MESSAGE];
    in.start.timeout_ms = UINT32_MAX;
    int len = proto_encode(&in, bytes);
    assert_int_equal(proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_int_equal(out.start.timeout_ms, UINT32_MAX);
    assert_int_equal(out.start.not_after_boottime_ns, 0x0102030405060708);

    in = refused_message();
    memset(in.refused.text, 'x', sizeof(in.refused.text) - 1);
    in.refused.text[sizeof(in.refused.text) - 1] = '\0';
    len = proto_encode(&in, bytes);
    assert_int_equal(proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_string_equal(out.refused.text, in.refused.text);

    in = hello_message();
    in.hello.cgroup_version = 0;
    len = proto_encode(&in, bytes);
    assert_int_equal(proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_int_equal(out.hello.cgroup_version, 0);

    in = check_message();
    in.check.level = PROTO_INFORMATION;
    in.check.outcome = PROTO_OUTCOME_SKIPPED;
    in.check.figure[0] = in.check.advice[0] = '\0';
    len = proto_encode(&in, bytes);
    assert_int_equal(proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_int_equal(out.check.level, PROTO_INFORMATION);
    assert_int_equal(out.check.outcome, PROTO_OUTCOME_SKIPPED);

    in = finished_message();
    in.finished.wait_status = 0xffff;
    len = proto_encode(&in, bytes);
    assert_int_equal(proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_int_equal(out.finished.wait_status, 0xffff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode_decode_gives_the_same_back),
        cmocka_unit_test(test_denied_calls_come_back),
        cmocka_unit_test(test_wire_is_little_endian_and_packed),
        cmocka_unit_test(test_encode_leaves_nothing_of_the_struct_behind_strings),
        cmocka_unit_test(test_decode_of_any_other_length_fails),
        cmocka_unit_test(test_decode_of_a_bad_field_names_it),
        cmocka_unit_test(test_encode_refuses_what_decode_would),
        cmocka_unit_test(test_decode_takes_the_bounds_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
