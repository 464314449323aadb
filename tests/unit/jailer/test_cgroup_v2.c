/* SPDX-License-Identifier: Apache-2.0 */

/* The v2 back end against directories with the files of a real hierarchy. */
#include "common/cleanup.h"
#include "node-agent/jailer/cgroup_internal.h"
#include "scratch.h"
#include "tests/unit/common/cmocka_setup.h"

#include <fcntl.h>
#include <string.h>

#define ID "01234567-89ab-cdef-0123-456789abcdef"

struct fixture {
    struct scratch scratch;
    struct cgroup_system system;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    scratch_make(&fixture->scratch);
    fixture->system = (struct cgroup_system){
        .backend = &cgroup_v2,
        .limits_swap = true,
        .count = 1,
        .hierarchies = {{.controllers = CGROUP_V2_NEEDED,
                         .root_fd = -1,
                         .base_fd = -1,
                         .slot_fd = fixture->scratch.fd}},
    };
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    scratch_remove(&fixture->scratch);
    free(fixture);
    return 0;
}

static const char *const attributes[] = {"memory.max", "memory.swap.max", "memory.oom.group",
                                         "cpu.max", "pids.max"};

static void make_attributes(const struct scratch *scratch)
{
    for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
        char path[128];
        (void)snprintf(path, sizeof(path), ID "/%s", attributes[i]);
        scratch_file(scratch, path, "");
    }
}

static const struct cgroup_limits limits = {
    .memory_bytes = 64 << 20, .cpu_milli = 1500, .pids = 128};

static void test_limits_go_into_their_files(void **state)
{
    struct fixture *fixture = *state;
    struct cgroup cgroup = {.name = ID, .oom_fd = -1};
    const struct scratch *scratch = &fixture->scratch;
    make_attributes(scratch);
    assert_int_equal(cgroup_v2.set_limits(&fixture->system, &cgroup, &limits, NULL), 0);
    assert_string_equal(scratch_read(scratch, ID "/memory.max"), "67108864");
    assert_string_equal(scratch_read(scratch, ID "/memory.swap.max"), "0");
    assert_string_equal(scratch_read(scratch, ID "/memory.oom.group"), "1");
    assert_string_equal(scratch_read(scratch, ID "/cpu.max"), "150000 100000");
    assert_string_equal(scratch_read(scratch, ID "/pids.max"), "128");
    assert_int_equal(cgroup.oom_fd, -1);
}

static void test_a_limit_that_cannot_be_set_is_named(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
        struct cgroup cgroup = {.name = ID, .oom_fd = -1};
        struct error err = {0};
        char path[128];
        make_attributes(&fixture->scratch);
        (void)snprintf(path, sizeof(path), ID "/%s", attributes[i]);
        assert_int_equal(unlinkat(fixture->scratch.fd, path, 0), 0);
        assert_int_equal(cgroup_v2.set_limits(&fixture->system, &cgroup, &limits, &err), -ENOENT);
        if (!strstr(err.text, attributes[i]))
            fail_msg("%s: \"%s\"", attributes[i], err.text);
    }
}

static void test_usage(void **state)
{
    struct fixture *fixture = *state;
    const struct scratch *scratch = &fixture->scratch;
    const struct cgroup cgroup = {.name = ID, .oom_fd = -1};
    struct cgroup_usage usage = {.oom_kills = 99};
    scratch_file(scratch, ID "/cpu.stat",
                 "usage_usec 987654\nuser_usec 900000\nsystem_usec 87654\nnr_periods 3\n");
    scratch_file(scratch, ID "/memory.events",
                 "low 0\nhigh 0\nmax 12\noom 1\noom_kill 2\noom_group_kill 1\n");
    cgroup_v2.usage(&fixture->system, &cgroup, &usage);
    assert_int_equal(usage.cpu_us, 987654);
    assert_int_equal(usage.oom_kills, 2);
    /* A kernel before 5.19. */
    assert_int_equal(usage.peak_memory_bytes, 0);
    scratch_file(scratch, ID "/memory.peak", "7340032\n");
    cgroup_v2.usage(&fixture->system, &cgroup, &usage);
    assert_int_equal(usage.peak_memory_bytes, 7340032);
}

static void test_delegate(void **state)
{
    struct fixture *fixture = *state;
    const struct scratch *scratch = &fixture->scratch;
    struct error err = {0};
    assert_int_equal(cgroup_v2.delegate(scratch->fd, "/x", &err), -ENODEV);
    assert_non_null(strstr(err.text, "only: none;"));
    scratch_file(scratch, "cgroup.controllers", "cpu pids\n");
    assert_int_equal(cgroup_v2.delegate(scratch->fd, "/x", &err), -ENODEV);
    assert_non_null(strstr(err.text, "cgroup /x needs the controllers memory, cpu and pids"));
    assert_non_null(strstr(err.text, "only: cpu pids;"));
    scratch_file(scratch, "cgroup.subtree_control", "");
    scratch_file(scratch, "memory.oom.group", "1");
    assert_int_equal(cgroup_v2.delegate(scratch->fd, "/x", &err), 0);
    assert_string_equal(scratch_read(scratch, "cgroup.subtree_control"), "+memory +cpu +pids");
    assert_string_equal(scratch_read(scratch, "memory.oom.group"), "0");
    cgroup_v2.undelegate(scratch->fd);
}

static void test_slot_gets_the_capacity_and_tells_of_swap(void **state)
{
    struct fixture *fixture = *state;
    const struct scratch *scratch = &fixture->scratch;
    scratch_file(scratch, "cpu.max", "");
    assert_int_equal(cgroup_v2.prepare_slot(&fixture->system, 2500, NULL), 0);
    assert_string_equal(scratch_read(scratch, "cpu.max"), "250000 100000");
    assert_false(fixture->system.limits_swap);
    scratch_file(scratch, "memory.swap.max", "max");
    assert_int_equal(cgroup_v2.prepare_slot(&fixture->system, 2500, NULL), 0);
    assert_true(fixture->system.limits_swap);
}

static void test_swap_that_cannot_be_limited_is_refused(void **state)
{
    struct fixture *fixture = *state;
    const struct scratch *scratch = &fixture->scratch;
    struct cgroup cgroup;
    struct error err = {0};
    fixture->system.limits_swap = false;
    fixture->system.proc_fd = scratch->fd;
    scratch_file(scratch, "swaps",
                 "Filename\tType\tSize\tUsed\tPriority\n/swapfile\tfile\t1048572\t0\t-2\n");
    assert_int_equal(cgroup_create(&fixture->system, ID, &limits, &cgroup, &err), -ENOTSUP);
    assert_non_null(strstr(err.text, "swap"));
    assert_int_equal(faccessat(scratch->fd, ID, F_OK, 0), -1);
    /* Without swap it goes on, to the attributes that don't exist here. */
    scratch_file(scratch, "swaps", "Filename\tType\tSize\tUsed\tPriority\n");
    assert_int_equal(cgroup_create(&fixture->system, ID, &limits, &cgroup, &err), -ENOENT);
    assert_non_null(strstr(err.text, "memory.max"));
}

static void test_entrance_is_the_directory(void **state)
{
    struct fixture *fixture = *state;
    const struct cgroup cgroup = {.name = ID, .oom_fd = -1};
    int clone_fd = -1, tasks_fds[MAX_CGROUP_HIERARCHIES];
    size_t count = 99;
    assert_int_equal(
        cgroup_open_entrance(&fixture->system, &cgroup, &clone_fd, tasks_fds, &count, NULL),
        -ENOENT);
    scratch_dir(&fixture->scratch, ID);
    assert_int_equal(
        cgroup_open_entrance(&fixture->system, &cgroup, &clone_fd, tasks_fds, &count, NULL), 0);
    assert_true(clone_fd >= 0);
    assert_int_equal(count, 0);
    (void)fd_close(clone_fd);
}

static void test_the_cpu_limit_can_be_changed(void **state)
{
    struct fixture *fixture = *state;
    struct cgroup cgroup = {.name = ID, .oom_fd = -1};
    scratch_file(&fixture->scratch, ID "/cpu.max", "2000 100000");
    assert_int_equal(cgroup_v2.set_cpu(&fixture->system, &cgroup, 1500, NULL), 0);
    assert_string_equal(scratch_read(&fixture->scratch, ID "/cpu.max"), "150000 100000");
}

/* The kernel would take that limit, and end the sandbox for it. */
static void test_no_less_memory_than_is_in_use(void **state)
{
    struct fixture *fixture = *state;
    const struct scratch *scratch = &fixture->scratch;
    struct cgroup cgroup = {.name = ID, .oom_fd = -1};
    struct cgroup_limits wanted = limits;
    struct error err = {0};
    make_attributes(scratch);
    scratch_file(scratch, ID "/memory.current", "33554433\n");
    wanted.memory_bytes = 32 << 20;
    assert_int_equal(cgroup_change(&fixture->system, &cgroup, &limits, &wanted, &err), -EBUSY);
    assert_string_equal(scratch_read(scratch, ID "/memory.max"), "");
    scratch_file(scratch, ID "/memory.current", "33554432\n");
    assert_int_equal(cgroup_change(&fixture->system, &cgroup, &limits, &wanted, &err), 0);
    assert_string_equal(scratch_read(scratch, ID "/memory.max"), "33554432");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_cpu_limit_can_be_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_less_memory_than_is_in_use, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits_go_into_their_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_limit_that_cannot_be_set_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(test_usage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_delegate, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slot_gets_the_capacity_and_tells_of_swap, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_swap_that_cannot_be_limited_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_entrance_is_the_directory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
