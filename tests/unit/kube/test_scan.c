/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/kube/scan.h"

#include <errno.h>
#include <string.h>

struct feed_case {
    const char *text;
    int end; /* bytes of the value; -1: it goes on; -EBADMSG */
};

static const struct feed_case feeds[] = {
    {"", -1},
    {"  ", -1},
    {"{}x", 2},
    {" {}", 3},
    {"[1,[2,{\"a\":[]}]],", 16},
    {"\"a\"b", 3},
    {"\"a\\\"b\" ", 6},
    {"\"a\\\\\"b", 5},
    {"\"a\\\\\\\"b", -1},
    {"\"}\"", 3},
    {"{\"a\":\"}]\"}", 10},
    {"{\"a\\\"}\":1}", 10},
    {"12,", 2},
    {"-1.5e+3]", 7},
    {"true}", 4},
    {"null", -1},
    {"}", -EBADMSG},
    {",", -EBADMSG},
    {" :", -EBADMSG},
    {"\x01", -EBADMSG},
};

static void test_end_of_value_at_every_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(feeds); i++) {
        size_t len = strlen(feeds[i].text);
        for (size_t cut = 0; cut <= len; cut++) {
            struct scan scan;
            bool done;
            scan_init(&scan);
            ssize_t n = scan_feed(&scan, feeds[i].text, cut, &done);
            if (n >= 0 && !done) {
                assert_int_equal(n, cut);
                ssize_t more = scan_feed(&scan, feeds[i].text + cut, len - cut, &done);
                n = more < 0 ? more : n + more;
            }
            if (feeds[i].end == -EBADMSG)
                assert_int_equal(n, -EBADMSG);
            else if (feeds[i].end < 0)
                assert_true(n == (ssize_t)len && !done);
            else
                assert_true(done && n == feeds[i].end);
        }
    }
}

struct identity_case {
    const char *text;
    bool event;
    const char *type;
    const char *name_space;
    const char *name;
    const char *version;
};

static const struct identity_case identities[] = {
    {"{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\","
     "\"namespace\":\"n\",\"resourceVersion\":\"7\",\"labels\":{\"name\":\"no\"}},\"spec\":{\"code\":\"x",
     true, "ADDED", "n", "a", "7"},
    {"{\"object\":{\"metadata\":{\"name\":\"a\"}},\"type\":\"DELETED\"}", true, "DELETED", "", "a",
     ""},
    /* Cut inside metadata: what was whole is used. */
    {"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"n", true,
     "ADDED", "", "a", ""},
    {" { \"metadata\" : { \"name\" : \"a\" , \"namespace\" : \"n\" } }", false, "", "n", "a", ""},
    {"{\"spec\":{\"metadata\":{\"name\":\"no\"}},\"metadata\":{\"name\":\"yes\"}}", false, "", "",
     "yes", ""},
    {"{\"metadata\":{\"name\":\"a\\u0062\"}}", false, "", "", "", ""},
    {"{\"metadata\":{\"name\":7}}", false, "", "", "", ""},
    {"{\"metadata\":[\"name\"]}", false, "", "", "", ""},
    {"{\"metadata\":", false, "", "", "", ""},
    {"[]", false, "", "", "", ""},
    {"", true, "", "", "", ""},
    {"{", true, "", "", "", ""},
    {"{,}", true, "", "", "", ""},
    {"{\"type\" \"ADDED\"}", true, "", "", "", ""},
};

static void test_identity(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(identities); i++) {
        const struct identity_case *c = &identities[i];
        struct scan_identity identity;
        scan_identity(c->text, strlen(c->text), c->event, &identity);
        assert_string_equal(identity.type, c->type);
        assert_string_equal(identity.name_space, c->name_space);
        assert_string_equal(identity.name, c->name);
        assert_string_equal(identity.resource_version, c->version);
    }
}

static void test_identity_never_keeps_half_a_name(void **state)
{
    (void)state;
    static const char text[] = "{\"metadata\":{\"name\":\"abcdef\",\"uid\":\"12345\"}}";

    for (size_t len = 0; len < sizeof(text); len++) {
        struct scan_identity identity;
        scan_identity(text, len, false, &identity);
        assert_true(!identity.name[0] || strcmp(identity.name, "abcdef") == 0);
        assert_true(!identity.uid[0] || strcmp(identity.uid, "12345") == 0);
    }
}

static void test_identity_leaves_out_what_is_too_long(void **state)
{
    (void)state;
    char text[512];
    struct scan_identity identity;

    memset(text, 'x', sizeof(text));
    memcpy(text, "{\"metadata\":{\"name\":\"", 21);
    memcpy(text + 400, "\",\"uid\":\"1\"}}", 13);
    scan_identity(text, 413, false, &identity);
    assert_string_equal(identity.name, "");
    assert_string_equal(identity.uid, "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_of_value_at_every_split),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_identity_never_keeps_half_a_name),
        cmocka_unit_test(test_identity_leaves_out_what_is_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
