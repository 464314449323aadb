# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: installs a filter of its own that allows everything, or asks to have the old one removed
# matters: filters only add up, and a program with its own could end itself by SIGSYS or ask to be
#   notified of others
# expect: EPERM, ENOSYS
import ctypes
import struct

from attempt import each, prctl, syscall

instruction = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000))
fprog = struct.pack("@HP", 1, ctypes.addressof(instruction))
each({
    "seccomp(SECCOMP_SET_MODE_FILTER)": lambda: syscall("seccomp", 1, 0, fprog),
    "seccomp(SECCOMP_SET_MODE_STRICT)": lambda: syscall("seccomp", 0, 0, 0),
    "prctl(PR_SET_SECCOMP)": lambda: prctl(22, 2, ctypes.addressof(instruction)),
    "prctl(PR_SET_SECCOMP, disabled)": lambda: prctl(22, 0),
})
