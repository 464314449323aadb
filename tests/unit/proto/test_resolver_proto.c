/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/proto/resolver_proto.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#define ID "01234567-89ab-cdef-0123-456789abcdef"

/* Where the fields lie on the wire, counted by hand and not by the codec's own table. */
#define AT_HELLO_VERSION   8
#define AT_HELLO_RANGE4    12
#define AT_HELLO_RANGE6    16
#define AT_HELLO_SLOTS     32
#define AT_HELLO_COUNT     36
#define AT_HELLO_FORBIDDEN 40
#define HELLO_LEN          1192
#define AT_READY_PORT      12
#define READY_LEN          16
#define AT_SLOT            8
#define AT_GENERATION      12
#define AT_OPEN_ID         20
#define AT_OPEN_EGRESS     60
#define AT_OPEN_NAME_COUNT (AT_OPEN_EGRESS + 8 + 64 * 19)
#define AT_OPEN_NAME_TEXT  (AT_OPEN_NAME_COUNT + 4 + 16 * 3 + 4)
#define OPEN_LEN           (AT_OPEN_NAME_TEXT + 1024)
#define CLOSE_LEN          20
#define AT_ALLOW_SLOT      16
#define AT_ALLOW_PORTS     28
#define AT_ALLOW_FAMILY    32
#define AT_ALLOW_ADDRESS   36
#define AT_ALLOW_TTL       52
#define ALLOW_LEN          56
#define AT_OPENED_ERRNUM   16
#define OPENED_LEN         20
#define AT_DENIED_NAME     20
#define DENIED_LEN         276

static struct resolver_message hello_message(void)
{
    return (struct resolver_message){
        .type = RESOLVER_HELLO,
        .hello = {.version = RESOLVER_PROTO_VERSION,
                  .range4 = {198, 19, 192, 0},
                  .range6 = {0xfd, 0x53, 0x62, 0x72},
                  .slot_count = 128,
                  .forbidden_count = 2,
                  .forbidden = {{4, 12, {192, 16}}, {6, 32, {0x20, 1, 0x0d, 0xb8}}}}};
}

static struct resolver_message ready_message(void)
{
    return (struct resolver_message){.type = RESOLVER_READY,
                                     .ready = {.version = RESOLVER_PROTO_VERSION, .port = 5353}};
}

static struct resolver_message open_message(void)
{
    return (struct resolver_message){
        .type = RESOLVER_OPEN,
        .open = {.slot = 127,
                 .generation = 0x0102030405060708,
                 .id = ID,
                 .egress = {.has_rules = 1,
                            .name_count = 2,
                            .names = {{3, 0}, {2, 16}},
                            .name_bytes = 30,
                            .name_text = "api.example.org\0*.example.com"}}};
}

static struct resolver_message close_message(void)
{
    return (struct resolver_message){.type = RESOLVER_CLOSE, .close = {.slot = 3, .generation = 9}};
}

static struct resolver_message allow_message(void)
{
    return (struct resolver_message){.type = RESOLVER_ALLOW,
                                     .allow = {.sequence = 77,
                                               .slot = 3,
                                               .generation = 9,
                                               .ports = 3,
                                               .family = 4,
                                               .address = {203, 0, 113, 5},
                                               .ttl_seconds = 300}};
}

static struct resolver_message opened_message(void)
{
    return (struct resolver_message){.type = RESOLVER_OPENED,
                                     .opened = {.sequence = 77, .errnum = EACCES}};
}

static struct resolver_message denied_message(void)
{
    return (struct resolver_message){
        .type = RESOLVER_DENIED,
        .denied = {.slot = 3, .generation = 9, .name = "metadata.google.internal"}};
}

static const struct example {
    struct resolver_message (*make)(void);
    int len;
} examples[] = {
    {hello_message, HELLO_LEN},   {ready_message, READY_LEN}, {open_message, OPEN_LEN},
    {close_message, CLOSE_LEN},   {allow_message, ALLOW_LEN}, {opened_message, OPENED_LEN},
    {denied_message, DENIED_LEN},
};

static void test_encode_decode_gives_the_same_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
        struct resolver_message in = examples[i].make(), out = {0};
        uint8_t bytes[RESOLVER_MAX_MESSAGE], again[RESOLVER_MAX_MESSAGE];
        struct error err = {0};
        int len = resolver_proto_encode(&in, bytes);
        assert_int_equal(len, examples[i].len);
        assert_int_equal(resolver_proto_decode(bytes, (size_t)len, &out, &err), 0);
        assert_int_equal(out.type, in.type);
        assert_int_equal(resolver_proto_encode(&out, again), len);
        assert_memory_equal(bytes, again, (size_t)len);
    }
}

static void test_values_come_back(void **state)
{
    (void)state;
    struct resolver_message in = open_message(), out = {0};
    uint8_t bytes[RESOLVER_MAX_MESSAGE];
    int len = resolver_proto_encode(&in, bytes);
    static const uint8_t head[] = {
        RESOLVER_OPEN, 0, 0, 0, OPEN_LEN & 0xff, OPEN_LEN >> 8, 0, 0, 127, 0, 0, 0, 8, 7};
    assert_memory_equal(bytes, head, sizeof(head));
    assert_int_equal(resolver_proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_int_equal(out.open.generation, 0x0102030405060708);
    assert_string_equal(out.open.id, ID);
    assert_string_equal(out.open.egress.name_text + out.open.egress.names[1].offset,
                        "*.example.com");

    in = hello_message();
    len = resolver_proto_encode(&in, bytes);
    assert_int_equal(resolver_proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_memory_equal(out.hello.range4, in.hello.range4, sizeof(in.hello.range4));
    assert_memory_equal(out.hello.range6, in.hello.range6, sizeof(in.hello.range6));
    assert_memory_equal(out.hello.forbidden, in.hello.forbidden, sizeof(in.hello.forbidden));
}

static void test_decode_of_any_other_length_fails(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
        struct resolver_message in = examples[i].make();
        uint8_t bytes[RESOLVER_MAX_MESSAGE] = {0};
        int len = resolver_proto_encode(&in, bytes);
        for (size_t wrong = 0; wrong <= (size_t)len + 1; wrong++) {
            struct resolver_message out = {.type = 99};
            struct error err = {0};
            if (wrong == (size_t)len)
                continue;
            assert_int_equal(resolver_proto_decode(bytes, wrong, &out, &err), -EPROTO);
            assert_int_equal(err.code, EPROTO);
            assert_int_equal(out.type, 99);
        }
    }
}

/* Overwrites a message in one place; the error must name the field. */
#define BYTES(text) (text), sizeof(text) - 1
#define U32_MAX     "\xff\xff\xff\xff"

static const struct spoiled {
    struct resolver_message (*make)(void);
    size_t at;
    const char *bytes;
    size_t len;
    const char *names;
} spoiled[] = {
    {close_message, 0, BYTES("\0"), "type"},
    {close_message, 0, BYTES("\x08"), "type"},
    {close_message, 1, BYTES("\x01"), "type"},
    {close_message, 4, BYTES("\x15"), "length"},
    {hello_message, AT_HELLO_VERSION, BYTES("\0"), "version"},
    {hello_message, AT_HELLO_RANGE4 + 3, BYTES("\x01"), "range4"},
    {hello_message, AT_HELLO_RANGE4, BYTES("\xff\xff\xff\x02"), "range4"},
    {hello_message, AT_HELLO_RANGE6 + 15, BYTES("\x01"), "range6"},
    {hello_message, AT_HELLO_RANGE6 + 14, BYTES("\xff\x02"), "range6"},
    {hello_message, AT_HELLO_SLOTS, BYTES("\0"), "slot_count"},
    {hello_message, AT_HELLO_SLOTS, BYTES("\x81"), "slot_count"},
    {hello_message, AT_HELLO_COUNT, BYTES("\x41"), "forbidden_count"},
    {hello_message, AT_HELLO_COUNT, BYTES("\x01"), "forbidden has entries"},
    {hello_message, AT_HELLO_COUNT, BYTES("\x03"), "forbidden has a prefix"},
    {hello_message, AT_HELLO_FORBIDDEN, BYTES("\x05"), "forbidden has a prefix"},
    {hello_message, AT_HELLO_FORBIDDEN + 1, BYTES("\x21"), "forbidden has a prefix"},
    {hello_message, AT_HELLO_FORBIDDEN + 3, BYTES("\x11"), "forbidden has a prefix"},
    {hello_message, AT_HELLO_FORBIDDEN + 6, BYTES("\x01"), "forbidden has a prefix"},
    {hello_message, HELLO_LEN - 1, BYTES("\x01"), "forbidden has entries"},
    {ready_message, 8, BYTES("\0"), "version"},
    {ready_message, AT_READY_PORT, BYTES("\0\0"), "port"},
    {ready_message, AT_READY_PORT + 2, BYTES("\x01"), "port"},
    {open_message, AT_SLOT, BYTES("\x80"), "slot"},
    {open_message, AT_GENERATION, BYTES("\0\0\0\0\0\0\0\0"), "generation"},
    {open_message, AT_OPEN_ID, BYTES("A"), "id"},
    {open_message, AT_OPEN_ID + 8, BYTES("0"), "id"},
    {open_message, AT_OPEN_ID + 36, BYTES("0"), "id"},
    {open_message, AT_OPEN_ID + 39, BYTES("0"), "id"},
    {open_message, AT_OPEN_EGRESS, BYTES("\x02"), "egress"},
    {open_message, AT_OPEN_EGRESS, BYTES("\0"), "egress"},
    {open_message, AT_OPEN_NAME_COUNT, BYTES("\x11"), "egress"},
    {open_message, AT_OPEN_NAME_TEXT, BYTES("A"), "egress"},
    {open_message, AT_OPEN_NAME_TEXT + 1023, BYTES("a"), "egress"},
    {close_message, AT_SLOT, BYTES(U32_MAX), "slot"},
    {close_message, AT_GENERATION, BYTES("\0"), "generation"},
    {allow_message, 8, BYTES("\0"), "sequence"},
    {allow_message, AT_ALLOW_SLOT, BYTES("\x80"), "slot"},
    {allow_message, AT_ALLOW_PORTS, BYTES("\0"), "ports"},
    {allow_message, AT_ALLOW_PORTS, BYTES("\x04"), "ports"},
    {allow_message, AT_ALLOW_FAMILY, BYTES("\x03"), "family"},
    {allow_message, AT_ALLOW_FAMILY, BYTES("\x05"), "family"},
    {allow_message, AT_ALLOW_ADDRESS + 4, BYTES("\x01"), "address"},
    {allow_message, AT_ALLOW_ADDRESS + 15, BYTES("\x01"), "address"},
    {allow_message, AT_ALLOW_TTL, BYTES(U32_MAX), "ttl_seconds"},
    {opened_message, 8, BYTES("\0"), "sequence"},
    {opened_message, AT_OPENED_ERRNUM, BYTES("\0\x10"), "errnum"},
    {denied_message, AT_SLOT, BYTES("\x80"), "slot"},
    {denied_message, AT_DENIED_NAME, BYTES("\0"), "name"},
    {denied_message, AT_DENIED_NAME, BYTES(" "), "name"},
    {denied_message, AT_DENIED_NAME, BYTES("\x1b"), "name"},
    {denied_message, AT_DENIED_NAME, BYTES("\x7f"), "name"},
    {denied_message, AT_DENIED_NAME, BYTES("\xc3\xa9"), "name"},
    {denied_message, DENIED_LEN - 1, BYTES("x"), "name"},
};

static void test_decode_of_a_bad_field_names_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(spoiled); i++) {
        struct resolver_message in = spoiled[i].make(), out = {.type = 99};
        uint8_t bytes[RESOLVER_MAX_MESSAGE];
        struct error err = {0};
        int len = resolver_proto_encode(&in, bytes);
        assert_true(len > 0);
        memcpy(bytes + spoiled[i].at, spoiled[i].bytes, spoiled[i].len);
        int r = resolver_proto_decode(bytes, (size_t)len, &out, &err);
        if (r != -EPROTO || !strstr(err.text, spoiled[i].names))
            fail_msg("case %zu (%s): %d \"%s\"", i, spoiled[i].names, r, err.text);
        assert_int_equal(out.type, 99);
    }
}

static void test_encode_refuses_what_decode_would(void **state)
{
    (void)state;
    uint8_t bytes[RESOLVER_MAX_MESSAGE];
    struct resolver_message message = {.type = (enum resolver_type)0};
    assert_int_equal(resolver_proto_encode(&message, bytes), -EINVAL);
    message.type = (enum resolver_type)1000;
    assert_int_equal(resolver_proto_encode(&message, bytes), -EINVAL);
    message = denied_message();
    memset(message.denied.name, 'x', sizeof(message.denied.name));
    assert_int_equal(resolver_proto_encode(&message, bytes), -EINVAL);
    message = open_message();
    message.open.generation = 0;
    assert_int_equal(resolver_proto_encode(&message, bytes), -EINVAL);
    message = open_message();
    message.open.egress.name_count = PROTO_MAX_NAMES + 1;
    assert_int_equal(resolver_proto_encode(&message, bytes), -EINVAL);
    message = hello_message();
    message.hello.forbidden_count = RESOLVER_MAX_FORBIDDEN + 1;
    assert_int_equal(resolver_proto_encode(&message, bytes), -EINVAL);
}

static void test_decode_takes_the_bounds_themselves(void **state)
{
    (void)state;
    struct resolver_message in = hello_message(), out;
    uint8_t bytes[RESOLVER_MAX_MESSAGE];
    memcpy(in.hello.range4, (uint8_t[]){255, 255, 255, 0}, 4);
    in.hello.range6[14] = 0xff;
    int len = resolver_proto_encode(&in, bytes);
    assert_int_equal(resolver_proto_decode(bytes, (size_t)len, &out, NULL), 0);
    in = denied_message();
    memset(in.denied.name, 'x', sizeof(in.denied.name) - 1);
    len = resolver_proto_encode(&in, bytes);
    assert_int_equal(resolver_proto_decode(bytes, (size_t)len, &out, NULL), 0);
    assert_string_equal(out.denied.name, in.denied.name);
}

static void make_pair(int ret_socks[2])
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_socks), 0);
}

static void test_send_and_receive(void **state)
{
    (void)state;
    int socks[2];
    make_pair(socks);
    struct resolver_message out = {0};
    struct error err = {0};
    assert_int_equal(resolver_proto_receive(socks[1], &out, &err), -EAGAIN);
    for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
        struct resolver_message in = examples[i].make();
        assert_int_equal(resolver_proto_send(socks[0], &in), 0);
        assert_int_equal(resolver_proto_receive(socks[1], &out, &err), 1);
        assert_int_equal(out.type, in.type);
    }
    (void)close(socks[0]);
    assert_int_equal(resolver_proto_receive(socks[1], &out, &err), 0);
    (void)close(socks[1]);
}

static void test_receive_refuses_what_is_too_long(void **state)
{
    (void)state;
    int socks[2];
    make_pair(socks);
    static const uint8_t bytes[RESOLVER_MAX_MESSAGE + 1];
    struct resolver_message out = {0};
    struct error err = {0};
    assert_int_equal(send(socks[0], bytes, sizeof(bytes), 0), sizeof(bytes));
    assert_int_equal(resolver_proto_receive(socks[1], &out, &err), -EPROTO);
    assert_non_null(strstr(err.text, "4096"));
    (void)close(socks[0]);
    (void)close(socks[1]);
}

static void test_receive_installs_no_descriptor(void **state)
{
    (void)state;
    int socks[2];
    make_pair(socks);
    struct resolver_message in = close_message(), out = {0};
    uint8_t bytes[RESOLVER_MAX_MESSAGE];
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec iov = {.iov_base = bytes, .iov_len = (size_t)resolver_proto_encode(&in, bytes)};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(cmsg), &socks[0], sizeof(int));
    assert_true(sendmsg(socks[0], &msg, 0) > 0);
    int free_fd = fcntl(socks[0], F_DUPFD_CLOEXEC, 0);
    (void)close(free_fd);
    struct error err = {0};
    assert_int_equal(resolver_proto_receive(socks[1], &out, &err), -EPROTO);
    assert_non_null(strstr(err.text, "descriptors"));
    assert_int_equal(fcntl(free_fd, F_GETFD), -1);
    (void)close(socks[0]);
    (void)close(socks[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode_decode_gives_the_same_back),
        cmocka_unit_test(test_values_come_back),
        cmocka_unit_test(test_decode_of_any_other_length_fails),
        cmocka_unit_test(test_decode_of_a_bad_field_names_it),
        cmocka_unit_test(test_encode_refuses_what_decode_would),
        cmocka_unit_test(test_decode_takes_the_bounds_themselves),
        cmocka_unit_test(test_send_and_receive),
        cmocka_unit_test(test_receive_refuses_what_is_too_long),
        cmocka_unit_test(test_receive_installs_no_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
