# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: brings the loopback up, lists interfaces, sets addresses and routes
# matters: the network that a sandbox has is none
# expect: ENOSYS
import socket

from attempt import each, syscall

fd = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).fileno()
request = b"lo".ljust(16, b"\0") + (1).to_bytes(2, "little") + bytes(22)
each({f"ioctl {command:#x}": lambda command=command: syscall("ioctl", fd, command, request)
      for command in (0x8914, 0x8913, 0x8912, 0x8916, 0x890B, 0x8946, 0x89A0, 0x8933, 0x8927)})
