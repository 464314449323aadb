/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/jailer/caps.h"
#include "tests/unit/common/cmocka_setup.h"

#include <string.h>

static size_t count(bool at_root)
{
    size_t found = 0;
    while (caps_needed(found, at_root))
        found++;
    return found;
}

static bool is_needed(unsigned int number, bool at_root)
{
    const struct capability *capability = NULL;
    for (size_t i = 0; (capability = caps_needed(i, at_root)); i++) {
        if (capability->number == number)
            return true;
    }
    return false;
}

static void test_one_more_at_the_root_of_the_hierarchies(void **state)
{
    (void)state;
    assert_int_equal(count(true), count(false) + 1);
    assert_true(is_needed(CAP_DAC_OVERRIDE, true));
    assert_false(is_needed(CAP_DAC_OVERRIDE, false));
    assert_null(caps_needed(1000, true));
}

static void test_each_has_its_name_and_its_use_and_is_there_once(void **state)
{
    (void)state;
    const struct capability *capability = NULL, *other = NULL;
    for (size_t i = 0; (capability = caps_needed(i, true)); i++) {
        assert_int_equal(strncmp(capability->name, "CAP_", 4), 0);
        assert_true(capability->use[0] != '\0');
        for (size_t j = i + 1; (other = caps_needed(j, true)); j++)
            assert_int_not_equal(capability->number, other->number);
    }
}

/* Never: who controls one of these owns the machine by it alone. */
static void test_none_that_would_be_too_much(void **state)
{
    (void)state;
    static const unsigned int never[] = {CAP_SYS_MODULE, CAP_SYS_RAWIO,    CAP_SYS_PTRACE,
                                         CAP_SYS_BOOT,   CAP_SYS_RESOURCE, CAP_DAC_READ_SEARCH,
                                         CAP_SETFCAP};
    for (size_t i = 0; i < ARRAY_SIZE(never); i++)
        assert_false(is_needed(never[i], true));
}

/* What is missing is named, all of it. */
static void test_a_process_without_any(void **state)
{
    (void)state;
    struct __user_cap_data_struct held[CAPS_WORDS] = {0};
    assert_int_equal(caps_get(held), 0);
    struct __user_cap_data_struct none[CAPS_WORDS] = {0};
    for (size_t i = 0; i < CAPS_WORDS; i++)
        none[i].permitted = held[i].permitted;
    struct error err = {0};
    assert_int_equal(caps_set(none), 0);
    int r = caps_check(false, &err);
    bool has = caps_has(caps_needed(0, false));
    for (size_t i = 0; i < CAPS_WORDS; i++)
        none[i].effective = held[i].effective;
    assert_int_equal(caps_set(none), 0);
    assert_int_equal(r, -EPERM);
    assert_false(has);
    const struct capability *capability = NULL;
    for (size_t i = 0; (capability = caps_needed(i, false)); i++)
        assert_true(!strstr(err.text, capability->name) == capability->optional);
    assert_null(strstr(err.text, "CAP_DAC_OVERRIDE"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_more_at_the_root_of_the_hierarchies),
        cmocka_unit_test(test_each_has_its_name_and_its_use_and_is_there_once),
        cmocka_unit_test(test_none_that_would_be_too_much),
        cmocka_unit_test(test_a_process_without_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
