/* SPDX-License-Identifier: Apache-2.0 */

/* Slots in plain directories, where flock(2) and rmdir(2) work as in cgroupfs. */
#include "common/cleanup.h"
#include "node-agent/jailer/cgroup_internal.h"
#include "node-agent/jailer/limits.h"
#include "scratch.h"
#include "tests/unit/common/cmocka_setup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static struct scratch scratch;

static int setup(void **state)
{
    (void)state;
    scratch_make(&scratch);
    scratch_dir(&scratch, "memory");
    scratch_dir(&scratch, "cpu");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(&scratch);
    return 0;
}

/* As a jailer of its own has it. */
static struct cgroup_system open_system(void)
{
    struct cgroup_system system = {.backend = &cgroup_v1, .count = 2};
    static const char *const names[] = {"memory", "cpu"};
    for (size_t i = 0; i < 2; i++) {
        struct cgroup_hierarchy *hierarchy = &system.hierarchies[i];
        *hierarchy = (struct cgroup_hierarchy){.root_fd = -1, .slot_fd = -1};
        hierarchy->base_fd = openat(scratch.fd, names[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        (void)snprintf(hierarchy->path, sizeof(hierarchy->path), "%s", names[i]);
    }
    return system;
}

static void close_bases(struct cgroup_system *system)
{
    for (size_t i = 0; i < system->count; i++)
        system->hierarchies[i].base_fd = fd_close(system->hierarchies[i].base_fd);
}

/* As the kernel leaves things when a jailer is killed. */
static void die(struct cgroup_system *system)
{
    for (size_t i = 0; i < system->count; i++)
        system->hierarchies[i].slot_fd = fd_close(system->hierarchies[i].slot_fd);
    close_bases(system);
}

static bool exists(const char *path)
{
    return faccessat(scratch.fd, path, F_OK, 0) == 0;
}

static void test_each_jailer_gets_the_lowest_free_slot(void **state)
{
    (void)state;
    struct cgroup_system first = open_system(), second = open_system(), third = open_system();
    assert_int_equal(cgroup_slot_claim(&first, NULL), 0);
    assert_int_equal(cgroup_slot_claim(&second, NULL), 0);
    assert_int_equal(first.slot, 0);
    assert_int_equal(second.slot, 1);
    assert_string_equal(second.slot_name, "jailer-1");
    assert_true(exists("cpu/jailer-1"));

    struct stat st;
    assert_int_equal(fstatat(scratch.fd, "memory/jailer-0", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0700);

    cgroup_slot_release(&first);
    assert_false(exists("memory/jailer-0"));
    assert_false(exists("cpu/jailer-0"));
    assert_int_equal(cgroup_slot_claim(&third, NULL), 0);
    assert_int_equal(third.slot, 0);
    cgroup_slot_release(&second);
    cgroup_slot_release(&third);
    close_bases(&first);
    close_bases(&second);
    close_bases(&third);
}

static void test_what_a_dead_jailer_left_is_swept(void **state)
{
    (void)state;
    struct cgroup_system dead = open_system(), other_dead = open_system(), next = open_system();
    assert_int_equal(cgroup_slot_claim(&dead, NULL), 0);
    assert_int_equal(cgroup_slot_claim(&other_dead, NULL), 0);
    scratch_dir(&scratch, "memory/jailer-0/a");
    scratch_dir(&scratch, "cpu/jailer-0/b");
    scratch_dir(&scratch, "cpu/jailer-1/c");
    die(&dead);
    die(&other_dead);
    assert_int_equal(cgroup_slot_claim(&next, NULL), 0);
    assert_int_equal(next.slot, 0);
    assert_true(exists("memory/jailer-0"));
    assert_false(exists("memory/jailer-0/a"));
    assert_false(exists("cpu/jailer-0/b"));
    assert_false(exists("memory/jailer-1"));
    assert_false(exists("cpu/jailer-1"));
    cgroup_slot_release(&next);
    close_bases(&next);
}

static void test_what_a_living_jailer_has_is_left_alone(void **state)
{
    (void)state;
    struct cgroup_system living = open_system(), next = open_system();
    assert_int_equal(cgroup_slot_claim(&living, NULL), 0);
    scratch_dir(&scratch, "memory/jailer-0/a");
    scratch_dir(&scratch, "cpu/jailer-0/a");
    assert_int_equal(cgroup_slot_claim(&next, NULL), 0);
    assert_int_equal(next.slot, 1);
    assert_true(exists("memory/jailer-0/a"));
    assert_true(exists("cpu/jailer-0/a"));
    cgroup_slot_release(&next);
    die(&living);
    close_bases(&next);
}

static void test_a_slot_that_cannot_be_swept_is_not_used(void **state)
{
    (void)state;
    struct cgroup_system dead = open_system(), next = open_system();
    assert_int_equal(cgroup_slot_claim(&dead, NULL), 0);
    /* A file in it keeps a plain directory, as a process keeps a cgroup. */
    scratch_file(&scratch, "memory/jailer-0/a/held", "");
    die(&dead);
    assert_int_equal(cgroup_slot_claim(&next, NULL), 0);
    assert_int_equal(next.slot, 1);
    assert_true(exists("memory/jailer-0/a"));
    cgroup_slot_release(&next);
    close_bases(&next);
}

static void test_no_slot_left(void **state)
{
    (void)state;
    static struct cgroup_system systems[MAX_JAILERS + 1];
    for (size_t i = 0; i < MAX_JAILERS; i++) {
        systems[i] = open_system();
        assert_int_equal(cgroup_slot_claim(&systems[i], NULL), 0);
        assert_int_equal(systems[i].slot, i);
    }
    struct error err = {0};
    systems[MAX_JAILERS] = open_system();
    assert_int_equal(cgroup_slot_claim(&systems[MAX_JAILERS], &err), -EBUSY);
    assert_non_null(strstr(err.text, "64 jailers"));
    for (size_t i = 0; i <= MAX_JAILERS; i++) {
        cgroup_slot_release(&systems[i]);
        close_bases(&systems[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_jailer_gets_the_lowest_free_slot, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_what_a_dead_jailer_left_is_swept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_a_living_jailer_has_is_left_alone, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_slot_that_cannot_be_swept_is_not_used, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_no_slot_left, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
