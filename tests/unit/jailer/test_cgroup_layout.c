/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cleanup.h"
#include "node-agent/jailer/cgroup_layout.h"
#include "tests/unit/common/cmocka_setup.h"

#include <errno.h>
#include <string.h>

#define V2_ALL CGROUP_V2_NEEDED

/* mountinfo as hosts have it. */
static const char v2_only[] =
    "22 28 0:21 / /proc rw,relatime shared:12 - proc proc rw\n"
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 "
    "rw,nsdelegate,memory_recursiveprot\n";

static const char v1_systemd[] =
    "31 23 0:26 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:9 - tmpfs tmpfs ro,mode=755\n"
    "32 31 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate\n"
    "33 31 0:28 / /sys/fs/cgroup/systemd rw shared:11 - cgroup cgroup rw,xattr,name=systemd\n"
    "36 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:15 - cgroup cgroup rw,cpu,cpuacct\n"
    "37 31 0:32 / /sys/fs/cgroup/pids rw shared:16 - cgroup cgroup rw,pids\n"
    "38 31 0:33 / /sys/fs/cgroup/memory rw shared:17 - cgroup cgroup rw,memory\n"
    "39 31 0:34 / /sys/fs/cgroup/cpuset rw shared:18 - cgroup cgroup rw,cpuset\n";

static const char v1_separate[] =
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

static const char v1_container[] =
    "100 90 0:33 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
    "101 90 0:31 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
    "102 90 0:32 /docker/abc /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n";

static const char v2_container[] =
    "700 690 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n";

static const char v2_twice[] = "700 690 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
                               "701 690 0:26 / /host\\040cgroup rw - cgroup2 cgroup rw\n";

static const char v1_without_pids[] =
    "36 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "38 31 0:33 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

struct choose_case {
    const char *name, *mountinfo;
    unsigned int v2_controllers;
    int result;
    unsigned int version;
    size_t count;
    const char *first; /* mount point of the first hierarchy */
    const char *names; /* in the error */
};

static const struct choose_case choose_cases[] = {
    {"v2 only", v2_only, V2_ALL, 0, 2, 1, "/sys/fs/cgroup", NULL},
    {"v2 without pids", v2_only, V2_ALL & ~CGROUP_BIT(CGROUP_PIDS), -ENODEV, 0, 0, NULL,
     "v2 lacks pids"},
    {"hybrid of systemd", v1_systemd, 0, 0, 1, 3, "/sys/fs/cgroup/memory", NULL},
    {"hybrid, v2 has them", v1_systemd, V2_ALL, 0, 2, 1, "/sys/fs/cgroup/unified", NULL},
    {"separate v1", v1_separate, 0, 0, 1, 4, "/sys/fs/cgroup/memory", NULL},
    {"v1 read-only", v1_container, 0, -EROFS, 0, 0, NULL, "/sys/fs/cgroup/memory"},
    {"v2 read-only", v2_container, V2_ALL, -EROFS, 0, 0, NULL, "read-only"},
    {"v2 mounted twice", v2_twice, V2_ALL, 0, 2, 1, "/host cgroup", NULL},
    {"v1 without pids", v1_without_pids, 0, -ENODEV, 0, 0, NULL, "v1 lacks pids"},
    {"nothing", "22 28 0:21 / /proc rw - proc proc rw\n", 0, -ENODEV, 0, 0, NULL,
     "v2 is not mounted"},
    {"empty", "", 0, -ENODEV, 0, 0, NULL, "no usable cgroups"},
    {"garbage", "cgroup2\n- - - cgroup2\n\n\n-", 0, -ENODEV, 0, 0, NULL, "no usable cgroups"},
};

static void test_choose(void **state)
{
    (void)state;
    static struct cgroup_mounts mounts;
    for (size_t i = 0; i < ARRAY_SIZE(choose_cases); i++) {
        const struct choose_case *c = &choose_cases[i];
        struct cgroup_layout layout = {.version = 99};
        struct error err = {0};
        cgroup_mounts_parse(c->mountinfo, &mounts);
        int r = cgroup_layout_choose(&mounts, c->v2_controllers, &layout, &err);
        if (r != c->result || (c->names && !strstr(err.text, c->names)))
            fail_msg("%s: %d \"%s\"", c->name, r, err.text);
        if (r < 0) {
            assert_int_equal(layout.version, 99);
            continue;
        }
        assert_int_equal(layout.version, c->version);
        assert_int_equal(layout.count, c->count);
        assert_string_equal(layout.hierarchies[0]->point, c->first);
    }
}

static void test_more_mounts_than_there_is_room(void **state)
{
    (void)state;
    static struct cgroup_mounts mounts;
    char text[8192] = "";
    size_t len = 0;
    for (int i = 0; i < 3 * MAX_CGROUP_MOUNTS; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len,
                                "1 2 0:3 / /m%d rw - cgroup2 c rw\n", i);
    cgroup_mounts_parse(text, &mounts);
    assert_int_equal(mounts.count, MAX_CGROUP_MOUNTS);
    assert_string_equal(mounts.mounts[0].point, "/m0");
}

static void test_path_too_long_or_escaped(void **state)
{
    (void)state;
    static struct cgroup_mounts mounts;
    char text[2 * CGROUP_PATH_SIZE] = "";
    (void)snprintf(text, sizeof(text), "1 2 0:3 / /%0*d rw - cgroup2 c rw\n", CGROUP_PATH_SIZE, 0);
    cgroup_mounts_parse(text, &mounts);
    assert_int_equal(mounts.count, 0);
    cgroup_mounts_parse("1 2 0:3 / /a\\040b\\134c\\9\\01 rw - cgroup2 c rw", &mounts);
    assert_int_equal(mounts.count, 1);
    assert_string_equal(mounts.mounts[0].point, "/a b\\c\\9\\01");
}

static void test_controllers_parse(void **state)
{
    (void)state;
    assert_int_equal(cgroup_controllers_parse("cpuset cpu io memory hugetlb pids", " "), V2_ALL);
    assert_int_equal(cgroup_controllers_parse("cpuset", " "), 0);
    assert_int_equal(cgroup_controllers_parse("", " "), 0);
    assert_int_equal(cgroup_controllers_parse("memory.x memoryy xmemory", " "), 0);
    assert_int_equal(cgroup_controllers_parse("rw,cpu,cpuacct", ","),
                     CGROUP_BIT(CGROUP_CPU) | CGROUP_BIT(CGROUP_CPUACCT));
}

struct own_case {
    unsigned int version, controllers;
    const char *root, *self_cgroup, *path;
};

#define MEMORY CGROUP_BIT(CGROUP_MEMORY)

static const struct own_case own_cases[] = {
    {2, 0, "/", "0::/\n", ""},
    {2, 0, "/", "0::/user.slice/x.scope\n", "/user.slice/x.scope"},
    {2, 0, "/", "4:memory:/a\n0::/b\n", "/b"},
    {1, MEMORY, "/", "5:cpu:/c\n4:memory:/a b\n0::/b\n", "/a b"},
    {1, CGROUP_BIT(CGROUP_CPU), "/", "4:memory:/a\n5:cpu,cpuacct:/c\n", "/c"},
    {1, MEMORY, "/docker/abc", "4:memory:/docker/abc\n", ""},
    {1, MEMORY, "/docker/abc", "4:memory:/docker/abc/sub\n", "/sub"},
    {1, MEMORY, "/docker/abc", "4:memory:/docker/abcd\n", NULL},
    {1, MEMORY, "/docker/abc", "4:memory:/docker\n", NULL},
    {2, 0, "/", "0::/../other\n", NULL},
    {2, 0, "/", "4:memory:/a\n", NULL},
    {1, MEMORY, "/", "", NULL},
    {1, MEMORY, "/", "4:memory\n4\n:::\n", NULL},
};

static void test_own_path(void **state)
{
    (void)state;
    static struct cgroup_mount mount;
    for (size_t i = 0; i < ARRAY_SIZE(own_cases); i++) {
        const struct own_case *c = &own_cases[i];
        char path[CGROUP_PATH_SIZE] = "untouched";
        mount = (struct cgroup_mount){.version = c->version, .controllers = c->controllers};
        (void)snprintf(mount.root, sizeof(mount.root), "%s", c->root);
        int r = cgroup_own_path(c->self_cgroup, &mount, path);
        if (r != (c->path ? 0 : -ENOENT) || (c->path && strcmp(path, c->path) != 0))
            fail_msg("case %zu: %d \"%s\"", i, r, path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_more_mounts_than_there_is_room),
        cmocka_unit_test(test_path_too_long_or_escaped),
        cmocka_unit_test(test_controllers_parse),
        cmocka_unit_test(test_own_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
