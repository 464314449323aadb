# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: switches address randomisation off, and old behaviour on
# matters: known addresses make a bug in a set-uid program an exploit
# expect: EPERM
from attempt import each, syscall

each({f"personality {value:#x}": lambda value=value: syscall("personality", value)
      for value in (0xFFFFFFFF, 0x0040000, 0x0400000, 0x0100000, 0x0000008)})
