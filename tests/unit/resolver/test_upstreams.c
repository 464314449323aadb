/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/resolver/upstreams.h"
#include "tests/unit/common/cmocka_setup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

static void print(const union socket_address *address, char text[static 64])
{
    char host[INET6_ADDRSTRLEN];
    bool four = address->any.sa_family == AF_INET;
    (void)inet_ntop(address->any.sa_family,
                    four ? (const void *)&address->in.sin_addr
                         : (const void *)&address->in6.sin6_addr,
                    host, sizeof(host));
    (void)snprintf(text, 64, "%s %u %u", host, ntohs(address->in.sin_port),
                   four ? 0 : address->in6.sin6_scope_id);
}

static void test_servers_by_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"1.2.3.4", "1.2.3.4 53 0"},
        {"1.2.3.4:5300", "1.2.3.4 5300 0"},
        {"2001:db8::1", "2001:db8::1 53 0"},
        {"[2001:db8::1]", "2001:db8::1 53 0"},
        {"[2001:db8::1]:5300", "2001:db8::1 5300 0"},
        {"fe80::1%lo", "fe80::1 53 1"},
        {"[fe80::1%lo]:54", "fe80::1 54 1"},
        {"", NULL},
        {"dns.example.org", NULL},
        {"1.2.3", NULL},
        {"1.2.3.4:", NULL},
        {"1.2.3.4:0", NULL},
        {"1.2.3.4:65536", NULL},
        {"1.2.3.4 ", NULL},
        {"[1.2.3.4]:53", NULL},
        {"[2001:db8::1", NULL},
        {"[2001:db8::1]x", NULL},
        {"[2001:db8::1]53", NULL},
        {"2001:db8::1]:53", NULL},
        {"fe80::1%nosuchinterface", NULL},
        {"1111111111111111111111111111111111111111111111111111111111111111111111111111111111",
         NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct upstreams upstreams = {0};
        struct error err = {0};
        char text[64] = "";
        int r = upstreams_add(&upstreams, cases[i].text, &err);
        if (r == 0)
            print(&upstreams.entries[0], text);
        if (r != (cases[i].wanted ? 0 : -EINVAL) ||
            strcmp(text, cases[i].wanted ? cases[i].wanted : "") != 0)
            fail_msg("\"%s\": %d \"%s\"", cases[i].text, r, text);
    }
}

static void test_a_resolv_conf(void **state)
{
    (void)state;
    struct upstreams upstreams = {0};
    struct error err = {0};
    char text[64];
    assert_int_equal(upstreams_parse_conf(&upstreams,
                                          "# nameserver 9.9.9.9\n"
                                          "search corp.example svc.cluster.local\n"
                                          "nameserver 10.0.0.2\n"
                                          " nameserver 10.0.0.3\n"
                                          "nameservers 10.0.0.4\n"
                                          "nameserver\t 2001:db8::53 # the second\r\n"
                                          "nameserver ns.example.org\n"
                                          "nameserver\n"
                                          "options ndots:5\n"
                                          "nameserver 10.0.0.5",
                                          &err),
                     0);
    assert_int_equal(upstreams.count, 3);
    print(&upstreams.entries[0], text);
    assert_string_equal(text, "10.0.0.2 53 0");
    print(&upstreams.entries[1], text);
    assert_string_equal(text, "2001:db8::53 53 0");
    print(&upstreams.entries[2], text);
    assert_string_equal(text, "10.0.0.5 53 0");
}

static void test_a_resolv_conf_without_servers(void **state)
{
    (void)state;
    struct upstreams upstreams = {0};
    struct error err = {0};
    assert_int_equal(upstreams_parse_conf(&upstreams, "search a\n", &err), -ENOENT);
    assert_non_null(strstr(err.text, "--upstream"));
    assert_int_equal(upstreams_read_conf(&upstreams, "/nonexistent/resolv.conf", &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nonexistent/resolv.conf"));
}

static void test_more_servers_than_there_can_be(void **state)
{
    (void)state;
    struct upstreams upstreams = {0};
    for (unsigned int i = 0; i < MAX_UPSTREAMS; i++)
        assert_int_equal(upstreams_add(&upstreams, "1.2.3.4", NULL), 0);
    assert_int_equal(upstreams_add(&upstreams, "1.2.3.4", NULL), -E2BIG);
    assert_int_equal(upstreams_parse_conf(&upstreams, "nameserver 4.3.2.1\n", NULL), 0);
    assert_int_equal(upstreams.count, MAX_UPSTREAMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_servers_by_text),
        cmocka_unit_test(test_a_resolv_conf),
        cmocka_unit_test(test_a_resolv_conf_without_servers),
        cmocka_unit_test(test_more_servers_than_there_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
