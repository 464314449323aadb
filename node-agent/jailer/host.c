/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/host.h"

#include "common/cleanup.h"
#include "node-agent/jailer/caps.h"
#include "node-agent/jailer/limits.h"
#include "node-agent/jailer/rlimits.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/personality.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>

/* Children keep 0 to 2 through the first closing of descriptors: nothing else may be there. */
int host_fill_standard_fds(struct error *err)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        if (open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
            return error_set(err, EBADF, "descriptor %d is closed and /dev/null can't be opened",
                             fd);
    }
    return 0;
}

/* What the jailer's parent ignores, the jailer and every sandbox would ignore too: with SIGCHLD no
 * end of a process could be waited for. The system call, since the C library keeps two signals for
 * itself, which posix_spawn() leaves ignored. */
static void reset_signals(void)
{
    /* The kernel's struct, as long as any architecture has it: handler (SIG_DFL), flags, restorer,
     * mask. */
    static const unsigned long usual[4] = {0};
    for (int signum = 1; signum < NSIG; signum++)
        (void)syscall(SYS_rt_sigaction, signum, usual, NULL, sizeof(uint64_t));
}

/* Neither a real-time policy, which no CPU limit binds, nor a higher priority goes on to the
 * children; nor does what makes programs easier to attack, such as a fixed layout of memory. */
static int keep_from_children(struct error *err)
{
    struct sched_param param;
    int policy = sched_getscheduler(0);
    if (policy < 0 || sched_getparam(0, &param) < 0 ||
        sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &param) < 0)
        return error_set_errno(err, errno, "keep the scheduling policy from the sandboxes");
    if (personality(PER_LINUX) < 0)
        return error_set_errno(err, errno, "set the usual personality");
    return 0;
}

int host_reset_inherited(struct error *err)
{
    reset_signals();
    return keep_from_children(err);
}

/* Can rlimits_enter() set it later? Without CAP_SYS_RESOURCE a hard limit can only fall. */
int host_check_core_limit(struct error *err)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_CORE, &now) < 0)
        return error_set_errno(err, errno, "read RLIMIT_CORE");
    if (now.rlim_max >= RLIMITS_CORE)
        return 0;
    struct rlimit wanted = {.rlim_cur = now.rlim_cur, .rlim_max = RLIMITS_CORE};
    if (setrlimit(RLIMIT_CORE, &wanted) < 0)
        return error_set(err, errno,
                         "the hard limit on core files is 0 and can't be raised to 1, which keeps "
                         "the kernel from starting a core handler: start the jailer with a higher "
                         "limit (ulimit -H -c) or with CAP_SYS_RESOURCE");
    return 0;
}

/* By a pidfd sandboxes are ended. A filter around the jailer that refuses it would be noticed at
 * the first deadline, by a run that goes on. */
static int check_pidfds(struct error *err)
{
    cleanup_close int fd = pidfd_open(getpid(), 0);
    if (fd < 0 || pidfd_send_signal(fd, 0, NULL, 0) < 0)
        return error_set_errno(err, errno, "%s, by which sandboxes are ended",
                               fd < 0 ? "open a pidfd" : "send a signal by a pidfd");
    return 0;
}

int host_check(bool at_root, struct error *err)
{
    if (geteuid() != 0)
        return error_set(err, EPERM, "the jailer must be started as root; it has uid %u",
                         geteuid());
    int r = caps_check(at_root, err);
    if (r >= 0)
        r = host_check_core_limit(err);
    if (r >= 0)
        r = check_pidfds(err);
    return r;
}

uint64_t host_nofile(uint32_t max_runs)
{
    return (uint64_t)max_runs * MAX_SANDBOX_FDS + RESERVED_FDS;
}

int host_raise_nofile(uint32_t max_runs, struct error *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return error_set_errno(err, errno, "read the limit on open files");
    rlim_t wanted = host_nofile(max_runs);
    if (limit.rlim_max < wanted)
        return error_set(err, EMFILE,
                         "the limit on open files is %llu and %u runs need %llu: raise it, or "
                         "lower --max-runs",
                         (unsigned long long)limit.rlim_max, max_runs, (unsigned long long)wanted);
    if (limit.rlim_cur >= wanted)
        return 0;
    limit.rlim_cur = wanted;
    return setrlimit(RLIMIT_NOFILE, &limit) < 0
               ? error_set_errno(err, errno, "raise the limit on open files")
               : 0;
}

uint64_t host_memory_bytes(uint64_t limit_bytes)
{
    struct sysinfo info = {0};
    (void)sysinfo(&info);
    uint64_t total = (uint64_t)info.totalram * info.mem_unit;
    if (limit_bytes < total)
        total = limit_bytes;
    uint64_t reserve = total / 8 > RESERVED_MEMORY_BYTES ? total / 8 : RESERVED_MEMORY_BYTES;
    return total > reserve ? total - reserve : 0;
}

uint64_t host_cpu_milli(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return 1000;
    return (uint64_t)CPU_COUNT(&set) * 1000;
}
