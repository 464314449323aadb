# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: setpriority for process 1, its group and its user
# matters: nice 19 against a busy program is a standstill
# expect: EPERM
from attempt import REAPER, each, syscall

each({f"which {which} who {who}": lambda which=which, who=who: syscall(
    "setpriority", which, who, 19) for which, who in (
        (0, REAPER), (1, 0), (1, REAPER), (2, 0), (2, 65532), (2, -1))})
