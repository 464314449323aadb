/* SPDX-License-Identifier: Apache-2.0 */

/* The kernel's version, and the system calls and features that no older one has or that a filter
 * around the jailer may refuse. */
#include "common/cleanup.h"
#include "common/parse.h"
#include "node-agent/jailer/check.h"
#include "node-agent/jailer/landlock.h"
#include "node-agent/jailer/notify.h"

#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

/* The oldest kernel that has all of it, and that it is tried on. */
#define MIN_KERNEL_MAJOR 5u
#define MIN_KERNEL_MINOR 14u

static const struct check_kind version = {"kernel.version", PROTO_REQUIRED,
                                          "update the kernel to Linux 5.14 or newer"};

static bool take_number(const char **at, uint64_t *ret_value)
{
    char digits[8];
    size_t len = strspn(*at, "0123456789");
    if (len == 0 || len >= sizeof(digits))
        return false;
    memcpy(digits, *at, len);
    digits[len] = '\0';
    *at += len;
    return parse_u64(digits, 0, UINT32_MAX, ret_value) >= 0;
}

bool checks_kernel_is_new_enough(const char *release)
{
    uint64_t major = 0, minor = 0;
    if (!take_number(&release, &major) || *release++ != '.' || !take_number(&release, &minor))
        return false;
    return major > MIN_KERNEL_MAJOR || (major == MIN_KERNEL_MAJOR && minor >= MIN_KERNEL_MINOR);
}

static void check_version(const struct check_subject *subject)
{
    struct utsname system = {0};
    (void)uname(&system);
    check_add(subject->checks, &version,
              checks_kernel_is_new_enough(system.release) ? PROTO_OUTCOME_OK : PROTO_OUTCOME_FAILED,
              "%s, at least %u.%u is needed", system.release, MIN_KERNEL_MAJOR, MIN_KERNEL_MINOR);
}

/* Called with arguments that the kernel refuses, so that nothing happens. */
struct probed_call {
    const char *name;
    long number;
    long arguments[4];
    bool needs_admin; /* else EPERM comes before all other refusals */
};

static const struct probed_call calls[] = {
    {"syscall.clone3", SYS_clone3, {0, 0}, false},
    {"syscall.pidfd-open", SYS_pidfd_open, {-1, 0}, false},
    {"syscall.pidfd-send-signal", SYS_pidfd_send_signal, {-1, 0, 0, 0}, false},
    {"syscall.openat2", SYS_openat2, {-1, 0, 0, 0}, false},
    {"syscall.close-range", SYS_close_range, {1, 0, 0}, false},
    {"syscall.open-tree", SYS_open_tree, {-1, 0, -1}, false},
    {"syscall.move-mount", SYS_move_mount, {-1, 0, -1, 0}, true},
    {"syscall.mount-setattr", SYS_mount_setattr, {-1, 0, 0, 0}, true},
    {"syscall.pivot-root", SYS_pivot_root, {0, 0}, true},
    {"syscall.setns", SYS_setns, {-1, 0}, false},
};

static void check_call(const struct check_subject *subject, const struct probed_call *call)
{
    const struct check_kind kind = {
        call->name, PROTO_REQUIRED,
        "update the kernel to Linux 5.14 or newer, or lift the system call filter around the "
        "jailer; in a Pod, seccompProfile.type: Unconfined of its container"};
    const long *a = call->arguments;
    if (call->needs_admin && subject->obstacle) {
        check_add_skipped(subject->checks, &kind, subject->obstacle);
        return;
    }
    bool done = syscall(call->number, a[0], a[1], a[2], a[3]) >= 0;
    if (!done && (errno == ENOSYS || errno == EPERM))
        check_add(subject->checks, &kind, PROTO_OUTCOME_FAILED, "%s",
                  errno == ENOSYS ? "the kernel doesn't have it, or a filter says so"
                                  : "the kernel has it and something refuses it");
    else
        check_add(subject->checks, &kind, PROTO_OUTCOME_OK, "can be called");
}

struct filter_action {
    const char *name;
    enum proto_level level;
    uint32_t action;
    const char *advice;
};

static const struct filter_action actions[] = {
    {"seccomp.errno", PROTO_REQUIRED, SECCOMP_RET_ERRNO, "use a kernel with CONFIG_SECCOMP_FILTER"},
    {"seccomp.kill-process", PROTO_REQUIRED, SECCOMP_RET_KILL_PROCESS,
     "use a kernel with CONFIG_SECCOMP_FILTER, 4.14 or newer"},
};

static void check_action(const struct check_subject *subject, const struct filter_action *wanted)
{
    const struct check_kind kind = {wanted->name, wanted->level, wanted->advice};
    uint32_t action = wanted->action;
    bool known = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
    check_add(subject->checks, &kind, known ? PROTO_OUTCOME_OK : PROTO_OUTCOME_FAILED, "%s",
              known ? "available" : "not available");
}

static void check_notification(const struct check_subject *subject)
{
    static const struct check_kind kind = {
        "seccomp.user-notification", PROTO_REQUIRED,
        "use a kernel with CONFIG_SECCOMP_FILTER that this release knows"};
    uint32_t action = SECCOMP_RET_USER_NOTIF;
    struct error err = {0};
    int r = notify_check(&err);
    if (r >= 0 && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0)
        r = error_set(&err, ENOTSUP, "not available");
    check_add_result(subject->checks, &kind, r, &err, "available");
}

/* A filter that the jailer itself is under, every sandbox inherits. */
static void check_inherited_filter(const struct check_subject *subject)
{
    static const struct check_kind kind = {
        "seccomp.inherited", PROTO_RECOMMENDED,
        "start the jailer without a filter; in a Pod, seccompProfile.type: Unconfined of its "
        "container: each sandbox gets a stricter one, and pays for both"};
    bool filtered = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0;
    check_add(subject->checks, &kind, filtered ? PROTO_OUTCOME_FAILED : PROTO_OUTCOME_OK, "%s",
              filtered ? "the jailer is under a system call filter" : "no filter on the jailer");
}

static void check_landlock(const struct check_subject *subject)
{
    static const struct check_kind kind = {
        "landlock", PROTO_INFORMATION,
        "a further lock where there is one: a kernel with CONFIG_SECURITY_LANDLOCK, and landlock "
        "in the list of its lsm= option"};
    unsigned int abi = 0;
    struct error err = {0};
    int r = landlock_look_up(&abi, &err);
    if (r >= 0 && abi == 0)
        r = error_set(&err, ENOTSUP, "the kernel has none, has it switched off, or one too old");
    char figure[64];
    (void)snprintf(figure, sizeof(figure), "ABI %u", abi);
    check_add_result(subject->checks, &kind, r, &err, figure);
}

void checks_kernel(struct check_subject *subject)
{
    check_version(subject);
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
        check_call(subject, &calls[i]);
    for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
        check_action(subject, &actions[i]);
    check_notification(subject);
    check_inherited_filter(subject);
    check_landlock(subject);
}
