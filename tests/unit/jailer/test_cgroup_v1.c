/* SPDX-License-Identifier: Apache-2.0 */

/* The v1 back end against directories with the files of real hierarchies. */
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

static const char *const controllers[] = {"memory", "cpu", "cpuacct", "pids"};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    scratch_make(&fixture->scratch);
    fixture->system =
        (struct cgroup_system){.backend = &cgroup_v1, .limits_swap = true, .count = 4};
    for (size_t i = 0; i < ARRAY_SIZE(controllers); i++) {
        scratch_dir(&fixture->scratch, controllers[i]);
        int fd = openat(fixture->scratch.fd, controllers[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fixture->system.hierarchies[i] = (struct cgroup_hierarchy){
            .controllers = CGROUP_BIT(i), .root_fd = -1, .base_fd = -1, .slot_fd = fd};
    }
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < fixture->system.count; i++)
        (void)fd_close(fixture->system.hierarchies[i].slot_fd);
    scratch_remove(&fixture->scratch);
    free(fixture);
    return 0;
}

static void make_attributes(const struct scratch *scratch)
{
    scratch_file(scratch, "memory/" ID "/memory.limit_in_bytes", "");
    scratch_file(scratch, "memory/" ID "/memory.memsw.limit_in_bytes", "");
    scratch_file(scratch, "memory/" ID "/memory.oom_control", "");
    scratch_file(scratch, "memory/" ID "/cgroup.event_control", "");
    scratch_file(scratch, "cpu/" ID "/cpu.cfs_quota_us", "");
    scratch_file(scratch, "pids/" ID "/pids.max", "");
}

static const struct cgroup_limits limits = {
    .memory_bytes = 64 << 20, .cpu_milli = 250, .pids = 128};

static void test_limits_go_into_their_files(void **state)
{
    struct fixture *fixture = *state;
    struct cgroup cgroup = {.name = ID, .oom_fd = -1};
    struct error err = {0};
    make_attributes(&fixture->scratch);
    assert_int_equal(cgroup_v1.set_limits(&fixture->system, &cgroup, &limits, &err), 0);
    const struct scratch *scratch = &fixture->scratch;
    assert_string_equal(scratch_read(scratch, "memory/" ID "/memory.limit_in_bytes"), "67108864");
    assert_string_equal(scratch_read(scratch, "memory/" ID "/memory.memsw.limit_in_bytes"),
                        "67108864");
    assert_string_equal(scratch_read(scratch, "cpu/" ID "/cpu.cfs_quota_us"), "25000");
    assert_string_equal(scratch_read(scratch, "pids/" ID "/pids.max"), "128");
    /* "eventfd control-file" */
    char expected[16];
    (void)snprintf(expected, sizeof(expected), "%d ", cgroup.oom_fd);
    assert_ptr_equal(strstr(scratch_read(scratch, "memory/" ID "/cgroup.event_control"), expected),
                     scratch_read(scratch, "memory/" ID "/cgroup.event_control"));
    assert_true(cgroup.oom_fd >= 0);
    (void)fd_close(cgroup.oom_fd);
}

/* Each file missing in turn: the error names it, and nothing is weaker than asked for. */
static void test_a_limit_that_cannot_be_set_is_named(void **state)
{
    static const char *const attributes[] = {
        "memory/" ID "/memory.limit_in_bytes", "memory/" ID "/memory.memsw.limit_in_bytes",
        "memory/" ID "/memory.oom_control",    "memory/" ID "/cgroup.event_control",
        "cpu/" ID "/cpu.cfs_quota_us",         "pids/" ID "/pids.max",
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
        struct cgroup cgroup = {.name = ID, .oom_fd = -1};
        struct error err = {0};
        make_attributes(&fixture->scratch);
        assert_int_equal(unlinkat(fixture->scratch.fd, attributes[i], 0), 0);
        assert_int_equal(cgroup_v1.set_limits(&fixture->system, &cgroup, &limits, &err), -ENOENT);
        if (!strstr(err.text, strrchr(attributes[i], '/') + 1))
            fail_msg("%s: \"%s\"", attributes[i], err.text);
        assert_int_equal(cgroup.oom_fd, -1);
    }
}

static void test_without_swap_accounting_its_file_is_left_alone(void **state)
{
    struct fixture *fixture = *state;
    struct cgroup cgroup = {.name = ID, .oom_fd = -1};
    make_attributes(&fixture->scratch);
    assert_int_equal(unlinkat(fixture->scratch.fd, "memory/" ID "/memory.memsw.limit_in_bytes", 0),
                     0);
    fixture->system.limits_swap = false;
    assert_int_equal(cgroup_v1.set_limits(&fixture->system, &cgroup, &limits, NULL), 0);
    (void)fd_close(cgroup.oom_fd);
}

/* No more than that of memory; one that can't be set is no limit, and so a failure. */
static void test_memory_of_connections_has_a_limit_of_its_own(void **state)
{
    static const struct {
        uint64_t memory_bytes;
        const char *tcp;
    } cases[] = {{64ull << 20, "67108864"}, {32ull << 20, "33554432"}, {8ull << 30, "67108864"}};
    struct fixture *fixture = *state;
    fixture->system.limits_tcp = true;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct cgroup cgroup = {.name = ID, .oom_fd = -1};
        struct cgroup_limits wanted = limits;
        wanted.memory_bytes = cases[i].memory_bytes;
        make_attributes(&fixture->scratch);
        scratch_file(&fixture->scratch, "memory/" ID "/memory.kmem.tcp.limit_in_bytes", "");
        assert_int_equal(cgroup_v1.set_limits(&fixture->system, &cgroup, &wanted, NULL), 0);
        assert_string_equal(
            scratch_read(&fixture->scratch, "memory/" ID "/memory.kmem.tcp.limit_in_bytes"),
            cases[i].tcp);
        (void)fd_close(cgroup.oom_fd);
    }
    struct cgroup cgroup = {.name = ID, .oom_fd = -1};
    struct error err = {0};
    make_attributes(&fixture->scratch);
    assert_int_equal(
        unlinkat(fixture->scratch.fd, "memory/" ID "/memory.kmem.tcp.limit_in_bytes", 0), 0);
    assert_int_equal(cgroup_v1.set_limits(&fixture->system, &cgroup, &limits, &err), -ENOENT);
    assert_non_null(strstr(err.text, "memory.kmem.tcp.limit_in_bytes"));
}

static void test_usage(void **state)
{
    struct fixture *fixture = *state;
    const struct scratch *scratch = &fixture->scratch;
    const struct cgroup cgroup = {.name = ID, .oom_fd = -1};
    struct cgroup_usage usage = {.cpu_us = 99};
    cgroup_v1.usage(&fixture->system, &cgroup, &usage);
    assert_int_equal(usage.cpu_us, 0);
    assert_int_equal(usage.peak_memory_bytes, 0);
    assert_int_equal(usage.oom_kills, 0);

    scratch_file(scratch, "cpuacct/" ID "/cpuacct.usage", "123456789\n");
    scratch_file(scratch, "memory/" ID "/memory.max_usage_in_bytes", "10485760\n");
    scratch_file(scratch, "memory/" ID "/memory.oom_control",
                 "oom_kill_disable 0\nunder_oom 1\noom_kill 3\n");
    cgroup_v1.usage(&fixture->system, &cgroup, &usage);
    assert_int_equal(usage.cpu_us, 123456);
    assert_int_equal(usage.peak_memory_bytes, 10485760);
    assert_int_equal(usage.oom_kills, 3);
}

static void test_create_needs_all_or_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct cgroup cgroup = {.oom_fd = -7};
    struct error err = {0};
    /* The directories can be made, but no attribute appears in them here. */
    assert_int_equal(cgroup_create(&fixture->system, ID, &limits, &cgroup, &err), -ENOENT);
    assert_non_null(strstr(err.text, "memory.limit_in_bytes"));
    assert_int_equal(cgroup.oom_fd, -7);
    for (size_t i = 0; i < ARRAY_SIZE(controllers); i++) {
        int slot_fd = fixture->system.hierarchies[i].slot_fd;
        assert_int_equal(faccessat(slot_fd, ID, F_OK, 0), -1);
        assert_int_equal(errno, ENOENT);
    }
}

static void test_entrance_is_tasks_of_every_hierarchy(void **state)
{
    struct fixture *fixture = *state;
    const struct cgroup cgroup = {.name = ID, .oom_fd = -1};
    int clone_fd = 99, tasks_fds[MAX_CGROUP_HIERARCHIES];
    size_t count = 99;
    struct error err = {0};
    for (size_t i = 0; i < 3; i++) {
        char path[128];
        (void)snprintf(path, sizeof(path), "%s/" ID "/tasks", controllers[i]);
        scratch_file(&fixture->scratch, path, "");
    }
    assert_int_equal(
        cgroup_open_entrance(&fixture->system, &cgroup, &clone_fd, tasks_fds, &count, &err),
        -ENOENT);
    assert_int_equal(clone_fd, 99);
    scratch_file(&fixture->scratch, "pids/" ID "/tasks", "");
    assert_int_equal(
        cgroup_open_entrance(&fixture->system, &cgroup, &clone_fd, tasks_fds, &count, &err), 0);
    assert_int_equal(clone_fd, -1);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(write(tasks_fds[i], "0", 1), 1);
        (void)fd_close(tasks_fds[i]);
    }
    assert_string_equal(scratch_read(&fixture->scratch, "pids/" ID "/tasks"), "0");
}

static void test_the_cpu_limit_can_be_changed(void **state)
{
    struct fixture *fixture = *state;
    struct cgroup cgroup = {.name = ID, .oom_fd = -1};
    scratch_file(&fixture->scratch, "cpu/" ID "/cpu.cfs_quota_us", "2000");
    assert_int_equal(cgroup_v1.set_cpu(&fixture->system, &cgroup, 1500, NULL), 0);
    assert_string_equal(scratch_read(&fixture->scratch, "cpu/" ID "/cpu.cfs_quota_us"), "150000");
}

/* One that waited was made with less than most runs ask for, and more than some. */
static void test_the_limits_of_a_live_one_can_be_changed(void **state)
{
    static const struct {
        uint64_t memory_bytes;
        const char *memory, *tcp;
    } cases[] = {{32 << 20, "33554432", "33554432"}, {512 << 20, "536870912", "67108864"}};
    struct fixture *fixture = *state;
    const struct scratch *scratch = &fixture->scratch;
    struct cgroup cgroup = {.name = ID, .oom_fd = -1};
    fixture->system.limits_tcp = true;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct cgroup_limits wanted = {.memory_bytes = cases[i].memory_bytes,
                                             .cpu_milli = 1500};
        make_attributes(scratch);
        scratch_file(scratch, "memory/" ID "/memory.kmem.tcp.limit_in_bytes", "");
        assert_int_equal(cgroup_change(&fixture->system, &cgroup, &limits, &wanted, NULL), 0);
        assert_string_equal(scratch_read(scratch, "memory/" ID "/memory.limit_in_bytes"),
                            cases[i].memory);
        assert_string_equal(scratch_read(scratch, "memory/" ID "/memory.memsw.limit_in_bytes"),
                            cases[i].memory);
        assert_string_equal(scratch_read(scratch, "memory/" ID "/memory.kmem.tcp.limit_in_bytes"),
                            cases[i].tcp);
        assert_string_equal(scratch_read(scratch, "cpu/" ID "/cpu.cfs_quota_us"), "150000");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_cpu_limit_can_be_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_limits_of_a_live_one_can_be_changed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_limits_go_into_their_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_limit_that_cannot_be_set_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(test_without_swap_accounting_its_file_is_left_alone, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_memory_of_connections_has_a_limit_of_its_own, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_usage, setup, teardown),
        cmocka_unit_test_setup_teardown(test_create_needs_all_or_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_entrance_is_tasks_of_every_hierarchy, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
