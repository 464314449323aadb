# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: takes supplementary groups, and drops all of them
# matters: a group can open a file, and can also be what closes it
# expect: EPERM
import struct

from attempt import each, syscall

each({
    "took groups": lambda: syscall("setgroups", 2, struct.pack("II", 0, 65532)),
    "dropped groups": lambda: syscall("setgroups", 0, None),
})
