# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: setgid, setregid, setresgid, setfsgid to 0
# matters: files of the group root, disk, docker
# expect: EPERM
from attempt import each, syscall

each({
    "setgid": lambda: syscall("setgid", 0),
    "setregid": lambda: syscall("setregid", 0, 0),
    "setresgid": lambda: syscall("setresgid", 0, 0, 0),
    "setfsgid": lambda: syscall("setfsgid", 0),
})
