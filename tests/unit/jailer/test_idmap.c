/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/jailer/idmap.h"
#include "node-agent/jailer/limits.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

static void test_no_two_live_ones_share_an_id(void **state)
{
    (void)state;
    static struct idmap idmap;
    bool seen[100] = {false};
    assert_int_equal(idmap_init(&idmap, 1000, 100, 0, 1, 100, NULL), 0);
    for (size_t i = 0; i < 100; i++) {
        uid_t id = 0;
        assert_int_equal(idmap_take(&idmap, &id), 0);
        assert_in_range(id, 1000, 1099);
        assert_false(seen[id - 1000]);
        seen[id - 1000] = true;
    }
    uid_t id = 7;
    assert_int_equal(idmap_take(&idmap, &id), -ENOSPC);
    assert_int_equal(id, 7);
    idmap_release(&idmap, 1042);
    assert_int_equal(idmap_take(&idmap, &id), 0);
    assert_int_equal(id, 1042);
}

static void test_a_released_id_comes_last(void **state)
{
    (void)state;
    static struct idmap idmap;
    uid_t id = 0;
    assert_int_equal(idmap_init(&idmap, 1000, 4, 0, 1, 1, NULL), 0);
    for (uid_t expected = 1000; expected < 1004; expected++) {
        assert_int_equal(idmap_take(&idmap, &id), 0);
        assert_int_equal(id, expected);
        idmap_release(&idmap, id);
    }
    assert_int_equal(idmap_take(&idmap, &id), 0);
    assert_int_equal(id, 1000);
    /* Of others, nothing happens. */
    idmap_release(&idmap, 999);
    idmap_release(&idmap, 1004);
    idmap_release(&idmap, UINT32_MAX);
}

static void test_parts_do_not_overlap(void **state)
{
    (void)state;
    static struct idmap idmap;
    uint32_t end = 2000000000;
    for (unsigned int part = 0; part < MAX_UID_PARTS; part++) {
        /* The defaults have room for the maximum. */
        assert_int_equal(
            idmap_init(&idmap, 2000000000, 65536, part, MAX_UID_PARTS, MAX_SANDBOXES, NULL), 0);
        assert_int_equal(idmap.base, end);
        assert_int_equal(idmap.count, 512);
        end += 512;
    }
    struct error err = {0};
    assert_int_equal(idmap_init(&idmap, 2000000000, 6400, 0, 64, 101, &err), -EINVAL);
    assert_non_null(strstr(err.text, "6464"));
    assert_int_equal(idmap_init(&idmap, 2000000000, UINT32_MAX - 2000000000, 63, 64, 1, NULL), 0);
    assert_int_equal(idmap.count, MAX_IDMAP_IDS);
}

struct map_case {
    const char *map;
    uint32_t base, count;
    int result;
};

static const struct map_case map_cases[] = {
    {"         0          0 4294967295\n", 2000000000, 65536, 0},
    {"         0          0 4294967295\n", 4294967294u, 1, 0},
    {"         0          0 4294967295\n", 4294967294u, 2, -EINVAL},
    {"         0     100000      65536\n", 2000000000, 65536, -EINVAL},
    {"         0     100000      65536\n", 65536, 1, -EINVAL},
    {"         0     100000      65536\n", 0, 65536, 0},
    {"0 1 100\n100 5000 100\n", 50, 100, 0},
    {"100 5000 100\n0 1 100\n", 50, 100, 0},
    {"0 1 100\n101 5000 100\n", 50, 100, -EINVAL},
    {"", 1, 1, -EINVAL},
    {"garbage\n0 1\n0 1 x\n", 1, 1, -EINVAL},
    {"0 0 10", 0, 10, 0},
};

static void test_range_must_exist_here(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(map_cases); i++) {
        const struct map_case *c = &map_cases[i];
        struct error err = {0};
        int r = idmap_check_mapped(c->map, "uid_map", c->base, c->count, &err);
        if (r != c->result)
            fail_msg("case %zu: %d \"%s\"", i, r, err.text);
    }
    struct error err = {0};
    (void)idmap_check_mapped("0 1 100\n", "uid_map", 50, 100, &err);
    assert_non_null(strstr(err.text, "id 100 "));
    assert_non_null(strstr(err.text, "uid_map"));
}

static const struct map_case subid_cases[] = {
    {"", 2000000000, 65536, 0},
    {"alice:100000:65536\nbob:165536:65536\n", 2000000000, 65536, 0},
    {"alice:100000:65536\n", 165536, 65536, 0},
    {"alice:100000:65536\n", 34464, 65536, 0},
    {"alice:100000:65536\n", 34465, 65536, -EINVAL},
    {"alice:100000:65536\n", 165535, 1, -EINVAL},
    {"# comment\n\nalice:x:1\nbob:2000000000:1", 2000000000, 65536, -EINVAL},
    {"carol:4000000000:4294967295\n", 4100000000u, 10, -EINVAL},
    {"dave:2000000000:0\n", 2000000000, 65536, 0},
    {"erin:2000000000\n", 2000000000, 65536, 0},
};

static void test_range_stays_clear_of_subids(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(subid_cases); i++) {
        const struct map_case *c = &subid_cases[i];
        struct error err = {0};
        int r = idmap_check_subids(c->map, "/etc/subuid", c->base, c->count, &err);
        if (r != c->result)
            fail_msg("case %zu: %d \"%s\"", i, r, err.text);
    }
    struct error err = {0};
    (void)idmap_check_subids("alice:100000:65536\n", "/etc/subuid", 120000, 10, &err);
    assert_non_null(strstr(err.text, "alice"));
    assert_non_null(strstr(err.text, "/etc/subuid"));
}

static void test_a_very_long_line_is_not_one(void **state)
{
    (void)state;
    char text[2048];
    memset(text, 'a', sizeof(text));
    memcpy(text + sizeof(text) - 16, ":70000:5\nb:5:1\n", 16);
    assert_int_equal(idmap_check_subids(text, "x", 70000, 1, NULL), 0);
    assert_int_equal(idmap_check_subids(text, "x", 5, 1, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_two_live_ones_share_an_id),
        cmocka_unit_test(test_a_released_id_comes_last),
        cmocka_unit_test(test_parts_do_not_overlap),
        cmocka_unit_test(test_range_must_exist_here),
        cmocka_unit_test(test_range_stays_clear_of_subids),
        cmocka_unit_test(test_a_very_long_line_is_not_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
