# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: joins, describes, searches and clears its session key ring, and that of its uid
# matters: the ring of the process that started the jailer may still be there
# expect: EPERM
from attempt import each, syscall

each({f"keyctl {operation}": lambda operation=operation, ring=ring: syscall(
    "keyctl", operation, ring, 0, 0, 0)
    for operation in (0, 1, 2, 6, 7, 10, 11, 15, 21, 22) for ring in (-1, -3, -4, -5)})
