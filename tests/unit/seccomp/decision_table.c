/* SPDX-License-Identifier: Apache-2.0 */
/* Calls with the answer that each profile must give. */
#include "decision_table.h"

#include <errno.h>

#define CLONE_FORK    0x01200011U /* glibc's fork() */
#define CLONE_SPAWN   0x4111U     /* posix_spawn(): VM, VFORK */
#define CLONE_PTHREAD 0x3d0f00U

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

const struct decision decisions[] = {
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
    {"fcntl", {3, 1026}, PROGRAMS(ERRNO(ENOSYS))},    /* F_NOTIFY */
    {"fcntl", {3, 0, 20}, PROGRAMS(ALLOW)},           /* F_DUPFD */
    {"fcntl", {3, 3, ~UINT64_C(0)}, PROGRAMS(ALLOW)}, /* F_GETFL takes no flags */
    {"fcntl", {3, 5}, PROGRAMS(ALLOW)},               /* F_GETLK */
    {"fcntl", {3, 8, 0x14000}, PROGRAMS(ALLOW)},      /* F_SETOWN, to a number like the flags */
    {"ioctl", {0, 0x5401}, PROGRAMS(ALLOW)},          /* TCGETS */
    {"ioctl", {0, 0x5451}, PROGRAMS(ALLOW)},          /* FIOCLEX */
    {"ioctl", {0, 0x540f}, PROGRAMS(ALLOW)},          /* TIOCGPGRP */
    {"ioctl", {0, 0x5410}, PROGRAMS(ERRNO(ENOSYS))},  /* TIOCSPGRP */
    {"ioctl", {0, 0x5412}, PROGRAMS(ERRNO(EPERM))},   /* TIOCSTI */
    {"ioctl", {0, HIGH | 0x5412}, PROGRAMS(ERRNO(ENOSYS))},
    {"ioctl", {0, 0x541c}, PROGRAMS(ERRNO(EPERM))}, /* TIOCLINUX */
    {"ioctl", {0, 0x5414}, PROGRAMS(ERRNO(ENOSYS))},
    {"ioctl", {0, 0x8914}, PROGRAMS(ERRNO(ENOSYS))},     /* SIOCSIFFLAGS */
    {"ioctl", {0, 0xc020660b}, PROGRAMS(ERRNO(ENOSYS))}, /* FS_IOC_FIEMAP */
    {"ioctl", {0, 0xc0185879}, PROGRAMS(ERRNO(ENOSYS))}, /* FITRIM */

    {"madvise", {0, 1, 3}, PROGRAMS(ALLOW)},          /* MADV_WILLNEED */
    {"madvise", {0, 1, 4}, PROGRAMS(ALLOW)},          /* MADV_DONTNEED */
    {"madvise", {0, 1, 12}, PROGRAMS(ERRNO(EINVAL))}, /* MADV_MERGEABLE */
    {"madvise", {0, 1, 14}, PROGRAMS(ALLOW)},         /* MADV_HUGEPAGE */
    {"madvise", {0, 1, 16}, PROGRAMS(ALLOW)},         /* MADV_DONTDUMP */
    {"madvise", {0, 1, 19}, PROGRAMS(ALLOW)},         /* MADV_KEEPONFORK */
    {"madvise", {0, 1, 20}, PROGRAMS(ERRNO(EINVAL))}, /* MADV_COLD */
    {"madvise", {0, 1, 21}, PROGRAMS(ERRNO(EINVAL))}, /* MADV_PAGEOUT */
    {"madvise", {0, 1, HIGH | 21}, PROGRAMS(ERRNO(EINVAL))},
    {"madvise", {0, 1, 22}, PROGRAMS(ALLOW)},         /* MADV_POPULATE_READ */
    {"madvise", {0, 1, 23}, PROGRAMS(ALLOW)},         /* MADV_POPULATE_WRITE */
    {"madvise", {0, 1, 24}, PROGRAMS(ALLOW)},         /* MADV_DONTNEED_LOCKED */
    {"madvise", {0, 1, 25}, PROGRAMS(ERRNO(EINVAL))}, /* MADV_COLLAPSE */
    {"madvise", {0, 1, HIGH | 25}, PROGRAMS(ERRNO(ENOSYS))},
    {"madvise", {0, 1, 26}, PROGRAMS(ERRNO(ENOSYS))},
    {"madvise", {0, 1, 100}, PROGRAMS(ERRNO(ENOSYS))},    /* MADV_HWPOISON */
    {"fadvise64", {3, 0, 0, 3}, PROGRAMS(ALLOW)},         /* POSIX_FADV_WILLNEED */
    {"fadvise64", {3, 0, 0, 4}, PROGRAMS(ERRNO(ENOSYS))}, /* POSIX_FADV_DONTNEED */
    {"fadvise64", {3, 0, 0, HIGH | 4}, PROGRAMS(ERRNO(ENOSYS))},
    {"fadvise64", {3, 0, 0, 5}, PROGRAMS(ALLOW)}, /* POSIX_FADV_NOREUSE */
    {"readahead", {3}, PROGRAMS(ERRNO(ENOSYS))},
    {"sync_file_range", {3}, PROGRAMS(ERRNO(ENOSYS))},
    {"syncfs", {3}, PROGRAMS(ERRNO(EPERM))},
    {"io_setup", {1}, PROGRAMS(ERRNO(ENOSYS))},
    {"io_submit", {0}, PROGRAMS(ERRNO(ENOSYS))},
    {"mincore", {0}, PROGRAMS(ERRNO(ENOSYS))},
    {"mlock", {0}, PROGRAMS(ERRNO(ENOSYS))},
    {"mlockall", {0}, PROGRAMS(ERRNO(ENOSYS))},

    {"futex", {0, 0x80}, PROGRAMS(ALLOW)},          /* WAIT, private */
    {"futex", {0, 0x81}, PROGRAMS(ALLOW)},          /* WAKE */
    {"futex", {0, 3}, PROGRAMS(ALLOW)},             /* REQUEUE */
    {"futex", {0, 4}, PROGRAMS(ALLOW)},             /* CMP_REQUEUE */
    {"futex", {0, 0x85}, PROGRAMS(ALLOW)},          /* WAKE_OP */
    {"futex", {0, 6}, PROGRAMS(ERRNO(ENOSYS))},     /* LOCK_PI */
    {"futex", {0, 0x86}, PROGRAMS(ERRNO(ENOSYS))},  /* private */
    {"futex", {0, 7}, PROGRAMS(ERRNO(ENOSYS))},     /* UNLOCK_PI */
    {"futex", {0, 8}, PROGRAMS(ERRNO(ENOSYS))},     /* TRYLOCK_PI */
    {"futex", {0, 0x189}, PROGRAMS(ALLOW)},         /* WAIT_BITSET by the clock of the day */
    {"futex", {0, 10}, PROGRAMS(ALLOW)},            /* WAKE_BITSET */
    {"futex", {0, 0x18b}, PROGRAMS(ERRNO(ENOSYS))}, /* WAIT_REQUEUE_PI */
    {"futex", {0, 12}, PROGRAMS(ERRNO(ENOSYS))},    /* CMP_REQUEUE_PI */
    {"futex", {0, 13}, PROGRAMS(ERRNO(ENOSYS))},    /* LOCK_PI2 */
    {"futex", {0, 14}, PROGRAMS(ERRNO(ENOSYS))},
    {"futex", {0, HIGH | 6}, PROGRAMS(ERRNO(ENOSYS))},
    {"futex", {0, 0x40}, PROGRAMS(ERRNO(ENOSYS))},
    {"futex", {0, 0x206}, PROGRAMS(ERRNO(ENOSYS))},

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
    {"sched_rr_get_interval", {0}, PROGRAMS(ALLOW)},
    {"sched_setscheduler", {0, 0}, PROGRAMS(ALLOW)},
    {"sched_setscheduler", {0, 1}, PROGRAMS(ERRNO(EPERM))}, /* SCHED_FIFO */
    {"sched_setscheduler", {0, 3}, PROGRAMS(ERRNO(EPERM))}, /* SCHED_BATCH */
    {"sched_setscheduler", {0, HIGH | 1}, PROGRAMS(ERRNO(EPERM))},
    {"sched_setscheduler", {1, 0}, PROGRAMS(ERRNO(EPERM))},
    {"sched_setparam", {0}, PROGRAMS(ALLOW)},
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
    {"preadv2", {3, 0, 1, 0, 0, 0}, PROGRAMS(ERRNO(ENOSYS))},
    {"preadv2", {3, 0, 1, 0, 0, 8}, PROGRAMS(ERRNO(ENOSYS))}, /* RWF_NOWAIT */
    {"recvmmsg", {0}, PROGRAMS(ERRNO(ENOSYS))},
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

const size_t n_decisions = sizeof(decisions) / sizeof(*decisions);

/* Flags of open() whose numbers are each other's on the two architectures. */
#define X86_DIRECT    0x4000
#define X86_DIRECTORY 0x10000
#define ARM_DIRECT    0x10000
#define ARM_DIRECTORY 0x4000
#define F_SETFL_CMD   4

#define FLAG_DECISIONS(direct, directory)                                                          \
    {                                                                                              \
        {"open", {0, (directory) | 0x80000}, PROGRAMS(ALLOW)},                                     \
            {"open", {0, (direct)}, PROGRAMS(ERRNO(EINVAL))},                                      \
            {"openat", {0, 0, (directory) | 0x80000}, PROGRAMS(ALLOW)},                            \
            {"openat", {0, 0, 0x80241, 0600}, PROGRAMS(ALLOW)},                                    \
            {"openat", {0, 0, (direct)}, PROGRAMS(ERRNO(EINVAL))},                                 \
            {"openat", {0, 0, (direct) | (directory) | 0x80000}, PROGRAMS(ERRNO(EINVAL))},         \
            {"openat", {0, 0, HIGH | (direct)}, PROGRAMS(ERRNO(EINVAL))},                          \
            {"fcntl", {3, F_SETFL_CMD, 0x800}, PROGRAMS(ALLOW)},                                   \
            {"fcntl", {3, F_SETFL_CMD, (directory)}, PROGRAMS(ALLOW)},                             \
            {"fcntl", {3, F_SETFL_CMD, (direct) | 0x800}, PROGRAMS(ERRNO(EINVAL))},                \
            {"fcntl", {3, F_SETFL_CMD, HIGH | (direct)}, PROGRAMS(ERRNO(EINVAL))},                 \
            {"fcntl", {3, HIGH | F_SETFL_CMD, (direct)}, PROGRAMS(ERRNO(ENOSYS))},                 \
    }

const struct decision flag_decisions[ARCH_COUNT][N_FLAG_DECISIONS] = {
    [ARCH_X86_64] = FLAG_DECISIONS(X86_DIRECT, X86_DIRECTORY),
    [ARCH_AARCH64] = FLAG_DECISIONS(ARM_DIRECT, ARM_DIRECTORY),
};
