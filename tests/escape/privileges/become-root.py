# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: setuid, setreuid and setresuid to 0
# matters: uid 0 of whatever user namespace
# expect: EPERM
from attempt import each, syscall

each({
    "setuid": lambda: syscall("setuid", 0),
    "setreuid": lambda: syscall("setreuid", 0, 0),
    "setresuid": lambda: syscall("setresuid", 0, 0, 0),
    "setresuid, saved": lambda: syscall("setresuid", -1, -1, 0),
})
