/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/cmocka_setup.h"

#include "common/kube/cache.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void test_put_tells_what_changed(void **state)
{
    (void)state;
    char uid[KUBE_UID_SIZE] = "";
    struct kube_cache *cache = kube_cache_new(10);

    assert_int_equal(kube_cache_put(cache, "n", "a", "u1", "1", uid), KUBE_CACHE_NEW);
    assert_int_equal(kube_cache_put(cache, "n", "a", "u1", "1", uid), KUBE_CACHE_SAME);
    assert_int_equal(kube_cache_put(cache, "n", "a", "u1", "2", uid), KUBE_CACHE_CHANGED);
    assert_string_equal(uid, "");
    assert_int_equal(kube_cache_put(cache, "n", "a", "u2", "2", uid), KUBE_CACHE_REPLACED);
    assert_string_equal(uid, "u1");
    /* Another namespace, and none, are others. */
    assert_int_equal(kube_cache_put(cache, "m", "a", "u3", "2", uid), KUBE_CACHE_NEW);
    assert_int_equal(kube_cache_put(cache, "", "a", "u4", "2", uid), KUBE_CACHE_NEW);
    assert_int_equal(kube_cache_count(cache), 3);
    /* A version too long to be kept never counts as the same; "" neither. */
    const char *version = "123456789012345678901234567890";
    assert_int_equal(kube_cache_put(cache, "m", "a", "u3", version, uid), KUBE_CACHE_CHANGED);
    assert_int_equal(kube_cache_put(cache, "m", "a", "u3", version, uid), KUBE_CACHE_CHANGED);
    assert_int_equal(kube_cache_put(cache, "m", "a", "u3", "", uid), KUBE_CACHE_CHANGED);
    assert_int_equal(kube_cache_put(cache, "m", "a", "u3", "", uid), KUBE_CACHE_CHANGED);
    kube_cache_free(cache);
}

static void test_bounds(void **state)
{
    (void)state;
    char uid[KUBE_UID_SIZE];
    char name[600];
    struct kube_cache *cache = kube_cache_new(2);

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(kube_cache_put(cache, "n", name, "u", "1", uid), -ENAMETOOLONG);
    assert_false(kube_cache_touch(cache, "n", name));
    assert_int_equal(kube_cache_put(cache, "n", "a", "u", "1", uid), KUBE_CACHE_NEW);
    assert_int_equal(kube_cache_put(cache, "n", "b", "u", "1", uid), KUBE_CACHE_NEW);
    assert_int_equal(kube_cache_put(cache, "n", "c", "u", "1", uid), -ENOSPC);
    assert_int_equal(kube_cache_put(cache, "n", "b", "u", "2", uid), KUBE_CACHE_CHANGED);
    assert_true(kube_cache_remove(cache, "n", "a", "", uid));
    assert_int_equal(kube_cache_put(cache, "n", "c", "u", "1", uid), KUBE_CACHE_NEW);
    kube_cache_free(cache);
    kube_cache_free(NULL);
}

static void test_a_list_leaves_the_unseen(void **state)
{
    (void)state;
    char uid[KUBE_UID_SIZE];
    char name[16];
    const char *old_space;
    const char *old_name;
    const char *old_uid;
    unsigned int gone = 0;
    struct kube_cache *cache = kube_cache_new(1000);

    kube_cache_begin(cache);
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof(name), "r%d", i);
        assert_int_equal(kube_cache_put(cache, "n", name, name, "1", uid), KUBE_CACHE_NEW);
    }
    assert_false(kube_cache_take_unseen(cache, &old_space, &old_name, &old_uid));
    kube_cache_begin(cache);
    for (int i = 0; i < 300; i += 3) {
        (void)snprintf(name, sizeof(name), "r%d", i);
        assert_int_equal(kube_cache_put(cache, "n", name, name, "1", uid), KUBE_CACHE_SAME);
        (void)snprintf(name, sizeof(name), "r%d", i + 1);
        assert_true(kube_cache_touch(cache, "n", name));
    }
    while (kube_cache_take_unseen(cache, &old_space, &old_name, &old_uid)) {
        assert_string_equal(old_space, "n");
        assert_string_equal(old_name, old_uid);
        gone++;
    }
    assert_int_equal(gone, 100);
    assert_int_equal(kube_cache_count(cache), 200);
    assert_false(kube_cache_remove(cache, "n", "r2", "", uid));
    assert_true(kube_cache_remove(cache, "n", "r1", "", uid));
    assert_string_equal(uid, "r1");
    /* A uid that the name had before, or will have, means another object. */
    assert_false(kube_cache_remove(cache, "n", "r3", "older", uid));
    assert_true(kube_cache_remove(cache, "n", "r3", "r3", uid));
    assert_string_equal(uid, "r3");
    kube_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_tells_what_changed),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_a_list_leaves_the_unseen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
