# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: ioctls of the host's file system on a file of the runtime: freeze, trim, clone, block
#   map, resize
# matters: a frozen file system stops every writer of the node
# expect: ENOSYS
import os

from attempt import each, syscall

fd = os.open("/usr/bin/python3", os.O_RDONLY)
COMMANDS = {
    "FIFREEZE": 0xC0045877, "FITHAW": 0xC0045878, "FITRIM": 0xC0185879, "FIBMAP": 1,
    "FICLONE": 0x40049409, "FIDEDUPERANGE": 0xC0189436, "FS_IOC_FIEMAP": 0xC020660B,
    "FS_IOC_SHUTDOWN": 0x8004587D, "FS_IOC_SETFSLABEL": 0x41009432,
    "EXT4_IOC_RESIZE_FS": 0x40086610, "EXT4_IOC_MOVE_EXT": 0xC028660F,
    "EXT4_IOC_GROUP_ADD": 0x40286608, "FS_IOC_ENABLE_VERITY": 0x40806685,
    "FS_IOC_ADD_ENCRYPTION_KEY": 0xC0506617, "BLKGETSIZE64": 0x80081272, "BLKFLSBUF": 0x1261,
}  # fmt: skip
each({name: lambda command=command: syscall("ioctl", fd, command, bytes(256))
      for name, command in COMMANDS.items()})
