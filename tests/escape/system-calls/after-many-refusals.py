# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: thousands of refused calls, and then a user namespace and a reboot
# matters: whatever counts or reports refusals has an end; the refusal must have none
# expect: EPERM, ENOSYS, SIGSYS, ForbiddenSyscall
from attempt import CLONE_NEWUSER, ended, name_of, refused, syscall, through

met = set()
for _ in range(4000):
    try:
        syscall("unshare", CLONE_NEWUSER)
    except OSError as error:
        met.add(name_of(error))
    else:
        through("a user namespace")
met.add(ended(lambda: syscall("reboot", 0, 0, 0, 0)))
if met & {"returned", "silent"}:
    through("reboot was answered")
refused(", ".join(sorted(met)))
