# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: uselib, ustat, sysfs, lookup_dcookie, create_module
# matters: calls that nobody has needed for twenty years
# expect: ENOSYS
# needs: x86_64
from attempt import each, syscall

each({
    "uselib": lambda: syscall("uselib", "/lib64/ld-linux-x86-64.so.2"),
    "ustat": lambda: syscall("ustat", 0, bytes(64)),
    "sysfs": lambda: syscall("sysfs", 3),
    "lookup_dcookie": lambda: syscall("lookup_dcookie", 1, bytes(64), 64),
    "create_module": lambda: syscall("create_module", "x", 4096),
})
