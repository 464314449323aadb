/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/helper.h"

#include "common/cleanup.h"
#include "node-agent/jailer/caps.h"
#include "node-agent/jailer/descriptors.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define CAP(number) (UINT64_C(1) << (number))

struct helper_rule {
    uint64_t capabilities;
    bool idle;
    int nice;
    bool outlives;
};

static const struct helper_rule rules[] = {
    [HELPER_NAMESPACES] = {.capabilities = CAP(CAP_SYS_ADMIN), .idle = true},
    [HELPER_FILES] = {.idle = true},
    [HELPER_SLOTS] = {.capabilities = CAP(CAP_NET_ADMIN) | CAP(CAP_SYS_ADMIN), .nice = 5},
    [HELPER_NETWORK] = {.capabilities = CAP(CAP_NET_ADMIN) | CAP(CAP_SYS_ADMIN), .outlives = true},
};

static int keep_capabilities(uint64_t capabilities)
{
    struct __user_cap_data_struct sets[CAPS_WORDS] = {0};
    for (size_t i = 0; i < CAPS_WORDS; i++)
        sets[i].effective = sets[i].permitted = (uint32_t)(capabilities >> (32 * i));
    return caps_set(sets);
}

static void set_priority(const struct helper_rule *rule)
{
    const struct sched_param param = {0};
    if (rule->idle)
        (void)sched_setscheduler(0, SCHED_IDLE, &param);
    if (rule->nice > 0)
        (void)setpriority(PRIO_PROCESS, 0, rule->nice);
}

static _Noreturn void helper_run(const char *name, const struct helper_rule *rule, const int *keep,
                                 size_t keep_count, int (*main)(const void *arg), const void *arg)
{
    if (!rule->outlives)
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)prctl(PR_SET_NAME, name, 0, 0, 0);
    set_priority(rule);
    if (descriptors_keep(STDERR_FILENO + 1, keep, keep_count, NULL) < 0 ||
        keep_capabilities(rule->capabilities) < 0)
        _exit(EXIT_FAILURE);
    _exit(main(arg));
}

int helper_start(const char *name, enum helper_kind kind, const int *keep, size_t keep_count,
                 int (*main)(const void *arg), const void *arg)
{
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        helper_run(name, &rules[kind], keep, keep_count, main, arg);
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
    helper_end_within(pidfd, 0);
}

void helper_end_within(int pidfd, int within_ms)
{
    if (pidfd < 0)
        return;
    siginfo_t info;
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    while (within_ms > 0 && poll(&ended, 1, within_ms) < 0 && errno == EINTR)
        continue;
    (void)pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
        continue;
    (void)fd_close(pidfd);
}
