# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: takes, passes on and gives back locks whose holder inherits priorities (PI futexes)
# matters: CVE-2014-3153 ("Towelroot") and CVE-2021-3347 led from these into the kernel
# expect: ENOSYS
import ctypes

from attempt import each, syscall

PRIVATE, REALTIME = 128, 256
# What an unlocked word gives: LOCK_PI and TRYLOCK_PI succeed, and UNLOCK_PI once they have.
OPERATIONS = {"FUTEX_LOCK_PI": 6, "FUTEX_UNLOCK_PI": 7, "FUTEX_TRYLOCK_PI": 8,
              "FUTEX_WAIT_REQUEUE_PI": 11, "FUTEX_CMP_REQUEUE_PI": 12, "FUTEX_LOCK_PI2": 13}
word, other = ctypes.c_uint32(0), ctypes.c_uint32(0)
soon = bytes(16)


def futex(operation):
    return syscall("futex", ctypes.byref(word), operation, 1, soon, ctypes.byref(other), 0)


each({f"{name} with flags {flags:#x}": lambda operation=operation | flags: futex(operation)
      for name, operation in OPERATIONS.items()
      for flags in (0, PRIVATE, PRIVATE | REALTIME, 1 << 32)})
