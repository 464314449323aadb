/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/caps.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/parse.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>

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
    struct __user_cap_data_struct sets[CAPS_WORDS] = {0};
    int r = caps_get(sets);
    if (r < 0)
        return error_set_errno(err, -r, "read the capabilities");
    char missing[256] = "";
    size_t len = 0;
    for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
        unsigned int number = needed[i].number;
        if (sets[CAP_TO_INDEX(number)].effective & CAP_TO_MASK(number))
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
    struct __user_cap_data_struct sets[CAPS_WORDS] = {0};
    for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
        sets[CAP_TO_INDEX(needed[i].number)].effective |= CAP_TO_MASK(needed[i].number);
        sets[CAP_TO_INDEX(needed[i].number)].permitted |= CAP_TO_MASK(needed[i].number);
    }
    for (unsigned int number = 0; number <= last; number++) {
        bool keep = sets[CAP_TO_INDEX(number)].permitted & CAP_TO_MASK(number);
        if (!keep && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0)
            return error_set_errno(err, errno, "drop capability %u of the bounding set", number);
    }
    int r = caps_set(sets);
    return r < 0 ? error_set_errno(err, -r, "give up capabilities") : 0;
}
