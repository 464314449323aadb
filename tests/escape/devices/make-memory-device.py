# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: makes the nodes of /dev/mem, /dev/kmem and /dev/port
# matters: the memory of the machine as a file
# expect: EPERM
import os
import stat

from attempt import each

each({f"1,{minor}": lambda minor=minor: os.mknod(f"/tmp/{minor}", 0o666 | stat.S_IFCHR,
                                                 os.makedev(1, minor))
      for minor in (1, 2, 4, 11)})
