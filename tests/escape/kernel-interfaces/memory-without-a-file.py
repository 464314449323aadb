# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: memfd_create and memfd_secret
# matters: memory in files beside the capped tmpfs, and memory that the kernel itself can't see
# expect: ENOSYS
from attempt import each, syscall

each({
    "memfd_create": lambda: syscall("memfd_create", "x", 0),
    "memfd_create, huge pages": lambda: syscall("memfd_create", "x", 4),
    "memfd_secret": lambda: syscall("memfd_secret", 0),
})
