# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: prctl for speculation control, core scheduling, machine checks, I/O flushing, address
#   tagging
# matters: each changes how the processor or the kernel treats this process against others
# expect: ENOSYS
from attempt import each, prctl

each({name: lambda arguments=arguments: prctl(*arguments) for name, arguments in {
    "PR_SET_SPECULATION_CTRL": (53, 0, 2),
    "PR_SCHED_CORE create": (62, 1, 0, 0),
    "PR_SCHED_CORE share to process 1": (62, 2, 1, 0),
    "PR_MCE_KILL": (33, 1, 1),
    "PR_SET_IO_FLUSHER": (57, 1),
    "PR_SET_TAGGED_ADDR_CTRL": (55, 1),
    "PR_SET_MDWE": (65, 1),
}.items()})
