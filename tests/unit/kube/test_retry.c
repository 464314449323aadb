/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "common/kube/retry.h"

static void test_retry_after(void **state)
{
    (void)state;
    assert_int_equal(retry_delay_ms(1, 0, 0), 500);
    assert_int_equal(retry_delay_ms(1, 100, 0), 500);
    assert_int_equal(retry_delay_ms(1, 7000, 0), 7000);
    assert_int_equal(retry_delay_ms(1, 7000, UINT32_MAX), 7700);
    assert_int_equal(retry_delay_ms(1, UINT64_MAX, 0), 120000);
}

static void test_what_is_worth_another_try(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *message;
        bool transient;
        bool too_large;
    } cases[] = {
        {0, "", true, false},
        {200, "", false, false},
        {400, "", false, false},
        {401, "", false, false},
        {403, "", false, false},
        {404, "", false, false},
        {409, "", false, false},
        {410, "", false, false},
        {413, "", false, true},
        {422, "", false, false},
        {429, "", true, false},
        {500, "", true, false},
        {500, "Internal error occurred: etcdserver: request is too large", false, true},
        {500,
         "rpc error: code = ResourceExhausted desc = trying to send message larger than max "
         "(2118432 vs. 2097152)",
         false, true},
        {400, "Request entity too large: limit is 3145728", false, true},
        {200, "request is too large", false, false},
        {501, "", false, false},
        {502, "", true, false},
        {503, "", true, false},
        {504, "", true, false},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        assert_int_equal(retry_is_transient(cases[i].status, cases[i].message), cases[i].transient);
        assert_int_equal(retry_is_too_large(cases[i].status, cases[i].message), cases[i].too_large);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retry_after),
        cmocka_unit_test(test_what_is_worth_another_try),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
