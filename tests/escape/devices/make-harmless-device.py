# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: makes a second /dev/null, and a device without a driver
# matters: the right as such
# expect: EPERM
import os
import stat

from attempt import each

each({
    "null": lambda: os.mknod("/tmp/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3)),
    "0,0": lambda: os.mknod("/tmp/zero", 0o666 | stat.S_IFCHR, os.makedev(0, 0)),
})
