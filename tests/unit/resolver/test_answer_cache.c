/* SPDX-License-Identifier: Apache-2.0 */
#include "messages.h"
#include "node-agent/resolver/answer_cache.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct answer_cache cache;

static int clear(void **state)
{
    (void)state;
    answer_cache_clear(&cache);
    return 0;
}

static struct dns_answer answer_with_ttl(uint32_t ttl)
{
    return (struct dns_answer){
        .address_count = 1,
        .addresses = {{.address = {.family = IP_FAMILY_4, .bytes = {1, 2, 3, 4}}, .ttl = ttl}}};
}

static int get(uint64_t now, const char *name, uint16_t type, uint32_t *ret_age)
{
    struct dns_query query = query_of(name, type);
    struct dns_answer answer;
    unsigned int note = 0;
    uint32_t age = 0;
    int r = answer_cache_get(&cache, now, &query, &answer, &note, &age);
    if (r == 0 && ret_age)
        *ret_age = age;
    return r == 0 ? (int)note : r;
}

static void put(uint64_t now, const char *name, uint16_t type, struct dns_answer answer,
                unsigned int note)
{
    struct dns_query query = query_of(name, type);
    answer_cache_put(&cache, now, &query, &answer, note);
}

static void test_what_is_kept_comes_back(void **state)
{
    (void)state;
    uint32_t age = 0;
    put(1000, "www.example.com", DNS_TYPE_A, answer_with_ttl(30), 7);
    assert_int_equal(get(1000, "WWW.example.com", DNS_TYPE_A, &age), 7);
    assert_int_equal(age, 0);
    assert_int_equal(get(11999, "www.example.com", DNS_TYPE_A, &age), 7);
    assert_int_equal(age, 10);
    assert_int_equal(get(1000, "www.example.com", DNS_TYPE_AAAA, NULL), -ENOENT);
    assert_int_equal(get(1000, "example.com", DNS_TYPE_A, NULL), -ENOENT);
}

static void test_how_long_it_is_kept(void **state)
{
    (void)state;
    static const struct {
        uint32_t ttl;
        uint64_t ends_ms;
    } cases[] = {{0, 5000}, {5, 5000}, {6, 6000}, {60, 60000}, {3600, 60000}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put(1000, "a.example.com", DNS_TYPE_A, answer_with_ttl(cases[i].ttl), 1);
        assert_int_equal(get(1000 + cases[i].ends_ms - 1, "a.example.com", DNS_TYPE_A, NULL), 1);
        assert_int_equal(get(1000 + cases[i].ends_ms, "a.example.com", DNS_TYPE_A, NULL), -ENOENT);
        assert_int_equal(cache.count, 0);
        assert_int_equal(cache.bytes, 0);
    }
    /* That there is nothing is kept the shortest time. */
    put(1000, "a.example.com", DNS_TYPE_A, (struct dns_answer){.rcode = DNS_RCODE_NXDOMAIN}, 2);
    assert_int_equal(get(5999, "a.example.com", DNS_TYPE_A, NULL), 2);
    assert_int_equal(get(6000, "a.example.com", DNS_TYPE_A, NULL), -ENOENT);
}

static void test_the_oldest_goes_first(void **state)
{
    (void)state;
    char name[32];
    for (unsigned int i = 0; i <= MAX_SLOT_CACHE_ENTRIES; i++) {
        (void)snprintf(name, sizeof(name), "n%u.example.com", i);
        put(1000, name, DNS_TYPE_A, answer_with_ttl(60), 1);
    }
    assert_int_equal(cache.count, MAX_SLOT_CACHE_ENTRIES);
    assert_int_equal(get(1000, "n0.example.com", DNS_TYPE_A, NULL), -ENOENT);
    assert_int_equal(get(1000, "n1.example.com", DNS_TYPE_A, NULL), 1);
}

static void test_its_bytes_are_bounded(void **state)
{
    (void)state;
    static const char *const labels[] = {"x", "y", "z"};
    char name[64];
    struct dns_answer large = answer_with_ttl(60);
    large.cname_count = MAX_ANSWER_CNAMES;
    for (unsigned int i = 0; i < MAX_ANSWER_CNAMES; i++) {
        char target[250];
        memset(target, 'a' + (int)i, sizeof(target));
        for (size_t dot = 50; dot < sizeof(target); dot += 50)
            target[dot] = '.';
        target[sizeof(target) - 1] = '\0';
        large.cnames[i].target = name_of(target);
    }
    for (unsigned int i = 0; i < 60; i++) {
        (void)snprintf(name, sizeof(name), "%s%u.example.com", labels[i % 3], i);
        put(1000, name, DNS_TYPE_A, large, 1);
        assert_true(cache.bytes <= MAX_SLOT_CACHE_BYTES);
    }
    assert_true(cache.count >= 5);
    assert_int_equal(get(1000, name, DNS_TYPE_A, NULL), 1);
    answer_cache_clear(&cache);
    assert_int_equal(cache.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_kept_comes_back, clear, clear),
        cmocka_unit_test_setup_teardown(test_how_long_it_is_kept, clear, clear),
        cmocka_unit_test_setup_teardown(test_the_oldest_goes_first, clear, clear),
        cmocka_unit_test_setup_teardown(test_its_bytes_are_bounded, clear, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
