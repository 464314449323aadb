# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: TIOCSTI and TIOCLINUX on each of its descriptors
# matters: they type into the terminal of whoever started it: a command line waiting outside
#   (CVE-2017-5226, CVE-2023-1523)
# expect: EPERM
from attempt import each, syscall

tries = {}
for fd in (0, 1, 2):
    tries[f"TIOCSTI on {fd}"] = lambda fd=fd: syscall("ioctl", fd, 0x5412, b"\n")
    tries[f"TIOCLINUX on {fd}"] = lambda fd=fd: syscall("ioctl", fd, 0x541C, b"\x03")
each(tries)
