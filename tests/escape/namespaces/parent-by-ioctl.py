# SPDX-License-Identifier: Apache-2.0
# family: namespaces
# tries: NS_GET_PARENT and NS_GET_USERNS on its own namespaces
# matters: they hand out descriptors of the namespaces above
# expect: ENOSYS
import os

from attempt import each, syscall

user = os.open("/proc/self/ns/user", os.O_RDONLY)
pid = os.open("/proc/self/ns/pid", os.O_RDONLY)
each({
    "the parent user namespace": lambda: syscall("ioctl", user, 0xB702, 0),
    "the owner of the pid namespace": lambda: syscall("ioctl", pid, 0xB701, 0),
    "the parent pid namespace": lambda: syscall("ioctl", pid, 0xB702, 0),
})
