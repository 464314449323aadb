# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: pidfd_send_signal with a made-up siginfo
# matters: the pidfd variant of the same forgery
# expect: EPERM
import struct

from attempt import REAPER, syscall, trying

info = struct.pack("iiiiii", 10, 0, 0x80, 0, 0, 0) + bytes(104)
pidfd = syscall("pidfd_open", REAPER, 0)
with trying("a forged signal"):
    syscall("pidfd_send_signal", pidfd, 10, info, 0)
