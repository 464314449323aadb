# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: starts a program with no arguments at all
# matters: pkexec took its environment for its arguments then (CVE-2021-4034)
# expect: own only
import os

from attempt import refused, syscall, through

child = os.fork()
if child == 0:
    try:
        syscall("execve", "/usr/bin/true", bytes(8), bytes(8))
    except OSError:
        pass
    os._exit(3)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
# Since Linux 5.18 the kernel makes one empty argument of it; the program is as unprivileged as any.
if code not in (0, 1, 3) or os.getresuid() != (65532,) * 3:
    through(f"exit code {code}")
refused("own only")
