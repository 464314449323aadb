# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: ioprio_set for process 1, its group, its user, and the real-time class for itself
# matters: the order in which the disk serves
# expect: EPERM
from attempt import REAPER, each, syscall

each({f"which {which} who {who}": lambda which=which, who=who, class_=class_: syscall(
    "ioprio_set", which, who, class_ << 13) for which, who, class_ in (
        (1, REAPER, 3), (2, REAPER, 3), (3, 65532, 3), (1, 0, 1))})
