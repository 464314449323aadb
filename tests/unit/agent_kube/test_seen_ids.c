/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "node-agent/agent/agent_limits.h"
#include "node-agent/agent/seen_ids.h"

#include <stdio.h>

static void make_id(char ret_id[static 40], unsigned int number)
{
    (void)snprintf(ret_id, 40, "00000000-0000-4000-8000-%012x", number);
}

static void test_the_last_ones_are_kept(void **state)
{
    (void)state;
    struct seen_ids *ids;
    char id[40];

    assert_int_equal(seen_ids_new(&ids, NULL), 0);
    for (unsigned int i = 0; i < 2 * MAX_SEEN_IDS; i++) {
        make_id(id, i);
        assert_false(seen_ids_has(ids, id));
        seen_ids_add(ids, id);
        /* Again: it takes no second place. */
        seen_ids_add(ids, id);
        assert_true(seen_ids_has(ids, id));
    }
    for (unsigned int i = 0; i < 2 * MAX_SEEN_IDS; i++) {
        make_id(id, i);
        assert_int_equal(seen_ids_has(ids, id), i >= MAX_SEEN_IDS);
    }
    seen_ids_free(ids);
}

static void test_what_is_no_id_is_left_out(void **state)
{
    (void)state;
    struct seen_ids *ids;

    assert_int_equal(seen_ids_new(&ids, NULL), 0);
    seen_ids_add(ids, "");
    assert_false(seen_ids_has(ids, ""));
    seen_ids_add(ids, "00000000-0000-4000-8000-0000000000000000");
    assert_false(seen_ids_has(ids, "00000000-0000-4000-8000-0000000000000000"));
    seen_ids_free(ids);
    seen_ids_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_ones_are_kept),
        cmocka_unit_test(test_what_is_no_id_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
