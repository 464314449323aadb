/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/net/name_pattern.h"
#include "tests/unit/common/cmocka_setup.h"

#include <stddef.h>
#include <string.h>

#define LABEL_63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {
        {"api.example.org", true},
        {"a.b", true},
        {"*.example.org", true},
        {"*.a.b", true},
        {"xn--bcher-kva.example", true},
        {"1.example.org", true},
        {"a-b.example.org", true},
        {LABEL_63 ".org", true},
        {"", false},
        {"*", false},
        {"*.", false},
        {"*.org", false},
        {"org", false},
        {"localhost", false},
        {".example.org", false},
        {"example.org.", false},
        {"example..org", false},
        {"*.*.example.org", false},
        {"a.*.example.org", false},
        {"a*.example.org", false},
        {"**.example.org", false},
        {"Example.org", false},
        {"example.ORG", false},
        {"-a.example.org", false},
        {"a-.example.org", false},
        {"_dmarc.example.org", false},
        {"a b.example.org", false},
        {"a.example.org\n", false},
        {"caf\xc3\xa9.example.org", false},
        {"10.0.0.1", false},
        {"0x7f.1", false},
        {"1.0x7f", false},
        {"2130706433", false},
        {"::1", false},
        {"example.org/24", false},
        {"example.org:443", false},
        {LABEL_63 "a.org", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        if (name_pattern_is_valid(cases[i].text) != cases[i].valid)
            fail_msg("\"%s\"", cases[i].text);
    }
}

static void test_length_is_bounded(void **state)
{
    (void)state;
    char text[MAX_NAME_PATTERN + 2];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = i % 2 ? '.' : 'a';
    text[MAX_NAME_PATTERN] = '\0';
    assert_true(name_pattern_is_valid(text));
    text[MAX_NAME_PATTERN - 1] = 'a';
    text[MAX_NAME_PATTERN] = 'a';
    text[MAX_NAME_PATTERN + 1] = '\0';
    assert_false(name_pattern_is_valid(text));
}

static void test_matches(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"api.example.org", "api.example.org", true},
        {"api.example.org", "www.example.org", false},
        {"api.example.org", "a.api.example.org", false},
        {"api.example.org", "api.example.org.evil.net", false},
        {"*.example.org", "a.example.org", true},
        {"*.example.org", "a.b.example.org", true},
        {"*.example.org", "example.org", false},
        {"*.example.org", ".example.org", false},
        {"*.example.org", "evilexample.org", false},
        {"*.example.org", "a.example.org.evil.net", false},
        {"*.example.org", "", false},
        {"*.example.org", "a.example.net", false},
        {"*.b.example.org", "b.example.org", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        if (name_pattern_matches(cases[i].pattern, cases[i].name) != cases[i].matches)
            fail_msg("%s and \"%s\"", cases[i].pattern, cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_length_is_bounded),
        cmocka_unit_test(test_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
