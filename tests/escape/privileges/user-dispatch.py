# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: PR_SET_SYSCALL_USER_DISPATCH: system calls handled by the program itself
# matters: a selector byte decides which calls the kernel sees
# expect: ENOSYS
from attempt import prctl, trying

with trying("user dispatch"):
    prctl(59, 1, 0, 0, 0)
