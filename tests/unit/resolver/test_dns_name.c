/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "messages.h"
#include "node-agent/resolver/dns_name.h"
#include "node-agent/resolver/resolver_limits.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

/* What is read from a place in a few bytes, and where reading ends. */
static const struct reading {
    const uint8_t *bytes;
    size_t len;
    size_t at;
    bool compressed;
    const char *text; /* NULL: -EBADMSG */
    size_t behind;
} readings[] = {
    {BYTES("\0"), 0, false, ".", 1},
    {BYTES("\3www\7Example\3COM\0zz"), 0, false, "www.example.com", 17},
    {BYTES("\3a.b\0"), 0, false, "a?b", 5},
    {BYTES("\4a\0b\xff\0"), 0, false, "a?b?", 6},
    {BYTES("\2a_\0"), 0, false, "a_", 4},
    {BYTES(""), 0, false, NULL, 0},
    {BYTES("\3ab"), 0, false, NULL, 0},
    {BYTES("\3abc"), 0, false, NULL, 0},
    {BYTES("\1a\1b"), 0, false, NULL, 0},
    /* The extinct kinds of labels. */
    {BYTES("\x41"
           "a\0"),
     0, true, NULL, 0},
    {BYTES("\x81"
           "a\0"),
     0, true, NULL, 0},
    /* Pointers. */
    {BYTES("\1b\0\1a\xc0\0"), 3, true, "a.b", 7},
    {BYTES("\1b\0\1a\xc0\0"), 3, false, NULL, 0},
    {BYTES("\1b\0\xc0\0\xc0\3"), 5, true, "b", 7},
    {BYTES("\xc0\0"), 0, true, NULL, 0},     /* at itself */
    {BYTES("\xc0\2\0"), 0, true, NULL, 0},   /* forwards */
    {BYTES("\1a\xc0\0"), 0, true, NULL, 0},  /* round */
    {BYTES("\1a\xc0\0"), 2, true, NULL, 0},  /* the same from elsewhere */
    {BYTES("\0\xc0"), 1, true, NULL, 0},     /* cut */
    {BYTES("\0\xff\xff"), 1, true, NULL, 0}, /* beyond the end */
    {BYTES("\0"), 1, true, NULL, 0},
};

static void test_names_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(readings); i++) {
        const struct reading *reading = &readings[i];
        /* Of exactly its length, so that a sanitizer sees a read behind it. */
        uint8_t *copy = malloc(reading->len ? reading->len : 1);
        memcpy(copy, reading->bytes, reading->len);
        struct dns_name name = {0};
        size_t at = reading->at;
        char text[DNS_NAME_TEXT_SIZE];
        int r = dns_name_read(copy, reading->len, &at, reading->compressed, &name);
        free(copy);
        if (r != (reading->text ? 0 : -EBADMSG))
            fail_msg("case %zu: %d", i, r);
        assert_int_equal(at, reading->text ? reading->behind : reading->at);
        if (!reading->text)
            continue;
        dns_name_print(&name, text);
        assert_string_equal(text, reading->text);
    }
}

/* Labels of 63 bytes, the last one of `last`: 3 * 64 + 1 + last + 1 bytes. */
static void long_name(struct packet *packet, uint8_t last)
{
    uint8_t label[64];
    memset(label, 'a', sizeof(label));
    packet->len = 0;
    label[0] = 63;
    for (int i = 0; i < 3; i++)
        packet_bytes(packet, label, 64);
    label[0] = last;
    packet_bytes(packet, label, last + 1u);
    packet_bytes(packet, "", 1);
}

static void test_the_longest_name_and_one_longer(void **state)
{
    (void)state;
    static struct packet packet;
    struct dns_name name;
    char text[DNS_NAME_TEXT_SIZE];
    size_t at = 0;
    long_name(&packet, 61);
    assert_int_equal(packet.len, DNS_MAX_NAME);
    assert_int_equal(dns_name_read(packet.bytes, packet.len, &at, false, &name), 0);
    assert_int_equal(name.len, DNS_MAX_NAME);
    dns_name_print(&name, text);
    assert_int_equal(strlen(text), 253);

    at = 0;
    long_name(&packet, 62);
    assert_int_equal(dns_name_read(packet.bytes, packet.len, &at, false, &name), -EBADMSG);
}

/* Each pointer to the one before, so many that reading must give up. */
static void test_chains_of_pointers_end(void **state)
{
    (void)state;
    uint8_t bytes[2 * MAX_NAME_POINTERS + 8] = {0};
    struct dns_name name;
    for (unsigned int count = MAX_NAME_POINTERS; count <= MAX_NAME_POINTERS + 1; count++) {
        for (unsigned int i = 0; i < count; i++) {
            bytes[1 + 2 * i] = 0xc0;
            bytes[2 + 2 * i] = (uint8_t)(i == 0 ? 0 : 2 * i - 1);
        }
        size_t at = 2 * count - 1;
        int r = dns_name_read(bytes, 1 + 2 * count, &at, true, &name);
        assert_int_equal(r, count == MAX_NAME_POINTERS ? 0 : -EBADMSG);
    }
}

static void test_what_a_host_can_be_called(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_host;
    } cases[] = {
        {"a", true},    {"a-b.c_d.9", true}, {"_dmarc.example.org", true}, {"", false},
        {"a b", false}, {"a\x01", false},    {"\xc3\xa9.com", false},      {"*.a", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct dns_name name = name_of(cases[i].text);
        if (dns_name_is_host(&name) != cases[i].is_host)
            fail_msg("%s", cases[i].text);
    }
}

static void test_equality_is_of_all_bytes(void **state)
{
    (void)state;
    struct dns_name a = name_of("www.example.com"), b = name_of("WWW.Example.com");
    struct dns_name c = name_of("www.example.co"), d = name_of("xww.example.com");
    assert_true(dns_name_equal(&a, &b));
    assert_false(dns_name_equal(&a, &c));
    assert_false(dns_name_equal(&a, &d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_read),
        cmocka_unit_test(test_the_longest_name_and_one_longer),
        cmocka_unit_test(test_chains_of_pointers_end),
        cmocka_unit_test(test_what_a_host_can_be_called),
        cmocka_unit_test(test_equality_is_of_all_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
