/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the locks of a jail cost, lock by lock, against a plain clone: the jailer's own steps in
 * their order, each with a clock before and after it, and no program at the end. Prints one JSON
 * object; times are in microseconds. Needs root.
 *
 *   bench_locks RUNTIMES_DIR RUNTIME ROUNDS
 *
 * The contenders take turns: a plain clone, a jail that makes its network namespace, and one whose
 * network namespace was made ahead, as the jailer's helper does it.
 */
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/parse.h"
#include "node-agent/jailer/caps.h"
#include "node-agent/jailer/cgroup.h"
#include "node-agent/jailer/child_steps.h"
#include "node-agent/jailer/descriptors.h"
#include "node-agent/jailer/host.h"
#include "node-agent/jailer/namespaces.h"
#include "node-agent/jailer/pass_fd.h"
#include "node-agent/jailer/runtimes.h"
#include "node-agent/jailer/seccomp_load.h"
#include "node-agent/jailer/template.h"
#include "seccomp/seccomp_policies.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define MAX_ROUNDS   5000
#define WARM_UP      5
#define MEMORY_BYTES (512ull << 20)
#define PIDS         128
#define OUTER_ID     2100500000u
#define PARENT       "sandboxrun-bench"
#define STACK_SIZE   32768

/* Places in the record of a round, behind those of child_steps. */
enum mark {
    MARK_PROCESS_2, /* the clone of it, until it stands for itself */
    MARK_LANDLOCK,
    MARK_DESCRIPTORS_2,
    MARK_SECCOMP_2,
    MARK_DESCRIPTORS_1,
    MARK_SECCOMP_1,
    MARK_CGROUP_MAKE,
    MARK_CLONE,
    MARK_WHOLE, /* from the clone to the reaping */
    MARK_CGROUP_REMOVE,
    MARK_COUNT,
};

static const struct {
    const char *lock;
    const char *what;
} marks[MARK_COUNT] = {
    [MARK_PROCESS_2] = {"process-2", "clone that shares memory"},
    [MARK_LANDLOCK] = {"landlock", "rules and restriction, process 2"},
    [MARK_DESCRIPTORS_2] = {"descriptors", "arrange and close, process 2"},
    [MARK_SECCOMP_2] = {"seccomp", "filter and listener, process 2"},
    [MARK_DESCRIPTORS_1] = {"descriptors", "close, process 1"},
    [MARK_SECCOMP_1] = {"seccomp", "filter, process 1"},
    [MARK_CGROUP_MAKE] = {"cgroup", "make, with its limits"},
    [MARK_CLONE] = {"clone", "into pid namespace, as the jailer waits for it"},
    [MARK_WHOLE] = {"whole", "from the clone to the reaping, without cgroup and program"},
    [MARK_CGROUP_REMOVE] = {"cgroup", "remove"},
};

#define MAX_STEPS 16

enum contender { PLAIN, OWN_NETWORK, READY_NETWORK, CONTENDER_COUNT };

static const char *const contender_names[] = {"plain_clone", "own_network", "network_made_ahead"};

/* Of one round. */
struct times {
    uint64_t steps_ns[MAX_STEPS];
    uint64_t marks_ns[MARK_COUNT];
};

/* In memory that all processes share. */
struct record {
    struct times times;
    bool complete;
    char failure[MAX_ERROR_TEXT];
};

struct bench {
    int proc_fd;
    struct runtimes runtimes;
    const struct runtime *runtime;
    struct cgroup_system *cgroups;
    unsigned int last_capability;
    unsigned int landlock_abi;
    struct times results[CONTENDER_COUNT][MAX_ROUNDS];
};

struct jail {
    struct bench *bench;
    struct record *record;
    struct jail_spec spec;
    int status_fd; /* the jailer's end */
};

static _Noreturn void give_up(struct record *record, const struct error *err)
{
    memcpy(record->failure, err->text, sizeof(record->failure));
    _exit(1);
}

static uint64_t take(uint64_t *since_ns)
{
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t took_ns = now_ns - *since_ns;
    *since_ns = now_ns;
    return took_ns;
}

/* As in child.c, to the filter. */
static int process_2(void *arg)
{
    const struct jail *jail = arg;
    const struct jail_spec *spec = &jail->spec;
    struct record *record = jail->record;
    struct error err = {0};
    uint64_t since_ns = clock_monotonic_ns();
    record->times.marks_ns[MARK_PROCESS_2] = since_ns - record->times.marks_ns[MARK_PROCESS_2];
    int status_fd = spec->fds[JAIL_FD_STATUS];
    if (landlock_enter(&spec->landlock, &err) < 0)
        give_up(record, &err);
    record->times.marks_ns[MARK_LANDLOCK] = take(&since_ns);
    if (descriptors_arrange(spec->fds[JAIL_FD_REQUEST], spec->fds[JAIL_FD_STDOUT],
                            spec->fds[JAIL_FD_STDERR], &status_fd, &err) < 0)
        give_up(record, &err);
    record->times.marks_ns[MARK_DESCRIPTORS_2] = take(&since_ns);
    int fd = seccomp_load_listened(spec->payload_policy, &err);
    const struct report report = {.kind = REPORT_LISTENER};
    if (fd < 0 || pass_fd_send(status_fd, &report, sizeof(report), fd) < 0)
        give_up(record, &err);
    (void)fd_close(fd);
    record->times.marks_ns[MARK_SECCOMP_2] = take(&since_ns);
    _exit(0);
}

static _Noreturn void process_1(struct jail *jail)
{
    const struct jail_spec *spec = &jail->spec;
    struct record *record = jail->record;
    struct error err = {0};
    uint64_t since_ns = clock_monotonic_ns();
    for (size_t i = 0; i < child_steps_count; i++) {
        if (child_steps[i].set(spec, &err) < 0)
            give_up(record, &err);
        record->times.steps_ns[i] = take(&since_ns);
    }
    char stack[STACK_SIZE] __attribute__((aligned(16)));
    record->times.marks_ns[MARK_PROCESS_2] = since_ns;
    if (clone(process_2, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, jail) < 0)
        _exit(1);
    const int keep[] = {spec->fds[JAIL_FD_STATUS], spec->fds[JAIL_FD_EXIT],
                        spec->fds[JAIL_FD_LIFELINE], spec->fds[JAIL_FD_BACKSTOP]};
    since_ns = clock_monotonic_ns();
    if (descriptors_keep(STDIN_FILENO, keep, ARRAY_SIZE(keep), &err) < 0)
        give_up(record, &err);
    record->times.marks_ns[MARK_DESCRIPTORS_1] = take(&since_ns);
    if (seccomp_load(spec->reaper_policy, &err) < 0)
        give_up(record, &err);
    record->times.marks_ns[MARK_SECCOMP_1] = take(&since_ns);
    record->complete = record->failure[0] == '\0';
    _exit(0);
}

/* A network namespace as the helper makes it, outside of what is measured. */
static int make_network(const struct bench *bench)
{
    cleanup_close int home_fd = openat(bench->proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home_fd < 0 || unshare(CLONE_NEWNET) < 0)
        return -errno;
    int fd = openat(bench->proc_fd, "self/ns/net", O_RDONLY | O_CLOEXEC);
    if (setns(home_fd, CLONE_NEWNET) < 0)
        abort();
    return fd < 0 ? -errno : fd;
}

static int open_ends(struct jail *jail, bool ready_network, struct error *err)
{
    int *fds = jail->spec.fds;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return error_set_errno(err, errno, "make the status socket");
    jail->status_fd = pair[0];
    fds[JAIL_FD_STATUS] = pair[1];
    static const enum jail_fd ends[] = {JAIL_FD_EXIT,    JAIL_FD_LIFELINE, JAIL_FD_BACKSTOP,
                                        JAIL_FD_REQUEST, JAIL_FD_STDOUT,   JAIL_FD_STDERR};
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        fds[ends[i]] = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (fds[ends[i]] < 0)
            return error_set_errno(err, errno, "open /dev/null");
    }
    if (ready_network) {
        fds[JAIL_FD_NET_NS] = make_network(jail->bench);
        if (fds[JAIL_FD_NET_NS] < 0)
            return error_set_errno(err, -fds[JAIL_FD_NET_NS], "make a network namespace");
    }
    return 0;
}

static void plan(struct jail *jail, struct bench *bench, struct record *record)
{
    *jail = (struct jail){.bench = bench, .record = record, .status_fd = -1};
    struct jail_spec *spec = &jail->spec;
    for (size_t i = 0; i < JAIL_FD_COUNT; i++)
        spec->fds[i] = -1;
    spec->fds[JAIL_FD_MOUNT_NS] = bench->runtime->mount_ns_fd;
    spec->fds[JAIL_FD_PROC] = bench->proc_fd;
    spec->outer_id = OUTER_ID;
    spec->last_capability = bench->last_capability;
    mounts_plan(&spec->mounts, MEMORY_BYTES, OUTER_ID);
    rlimits_plan(&spec->rlimits, MEMORY_BYTES, PIDS);
    landlock_plan(&spec->landlock, bench->landlock_abi, false);
    spec->payload_policy = &seccomp_policy_snippet;
    spec->reaper_policy = &seccomp_policy_reaper;
}

static void close_ends(struct jail *jail)
{
    (void)fd_close(jail->status_fd);
    for (size_t i = 0; i < JAIL_FD_COUNT; i++) {
        if (i != JAIL_FD_MOUNT_NS && i != JAIL_FD_PROC)
            (void)fd_close(jail->spec.fds[i]);
    }
    for (size_t i = 0; i < jail->spec.tasks_count; i++)
        (void)fd_close(jail->spec.tasks_fds[i]);
}

static int reap(pid_t pid)
{
    int status = 0;
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

static int run_jail(struct jail *jail, const struct cgroup *cgroup, struct error *err)
{
    struct record *record = jail->record;
    cleanup_close int clone_fd = -1;
    cleanup_close int pidfd = -1;
    int r = cgroup_open_entrance(jail->bench->cgroups, cgroup, &clone_fd, jail->spec.tasks_fds,
                                 &jail->spec.tasks_count, err);
    if (r < 0)
        return r;
    uint64_t since_ns = clock_monotonic_ns();
    uint64_t began_ns = since_ns;
    pid_t pid = namespaces_clone(clone_fd, &pidfd);
    if (pid == 0)
        process_1(jail);
    if (pid < 0)
        return error_set_errno(err, -pid, "clone process 1");
    record->times.marks_ns[MARK_CLONE] = take(&since_ns);
    int status = reap(pid);
    record->times.marks_ns[MARK_WHOLE] = clock_monotonic_ns() - began_ns;
    if (status != 0 || !record->complete)
        return error_set(err, EIO, "a jail could not be made: %s", record->failure);
    return 0;
}

/* The kernel lets it go a moment after the last process. */
static int remove_cgroup(struct bench *bench, struct cgroup *cgroup, struct record *record,
                         struct error *err)
{
    uint64_t since_ns = clock_monotonic_ns();
    int r = 0;
    for (unsigned int i = 0; i < 1000 && (r = cgroup_destroy(bench->cgroups, cgroup)) == -EBUSY;
         i++) {
        const struct timespec moment = {.tv_nsec = 1000000};
        (void)nanosleep(&moment, NULL);
        since_ns = clock_monotonic_ns();
    }
    record->times.marks_ns[MARK_CGROUP_REMOVE] = take(&since_ns);
    return r < 0 ? error_set_errno(err, -r, "remove a cgroup") : 0;
}

static int measure_jail(struct bench *bench, struct record *record, bool ready_network,
                        struct error *err)
{
    const struct cgroup_limits limits = {
        .memory_bytes = MEMORY_BYTES, .cpu_milli = 1000, .pids = PIDS};
    struct jail jail;
    struct cgroup cgroup;
    plan(&jail, bench, record);
    int r = open_ends(&jail, ready_network, err);
    uint64_t since_ns = clock_monotonic_ns();
    if (r >= 0)
        r = cgroup_create(bench->cgroups, "round", &limits, &cgroup, err);
    /* main() has looked at it. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    record->times.marks_ns[MARK_CGROUP_MAKE] = take(&since_ns);
    if (r >= 0) {
        r = run_jail(&jail, &cgroup, err);
        int removed = remove_cgroup(bench, &cgroup, record, r < 0 ? NULL : err);
        r = r < 0 ? r : removed;
    }
    close_ends(&jail);
    return r;
}

static int measure_plain(struct record *record, struct error *err)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    uint64_t since_ns = clock_monotonic_ns();
    uint64_t began_ns = since_ns;
    long pid = syscall(SYS_clone3, &args, sizeof(args));
    if (pid == 0)
        _exit(0);
    if (pid < 0)
        return error_set_errno(err, errno, "clone");
    record->times.marks_ns[MARK_CLONE] = take(&since_ns);
    (void)reap((pid_t)pid);
    record->times.marks_ns[MARK_WHOLE] = clock_monotonic_ns() - began_ns;
    return 0;
}

static int measure(struct bench *bench, struct record *record, size_t rounds, struct error *err)
{
    for (size_t i = 0; i < rounds + WARM_UP; i++) {
        for (size_t turn = 0; turn < CONTENDER_COUNT; turn++) {
            size_t c = (turn + i) % CONTENDER_COUNT;
            /* As above. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
            *record = (struct record){.complete = false};
            int r = c == PLAIN ? measure_plain(record, err)
                               : measure_jail(bench, record, c == READY_NETWORK, err);
            if (r < 0)
                return r;
            if (i >= WARM_UP)
                bench->results[c][i - WARM_UP] = record->times;
        }
    }
    return 0;
}

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* `"median": 1.2, "p99": 3.4` of what lies at offset in each round. */
static void print_quantiles(const struct times *results, size_t rounds, size_t offset)
{
    static uint64_t times_ns[MAX_ROUNDS];
    for (size_t i = 0; i < rounds; i++)
        memcpy(&times_ns[i], (const char *)&results[i] + offset, sizeof(times_ns[i]));
    qsort(times_ns, rounds, sizeof(times_ns[0]), compare_times);
    size_t middle = rounds / 2;
    size_t last = rounds * 99 / 100;
    printf("\"median\":%.1f,\"p99\":%.1f", (double)times_ns[middle] / 1000.0,
           (double)times_ns[last] / 1000.0);
}

static void print_jail(const struct times *results, size_t rounds)
{
    printf("[");
    for (size_t i = 0; i < child_steps_count; i++) {
        printf("{\"lock\":\"%s\",\"what\":\"process 1\",", report_lock_name(child_steps[i].lock));
        print_quantiles(results, rounds, offsetof(struct times, steps_ns) + i * sizeof(uint64_t));
        printf("},");
    }
    for (size_t i = 0; i < MARK_COUNT; i++) {
        printf("%s{\"lock\":\"%s\",\"what\":\"%s\",", i > 0 ? "," : "", marks[i].lock,
               marks[i].what);
        print_quantiles(results, rounds, offsetof(struct times, marks_ns) + i * sizeof(uint64_t));
        printf("}");
    }
    printf("]");
}

static void print_result(const struct bench *bench, size_t rounds)
{
    printf("{\"rounds\":%zu,\"unit\":\"us\",\"cgroup_version\":%u,\"landlock_abi\":%u,\"%s\":{",
           rounds, cgroup_system_version(bench->cgroups), bench->landlock_abi,
           contender_names[PLAIN]);
    print_quantiles(bench->results[PLAIN], rounds, offsetof(struct times, marks_ns[MARK_WHOLE]));
    printf("}");
    for (size_t c = OWN_NETWORK; c < CONTENDER_COUNT; c++) {
        printf(",\"%s\":", contender_names[c]);
        print_jail(bench->results[c], rounds);
    }
    printf("}\n");
}

static int open_bench(struct bench *bench, const char *runtimes_dir, const char *runtime,
                      struct error *err)
{
    const struct cgroup_options options = {.parent = PARENT, .cpu_milli = host_cpu_milli()};
    bench->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (bench->proc_fd < 0)
        return error_set_errno(err, errno, "open /proc");
    int r = runtimes_scan(runtimes_dir, &bench->runtimes, err);
    bench->runtime = r >= 0 ? runtimes_find(&bench->runtimes, runtime) : NULL;
    if (r >= 0 && !bench->runtime)
        r = error_set(err, ENOENT, "there is no runtime %s in %s", runtime, runtimes_dir);
    for (size_t i = 0; r >= 0 && i < bench->runtimes.count; i++)
        r = template_make(bench->proc_fd, &bench->runtimes.entries[i], err);
    if (r >= 0)
        r = caps_last(bench->proc_fd, &bench->last_capability, err);
    if (r >= 0)
        r = landlock_look_up(&bench->landlock_abi, err);
    if (r >= 0)
        r = cgroup_system_open(bench->proc_fd, &options, &bench->cgroups, err);
    return r;
}

static struct record *map_record(void)
{
    void *shared = mmap(NULL, sizeof(struct record), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? NULL : shared;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    static struct bench bench = {.proc_fd = -1};
    uint64_t rounds = 0;
    if (argc != 4 || parse_u64(argv[3], 1, MAX_ROUNDS, &rounds) < 0) {
        (void)fprintf(stderr, "usage: bench_locks RUNTIMES_DIR RUNTIME ROUNDS\n");
        return 2;
    }
    struct record *record = map_record();
    if (!record) {
        (void)fprintf(stderr, "bench_locks: no memory to share\n");
        return EXIT_FAILURE;
    }
    int r = open_bench(&bench, argv[1], argv[2], &err);
    if (r >= 0)
        r = measure(&bench, record, rounds, &err);
    if (r < 0)
        (void)fprintf(stderr, "bench_locks: %s\n", err.text);
    else
        print_result(&bench, rounds);
    cgroup_system_close(bench.cgroups);
    runtimes_done(&bench.runtimes);
    (void)fd_close(bench.proc_fd);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
