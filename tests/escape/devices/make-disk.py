# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: makes the nodes of the usual disks
# matters: the file systems of the host, past every permission
# expect: EPERM
import os
import stat

from attempt import each

each({f"{major},0": lambda major=major: os.mknod(f"/tmp/{major}", 0o666 | stat.S_IFBLK,
                                                 os.makedev(major, 0))
      for major in (7, 8, 252, 253, 254, 259)})
