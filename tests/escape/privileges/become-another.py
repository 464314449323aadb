# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: the uids of neighbours, of nobody, and of the host's users
# matters: files and processes of somebody else
# expect: EPERM
from attempt import each, syscall

with open("/proc/self/uid_map", encoding="ascii") as file:
    outer = int(file.read().split()[1])
each({f"uid {uid}": lambda uid=uid: syscall("setresuid", uid, uid, uid)
      for uid in (1, 1000, 65534, outer - 1, outer, outer + 1)})
