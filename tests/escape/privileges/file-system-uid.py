# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: setfsuid to 0 and to a neighbour's uid
# matters: it alone decides on files, and never reports an error by itself
# expect: EPERM
from attempt import each, syscall

with open("/proc/self/uid_map", encoding="ascii") as file:
    outer = int(file.read().split()[1])
each({f"setfsuid {uid}": lambda uid=uid: syscall("setfsuid", uid) for uid in (0, outer, outer + 1)})
