/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/certificate.h"
#include "common/cleanup.h"
#include "common/fd.h"

#include <errno.h>
#include <string.h>

#define NOW 1800000000

struct pems {
    struct buf certificate;
    struct buf key;
};

static struct pems make(const char *const *names, size_t count)
{
    const struct certificate_subject subject = {
        .names = names, .name_count = count, .from_s = NOW, .until_s = NOW + 1000};
    struct pems pems = {BUF_INIT(1 << 16), BUF_INIT(1 << 16)};
    struct error err = {0};

    if (certificate_make(&subject, &pems.certificate, &pems.key, &err) < 0)
        fail_msg("%s", err.text);
    return pems;
}

static void pems_done(struct pems *pems)
{
    buf_done(&pems->certificate);
    buf_done(&pems->key);
}

static void test_made_and_checked(void **state)
{
    (void)state;
    static const char *const names[] = {"node-a.example", "10.0.0.7", "fd00::7", "localhost"};
    struct pems pems = make(names, ARRAY_SIZE(names));
    struct pems other = make(names, ARRAY_SIZE(names));
    struct error err = {0};
    int64_t until_s = 0;

    assert_non_null(strstr(buf_str(&pems.certificate), "BEGIN CERTIFICATE"));
    assert_null(strstr(buf_str(&pems.certificate), "PRIVATE KEY"));
    assert_int_equal(
        certificate_check(buf_str(&pems.certificate), buf_str(&pems.key), &until_s, &err), 0);
    assert_int_equal(until_s, NOW + 1000);
    /* The key of another one. */
    assert_int_equal(
        certificate_check(buf_str(&pems.certificate), buf_str(&other.key), &until_s, &err),
        -EINVAL);
    assert_non_null(strstr(err.text, "can't be used"));
    /* A chain: the first is the one that counts. */
    cleanup_buf struct buf chain = BUF_INIT(1 << 16);
    assert_int_equal(buf_append(&chain, pems.certificate.data, pems.certificate.len), 0);
    assert_int_equal(buf_append(&chain, other.certificate.data, other.certificate.len), 0);
    assert_int_equal(certificate_check(buf_str(&chain), buf_str(&pems.key), &until_s, &err), 0);
    pems_done(&pems);
    pems_done(&other);
}

static void test_no_certificate(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n",
                                        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"};
    static const char *const names[] = {"a"};
    struct pems pems = make(names, 1);

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct error err = {0};
        int64_t until_s = 5;
        assert_int_equal(certificate_check(texts[i], buf_str(&pems.key), &until_s, &err), -EINVAL);
        assert_int_equal(certificate_check(buf_str(&pems.certificate), texts[i], &until_s, &err),
                         -EINVAL);
        assert_int_equal(until_s, 5);
        assert_true(err.text[0]);
    }
    pems_done(&pems);
}

static void test_names_that_are_none(void **state)
{
    (void)state;
    static const char *const bad[] = {"",          "a b",     "A.example", "10.0.0.256x/",
                                      "*.example", "a\nDNS:b"};

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        const struct certificate_subject subject = {
            .names = &bad[i], .name_count = 1, .from_s = NOW, .until_s = NOW + 1};
        struct pems pems = {BUF_INIT(1 << 16), BUF_INIT(1 << 16)};
        struct error err = {0};
        assert_int_equal(certificate_make(&subject, &pems.certificate, &pems.key, &err), -EINVAL);
        assert_non_null(strstr(err.text, "no host name"));
        pems_done(&pems);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_and_checked),
        cmocka_unit_test(test_no_certificate),
        cmocka_unit_test(test_names_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
