# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: prctl PR_SET_SECCOMP and PR_SET_MM with bits above the 32nd set
# matters: the kernel takes the option as 32 bits
# expect: ENOSYS
from attempt import each, prctl

each({
    "PR_SET_SECCOMP reached the kernel": lambda: prctl((1 << 32) | 22, 1),
    "PR_SET_MM reached the kernel": lambda: prctl((1 << 32) | 35, 1, 4096),
})
