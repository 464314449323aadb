/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/caps.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/parse.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

struct needed_capability {
    unsigned int number;
    const char *name;
};

/* What each is for:
 * CHOWN: pipes, socket and spool for the other uid; DAC_OVERRIDE: runtimes and cgroups that belong
 * to someone else; KILL: sandboxes, which have other uids; SETUID, SETGID: into the run's ids;
 * SETPCAP: bounding set and secure bits; SYS_CHROOT, SYS_ADMIN: namespaces and mounts; MKNOD: the
 * template's /dev. */
static const struct needed_capability needed[] = {
    {CAP_CHOWN, "CAP_CHOWN"},
    {CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
    {CAP_KILL, "CAP_KILL"},
    {CAP_SETUID, "CAP_SETUID"},
    {CAP_SETGID, "CAP_SETGID"},
    {CAP_SETPCAP, "CAP_SETPCAP"},
    {CAP_SYS_CHROOT, "CAP_SYS_CHROOT"},
    {CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
    {CAP_MKNOD, "CAP_MKNOD"},
};

#define SECURE_BITS                                                                                \
    (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |                               \
     SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |       \
     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* Version 3: two words of 32 for each set. The C library has no wrapper. */
static int caps_get(struct __user_cap_data_struct ret_data[static 2])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capget, &header, ret_data) < 0 ? -errno : 0;
}

static int caps_set(const struct __user_cap_data_struct data[static 2])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

int caps_last(int proc_fd, unsigned int *ret_last, struct error *err)
{
    char text[16];
    uint64_t value = 0;
    int r = fd_read_attr(proc_fd, "sys/kernel/cap_last_cap", text, sizeof(text));
    if (r >= 0)
        r = parse_u64(text, CAP_MKNOD, 63, &value);
    if (r < 0)
        return error_set_errno(err, -r, "read /proc/sys/kernel/cap_last_cap");
    *ret_last = (unsigned int)value;
    return 0;
}

int caps_check(struct error *err)
{
    struct __user_cap_data_struct data[2] = {0};
    int r = caps_get(data);
    if (r < 0)
        return error_set_errno(err, -r, "read the capabilities");
    char missing[256] = "";
    size_t len = 0;
    for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
        unsigned int number = needed[i].number;
        if (data[CAP_TO_INDEX(number)].effective & CAP_TO_MASK(number))
            continue;
        int n = snprintf(missing + len, sizeof(missing) - len, " %s", needed[i].name);
        len += n > 0 && (size_t)n < sizeof(missing) - len ? (size_t)n : 0;
    }
    if (len > 0)
        return error_set(err, EPERM, "the jailer needs these capabilities and hasn't got them:%s",
                         missing);
    return 0;
}

int caps_restrict(unsigned int last, struct error *err)
{
    struct __user_cap_data_struct data[2] = {0};
    for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
        data[CAP_TO_INDEX(needed[i].number)].effective |= CAP_TO_MASK(needed[i].number);
        data[CAP_TO_INDEX(needed[i].number)].permitted |= CAP_TO_MASK(needed[i].number);
    }
    for (unsigned int number = 0; number <= last; number++) {
        bool keep = data[CAP_TO_INDEX(number)].permitted & CAP_TO_MASK(number);
        if (!keep && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0)
            return error_set_errno(err, errno, "drop capability %u of the bounding set", number);
    }
    int r = caps_set(data);
    return r < 0 ? error_set_errno(err, -r, "give up capabilities") : 0;
}

int caps_drop_all(unsigned int last, struct error *err)
{
    /* The bounding set first: dropping from it and setting secure bits take CAP_SETPCAP. */
    for (unsigned int number = 0; number <= last; number++) {
        if (prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0)
            return error_set(err, errno, "drop capability %u of the bounding set", number);
    }
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        return error_set(err, errno, "clear the ambient set");
    if (prctl(PR_SET_SECUREBITS, SECURE_BITS, 0, 0, 0) < 0)
        return error_set(err, errno, "lock the secure bits");
    struct __user_cap_data_struct data[2] = {0};
    int r = caps_set(data);
    if (r < 0)
        return error_set(err, -r, "empty the capability sets");

    r = caps_get(data);
    if (r < 0)
        return error_set(err, -r, "read the capability sets back");
    for (size_t i = 0; i < ARRAY_SIZE(data); i++) {
        if (data[i].effective || data[i].permitted || data[i].inheritable)
            return error_set(err, EPERM, "a capability set is not empty after it was emptied");
    }
    return 0;
}
