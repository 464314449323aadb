/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/caps.h"

#include "common/cleanup.h"

#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define SECURE_BITS                                                                                \
    (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |                               \
     SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |       \
     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

int caps_get(struct __user_cap_data_struct ret_sets[static CAPS_WORDS])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capget, &header, ret_sets) < 0 ? -errno : 0;
}

int caps_set(const struct __user_cap_data_struct sets[static CAPS_WORDS])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capset, &header, sets) < 0 ? -errno : 0;
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
    struct __user_cap_data_struct sets[CAPS_WORDS] = {0};
    int r = caps_set(sets);
    if (r < 0)
        return error_set(err, -r, "empty the capability sets");

    r = caps_get(sets);
    if (r < 0)
        return error_set(err, -r, "read the capability sets back");
    for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
        if (sets[i].effective || sets[i].permitted || sets[i].inheritable)
            return error_set(err, EPERM, "a capability set is not empty after it was emptied");
    }
    return 0;
}
