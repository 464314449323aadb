# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: makes a terminal its controlling one, changes its foreground group, its settings and its
#   size
# matters: job control signals and settings of the caller's terminal
# expect: ENOSYS
from attempt import each, syscall

each({f"ioctl {command:#x}": lambda command=command: syscall("ioctl", 1, command, bytes(64))
      for command in (0x540E, 0x5410, 0x5402, 0x5414, 0x5422, 0x541D, 0x5423, 0x5420)})
