/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/caps.h"

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/parse.h"

#include <stdint.h>
#include <sys/prctl.h>

/* Each was found to be needed by taking it away (tests/jail/test_capabilities.py). */
static const struct capability needed[] = {
    {CAP_SYS_ADMIN, "CAP_SYS_ADMIN", "namespaces and mounts", false},
    {CAP_SYS_CHROOT, "CAP_SYS_CHROOT", "entering a runtime's mount namespace", false},
    {CAP_SETUID, "CAP_SETUID", "becoming the uid of a sandbox", false},
    {CAP_SETGID, "CAP_SETGID", "becoming the gid of a sandbox", false},
    {CAP_SETPCAP, "CAP_SETPCAP", "emptying the bounding set, locking the secure bits", false},
    {CAP_KILL, "CAP_KILL", "ending sandboxes, which have other uids", false},
    {CAP_CHOWN, "CAP_CHOWN", "giving pipes to a sandbox, socket and spool to the agent", false},
    {CAP_MKNOD, "CAP_MKNOD", "the devices of a sandbox", false},
    {CAP_NET_ADMIN, "CAP_NET_ADMIN", "interfaces, addresses and rules of sandboxes with a network",
     false, .optional = true},
    /* The root directory of a cgroup file system has mode 0555. */
    {CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE", "making a cgroup at the root of a hierarchy", true},
};

const struct capability *caps_needed(size_t index, bool at_root)
{
    for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
        if ((at_root || !needed[i].at_root_only) && index-- == 0)
            return &needed[i];
    }
    return NULL;
}

bool caps_has_number(unsigned int number)
{
    struct __user_cap_data_struct sets[CAPS_WORDS] = {0};
    return caps_get(sets) >= 0 && (sets[CAP_TO_INDEX(number)].effective & CAP_TO_MASK(number));
}

bool caps_has(const struct capability *capability)
{
    return caps_has_number(capability->number);
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

int caps_check(bool at_root, struct error *err)
{
    char missing[256] = "";
    size_t len = 0;
    const struct capability *capability = NULL;
    for (size_t i = 0; (capability = caps_needed(i, at_root)); i++) {
        if (capability->optional || caps_has(capability))
            continue;
        int n = snprintf(missing + len, sizeof(missing) - len, " %s", capability->name);
        len += n > 0 && (size_t)n < sizeof(missing) - len ? (size_t)n : 0;
    }
    if (len > 0)
        return error_set(err, EPERM, "the jailer needs these capabilities and hasn't got them:%s",
                         missing);
    return 0;
}

int caps_restrict(unsigned int last, bool at_root, struct error *err)
{
    struct __user_cap_data_struct sets[CAPS_WORDS] = {0};
    const struct capability *capability = NULL;
    for (size_t i = 0; (capability = caps_needed(i, at_root)); i++) {
        if (capability->optional && !caps_has(capability))
            continue;
        sets[CAP_TO_INDEX(capability->number)].effective |= CAP_TO_MASK(capability->number);
        sets[CAP_TO_INDEX(capability->number)].permitted |= CAP_TO_MASK(capability->number);
    }
    for (unsigned int number = 0; number <= last; number++) {
        bool keep = sets[CAP_TO_INDEX(number)].permitted & CAP_TO_MASK(number);
        if (!keep && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0)
            return error_set_errno(err, errno, "drop capability %u of the bounding set", number);
    }
    int r = caps_set(sets);
    return r < 0 ? error_set_errno(err, -r, "give up capabilities") : 0;
}
