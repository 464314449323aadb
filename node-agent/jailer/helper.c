/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/helper.h"

#include "common/cleanup.h"
#include "node-agent/jailer/caps.h"
#include "node-agent/jailer/descriptors.h"

#include <sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static int keep_capabilities(enum helper_rights rights)
{
    struct __user_cap_data_struct sets[CAPS_WORDS] = {0};
    if (rights == HELPER_NAMESPACES) {
        sets[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective = CAP_TO_MASK(CAP_SYS_ADMIN);
        sets[CAP_TO_INDEX(CAP_SYS_ADMIN)].permitted = CAP_TO_MASK(CAP_SYS_ADMIN);
    }
    return caps_set(sets);
}

static _Noreturn void helper_run(const char *name, enum helper_rights rights, const int *keep,
                                 size_t keep_count, int (*main)(const void *arg), const void *arg)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)prctl(PR_SET_NAME, name, 0, 0, 0);
    const struct sched_param param = {0};
    (void)sched_setscheduler(0, SCHED_IDLE, &param);
    if (descriptors_keep(STDERR_FILENO + 1, keep, keep_count, NULL) < 0 ||
        keep_capabilities(rights) < 0)
        _exit(EXIT_FAILURE);
    _exit(main(arg));
}

int helper_start(const char *name, enum helper_rights rights, const int *keep, size_t keep_count,
                 int (*main)(const void *arg), const void *arg)
{
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        helper_run(name, rights, keep, keep_count, main, arg);
    int pidfd = pidfd_open(pid, 0);
    if (pidfd < 0) {
        int failure = errno;
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        return -failure;
    }
    return pidfd;
}

void helper_end(int pidfd)
{
    if (pidfd < 0)
        return;
    siginfo_t info;
    (void)pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
        continue;
    (void)fd_close(pidfd);
}
