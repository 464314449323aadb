# SPDX-License-Identifier: Apache-2.0
# family: proc-and-sys
# tries: reads the kernel's log by /proc/kmsg and the syslog call
# matters: it has addresses, and what happened to other tenants
# expect: ENOENT, EPERM
import os

from attempt import each, syscall

each({
    "/proc/kmsg": lambda: os.open("/proc/kmsg", os.O_RDONLY),
    "syslog(READ_ALL)": lambda: syscall("syslog", 3, bytes(4096), 4096),
    "syslog(SIZE)": lambda: syscall("syslog", 10, None, 0),
    "syslog(CONSOLE_OFF)": lambda: syscall("syslog", 6, None, 0),
})
