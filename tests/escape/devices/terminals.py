# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: opens terminals: tty, console, ptmx, vcs, pts
# matters: the terminal of whoever started it, and the screen of the console
# expect: ENOENT
from attempt import reading

reading("/dev/tty", "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/ptmx", "/dev/pts/ptmx",
        "/dev/pts/0", "/dev/vcs", "/dev/vcsa1", "/dev/ttyS0", "/dev/hvc0")
