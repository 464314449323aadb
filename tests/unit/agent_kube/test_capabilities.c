/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/cleanup.h"
#include "node-agent/agent/capabilities.h"

#include <errno.h>

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int result;
        uint64_t mask;
    } cases[] = {
        {"Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\tffffffffffffffff\n"
         "CapAmb:\t0000000000000000\n",
         0, 0},
        {"Name:\tx\nCapPrm:\t0000000000000001\nCapEff:\t0000000000200000\nCapAmb:\t8000000000000000\n",
         0, 0x8000000000200001},
        {"Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n", -EINVAL, 0},
        {"Name:\tx\nCapPrm:\t00\nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000\n", -EINVAL,
         0},
        {"", -EINVAL, 0},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint64_t mask = 0;
        assert_int_equal(capabilities_parse(cases[i].text, &mask), cases[i].result);
        assert_int_equal(mask, cases[i].mask);
    }
}

static void test_read(void **state)
{
    (void)state;
    uint64_t mask;

    assert_int_equal(capabilities_read(&mask), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
