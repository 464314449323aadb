# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: turns a file of its own into swap space
# matters: memory beyond the limit, and pages of others in a file of its own
# expect: ForbiddenSyscall, SIGSYS
from attempt import dies, syscall

with open("/tmp/swap", "wb") as file:
    file.truncate(1 << 20)
dies(lambda: syscall("swapon", "/tmp/swap", 0), "swap space")
