/* SPDX-License-Identifier: Apache-2.0 */

/* What a jail is made from goes through a packet and comes back the same. */
#include "node-agent/jailer/fork_request.h"

#include "common/cleanup.h"
#include "tests/unit/common/cmocka_setup.h"

#include <string.h>

#define MIB (UINT64_C(1) << 20)

static void make_spec(struct jail_spec *spec, size_t tasks_count)
{
    *spec = (struct jail_spec){.outer_id = 2000000007,
                               .last_capability = 40,
                               .shows_places = true,
                               .tasks_count = tasks_count};
    mounts_plan(&spec->mounts, 64 * MIB, spec->outer_id);
    rlimits_plan(&spec->rlimits, 64 * MIB, 128);
    landlock_plan(&spec->landlock, 6, false);
    for (int i = 0; i < JAIL_FD_COUNT; i++)
        spec->fds[i] = 100 + i;
    spec->fds[JAIL_FD_NET_NS] = -1;
    spec->fds[JAIL_FD_REAPER] = -1;
    for (size_t i = 0; i < tasks_count; i++)
        spec->tasks_fds[i] = 200 + (int)i;
}

static void expect_same(const struct jail_spec *in, const struct jail_spec *out)
{
    assert_int_equal(out->outer_id, in->outer_id);
    assert_int_equal(out->last_capability, in->last_capability);
    assert_int_equal(out->shows_places, in->shows_places);
    assert_memory_equal(&out->mounts, &in->mounts, sizeof(in->mounts));
    assert_memory_equal(&out->rlimits, &in->rlimits, sizeof(in->rlimits));
    assert_memory_equal(&out->landlock, &in->landlock, sizeof(in->landlock));
    assert_memory_equal(out->fds, in->fds, sizeof(in->fds));
    assert_int_equal(out->tasks_count, in->tasks_count);
    assert_memory_equal(out->tasks_fds, in->tasks_fds, in->tasks_count * sizeof(int));
}

static void test_a_jail_comes_back(void **state)
{
    (void)state;
    static const struct {
        size_t tasks_count;
        int clone_fd;
    } kinds[] = {{3, -1}, {MAX_CGROUP_HIERARCHIES, -1}, {0, 300}};
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        struct jail_spec in, out;
        struct fork_request request;
        int fds[MAX_FORK_FDS], clone_fd = 0;
        make_spec(&in, kinds[i].tasks_count);
        size_t count = fork_request_fill(&in, kinds[i].clone_fd, &request, fds);
        assert_true(count <= MAX_FORK_FDS);
        assert_int_equal(fork_request_read(&request, sizeof(request), fds, count, &out, &clone_fd),
                         0);
        expect_same(&in, &out);
        assert_int_equal(clone_fd, kinds[i].clone_fd);
    }
}

static void test_what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    struct jail_spec in, out;
    struct fork_request good, bad;
    int fds[MAX_FORK_FDS], clone_fd = 0;
    make_spec(&in, 3);
    size_t count = fork_request_fill(&in, -1, &good, fds);
    assert_int_equal(fork_request_read(&good, sizeof(good) - 1, fds, count, &out, &clone_fd),
                     -EPROTO);
    assert_int_equal(fork_request_read(&good, sizeof(good), fds, count - 1, &out, &clone_fd),
                     -EPROTO);
    assert_int_equal(fork_request_read(&good, sizeof(good), fds, count + 1, &out, &clone_fd),
                     -EPROTO);
    bad = good;
    bad.magic++;
    assert_int_equal(fork_request_read(&bad, sizeof(bad), fds, count, &out, &clone_fd), -EPROTO);
    bad = good;
    bad.tasks_count = MAX_CGROUP_HIERARCHIES + 1;
    assert_int_equal(fork_request_read(&bad, sizeof(bad), fds, count, &out, &clone_fd), -EPROTO);
    bad = good;
    bad.has_clone_fd = 1;
    assert_int_equal(fork_request_read(&bad, sizeof(bad), fds, count, &out, &clone_fd), -EPROTO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_jail_comes_back),
        cmocka_unit_test(test_what_does_not_go_together_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
