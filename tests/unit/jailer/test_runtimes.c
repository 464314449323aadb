/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/jailer/runtimes.h"
#include "scratch.h"
#include "tests/unit/common/cmocka_setup.h"

#include <fcntl.h>
#include <string.h>

static struct scratch scratch;

static int setup(void **state)
{
    (void)state;
    scratch_make(&scratch);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(&scratch);
    return 0;
}

static void make_runtime(const char *name, const char *version)
{
    static const char *const dirs[] = {"tmp", "proc", "dev", "home/sandbox"};
    char path[128];
    for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", name, dirs[i]);
        scratch_dir(&scratch, path);
    }
    (void)snprintf(path, sizeof(path), "%s/usr/bin/python3", name);
    scratch_file(&scratch, path, "");
    (void)snprintf(path, sizeof(path), "%s/usr/lib/sandboxrun/runner.pyc", name);
    scratch_file(&scratch, path, "");
    (void)snprintf(path, sizeof(path), "%s/usr/lib/sandboxrun/version", name);
    scratch_file(&scratch, path, version);
}

static int load(const char *name, struct runtime *runtime, struct error *err)
{
    *err = (struct error){0};
    return runtimes_load(scratch.fd, name, runtime, err);
}

static void test_load(void **state)
{
    (void)state;
    struct runtime runtime = {.root_fd = -1};
    struct error err;
    make_runtime("python3.12", "3.12.1\nmore\n");
    assert_int_equal(load("python3.12", &runtime, &err), 0);
    assert_string_equal(runtime.name, "python3.12");
    assert_string_equal(runtime.version, "3.12.1");
    assert_true(runtime.root_fd >= 0);
    assert_int_equal(runtime.mount_ns_fd, -1);
    (void)fd_close(runtime.root_fd);
}

static void test_links_lead_to_the_runtimes_own_root(void **state)
{
    (void)state;
    struct runtime runtime = {.root_fd = -1};
    struct error err;
    make_runtime("a", "1");
    scratch_file(&scratch, "a/opt/python", "");
    assert_int_equal(unlinkat(scratch.fd, "a/usr/bin/python3", 0), 0);
    assert_int_equal(symlinkat("/opt/python", scratch.fd, "a/usr/bin/python3"), 0);
    assert_int_equal(load("a", &runtime, &err), 0);
    (void)fd_close(runtime.root_fd);
    /* /bin/sh is the host's, not the runtime's. */
    assert_int_equal(unlinkat(scratch.fd, "a/usr/bin/python3", 0), 0);
    assert_int_equal(symlinkat("/bin/sh", scratch.fd, "a/usr/bin/python3"), 0);
    assert_int_equal(load("a", &runtime, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/usr/bin/python3"));
}

static void test_what_is_missing_is_named(void **state)
{
    (void)state;
    static const char *const paths[] = {"/tmp",
                                        "/proc",
                                        "/dev",
                                        "/home/sandbox",
                                        "/usr/bin/python3",
                                        "/usr/lib/sandboxrun/runner.pyc",
                                        "/usr/lib/sandboxrun/version"};
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        struct runtime runtime = {.root_fd = -1};
        struct error err;
        char name[8], path[64];
        (void)snprintf(name, sizeof(name), "r%zu", i);
        make_runtime(name, "1");
        (void)snprintf(path, sizeof(path), "%s%s", name, paths[i]);
        if (unlinkat(scratch.fd, path, 0) < 0)
            assert_int_equal(unlinkat(scratch.fd, path, AT_REMOVEDIR), 0);
        assert_int_equal(load(name, &runtime, &err), -ENOENT);
        assert_non_null(strstr(err.text, paths[i]));
        assert_int_equal(runtime.root_fd, -1);
    }
}

static void test_wrong_kinds_and_versions(void **state)
{
    (void)state;
    struct runtime runtime = {.root_fd = -1};
    struct error err;
    make_runtime("a", "");
    assert_int_equal(load("a", &runtime, &err), -EINVAL);
    make_runtime("b", "\x1b[31m");
    assert_int_equal(load("b", &runtime, &err), -EINVAL);
    make_runtime("c", "1");
    assert_int_equal(unlinkat(scratch.fd, "c/tmp", AT_REMOVEDIR), 0);
    scratch_file(&scratch, "c/tmp", "");
    assert_int_equal(load("c", &runtime, &err), -EINVAL);
    assert_non_null(strstr(err.text, "/tmp is not a directory"));
    /* Longer than there is room for: cut, which a message can bear. */
    make_runtime("d", "0123456789012345678901234567890123456789XYZ");
    assert_int_equal(load("d", &runtime, &err), 0);
    assert_string_equal(runtime.version, "012345678901234567890123456789012345678");
    (void)fd_close(runtime.root_fd);
}

static void test_names(void **state)
{
    (void)state;
    struct runtime runtime = {.root_fd = -1};
    struct error err;
    char too_long[PROTO_RUNTIME_SIZE + 1];
    memset(too_long, 'a', sizeof(too_long) - 1);
    too_long[sizeof(too_long) - 1] = '\0';
    const char *const names[] = {"..", "a/b", "Upper", "", too_long};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        assert_int_equal(load(names[i], &runtime, &err), -EINVAL);
    scratch_file(&scratch, "file", "");
    assert_int_equal(load("file", &runtime, &err), -ENOTDIR);
    assert_int_equal(symlinkat("/", scratch.fd, "link"), 0);
    assert_true(load("link", &runtime, &err) < 0);
}

static void test_scan_takes_what_is_usable(void **state)
{
    (void)state;
    static struct runtimes runtimes;
    struct error err = {0};
    assert_int_equal(runtimes_scan(scratch.path, &runtimes, &err), -ENOENT);
    assert_non_null(strstr(err.text, scratch.path));
    assert_int_equal(runtimes_scan("/nonexistent", &runtimes, &err), -ENOENT);
    make_runtime("one", "1");
    make_runtime("two", "2");
    make_runtime(".hidden", "3");
    scratch_dir(&scratch, "broken");
    scratch_file(&scratch, "README", "");
    assert_int_equal(runtimes_scan(scratch.path, &runtimes, &err), 0);
    assert_int_equal(runtimes.count, 2);
    assert_string_equal(runtimes_find(&runtimes, "two")->version, "2");
    assert_null(runtimes_find(&runtimes, "broken"));
    assert_null(runtimes_find(&runtimes, "three"));
    runtimes_done(&runtimes);
    assert_null(runtimes_find(&runtimes, "two"));
}

static void test_scan_of_too_many(void **state)
{
    (void)state;
    static struct runtimes runtimes;
    for (int i = 0; i < PROTO_MAX_RUNTIMES + 3; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "r%d", i);
        make_runtime(name, "1");
    }
    assert_int_equal(runtimes_scan(scratch.path, &runtimes, NULL), 0);
    assert_int_equal(runtimes.count, PROTO_MAX_RUNTIMES);
    runtimes_done(&runtimes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_load, setup, teardown),
        cmocka_unit_test_setup_teardown(test_links_lead_to_the_runtimes_own_root, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_missing_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_kinds_and_versions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scan_takes_what_is_usable, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scan_of_too_many, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
