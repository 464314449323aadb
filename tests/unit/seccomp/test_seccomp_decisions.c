/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the finished filters answer, by running their BPF: a table of calls with the answer that
 * each profile must give, and a comparison of every call number and many arguments with what the
 * policy says when its rules are simply read. Each policy has two: one that answers, and one that
 * sends the refusals that are reported to a listener.
 */
#include "bpf_machine.h"
#include "common/cleanup.h"
#include "policy_files.h"
#include "seccomp/compile.h"
#include "seccomp/seccomp_policies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>

#define ALLOW    SECCOMP_RET_ALLOW
#define KILL     SECCOMP_RET_KILL_PROCESS
#define NOTIFY   SECCOMP_RET_USER_NOTIF
#define ERRNO(e) (SECCOMP_RET_ERRNO | (e))
#define HIGH     (UINT64_C(1) << 32)

#define MAX_NUMBER    500
#define X32_BIT       0x40000000U
#define MAX_POOL      1024
#define MAX_RELEVANT  64
#define N_RANDOM      40
#define CLONE_FORK    0x01200011U /* glibc's fork() */
#define CLONE_SPAWN   0x4111U     /* posix_spawn(): VM, VFORK */
#define CLONE_PTHREAD 0x3d0f00U

enum profile { SNIPPET, TOOL_CALL, REAPER, N_PROFILES };

static const char *const profile_names[N_PROFILES] = {"snippet", "tool-call", "reaper"};

/* What the three must answer, in this order. */
struct decision {
    const char *name;
    uint64_t args[6];
    uint32_t expected[N_PROFILES];
};

#define EVERYWHERE(x)                                                                              \
    {                                                                                              \
        x, x, x                                                                                    \
    }
#define PROGRAMS(x)                                                                                \
    {                                                                                              \
        x, x, KILL                                                                                 \
    }
#define SOCKETS(s, t)                                                                              \
    {                                                                                              \
        s, t, KILL                                                                                 \
    }
#define UNSUPPORTED ERRNO(EAFNOSUPPORT)

static const struct decision decisions[] = {
    {"read", {0}, EVERYWHERE(ALLOW)},
    {"exit_group", {0}, EVERYWHERE(ALLOW)},
    {"wait4", {0}, EVERYWHERE(ALLOW)},
    {"openat", {0}, PROGRAMS(ALLOW)},
    {"mmap", {0}, PROGRAMS(ALLOW)},
    {"execve", {0}, PROGRAMS(ALLOW)},
    {"futex", {0}, PROGRAMS(ALLOW)},
    {"statx", {0}, PROGRAMS(ALLOW)},
    {"rseq", {0}, PROGRAMS(ALLOW)},
    {"getrandom", {0}, PROGRAMS(ALLOW)},
    {"fchmodat2", {0}, PROGRAMS(ALLOW)},

    {"clone", {CLONE_FORK}, PROGRAMS(ALLOW)},
    {"clone", {CLONE_SPAWN}, PROGRAMS(ALLOW)},
    {"clone", {CLONE_PTHREAD}, PROGRAMS(ALLOW)},
    {"clone", {0x00020011}, PROGRAMS(ERRNO(EPERM))},        /* NEWNS */
    {"clone", {0x02000011}, PROGRAMS(ERRNO(EPERM))},        /* NEWCGROUP */
    {"clone", {0x04000011}, PROGRAMS(ERRNO(EPERM))},        /* NEWUTS */
    {"clone", {0x08000011}, PROGRAMS(ERRNO(EPERM))},        /* NEWIPC */
    {"clone", {0x10000011}, PROGRAMS(ERRNO(EPERM))},        /* NEWUSER */
    {"clone", {0x20000011}, PROGRAMS(ERRNO(EPERM))},        /* NEWPID */
    {"clone", {0x40000011}, PROGRAMS(ERRNO(EPERM))},        /* NEWNET */
    {"clone", {HIGH | 0x10000011}, PROGRAMS(ERRNO(EPERM))}, /* the kernel drops it */
    {"clone", {0x7e020011}, PROGRAMS(ERRNO(EPERM))},        /* all */
    {"clone", {0x0000801f}, PROGRAMS(ERRNO(ENOSYS))},       /* PARENT, SIGSYS */
    {"clone", {0x00008011}, PROGRAMS(ERRNO(ENOSYS))},       /* PARENT */
    {"clone", {0x0000001f}, PROGRAMS(ERRNO(ENOSYS))},       /* SIGSYS at its end */
    {"clone", {HIGH | 0x1f}, PROGRAMS(ERRNO(ENOSYS))},
    {"clone3", {0}, PROGRAMS(ERRNO(ENOSYS))},

    {"kill", {1, 0}, PROGRAMS(ALLOW)},
    {"kill", {5, 9}, PROGRAMS(ALLOW)},
    {"kill", {5, 30}, PROGRAMS(ALLOW)},
    {"kill", {5, 31}, PROGRAMS(ERRNO(EPERM))},
    {"kill", {5, HIGH | 31}, PROGRAMS(ERRNO(ENOSYS))},
    {"kill", {5, 32}, PROGRAMS(ALLOW)},
    {"kill", {5, 63}, PROGRAMS(ALLOW)},
    {"kill", {5, 64}, PROGRAMS(ALLOW)},
    {"tgkill", {5, 5, 6}, PROGRAMS(ALLOW)},
    {"tgkill", {5, 5, 31}, PROGRAMS(ERRNO(EPERM))},
    {"tgkill", {5, 5, HIGH | 31}, PROGRAMS(ERRNO(ENOSYS))},
    {"pidfd_send_signal", {3, 15}, PROGRAMS(ALLOW)},
    {"pidfd_send_signal", {3, 31}, PROGRAMS(ERRNO(EPERM))},
    {"tkill", {5, 9}, PROGRAMS(ERRNO(EPERM))},
    {"rt_sigqueueinfo", {5, 31}, PROGRAMS(ERRNO(EPERM))},
    {"rt_tgsigqueueinfo", {5, 5, 31}, PROGRAMS(ERRNO(EPERM))},
    {"timer_create", {0}, PROGRAMS(ERRNO(ENOSYS))},

    {"fcntl", {3, 1}, PROGRAMS(ALLOW)},         /* F_GETFD */
    {"fcntl", {3, 6}, PROGRAMS(ALLOW)},         /* F_SETLK */
    {"fcntl", {3, 1030}, PROGRAMS(ALLOW)},      /* F_DUPFD_CLOEXEC */
    {"fcntl", {3, 10}, PROGRAMS(ERRNO(EPERM))}, /* F_SETSIG */
    {"fcntl", {3, HIGH | 10}, PROGRAMS(ERRNO(ENOSYS))},
    {"fcntl", {3, 1026}, PROGRAMS(ERRNO(ENOSYS))},  /* F_NOTIFY */
    {"ioctl", {0, 0x5401}, PROGRAMS(ALLOW)},        /* TCGETS */
    {"ioctl", {0, 0x5451}, PROGRAMS(ALLOW)},        /* FIOCLEX */
    {"ioctl", {0, 0x5412}, PROGRAMS(ERRNO(EPERM))}, /* TIOCSTI */
    {"ioctl", {0, HIGH | 0x5412}, PROGRAMS(ERRNO(ENOSYS))},
    {"ioctl", {0, 0x541c}, PROGRAMS(ERRNO(EPERM))}, /* TIOCLINUX */
    {"ioctl", {0, 0x5414}, PROGRAMS(ERRNO(ENOSYS))},
    {"ioctl", {0, 0x8914}, PROGRAMS(ERRNO(ENOSYS))}, /* SIOCSIFFLAGS */
    {"fsync", {3}, PROGRAMS(ERRNO(0))},
    {"fdatasync", {3}, PROGRAMS(ERRNO(0))},

    {"prlimit64", {0, 4, 0, 1}, PROGRAMS(ALLOW)},        /* read RLIMIT_CORE */
    {"prlimit64", {0, 4, 1, 0}, PROGRAMS(ERRNO(EPERM))}, /* set it */
    {"prlimit64", {0, HIGH | 4, 1, 0}, PROGRAMS(ERRNO(ENOSYS))},
    {"prlimit64", {0, 0, 1, 0}, PROGRAMS(ALLOW)},
    {"prlimit64", {0, 3, 1, 0}, PROGRAMS(ALLOW)},
    {"prlimit64", {0, 5, 1, 0}, PROGRAMS(ALLOW)},
    {"prlimit64", {0, 7, 1, 0}, PROGRAMS(ALLOW)},
    {"prlimit64", {0, 9, 1, 0}, PROGRAMS(ALLOW)},
    {"prlimit64", {0, 15, 1, 0}, PROGRAMS(ALLOW)},
    {"prlimit64", {0, 16, 1, 0}, PROGRAMS(ERRNO(ENOSYS))},
    {"prlimit64", {1, 7, 1, 0}, PROGRAMS(ERRNO(EPERM))},
    {"prlimit64", {1, 4, 0, 1}, PROGRAMS(ERRNO(EPERM))},
    {"setrlimit", {4, 1}, PROGRAMS(ERRNO(EPERM))},
    {"sched_setaffinity", {0, 8, 1}, PROGRAMS(ALLOW)},
    {"sched_setaffinity", {1, 8, 1}, PROGRAMS(ERRNO(EPERM))},
    {"setpriority", {0, 0, 5}, PROGRAMS(ALLOW)},
    {"setpriority", {0, 1, 19}, PROGRAMS(ERRNO(EPERM))},     /* the reaper */
    {"setpriority", {1, 0, 19}, PROGRAMS(ERRNO(EPERM))},     /* the group */
    {"setpriority", {2, 65532, 19}, PROGRAMS(ERRNO(EPERM))}, /* the user */
    {"sched_setscheduler", {1}, PROGRAMS(ERRNO(EPERM))},
    {"sched_setparam", {1}, PROGRAMS(ERRNO(EPERM))},
    {"sched_setattr", {1}, PROGRAMS(ERRNO(EPERM))},
    {"ioprio_set", {1, 1}, PROGRAMS(ERRNO(EPERM))},
    {"prctl", {15}, PROGRAMS(ALLOW)},   /* PR_SET_NAME */
    {"prctl", {1, 9}, PROGRAMS(ALLOW)}, /* PR_SET_PDEATHSIG */
    {"prctl", {1, 31}, PROGRAMS(ERRNO(ENOSYS))},
    {"prctl", {1, HIGH | 31}, PROGRAMS(ERRNO(ENOSYS))},
    {"prctl", {22, 2}, PROGRAMS(ERRNO(ENOSYS))},  /* PR_SET_SECCOMP */
    {"prctl", {4, 1}, PROGRAMS(ERRNO(ENOSYS))},   /* PR_SET_DUMPABLE */
    {"prctl", {35, 13}, PROGRAMS(ERRNO(ENOSYS))}, /* PR_SET_MM */
    {"prctl", {59, 1}, PROGRAMS(ERRNO(ENOSYS))},  /* PR_SET_SYSCALL_USER_DISPATCH */
    {"mknodat", {0, 0, 0010600}, PROGRAMS(ALLOW)},
    {"mknodat", {0, 0, 0020600}, PROGRAMS(ERRNO(EPERM))},
    {"mknodat", {0, 0, 0060600}, PROGRAMS(ERRNO(EPERM))},

    {"socket", {1, 1, 0}, PROGRAMS(ALLOW)},
    {"socket", {1, 0x80802, 0}, PROGRAMS(ALLOW)},
    {"socket", {0, 1, 0}, PROGRAMS(UNSUPPORTED)},
    {"socket", {2, 1, 0}, SOCKETS(UNSUPPORTED, ALLOW)},
    {"socket", {2, 1, 6}, SOCKETS(UNSUPPORTED, ALLOW)},
    {"socket", {2, 0x80801, 6}, SOCKETS(UNSUPPORTED, ALLOW)},
    {"socket", {2, 2, 0}, SOCKETS(UNSUPPORTED, ALLOW)},
    {"socket", {2, 0x80802, 17}, SOCKETS(UNSUPPORTED, ALLOW)},
    {"socket", {10, 1, 6}, SOCKETS(UNSUPPORTED, ALLOW)},
    {"socket", {10, 2, 17}, SOCKETS(UNSUPPORTED, ALLOW)},
    {"socket", {2, 3, 1}, SOCKETS(UNSUPPORTED, ERRNO(EPERM))}, /* raw ICMP */
    {"socket", {2, 3, 6}, SOCKETS(UNSUPPORTED, ERRNO(EPERM))},
    {"socket", {2, 2, 1}, SOCKETS(UNSUPPORTED, ERRNO(ENOSYS))},   /* ping */
    {"socket", {2, 1, 132}, SOCKETS(UNSUPPORTED, ERRNO(ENOSYS))}, /* SCTP */
    {"socket", {2, 1, 262}, SOCKETS(UNSUPPORTED, ERRNO(ENOSYS))}, /* MPTCP */
    {"socket", {2, 10, 0}, SOCKETS(UNSUPPORTED, ERRNO(ENOSYS))},  /* SOCK_PACKET */
    {"socket", {3, 1, 0}, PROGRAMS(UNSUPPORTED)},
    {"socket", {4, 1, 0}, PROGRAMS(UNSUPPORTED)},
    {"socket", {9, 1, 0}, PROGRAMS(UNSUPPORTED)},
    {"socket", {11, 1, 0}, PROGRAMS(UNSUPPORTED)},
    {"socket", {16, 3, 0}, PROGRAMS(UNSUPPORTED)}, /* netlink */
    {"socket", {17, 3, 0}, PROGRAMS(UNSUPPORTED)}, /* packet */
    {"socket", {38, 5, 0}, PROGRAMS(UNSUPPORTED)}, /* kernel cryptography */
    {"socket", {40, 1, 0}, PROGRAMS(UNSUPPORTED)}, /* virtual machines */
    {"socket", {HIGH | 2, 1, 0}, PROGRAMS(UNSUPPORTED)},
    {"socketpair", {1, 1, 0}, PROGRAMS(ALLOW)},
    {"socketpair", {2, 1, 0}, PROGRAMS(UNSUPPORTED)},
    {"socketpair", {16, 1, 0}, PROGRAMS(UNSUPPORTED)},
    {"connect", {0}, PROGRAMS(ALLOW)},
    {"sendmmsg", {0}, SOCKETS(ERRNO(ENOSYS), ALLOW)},

    {"unshare", {0}, PROGRAMS(ERRNO(EPERM))},
    {"setns", {0}, PROGRAMS(ERRNO(EPERM))},
    {"mount", {0}, PROGRAMS(ERRNO(EPERM))},
    {"umount2", {0}, PROGRAMS(ERRNO(EPERM))},
    {"move_mount", {0}, PROGRAMS(ERRNO(EPERM))},
    {"mount_setattr", {0}, PROGRAMS(ERRNO(EPERM))},
    {"fsopen", {0}, PROGRAMS(ERRNO(EPERM))},
    {"pivot_root", {0}, PROGRAMS(ERRNO(EPERM))},
    {"chroot", {0}, PROGRAMS(ERRNO(EPERM))},
    {"setuid", {0}, PROGRAMS(ERRNO(EPERM))},
    {"setresuid", {0}, PROGRAMS(ERRNO(EPERM))},
    {"setgroups", {0}, PROGRAMS(ERRNO(EPERM))},
    {"capset", {0}, PROGRAMS(ERRNO(EPERM))},
    {"fchownat", {0}, PROGRAMS(ERRNO(EPERM))},
    {"ptrace", {0}, PROGRAMS(ERRNO(EPERM))},
    {"process_vm_readv", {0}, PROGRAMS(ERRNO(EPERM))},
    {"process_vm_writev", {0}, PROGRAMS(ERRNO(EPERM))},
    {"pidfd_getfd", {0}, PROGRAMS(ERRNO(EPERM))},
    {"process_madvise", {0}, PROGRAMS(ERRNO(EPERM))},
    {"bpf", {0}, PROGRAMS(ERRNO(EPERM))},
    {"perf_event_open", {0}, PROGRAMS(ERRNO(EPERM))},
    {"userfaultfd", {0}, PROGRAMS(ERRNO(EPERM))},
    {"io_uring_setup", {0}, PROGRAMS(ERRNO(EPERM))},
    {"io_uring_enter", {0}, PROGRAMS(ERRNO(EPERM))},
    {"io_uring_register", {0}, PROGRAMS(ERRNO(EPERM))},
    {"add_key", {0}, PROGRAMS(ERRNO(EPERM))},
    {"request_key", {0}, PROGRAMS(ERRNO(EPERM))},
    {"keyctl", {0}, PROGRAMS(ERRNO(EPERM))},
    {"open_by_handle_at", {0}, PROGRAMS(ERRNO(EPERM))},
    {"name_to_handle_at", {0}, PROGRAMS(ERRNO(EPERM))},
    {"fanotify_init", {0}, PROGRAMS(ERRNO(EPERM))},
    {"clock_settime", {0}, PROGRAMS(ERRNO(EPERM))},
    {"settimeofday", {0}, PROGRAMS(ERRNO(EPERM))},
    {"adjtimex", {0}, PROGRAMS(ERRNO(EPERM))},
    {"clock_adjtime", {0}, PROGRAMS(ERRNO(EPERM))},
    {"sethostname", {0}, PROGRAMS(ERRNO(EPERM))},
    {"syslog", {0}, PROGRAMS(ERRNO(EPERM))},
    {"quotactl", {0}, PROGRAMS(ERRNO(EPERM))},
    {"acct", {0}, PROGRAMS(ERRNO(EPERM))},
    {"personality", {0xffffffff}, PROGRAMS(ERRNO(EPERM))},
    {"seccomp", {1}, PROGRAMS(ERRNO(EPERM))},
    {"sync", {0}, PROGRAMS(ERRNO(EPERM))},
    {"listxattr", {0}, PROGRAMS(ERRNO(EOPNOTSUPP))},
    {"setxattr", {0}, PROGRAMS(ERRNO(EOPNOTSUPP))},
    {"memfd_create", {0}, PROGRAMS(ERRNO(ENOSYS))},
    {"mbind", {0}, PROGRAMS(ERRNO(ENOSYS))},
    {"move_pages", {0}, PROGRAMS(ERRNO(ENOSYS))},
    {"membarrier", {0}, PROGRAMS(ERRNO(ENOSYS))},
    {"splice", {0}, PROGRAMS(ERRNO(ENOSYS))},
    {"execveat", {0}, PROGRAMS(ERRNO(ENOSYS))},
    {"openat2", {0}, PROGRAMS(ERRNO(ENOSYS))},
    {"landlock_create_ruleset", {0}, PROGRAMS(ERRNO(ENOSYS))},
    {"cachestat", {0}, PROGRAMS(ERRNO(ENOSYS))},
    {"statmount", {0}, PROGRAMS(ERRNO(ENOSYS))},

    {"kexec_load", {0}, EVERYWHERE(KILL)},
    {"init_module", {0}, EVERYWHERE(KILL)},
    {"finit_module", {0}, EVERYWHERE(KILL)},
    {"delete_module", {0}, EVERYWHERE(KILL)},
    {"reboot", {0}, EVERYWHERE(KILL)},
    {"swapon", {0}, EVERYWHERE(KILL)},
    {"iopl", {0}, EVERYWHERE(KILL)},
};

struct built {
    struct policy *policy;
    struct compiled answers;
    struct compiled notify;
};

struct fixture {
    struct built built[N_PROFILES][ARCH_COUNT];
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct error err = {0};

    if (!fixture)
        return -1;
    for (int profile = 0; profile < N_PROFILES; profile++) {
        for (int arch = 0; arch < ARCH_COUNT; arch++) {
            struct built *built = &fixture->built[profile][arch];

            built->policy = policy_file_read(profile_names[profile]);
            if (compile_policy(built->policy, (enum arch)arch, COMPILE_ANSWERS, &built->answers,
                               NULL, &err) < 0 ||
                compile_policy(built->policy, (enum arch)arch, COMPILE_NOTIFY, &built->notify, NULL,
                               &err) < 0)
                fail_msg("%s: %s", profile_names[profile], err.text);
        }
    }
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    for (int profile = 0; profile < N_PROFILES; profile++) {
        for (int arch = 0; arch < ARCH_COUNT; arch++) {
            policy_free(fixture->built[profile][arch].policy);
            compiled_done(&fixture->built[profile][arch].answers);
            compiled_done(&fixture->built[profile][arch].notify);
        }
    }
    free(fixture);
    return 0;
}

static uint32_t run(const struct compiled *filter, uint32_t token, int number,
                    const uint64_t args[6])
{
    struct seccomp_data data = {.nr = number, .arch = token};

    memcpy(data.args, args, sizeof(data.args));
    return bpf_machine_run(filter->insns, filter->len, &data);
}

/* A call that libseccomp can't name falls to the default in a filter for a foreign machine. */
static bool is_skipped(const char *name, enum arch arch)
{
    return arch != arch_native() && seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR;
}

static void answers_as_listed(void **state)
{
    const struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_SIZE(decisions); i++) {
        const struct decision *decision = &decisions[i];

        for (int arch = 0; arch < ARCH_COUNT; arch++) {
            int number;
            int r = arch_syscall_number((enum arch)arch, decision->name, &number);

            assert_int_not_equal(r, -EINVAL);
            for (int p = 0; r == 0 && p < N_PROFILES && !is_skipped(decision->name, arch); p++) {
                uint32_t answer = run(&fixture->built[p][arch].answers, arch_token((enum arch)arch),
                                      number, decision->args);

                if (answer != decision->expected[p])
                    fail_msg("case %zu, %s on %s in %s: %#x, not %#x", i, decision->name,
                             arch_name((enum arch)arch), profile_names[p], answer,
                             decision->expected[p]);
            }
        }
    }
}

static void expect_foreign_killed(const struct compiled *filter, enum arch arch)
{
    static const uint32_t foreign[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_PPC64LE, 0,
                                       UINT32_MAX};
    static const uint64_t none[6] = {0};
    enum arch other = arch == ARCH_X86_64 ? ARCH_AARCH64 : ARCH_X86_64;

    for (int number = -1; number < MAX_NUMBER; number++) {
        for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
            assert_int_equal(run(filter, foreign[i], number, none), KILL);
        assert_int_equal(run(filter, arch_token(other), number, none), KILL);
        if (arch == ARCH_X86_64 && number >= 0)
            assert_int_equal(
                run(filter, arch_token(ARCH_X86_64), (int)(X32_BIT | (unsigned)number), none),
                KILL);
    }
}

/* Foreign architectures and x32 die whatever they call, and nobody is asked. */
static void kills_foreign_calls(void **state)
{
    const struct fixture *fixture = *state;

    for (int p = 0; p < N_PROFILES; p++) {
        for (int arch = 0; arch < ARCH_COUNT; arch++) {
            expect_foreign_killed(&fixture->built[p][arch].answers, (enum arch)arch);
            expect_foreign_killed(&fixture->built[p][arch].notify, (enum arch)arch);
        }
    }
}

static bool arg_holds(const struct policy_arg *arg, const uint64_t args[6])
{
    uint64_t value = args[arg->index];

    switch (arg->compare) {
    case POLICY_COMPARE_EQ:
        return value == arg->value;
    case POLICY_COMPARE_NE:
        return value != arg->value;
    case POLICY_COMPARE_LT:
        return value < arg->value;
    case POLICY_COMPARE_LE:
        return value <= arg->value;
    case POLICY_COMPARE_GT:
        return value > arg->value;
    case POLICY_COMPARE_GE:
        return value >= arg->value;
    case POLICY_COMPARE_MASKED_EQ:
        break;
    }
    return (value & arg->value) == arg->value_two;
}

static uint32_t as_return(enum policy_action action, unsigned errno_ret)
{
    return action == POLICY_ACTION_ALLOW   ? ALLOW
           : action == POLICY_ACTION_ERRNO ? ERRNO(errno_ret)
                                           : KILL;
}

/* The rules about one call: resolving names is slow. */
struct relevant {
    const struct policy_rule *rules[MAX_RELEVANT];
    size_t n;
    bool conditions;
};

static void find_relevant(const struct policy *policy, enum arch arch, int number,
                          struct relevant *ret_relevant)
{
    struct relevant relevant = {0};

    for (size_t i = 0; i < policy->n_rules; i++) {
        const struct policy_rule *rule = &policy->rules[i];

        for (size_t j = 0; j < rule->n_names; j++) {
            int this_number;

            if (is_skipped(rule->names[j], arch) ||
                arch_syscall_number(arch, rule->names[j], &this_number) < 0 ||
                this_number != number)
                continue;
            assert_true(relevant.n < MAX_RELEVANT);
            relevant.rules[relevant.n++] = rule;
            relevant.conditions = relevant.conditions || rule->n_args > 0;
        }
    }
    *ret_relevant = relevant;
}

/* What the two filters must say. */
struct reading {
    uint32_t answer;
    uint32_t notify;
};

static struct reading as_reading(const struct policy *policy, const struct policy_rule *rule)
{
    uint32_t answer = rule ? as_return(rule->action, rule->errno_ret)
                           : as_return(policy->default_action, policy->default_errno);
    bool reported = policy->report_refusals && answer != ALLOW && !(rule && rule->unreported);

    return (struct reading){.answer = answer, .notify = reported ? NOTIFY : answer};
}

/* By reading the rules; fails if two rules that match differ. */
static struct reading read_rules(const struct policy *policy, const struct relevant *relevant,
                                 const uint64_t args[6])
{
    struct reading reading = as_reading(policy, NULL);
    bool matched = false;

    for (size_t i = 0; i < relevant->n; i++) {
        const struct policy_rule *rule = relevant->rules[i];
        bool holds = true;

        for (size_t j = 0; j < rule->n_args; j++)
            holds = holds && arg_holds(&rule->args[j], args);
        if (!holds)
            continue;
        struct reading here = as_reading(policy, rule);
        if (matched && (reading.answer != here.answer || reading.notify != here.notify))
            fail_msg("%s: two rules that match say different things", rule->names[0]);
        reading = here;
        matched = true;
    }
    return reading;
}

/* Every number of a policy and its neighbours, with and without the upper half. */
static size_t fill_pool(const struct policy *policy, uint64_t pool[static MAX_POOL])
{
    size_t n = 0;

    pool[n++] = 0;
    pool[n++] = UINT64_MAX;
    pool[n++] = UINT32_MAX;
    for (size_t i = 0; i < policy->n_rules; i++) {
        for (size_t j = 0; j < policy->rules[i].n_args && n + 5 < MAX_POOL; j++) {
            const struct policy_arg *arg = &policy->rules[i].args[j];

            pool[n++] = arg->value;
            pool[n++] = arg->value + 1;
            pool[n++] = arg->value - 1;
            pool[n++] = arg->value | HIGH;
            pool[n++] = arg->value_two | (arg->value_two << 7);
        }
    }
    return n;
}

/* Good enough for picking, and the same at every run. */
static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

static void compare_number(const struct built *built, enum arch arch, int number,
                           const uint64_t *pool, size_t n_pool, uint32_t *seed)
{
    struct relevant relevant;
    size_t tries;

    find_relevant(built->policy, arch, number, &relevant);
    tries = relevant.conditions ? N_RANDOM * n_pool : 2;
    for (size_t i = 0; i < tries; i++) {
        uint64_t args[6];

        for (size_t j = 0; j < ARRAY_SIZE(args); j++)
            args[j] = i < n_pool ? pool[i] : pool[next_random(seed) % n_pool];
        struct reading expected = read_rules(built->policy, &relevant, args);
        uint32_t answer = run(&built->answers, arch_token(arch), number, args);
        uint32_t notify = run(&built->notify, arch_token(arch), number, args);
        if (answer != expected.answer || notify != expected.notify)
            fail_msg("call %d on %s, args %#llx %#llx %#llx: %#x and %#x, not %#x and %#x", number,
                     arch_name(arch), (unsigned long long)args[0], (unsigned long long)args[1],
                     (unsigned long long)args[2], answer, notify, expected.answer, expected.notify);
    }
}

static void answers_as_the_rules_read(void **state)
{
    const struct fixture *fixture = *state;
    uint32_t seed = 1;

    for (int p = 0; p < N_PROFILES; p++) {
        for (int arch = 0; arch < ARCH_COUNT; arch++) {
            const struct built *built = &fixture->built[p][arch];
            uint64_t pool[MAX_POOL];
            size_t n_pool = fill_pool(built->policy, pool);

            for (int number = -1; number < MAX_NUMBER; number++)
                compare_number(built, (enum arch)arch, number, pool, n_pool, &seed);
        }
    }
}

static void expect_filter(const struct sock_filter *filter, size_t len,
                          const struct compiled *expected)
{
    assert_int_equal(len, expected->len);
    assert_memory_equal(filter, expected->insns, len * sizeof(*filter));
}

/* What the jailer links is what the files say now. */
static void library_holds_these_filters(void **state)
{
    static const struct seccomp_policy *const linked[N_PROFILES] = {
        &seccomp_policy_snippet, &seccomp_policy_tool_call, &seccomp_policy_reaper};
    const struct fixture *fixture = *state;

    for (int p = 0; p < N_PROFILES; p++) {
        const struct built *built = &fixture->built[p][arch_native()];

        assert_string_equal(linked[p]->name, profile_names[p]);
        expect_filter(linked[p]->filter, linked[p]->len, &built->notify);
        if (built->policy->report_refusals)
            expect_filter(linked[p]->answers, linked[p]->answers_len, &built->answers);
        else
            assert_null(linked[p]->answers);
    }
}

/* A change of these numbers is a change of what a program may do: make it knowingly. */
static void allows_so_many_calls(void **state)
{
    static const size_t expected[N_PROFILES][ARCH_COUNT] = {
        [SNIPPET] = {[ARCH_X86_64] = 161, [ARCH_AARCH64] = 138},
        [TOOL_CALL] = {[ARCH_X86_64] = 163, [ARCH_AARCH64] = 140},
        [REAPER] = {[ARCH_X86_64] = 11, [ARCH_AARCH64] = 10},
    };
    const struct fixture *fixture = *state;

    for (int p = 0; p < N_PROFILES; p++) {
        for (int arch = 0; arch < ARCH_COUNT; arch++)
            assert_int_equal(policy_count_allowed(fixture->built[p][arch].policy, (enum arch)arch),
                             expected[p][arch]);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_as_listed),         cmocka_unit_test(kills_foreign_calls),
        cmocka_unit_test(answers_as_the_rules_read), cmocka_unit_test(library_holds_these_filters),
        cmocka_unit_test(allows_so_many_calls),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
