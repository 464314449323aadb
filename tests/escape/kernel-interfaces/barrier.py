# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: interrupts every processor of the node
# matters: a loop around it slows everybody
# expect: ENOSYS
from attempt import each, syscall

each({f"membarrier {command}": lambda command=command: syscall("membarrier", command, 0, 0)
      for command in (1, 2, 4, 8, 16)})
