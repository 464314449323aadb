# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: SIGKILL to process 1 as a thread, by tgkill
# matters: another call, another check
# expect: no effect, EPERM
from attempt import REAPER, number, signalled, syscall

signalled(REAPER, [9], lambda pid, number: syscall("tgkill", pid, pid, number))
