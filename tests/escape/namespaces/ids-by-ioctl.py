# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: NS_GET_NSTYPE, NS_GET_OWNER_UID, NS_GET_MNTNS_ID and NS_GET_PID_FROM_PIDNS
# matters: they tell uids and pids as the host sees them
# expect: ENOSYS
import os

from attempt import each, syscall

user = os.open("/proc/self/ns/user", os.O_RDONLY)
pid = os.open("/proc/self/ns/pid", os.O_RDONLY)
mnt = os.open("/proc/self/ns/mnt", os.O_RDONLY)
buffer = bytes(16)
each({
    "NS_GET_NSTYPE": lambda: syscall("ioctl", user, 0xB703, 0),
    "NS_GET_OWNER_UID": lambda: syscall("ioctl", user, 0xB704, buffer),
    "NS_GET_MNTNS_ID": lambda: syscall("ioctl", mnt, 0x8008B705, buffer),
    "NS_GET_PID_FROM_PIDNS": lambda: syscall("ioctl", pid, 0x8004B706, 1),
})
