/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "common/path.h"
#include "scratch_dir.h"
#include "tests/unit/common/cmocka_setup.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static void test_join(void **state)
{
    (void)state;
    static const struct {
        const char *dir, *name, *path;
    } cases[] = {
        {"/a", "b", "/a/b"}, {"/a/", "b", "/a/b"}, {"/", "b", "/b"},
        {"", "b", "b"},      {"a", "", "a/"},      {"a", "b/c", "a/b/c"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char path[16];
        assert_int_equal(path_join(path, sizeof(path), cases[i].dir, cases[i].name), 0);
        assert_string_equal(path, cases[i].path);
    }
}

static void test_join_that_does_not_fit(void **state)
{
    (void)state;
    char path[6] = "kept";
    assert_int_equal(path_join(path, 6, "/ab", "c"), 0);
    assert_string_equal(path, "/ab/c");
    for (size_t size = 0; size < 6; size++)
        assert_int_equal(path_join(path, size, "/ab", "c"), -ENAMETOOLONG);
    assert_string_equal(path, "/ab/c");
    assert_int_equal(path_join(path, 6, "/abcdefghi", ""), -ENAMETOOLONG);
}

static void test_make_dirs(void **state)
{
    const struct scratch_dir *dir = *state;
    char path[128], file[128];
    struct stat st;
    (void)snprintf(path, sizeof(path), "%s/a//b/c/", dir->path);
    mode_t before = umask(0);
    assert_int_equal(path_make_dirs(path, 0750), 0);
    (void)umask(before);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(path_make_dirs(path, 0700), 0); /* there already */
    assert_int_equal(path_make_dirs("/", 0700), 0);
    assert_int_equal(path_make_dirs("/proc/self", 0700), 0); /* read-only parents are fine */

    (void)snprintf(file, sizeof(file), "%s/file", dir->path);
    cleanup_close int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(path_make_dirs(file, 0700), -ENOTDIR);
    (void)snprintf(path, sizeof(path), "%s/file/below", dir->path);
    assert_int_equal(path_make_dirs(path, 0700), -ENOTDIR);
    assert_int_equal(path_make_dirs("", 0700), -ENOENT);

    char many[PATH_MAX + 1];
    memset(many, 'a', sizeof(many));
    many[PATH_MAX] = '\0';
    assert_int_equal(path_make_dirs(many, 0700), -ENAMETOOLONG);
}

static void test_open_dir(void **state)
{
    (void)state;
    cleanup_close int fd = path_open_dir("/proc");
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(path_open_dir("/proc/version"), -ENOTDIR);
    assert_int_equal(path_open_dir("/nonexistent"), -ENOENT);
}

static void test_open_beneath_stays_beneath(void **state)
{
    const struct scratch_dir *dir = *state;
    static const struct {
        const char *path;
        int result;
    } cases[] = {
        {"in/file", 0},         {"in/../in/file", 0}, {"..", -EXDEV},
        {"in/../../x", -EXDEV}, {"/etc", -EXDEV},     {"link", -ELOOP},
        {"out/passwd", -ELOOP}, {"absent", -ENOENT},  {"in/file/x", -ENOTDIR},
    };
    assert_int_equal(mkdirat(dir->fd, "in", 0700), 0);
    cleanup_close int file = path_open_beneath(dir->fd, "in/file", O_WRONLY | O_CREAT | O_EXCL);
    assert_true(file >= 0);
    assert_int_equal(fcntl(file, F_GETFD), FD_CLOEXEC);
    assert_int_equal(symlinkat("in/file", dir->fd, "link"), 0);
    assert_int_equal(symlinkat("/etc", dir->fd, "out"), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cleanup_close int fd = path_open_beneath(dir->fd, cases[i].path, O_RDONLY);
        if ((fd < 0 ? fd : 0) != cases[i].result)
            fail_msg("%s: %d", cases[i].path, fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_join_that_does_not_fit),
        cmocka_unit_test_setup_teardown(test_make_dirs, scratch_dir_setup, scratch_dir_teardown),
        cmocka_unit_test(test_open_dir),
        cmocka_unit_test_setup_teardown(test_open_beneath_stays_beneath, scratch_dir_setup,
                                        scratch_dir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
