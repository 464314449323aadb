# SPDX-License-Identifier: Apache-2.0
# family: signals-at-process-1
# tries: has itself sent SIGSYS and SIGKILL when process 1 ends
# matters: the first would fake a forbidden call
# expect: ENOSYS, EPERM
from attempt import prctl, trying

with trying("SIGSYS at the parent's death"):
    prctl(1, 31)
