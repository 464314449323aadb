# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: gives files of its own to root and to neighbours
# matters: a set-uid file that belongs to root
# expect: EPERM
from attempt import AT_FDCWD, each, syscall

with open("/tmp/mine", "wb"):
    pass
each({f"owner {uid}": lambda uid=uid: syscall("fchownat", AT_FDCWD, "/tmp/mine", uid, uid, 0)
      for uid in (0, 1000, 65532, 65534, 2000000001)})
