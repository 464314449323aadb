# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: a thousand ioctl numbers on its descriptors
# matters: the list of those that are allowed is short; whatever else is answered is a door
# expect: ENOSYS, EPERM
import os

from attempt import name_of, refused, syscall, through

# TCGETS, TCGETS2, TIOCGPGRP, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: what isatty(),
# os.tcgetpgrp(), time-outs and inheritance take.
ALLOWED = {0x5401, 0x802C542A, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451}
files = [1, os.open("/dev/null", os.O_WRONLY), os.open("/tmp", os.O_RDONLY)]
met = set()
for command in (*range(0x400), *range(0x5400, 0x5500), *range(0x8900, 0x8A00)):
    if command in ALLOWED:
        continue
    for fd in files:
        try:
            syscall("ioctl", fd, command, 0)
            through(f"ioctl {command:#x}")
        except OSError as error:
            met.add(name_of(error))
refused(", ".join(sorted(met)))
